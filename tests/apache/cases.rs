//! The cases of the test site that decide who may see a file, and where a URL leads.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use test_support::Httpd;

use super::site::{Expectation, Site};

/// The password of the user `reader` is `right`.
pub(crate) const PASSWORDS: &str = "reader:$apr1$garner$oO0qXeFWgcKvAvvlUiyo81\n";

pub(crate) fn add_all(site: &mut Site) {
    plain_files(site);
    aliases(site);
    overlapping_aliases(site);
    aliases_of_every_origin(site);
    cover_ups(site);
    passwords(site);
    refusals(site);
    refusals_by_uri(site);
    rewrites(site);
    rewrites_by_request(site);
    rewrites_in_htaccess(site);
    redirects(site);
    negotiation(site);
    links(site);
    owners_of_links(site);
    modes(site);
    ignored(site);
    skipped(site);
    headers(site);
}

fn plain_files(site: &mut Site) {
    for path in [
        "index.html",
        "notes.txt",
        "docs/paper.pdf",
        "docs/page.html",
        "docs/deep/index.html",
        "docs/no-extension",
    ] {
        site.file(path, 200);
    }
    site.beside("site/docs/deep/a b.txt");
    site.answers("/docs/deep/a%20b.txt", 200);
    site.fixture.write("docs/empty.txt", "");
    site.fixture
        .write("docs/large.bin", "0123456789abcde\n".repeat(20_000));
    for name in ["/", "/docs/deep/", "/docs/deep/index.html?x=y"] {
        site.name(name, 200);
    }
    for name in [
        "//notes.txt",
        "/./notes.txt",
        "/docs/../notes.txt",
        "/%6Eotes.txt",
    ] {
        site.name(name, 200);
    }
    site.name("/docs/deep", 301);
    site.name("/docs/missing.txt", 404);
    site.name("/notes.txt/more", 404);
}

fn aliases(site: &mut Site) {
    site.conf(
        "Alias /icons/ ${ROOT}/pictures/\nAlias /no-slash ${ROOT}/no-slash\n\
         Alias /single.txt ${ROOT}/one/single.txt\n\
         Alias /swap/a.txt ${SITE}/swap/b.txt\nAlias /swap/b.txt ${SITE}/swap/a.txt\n\
         Alias /left ${SITE}/right\nAlias /right ${SITE}/left\n\
         AliasMatch ^/match/(.*)$ ${ROOT}/matched/$1\n\
         Alias /missing/ ${ROOT}/there-is-no-such-directory/",
    );
    for (prefix, place, file) in [
        ("/icons/", "pictures", "pictures/logo.png"),
        ("/icons/", "pictures", "pictures/small/logo.png"),
        ("/no-slash", "no-slash", "no-slash/a.txt"),
        ("/single.txt", "one/single.txt", "one/single.txt"),
        ("/match/", "matched", "matched/deep/a.txt"),
    ] {
        site.beside(file);
        site.place(prefix, place);
    }
    site.beside("one/beside.txt");
    site.file("icons/covered.png", 404);
    site.file("swap/a.txt", 200);
    site.file("swap/b.txt", 200);
    site.file("left/in-left.txt", 404);
    site.file("right/in-right.txt", 404);
    site.place("/swap/a.txt", "site/swap/b.txt");
    site.place("/swap/b.txt", "site/swap/a.txt");
    site.place("/left", "site/right");
    site.place("/right", "site/left");
    for path in [
        "/icons/logo.png",
        "/no-slash/a.txt",
        "/single.txt",
        "/match/deep/a.txt",
    ] {
        site.answers(path, 200);
    }
    site.answers("/left/in-right.txt", 200);
    site.answers("/right/in-left.txt", 200);
}

/// Of two aliases the first in the configuration wins, be it shorter or longer.
fn overlapping_aliases(site: &mut Site) {
    site.conf(
        "Alias /long-first/inner/ ${ROOT}/overlap/a/\nAlias /long-first/ ${ROOT}/overlap/b/\n\
         Alias /short-first/ ${ROOT}/overlap/b/\nAlias /short-first/inner/ ${ROOT}/overlap/a/",
    );
    for file in ["a/of-a.txt", "b/of-b.txt", "b/inner/covered.txt"] {
        site.beside(&format!("overlap/{file}"));
    }
    for first in ["/long-first/", "/short-first/"] {
        site.place(first, "overlap/b");
        site.place(&format!("{first}inner/"), "overlap/a");
        site.answers(&format!("{first}of-b.txt"), 200);
    }
    site.answers("/long-first/inner/of-a.txt", 200);
    site.answers("/long-first/inner/covered.txt", 404);
    site.answers("/short-first/inner/of-a.txt", 404);
    site.answers("/short-first/inner/covered.txt", 200);
}

fn aliases_of_every_origin(site: &mut Site) {
    site.module("macro");
    let included = "Alias /included/ ${ROOT}/included/\n";
    site.fixture.write_beside("included.conf", included);
    site.conf(
        "Include ${ROOT}/included.conf\n\
         <Macro Shown $name>\nAlias /macro/$name/ ${ROOT}/macro/$name/\n</Macro>\nUse Shown first\n\
         <IfModule mod_alias.c>\nAlias /conditional/ ${ROOT}/conditional/\n</IfModule>\n\
         <IfModule !mod_alias.c>\nAlias /never/ ${ROOT}/never/\n</IfModule>\n\
         <Location \"/located\">\nAlias ${ROOT}/located/only.txt\n</Location>",
    );
    for (directory, status) in [
        ("included", 200),
        ("macro/first", 200),
        ("macro/second", 404),
        ("conditional", 200),
        ("never", 404),
    ] {
        site.beside(&format!("{directory}/a.txt"));
        site.place(&format!("/{directory}/"), directory);
        site.answers(&format!("/{directory}/a.txt"), status);
    }
    site.beside("located/only.txt");
    site.place("/located", "located/only.txt");
    site.expect("/located", Expectation::Either);
}

fn cover_ups(site: &mut Site) {
    site.module("status");
    site.module("proxy");
    site.module("proxy_http");
    site.conf(
        "<Location \"/server-status\">\nSetHandler server-status\n</Location>\n\
         ProxyPass /proxied/ http://127.0.0.1:1/",
    );
    site.file("server-status", 200);
    site.file("proxied/covered.txt", 503);
    // Where the module itself answers, no file is.
    site.beside("site/modoai/covered.txt");
}

fn passwords(site: &mut Site) {
    let file = site.fixture.write_beside("passwords", PASSWORDS);
    site.protect("auth", &file, "Require valid-user");
    for path in ["auth/secret.txt", "auth/deep/secret.html", "auth/only.csv"] {
        site.file(path, 401);
    }
    site.protect("auth-other", &file, "Require user editor");
    site.file("auth-other/secret.txt", 401);
    site.protect(
        "auth-any",
        &file,
        "<RequireAny>\nRequire ip 10.0.0.0/8\nRequire valid-user\n</RequireAny>",
    );
    site.file("auth-any/secret.txt", 401);
    site.protect(
        "auth-all",
        &file,
        "<RequireAll>\nRequire ip 10.0.0.0/8\nRequire valid-user\n</RequireAll>",
    );
    site.file("auth-all/secret.txt", 403);
}

fn refusals(site: &mut Site) {
    site.conf(
        "<Directory ${SITE}/lan>\nRequire ip 10.0.0.0/8\n</Directory>\n\
         <Location \"/closed\">\nRequire all denied\n</Location>\n\
         ErrorDocument 403 /errors/403.html\nErrorDocument 404 /errors/404.html",
    );
    site.file("lan/secret.txt", 403);
    site.file("lan/deep/secret.txt", 403);
    site.file("closed/secret.txt", 403);
    site.htaccess("local", "Require ip 127.0.0.1");
    site.file("local/shown.txt", 200);
    site.htaccess(
        "parts",
        "<Files \"private.*\">\nRequire all denied\n</Files>",
    );
    site.file("parts/private.txt", 403);
    site.file("parts/public.txt", 200);
    site.file("errors/403.html", 200);
    site.file("errors/404.html", 200);
}

/// Rules that tell files of one directory apart by their URLs.
fn refusals_by_uri(site: &mut Site) {
    site.conf(
        "SetEnvIf Request_URI \"^/env/blocked\" refused\n\
         <Directory ${SITE}/env>\n<RequireAll>\nRequire all granted\nRequire not env refused\n</RequireAll>\n</Directory>\n\
         <Directory ${SITE}/expression>\nRequire expr \"%{REQUEST_URI} != '/expression/blocked.txt'\"\n</Directory>\n\
         <If \"%{REQUEST_URI} == '/condition/blocked.txt'\">\nRequire all denied\n</If>\n\
         <LocationMatch \"^/pattern/.*blocked\">\nRequire all denied\n</LocationMatch>",
    );
    for directory in ["env", "expression", "condition", "pattern"] {
        site.file(&format!("{directory}/blocked.txt"), 403);
        site.file(&format!("{directory}/shown.txt"), 200);
    }
}

fn rewrites(site: &mut Site) {
    site.module("rewrite");
    site.conf(
        "RewriteEngine On\n\
         RewriteRule ^/rewrite/moved\\.txt$ /notes.txt [R=301]\n\
         RewriteRule ^/rewrite/forbidden\\.txt$ - [F]\n\
         RewriteRule ^/rewrite/gone\\.txt$ - [G]\n\
         RewriteRule ^/rewrite/no-subrequest\\.txt$ - [F,NS]\n\
         RewriteRule ^/rewrite/through\\.png$ /icons/logo.png [PT]\n\
         RewriteRule ^/rewrite/other\\.txt$ /notes.txt\n\
         RewriteRule ^/rewrite/itself\\.txt$ /rewrite/itself.txt\n\
         RewriteRule ^/extra/(.*)$ ${ROOT}/extra/$1",
    );
    for (path, status) in [
        ("moved.txt", 301),
        ("forbidden.txt", 403),
        ("gone.txt", 410),
        ("no-subrequest.txt", 403),
        ("through.png", 200),
        ("other.txt", 200),
        ("itself.txt", 200),
        ("untouched.txt", 200),
    ] {
        site.file(&format!("rewrite/{path}"), status);
    }
    // Nobody can tell from a pattern what it makes; the webmaster says so.
    site.oai("OaiRoot /extra/ ${ROOT}/extra");
    site.beside("extra/deep/a.txt");
    site.place("/extra/", "extra");
    site.answers("/extra/deep/a.txt", 200);
}

/// Rules on what the requester sent: nothing of the harvester's own request may count.
fn rewrites_by_request(site: &mut Site) {
    for (name, condition) in [
        ("query", "%{QUERY_STRING} !verb="),
        ("request-line", "%{THE_REQUEST} !modoai"),
        ("subrequest", "%{IS_SUBREQ} =false"),
        ("address", "%{REMOTE_ADDR} =127.0.0.1"),
        ("host", "%{HTTP_HOST} ^127\\."),
    ] {
        site.conf(&format!(
            "RewriteCond {condition}\nRewriteRule ^/asked/{name}\\.txt$ - [F]"
        ));
        site.file(&format!("asked/{name}.txt"), 403);
    }
    site.conf("RewriteCond %{REQUEST_METHOD} !=GET\nRewriteRule ^/asked/method\\.txt$ - [F]");
    site.file("asked/method.txt", 200);
}

fn rewrites_in_htaccess(site: &mut Site) {
    site.htaccess(
        "htaccess",
        "RewriteEngine On\nRewriteRule ^other\\.txt$ shown.txt\nRewriteRule ^moved\\.txt$ /notes.txt [R]\n\
         RewriteRule ^forbidden\\.txt$ - [F]\nRewriteRule ^gone\\.txt$ - [G]\n\
         RewriteRule ^all/ shown.txt",
    );
    for (path, status) in [
        ("other.txt", 200),
        ("moved.txt", 302),
        ("forbidden.txt", 403),
        ("gone.txt", 410),
        ("shown.txt", 200),
        ("all/covered.txt", 200),
    ] {
        site.file(&format!("htaccess/{path}"), status);
    }
}

fn redirects(site: &mut Site) {
    site.conf(
        "Redirect /redirected/ /docs/\nRedirect gone /redirect-gone.txt\n\
         RedirectMatch 404 ^/redirect-missing/",
    );
    site.file("redirected/page.html", 302);
    site.file("redirect-gone.txt", 410);
    site.file("redirect-missing/a.txt", 404);
}

fn negotiation(site: &mut Site) {
    site.module("negotiation");
    site.conf(
        "AddLanguage en .en\nAddLanguage de .de\n\
         <Directory ${SITE}/variants>\nOptions +MultiViews\n</Directory>",
    );
    site.file("variants/page.html.en", 200);
    site.file("variants/page.html.de", 200);
    site.name("/variants/page", 200);
    site.name("/variants/page.html", 200);
}

fn links(site: &mut Site) {
    site.conf("<Directory ${SITE}/no-links>\nOptions -FollowSymLinks\n</Directory>");
    for (directory, status) in [("links", 200), ("no-links", 403)] {
        let target = site.beside(&format!("outside/{directory}.txt"));
        site.beside(&format!("outside/{directory}/inside.txt"));
        let link = |name: &str| site.fixture.path(format!("{directory}/{name}"));
        fs::create_dir(link("")).unwrap();
        symlink(&target, link("file.txt")).unwrap();
        symlink(target.with_extension(""), link("directory")).unwrap();
        symlink("nothing", link("dangling.txt")).unwrap();
        for name in ["file.txt", "directory/inside.txt"] {
            site.answers(&format!("/{directory}/{name}"), status);
        }
        site.file(&format!("{directory}/plain.txt"), 200);
    }
}

fn owners_of_links(site: &mut Site) {
    if !Httpd::drops_privileges() {
        eprintln!("SKIPPED: only root can make files of two owners");
        return;
    }
    site.conf(
        "<Directory ${SITE}/owners>\nOptions -FollowSymLinks +SymLinksIfOwnerMatch\n</Directory>",
    );
    fs::create_dir(site.fixture.path("owners")).unwrap();
    for (name, owner, status) in [("same", 0, 200), ("other", 1, 403)] {
        let target = site.beside(&format!("outside/{name}-owner.txt"));
        chown(&target, Some(owner), None).unwrap();
        symlink(target, site.fixture.path(format!("owners/{name}.txt"))).unwrap();
        site.answers(&format!("/owners/{name}.txt"), status);
    }
}

fn modes(site: &mut Site) {
    if !Httpd::drops_privileges() {
        eprintln!("SKIPPED: files that the workers may not read need workers of another user");
        return;
    }
    let closed = fs::Permissions::from_mode(0o000);
    let file = site.file("modes/closed.txt", 403);
    fs::set_permissions(file, closed.clone()).unwrap();
    let inside = site.file("modes/directory/inside.txt", 403);
    fs::set_permissions(inside.parent().unwrap(), closed).unwrap();
    // Its files can be read by those who know their names.
    let unlisted = site.file("modes/unlisted/a.txt", 200);
    let unlisted = unlisted.parent().unwrap();
    fs::set_permissions(unlisted, fs::Permissions::from_mode(0o711)).unwrap();
    site.expect("/modes/unlisted/a.txt", Expectation::Either);
}

fn ignored(site: &mut Site) {
    site.conf("IndexIgnore *~ *.bak");
    site.htaccess("ignored", "IndexIgnore *.hid");
    site.htaccess("ignored/reset", "IndexIgnoreReset ON");
    for path in [
        "ignored/a.txt~",
        "ignored/a.bak/inside.txt",
        "ignored/a.hid",
        "ignored/deep/a.hid",
        "ignored/b.hid/inside.txt",
        "docs/old.bak",
    ] {
        site.file(path, 200);
        site.expect(&format!("/{path}"), Expectation::Hidden);
    }
    for path in ["ignored/a.txt", "ignored/reset/a.bak", "docs/not.hid"] {
        site.file(path, 200);
    }
}

fn skipped(site: &mut Site) {
    site.oai("OaiSkip .??* *.skip /skipped/*");
    for path in [
        ".git/config",
        "docs/.hidden",
        "skip/a.skip",
        "skip/b.skip/inside.txt",
        "skipped/a.txt",
        "skipped/deep/a.txt",
    ] {
        site.file(path, 200);
        site.expect(&format!("/{path}"), Expectation::Hidden);
    }
    site.file("skip/a.txt", 200);
}

fn headers(site: &mut Site) {
    site.module("headers");
    site.module("expires");
    site.module("deflate");
    site.conf(
        "AddEncoding x-gzip .gz\nAddLanguage fr .fr\n\
         <Directory ${SITE}/headers>\n\
         Header set X-Test \"a <b> & c\"\nHeader always set X-Always yes\n\
         Header add X-Twice one\nHeader add X-Twice two\n\
         Header set X-Request \"expr=%{THE_REQUEST}|%{REQUEST_URI}|%{QUERY_STRING}\"\n\
         Header set X-Connection \"expr=%{HTTP_HOST}|%{SERVER_PORT}|%{REQUEST_SCHEME}|%{HTTPS}|%{REMOTE_ADDR}\"\n\
         ExpiresActive On\nExpiresDefault \"access plus 1 hour\"\n\
         AddDefaultCharset utf-8\nAddOutputFilterByType DEFLATE text/html text/plain\n\
         </Directory>\n\
         <Files \"etag.txt\">\nFileETag MTime\n</Files>\n<Files \"forced.txt\">\nForceType application/x-forced\n</Files>",
    );
    for name in [
        "page.html",
        "text.txt",
        "image.png",
        "archive.tar.gz",
        "page.html.fr",
        "etag.txt",
        "forced.txt",
    ] {
        site.file(&format!("headers/{name}"), 200);
    }
    let text = format!("{}\n", site.mark()).repeat(500);
    site.fixture.write("headers/long.html", text);
}
