//! The configuration that a test server is started with.

use std::fs;
use std::path::PathBuf;

use super::process::{WORKER, worker_ids};
use super::{HttpdSetup, Mpm};

impl HttpdSetup {
    /// All of it, for a port.
    pub(super) fn text(&self, port: u16) -> String {
        let mut text = self.places(port);
        text.push_str(&self.load_modules());
        text.push_str(match self.mpm {
            Mpm::Event => EVENT,
            Mpm::Prefork => PREFORK,
        });
        if worker_ids().is_some() {
            text.push_str(&format!("User {WORKER}\nGroup {WORKER}\n"));
        }
        if self.tls {
            text.push_str(TLS);
        }
        text.push_str(BASE);
        if !self.plain {
            text.push_str(&self.load_mod_oai());
        }
        text.push_str(&self.conf);
        text.push_str(&self.vhosts);
        text
    }

    /// Defines the paths, by names for the directives of tests.
    fn places(&self, port: u16) -> String {
        let (root, place) = (self.root.display(), self.place());
        let place = place.display();
        format!(
            "Define PORT {port}\nDefine ROOT {root}\nDefine SITE {root}/site\nDefine STATE {root}/state\n\
             ServerRoot {place}\nPidFile run/pid\nDefaultRuntimeDir run\nMutex file:{place}/run default\n\
             ErrorLog error.log\nServerName 127.0.0.1:{port}\nListen 127.0.0.1:{port}\n"
        )
    }

    fn load_modules(&self) -> String {
        let mpm = match self.mpm {
            Mpm::Event => "mpm_event",
            Mpm::Prefork => "mpm_prefork",
        };
        let tls = self.tls.then_some("ssl");
        let mut modules: Vec<&str> = vec![mpm];
        modules.extend(MODULES);
        modules.extend(tls);
        // Several cases of one site may want the same module, and httpd takes each but once.
        for module in &self.modules {
            if !modules.contains(&module.as_str()) {
                modules.push(module);
            }
        }
        let mut text: String = modules.iter().map(|module| load_module(module)).collect();
        if modules.contains(&"cgid") {
            let place = self.place();
            text.push_str(&format!("ScriptSock {}/run/cgid\n", place.display()));
        }
        text
    }

    /// A copy is loaded: the next build would write into the file under the running server.
    fn load_mod_oai(&self) -> String {
        let copy = self.place().join("mod_oai.so");
        if !copy.exists() {
            fs::copy(mod_oai(), &copy).unwrap();
        }
        format!(
            "LoadModule oai_module {}\nOaiStateDir ${{STATE}}\n",
            copy.display()
        )
    }
}

/// The module under test: `MOD_OAI` names it, or it lies where cargo built the test.
pub fn mod_oai() -> PathBuf {
    if let Some(named) = std::env::var_os("MOD_OAI") {
        return named.into();
    }
    let test = std::env::current_exe().unwrap();
    let dependencies = test.parent().unwrap();
    // Cargo puts it beside the test for `cargo test`, and one folder up for `cargo build`.
    let places = [dependencies, dependencies.parent().unwrap()];
    let built = places.map(|place| place.join("libmod_oai.so"));
    let modified = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    let newest = built
        .into_iter()
        .filter(|path| path.exists())
        .max_by_key(modified);
    newest.expect("libmod_oai.so is built by `cargo build -p garner-apache-module`")
}

fn load_module(module: &str) -> String {
    match module.split_once(' ') {
        Some((name, file)) => format!("LoadModule {name} {file}\n"),
        None => format!("LoadModule {module}_module {DEBIAN}/mod_{module}.so\n"),
    }
}

/// Debian's directory of modules.
const DEBIAN: &str = "/usr/lib/apache2/modules";

/// The modules that every server here has.
const MODULES: [&str; 13] = [
    "authn_core",
    "authn_file",
    "authz_core",
    "authz_host",
    "authz_user",
    "auth_basic",
    "alias",
    "autoindex",
    "dir",
    "env",
    "mime",
    "setenvif",
    "filter",
];

/// The base of every configuration: limits that clients of one test cannot reach, and no wait for silent ones.
const BASE: &str = "TypesConfig /etc/mime.types\nTimeout 60\nKeepAliveTimeout 2\nLogLevel warn\n\
    DocumentRoot ${SITE}\nDirectoryIndex index.html\n\
    <Directory />\nAllowOverride None\nRequire all denied\n</Directory>\n\
    <Directory ${ROOT}>\nOptions FollowSymLinks\nAllowOverride All\nRequire all granted\n</Directory>\n\
    <FilesMatch \"^\\.ht\">\nRequire all denied\n</FilesMatch>\n";

const EVENT: &str = "StartServers 2\nServerLimit 6\nThreadsPerChild 10\nMinSpareThreads 10\nMaxSpareThreads 40\n\
    MaxRequestWorkers 40\n";

const PREFORK: &str =
    "StartServers 3\nMinSpareServers 2\nMaxSpareServers 6\nMaxRequestWorkers 24\n";

const TLS: &str = "SSLEngine on\nSSLCertificateFile tls.crt\nSSLCertificateKeyFile tls.key\nSSLSessionCache none\n";
