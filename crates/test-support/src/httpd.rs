//! A real Apache httpd on a free port, with a server root of its own; the system's httpd is never touched.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::{Fixture, wait_until};

/// How httpd shares its work among processes and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpm {
    /// Few processes with many threads each.
    Event,
    /// One process for each connection.
    Prefork,
}

/// What an httpd is to be; its configuration may use `${PORT}`, `${SITE}`, `${ROOT}` and `${STATE}`.
#[derive(Debug, Clone)]
pub struct HttpdSetup {
    root: PathBuf,
    mpm: Mpm,
    modules: Vec<String>,
    conf: String,
    vhosts: String,
    tls: bool,
    plain: bool,
    port: Option<u16>,
    wrapper: Vec<String>,
}

/// An httpd that is running; it is stopped when dropped.
#[derive(Debug)]
pub struct Httpd {
    setup: HttpdSetup,
    child: Option<Child>,
    port: u16,
}

impl HttpdSetup {
    /// Chooses the multi-processing module; event unless told.
    #[must_use]
    pub fn mpm(mut self, mpm: Mpm) -> Self {
        self.mpm = mpm;
        self
    }

    /// Loads modules beyond the usual ones: names such as `rewrite`, or a name and a file as in `php_module x.so`.
    #[must_use]
    pub fn modules(mut self, modules: &[&str]) -> Self {
        let modules = modules.iter().map(|module| (*module).to_owned());
        self.modules.extend(modules);
        self
    }

    /// Adds directives to the main server.
    #[must_use]
    pub fn conf(mut self, directives: &str) -> Self {
        self.conf.push_str(directives);
        self.conf.push('\n');
        self
    }

    /// Adds a virtual host. The first one also answers for names that nobody has.
    #[must_use]
    pub fn vhost(mut self, name: &str, directives: &str) -> Self {
        self.vhosts.push_str(&format!(
            "<VirtualHost 127.0.0.1:${{PORT}}>\nServerName {name}\n{directives}\n</VirtualHost>\n"
        ));
        self
    }

    /// Answers over TLS instead, with a certificate that nobody signed.
    #[must_use]
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Leaves `mod_oai` out.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Takes a port, so that identifiers stay the same over a change of the configuration.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Runs it as one process below another program, which gets httpd's command line as its last arguments.
    #[must_use]
    pub fn below(mut self, program: &[&str]) -> Self {
        self.wrapper = program.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Writes the configuration and has httpd check it: whether it is right, and what httpd says of it.
    pub fn config_test(&self) -> (bool, String) {
        self.write(self.port.unwrap_or_else(unused_port));
        let output = Command::new(program())
            .arg("-t")
            .arg("-f")
            .arg(self.conf_file())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    }

    /// Starts it and waits until it answers.
    pub fn start(self) -> Httpd {
        for _ in 0..5 {
            let port = self.port.unwrap_or_else(unused_port);
            self.write(port);
            let mut httpd = Httpd {
                setup: self.clone(),
                child: None,
                port,
            };
            match httpd.try_start() {
                Ok(()) => return httpd,
                // Between the choice of a port and its use somebody else may take it.
                Err(said) if self.port.is_none() && said.contains("Address already in use") => {}
                Err(said) => panic!("httpd did not start: {said}"),
            }
        }
        panic!("httpd found no free port");
    }

    fn place(&self) -> PathBuf {
        self.root.join("httpd")
    }

    fn conf_file(&self) -> PathBuf {
        self.place().join("httpd.conf")
    }

    fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    fn write(&self, port: u16) {
        let place = self.place();
        for directory in [&place, &place.join("run"), &self.state()] {
            fs::create_dir_all(directory).unwrap();
        }
        // Directories for temporary files are closed to others, and the workers are others.
        fs::set_permissions(&self.root, fs::Permissions::from_mode(0o755)).unwrap();
        if let Some((user, group)) = worker_ids() {
            chown(self.state(), Some(user), Some(group)).unwrap();
        }
        if self.tls {
            certificate(&place);
        }
        fs::write(self.conf_file(), self.text(port)).unwrap();
    }

    fn text(&self, port: u16) -> String {
        let (place, root) = (self.place(), &self.root);
        let mut text = format!(
            "Define PORT {port}\nDefine ROOT {root}\nDefine SITE {root}/site\nDefine STATE {root}/state\n\
             ServerRoot {place}\nPidFile run/pid\nDefaultRuntimeDir run\nMutex file:{place}/run default\n\
             ErrorLog error.log\nServerName 127.0.0.1:{port}\nListen 127.0.0.1:{port}\n",
            root = root.display(),
            place = place.display()
        );
        text.push_str(match self.mpm {
            Mpm::Event => "LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\n",
            Mpm::Prefork => {
                "LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so\n"
            }
        });
        let own = self.modules.iter().map(String::as_str);
        let mut loaded: Vec<&str> = Vec::new();
        for module in MODULES.iter().copied().chain(own) {
            if !loaded.contains(&module) {
                text.push_str(&load_module(module));
                loaded.push(module);
            }
        }
        text.push_str(match self.mpm {
            Mpm::Event => EVENT,
            Mpm::Prefork => PREFORK,
        });
        if loaded.contains(&"cgid") {
            text.push_str(&format!("ScriptSock {}/run/cgid\n", place.display()));
        }
        if worker_ids().is_some() {
            text.push_str(&format!("User {WORKER}\nGroup {WORKER}\n"));
        }
        if self.tls {
            text.push_str(&load_module("ssl"));
            text.push_str("SSLEngine on\nSSLCertificateFile tls.crt\nSSLCertificateKeyFile tls.key\nSSLSessionCache none\n");
        }
        text.push_str(BASE);
        if !self.plain {
            text.push_str(&self.load_mod_oai());
        }
        text.push_str(&self.conf);
        text.push_str(&self.vhosts);
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

impl Httpd {
    /// An httpd for the site of a fixture, which also holds its server root and the state of the module.
    pub fn of(fixture: &Fixture) -> HttpdSetup {
        HttpdSetup {
            root: fixture.site().parent().unwrap().to_owned(),
            mpm: Mpm::Event,
            modules: Vec::new(),
            conf: String::new(),
            vhosts: String::new(),
            tls: false,
            plain: false,
            port: None,
            wrapper: Vec::new(),
        }
    }

    /// Whether workers run as another user than this process. Only root can have it so.
    pub fn drops_privileges() -> bool {
        worker_ids().is_some()
    }

    /// Its host and port.
    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.setup.tls { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.authority())
    }

    /// Where the repository answers, in all tests.
    pub fn base_url(&self) -> String {
        self.url("/modoai")
    }

    /// Where the module keeps its state.
    pub fn state(&self) -> PathBuf {
        self.setup.state()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it has written to its error log so far.
    pub fn error_log(&self) -> String {
        let log = fs::read(self.setup.place().join("error.log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Starts it again after a stop.
    pub fn start(&mut self) {
        assert!(self.child.is_none(), "httpd is running already");
        if let Err(said) = self.try_start() {
            panic!("httpd did not start again: {said}");
        }
    }

    /// Stops it in good order and waits until its port is free.
    pub fn stop(&mut self) -> Option<ExitStatus> {
        let status = self.end(Duration::from_secs(60));
        self.wait_for_port();
        status
    }

    /// Reads the configuration anew and lets the old workers finish what they do.
    pub fn graceful(&self) {
        self.next_generation(Signal::USR1);
    }

    /// Reads the configuration anew and ends the old workers at once.
    pub fn restart(&self) {
        self.next_generation(Signal::HUP);
    }

    /// Kills the workers and lets the parent start others.
    pub fn kill_children(&self) {
        for pid in self.children() {
            kill(pid, Signal::KILL);
        }
        wait_until("httpd answers again", || self.answers());
    }

    /// Kills all of it at once.
    pub fn kill9(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        // The parent first, or it would replace the workers.
        kill(child.id(), Signal::KILL);
        let _ = child.wait();
        self.kill_rest();
        self.wait_for_port();
    }

    /// The process number of the parent.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("httpd is running").id()
    }

    /// The process numbers of all others: workers, and the helper that starts CGI programs.
    pub fn children(&self) -> Vec<u32> {
        let parent = self.child.as_ref().map(Child::id);
        let all = processes_with(&self.setup.conf_file()).into_iter();
        all.filter(|pid| Some(*pid) != parent).collect()
    }

    /// The processor time of parent and workers so far, also of those that ended.
    pub fn cpu_seconds(&self) -> f64 {
        // Fields 14 to 17 of proc_pid_stat(5), in ticks of a hundredth of a second.
        let ticks = |pid: u32| -> u64 {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let times = fields.split_whitespace().skip(11).take(4);
            times.filter_map(|time| time.parse::<u64>().ok()).sum()
        };
        let mut pids = self.children();
        pids.push(self.pid());
        pids.into_iter().map(ticks).sum::<u64>() as f64 / 100.0
    }

    /// The most memory that any worker has had, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let peak = |pid: u32| -> Option<u64> {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        let peaks = self.children().into_iter().filter_map(peak);
        peaks.max().unwrap_or_default() * 1024
    }

    /// Starts it; what it said is the error.
    fn try_start(&mut self) -> Result<(), String> {
        let setup = &self.setup;
        let pid_file = setup.place().join("run/pid");
        let _ = fs::remove_file(&pid_file);
        let said = setup.place().join("stderr");
        // A test that is killed takes its server along.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM"]).args(&setup.wrapper);
        command.arg(program()).arg("-f").arg(setup.conf_file());
        command.arg(match setup.wrapper.is_empty() {
            true => "-DFOREGROUND",
            false => "-X",
        });
        // Never a pipe of the test's own: an orphaned worker would keep it open. Nor its process group: httpd
        // sends signals to all of it.
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&said).unwrap())
            .spawn()
            .expect("apache2 is installed by scripts/setup test");
        let child = self.child.insert(child);
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                self.child = None;
                let said = fs::read_to_string(said).unwrap_or_default();
                return Err(format!("{status}\n{said}{}", self.error_log()));
            }
            // Only the pid file tells that it is this httpd and no other that has the port.
            if pid_file.exists() && answers(self.port, self.setup.tls) {
                return Ok(());
            }
            if began.elapsed() > Duration::from_secs(60) {
                return Err(format!("it does not answer\n{}", self.error_log()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self) -> bool {
        answers(self.port, self.setup.tls)
    }

    fn next_generation(&self, signal: Signal) {
        const READY: &str = "resuming normal operations";
        let before = self.error_log().matches(READY).count();
        kill(self.pid(), signal);
        wait_until("the next generation", || {
            self.error_log().matches(READY).count() > before && self.answers()
        });
    }

    /// Ends it in good order, or by force when that takes too long.
    fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        kill(child.id(), Signal::TERM);
        let began = Instant::now();
        let mut status = None;
        while status.is_none() && began.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(20));
            status = child.try_wait().ok().flatten();
        }
        if status.is_none() {
            let _ = child.kill();
            status = child.wait().ok();
        }
        self.kill_rest();
        status
    }

    /// Nobody else ends workers that lost their parent, and they would keep the port.
    fn kill_rest(&self) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            let rest = processes_with(&self.setup.conf_file());
            if rest.is_empty() {
                return;
            }
            for pid in rest {
                kill(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_port(&self) {
        wait_until("the port is free", || {
            TcpListener::bind(("127.0.0.1", self.port)).is_ok()
        });
    }
}

impl Drop for Httpd {
    fn drop(&mut self) {
        self.end(Duration::from_secs(10));
        if std::thread::panicking() {
            let log = self.error_log();
            let lines: Vec<_> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            eprintln!("--- end of the error log of httpd\n{}", last.join("\n"));
        }
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
    newest.expect("libmod_oai.so is built by `cargo build -p apache-module`")
}

/// The user and the group that workers of a server started by root become.
fn worker_ids() -> Option<(u32, u32)> {
    if !geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let worker = users
        .lines()
        .find(|line| line.starts_with(&format!("{WORKER}:")))?;
    let mut fields = worker.split(':').skip(2);
    let mut number = || fields.next()?.parse().ok();
    Some((number()?, number()?))
}

fn load_module(module: &str) -> String {
    match module.split_once(' ') {
        Some((name, file)) => format!("LoadModule {name} {file}\n"),
        None => {
            format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n")
        }
    }
}

fn program() -> String {
    // Servers are in sbin, which is not on everybody's path.
    let usual = "/usr/sbin/apache2";
    let there = Path::new(usual).exists();
    if there { usual } else { "apache2" }.to_owned()
}

/// A port below those that the system gives to clients, so that none of them takes it during a restart.
fn unused_port() -> u16 {
    let mut random = [0; 2];
    let mut source = fs::File::open("/dev/urandom").unwrap();
    loop {
        source.read_exact(&mut random).unwrap();
        let port = 12_000 + u16::from_ne_bytes(random) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Whether a worker reads what comes in. The parent's socket alone would take connections too.
fn answers(port: u16, tls: bool) -> bool {
    use std::io::Write;
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    if tls {
        return true;
    }
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let asked = stream.write_all(b"OPTIONS * HTTP/1.0\r\n\r\n");
    asked.is_ok() && stream.read(&mut [0; 16]).is_ok_and(|length| length > 0)
}

/// All processes that run with a configuration file, whoever their parent is.
fn processes_with(conf: &Path) -> Vec<u32> {
    let conf = conf.as_os_str().as_encoded_bytes();
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == conf)
    })
    .collect()
}

fn kill(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended by itself just now.
        let _ = kill_process(pid, signal);
    }
}

fn certificate(place: &Path) {
    let (key, certificate) = (place.join("tls.key"), place.join("tls.crt"));
    if certificate.exists() {
        return;
    }
    let status = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args(["-subj", "/CN=127.0.0.1", "-keyout"])
        .arg(key)
        .arg("-out")
        .arg(certificate)
        .stderr(Stdio::null())
        .status()
        .expect("openssl is installed by scripts/setup test");
    assert!(status.success(), "no certificate could be made");
}

/// Debian's name for the user of web servers.
const WORKER: &str = "www-data";

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

/// What every server here has. Limits that clients of one test cannot reach, and no wait for silent ones.
const BASE: &str = "TypesConfig /etc/mime.types\nTimeout 60\nKeepAliveTimeout 2\nLogLevel warn\n\
    DocumentRoot ${SITE}\nDirectoryIndex index.html\n\
    <Directory />\nAllowOverride None\nRequire all denied\n</Directory>\n\
    <Directory ${ROOT}>\nOptions FollowSymLinks\nAllowOverride All\nRequire all granted\n</Directory>\n\
    <FilesMatch \"^\\.ht\">\nRequire all denied\n</FilesMatch>\n";

const EVENT: &str = "StartServers 2\nServerLimit 6\nThreadsPerChild 10\nMinSpareThreads 10\nMaxSpareThreads 40\n\
    MaxRequestWorkers 40\n";

const PREFORK: &str =
    "StartServers 3\nMinSpareServers 2\nMaxSpareServers 6\nMaxRequestWorkers 24\n";
