//! A PHP-FPM for the server to talk to.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use test_support::{Fixture, Httpd, wait_until};

/// A PHP-FPM with a socket of its own; it is stopped when dropped.
#[derive(Debug)]
pub(crate) struct PhpFpm {
    child: Child,
    /// Where it listens.
    pub(crate) socket: PathBuf,
}

impl PhpFpm {
    /// Starts it and waits until it listens. As root, its workers are those of the web server.
    pub(crate) fn start(fixture: &Fixture) -> Self {
        let socket = fixture.beside("php.sock");
        let log = fixture.beside("php.log");
        let user = match Httpd::drops_privileges() {
            true => "user = www-data\ngroup = www-data\nlisten.owner = www-data\n",
            false => "",
        };
        let config = format!(
            "[global]\ndaemonize = no\nerror_log = {}\n[test]\n{user}listen = {}\n\
             pm = static\npm.max_children = 2\n",
            log.display(),
            socket.display()
        );
        let config = fixture.write_beside("php.conf", config);
        // A test that is killed takes it along.
        let mut child = Command::new("setpriv")
            .args(["--pdeathsig", "TERM"])
            .arg(program())
            .args(["-F", "-y"])
            .arg(config)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("php-fpm is installed by scripts/setup test");
        wait_until("php-fpm listens", || {
            if let Ok(Some(status)) = child.try_wait() {
                let log = fs::read_to_string(&log).unwrap_or_default();
                panic!("php-fpm did not start: {status}\n{log}");
            }
            socket.exists()
        });
        Self { child, socket }
    }
}

impl Drop for PhpFpm {
    fn drop(&mut self) {
        // It must end its workers itself: they would outlive it.
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

/// Debian puts the version of PHP into the name.
fn program() -> PathBuf {
    named("/usr/sbin", "php-fpm").expect("php-fpm is installed by scripts/setup test")
}

/// Debian's module for PHP inside of httpd, which has the version in its name too.
pub(crate) fn mod_php() -> PathBuf {
    let found = named("/usr/lib/apache2/modules", "libphp");
    found.expect("libapache2-mod-php is installed by scripts/setup test")
}

fn named(directory: &str, beginning: &str) -> Option<PathBuf> {
    let paths = fs::read_dir(directory).ok()?;
    let mut paths = paths.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(beginning))
    })
}
