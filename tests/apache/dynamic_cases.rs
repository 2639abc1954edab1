//! The cases of the test site in which the server runs files or changes what it sends.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use test_support::Mpm;

use super::php_fpm::{PhpFpm, mod_php};
use super::site::{Expectation, Site};

pub(crate) fn add_all(site: &mut Site) {
    cgi(site);
    php(site);
    includes(site);
    substitutions(site);
    never_offered(site);
}

/// Programs by the end of their name, and all in a directory of programs.
pub(crate) fn cgi(site: &mut Site) {
    site.module(match site.mpm {
        Mpm::Event => "cgid",
        Mpm::Prefork => "cgi",
    });
    site.conf(
        "AddHandler cgi-script .cgi\nScriptAlias /cgi-bin/ ${ROOT}/cgi/\n\
         <Directory ${SITE}/programs>\nOptions +ExecCGI\n</Directory>",
    );
    program(site, "site/programs/run.cgi", OUTPUT);
    program(site, "cgi/tool", OUTPUT);
    program(site, "cgi/deep/tool.py", OUTPUT);
    site.place("/cgi-bin/", "cgi");
    for path in [
        "/programs/run.cgi",
        "/cgi-bin/tool",
        "/cgi-bin/deep/tool.py",
    ] {
        site.answers(path, 200);
        site.expect(path, Expectation::Dynamic);
    }
    // Without the option it is neither run nor sent.
    program(site, "site/docs/refused.cgi", OUTPUT);
    site.answers("/docs/refused.cgi", 403);
    site.expect("/docs/refused.cgi", Expectation::Hidden);
}

/// Writes a program for the shell.
pub(crate) fn program(site: &mut Site, path: &str, commands: &str) {
    let source = format!("#!/bin/sh\n# {}\n{commands}\n", site.mark());
    let path = site.fixture.write_beside(path, source);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// PHP inside of the server or beside it, as the multi-processing module allows.
pub(crate) fn php(site: &mut Site) {
    let source = format!("<?php /* {} */ echo 'made by ', 'PHP'; ?>", site.mark());
    site.fixture.write("programs/page.php", source);
    site.answers("/programs/page.php", 200);
    site.expect("/programs/page.php", Expectation::Dynamic);
    let handler = match site.mpm {
        Mpm::Prefork => {
            site.module(&format!("php_module {}", mod_php().display()));
            "application/x-httpd-php".to_owned()
        }
        Mpm::Event => php_fpm(site),
    };
    site.conf(&format!(
        "<FilesMatch \"\\.php$\">\nSetHandler \"{handler}\"\n</FilesMatch>\n\
         <Directory ${{SITE}}/unconfigured>\n<FilesMatch \"\\.php$\">\nSetHandler none\n</FilesMatch>\n</Directory>"
    ));
    // The server itself gives this source to everybody.
    site.file("unconfigured/page.php", 200);
}

fn php_fpm(site: &mut Site) -> String {
    site.module("proxy");
    site.module("proxy_fcgi");
    let php = PhpFpm::start(&site.fixture);
    let socket = php.socket.display().to_string();
    site.php = Some(php);
    site.conf(&format!(
        "ProxyPassMatch \"^/by-proxy/(.*\\.php)$\" \"unix:{socket}|fcgi://localhost${{SITE}}/by-proxy/$1\""
    ));
    let source = format!("<?php /* {} */ echo 'made by ', 'proxy'; ?>", site.mark());
    site.fixture.write("by-proxy/page.php", source);
    site.answers("/by-proxy/page.php", 200);
    site.expect("/by-proxy/page.php", Expectation::Dynamic);
    format!("proxy:unix:{socket}|fcgi://localhost/")
}

/// Server-side includes: by handler, by output filter, and by the mode of the file.
fn includes(site: &mut Site) {
    site.module("include");
    site.conf(
        "<Directory ${SITE}/includes>\nOptions +Includes\nAddType text/html .shtml\n</Directory>\n\
         <Directory ${SITE}/includes/handler>\nAddHandler server-parsed .shtml\n</Directory>\n\
         <Directory ${SITE}/includes/filter>\nAddOutputFilter INCLUDES .shtml\n</Directory>\n\
         <Directory ${SITE}/includes/mode>\nXBitHack on\n</Directory>",
    );
    for name in ["handler/page.shtml", "filter/page.shtml", "mode/page.html"] {
        let mark = site.mark();
        let source = format!(
            "<!--#set var=\"x\" value=\"{mark}\" -->included <!--#echo var=\"DOCUMENT_URI\" -->"
        );
        let path = site.fixture.write(format!("includes/{name}"), source);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        site.answers(&format!("/includes/{name}"), 200);
        site.expect(&format!("/includes/{name}"), Expectation::Dynamic);
    }
    site.file("includes/mode/plain.html", 200);
}

/// A filter that changes what is sent.
fn substitutions(site: &mut Site) {
    site.module("substitute");
    site.conf(
        "<Directory ${SITE}/substituted>\nAddOutputFilterByType SUBSTITUTE text/html\n\
         Substitute \"s/mark[0-9]+x/nothing/\"\n</Directory>",
    );
    site.file("substituted/page.html", 200);
    site.expect("/substituted/page.html", Expectation::Rewritten);
    site.file("substituted/plain.txt", 200);
}

fn never_offered(site: &mut Site) {
    site.conf("<Directory ${SITE}/unoffered>\nOptions +ExecCGI\n</Directory>");
    site.oai("<Directory ${SITE}/unoffered>\nOaiDynamic off\n</Directory>");
    program(site, "site/unoffered/run.cgi", OUTPUT);
    site.answers("/unoffered/run.cgi", 200);
    site.expect("/unoffered/run.cgi", Expectation::Hidden);
    site.file("unoffered/plain.txt", 200);
}

const OUTPUT: &str =
    "printf 'Content-Type: text/html\\r\\nX-Made: yes\\r\\n\\r\\nmade by %s' \"$SCRIPT_NAME\"";
