//! A real PostgreSQL for tests: one cluster for a test process, a new database for each test.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use crate::wait_until;

/// A cluster that listens on a socket in its own directory, and on no port.
#[derive(Debug)]
pub struct Postgres {
    place: PathBuf,
    programs: PathBuf,
    databases: AtomicUsize,
    /// Ends the cluster and removes it when its input ends: with this process, however that ends.
    guardian: Mutex<Child>,
}

/// PostgreSQL refuses to run as root; on Debian this is `nobody` and `nogroup`.
const UNPRIVILEGED: u32 = 65_534;

/// Keeps the cluster running, and stops and starts it when a line says so.
const GUARDIAN: &str = "\
    begin() { \"$programs/postgres\" -D \"$place/data\" -k \"$place\" -c listen_addresses= -c fsync=off \
        -c shared_buffers=16MB -c max_connections=50 >>\"$place/log\" 2>&1 & }; \
    programs=$1 place=$2; begin; \
    while read -r word; do \
        case $word in \
            stop) kill -INT $!; wait;; \
            kill) kill -KILL $! $(cat /proc/$!/task/$!/children); wait;; \
            start) begin;; \
        esac; \
    done; \
    kill -QUIT $!; wait; cd /; rm -rf \"$place\"";

impl Postgres {
    /// The cluster of this process, started when it is first asked for.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// The URL of a new, empty database.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        format!(
            "postgres://garner@localhost/{name}?host={}",
            self.place.display()
        )
    }

    /// Runs SQL in the database of a URL, and gives what it prints, unaligned and without headings.
    pub fn run(&self, url: &str, sql: &str) -> String {
        self.psql(name(url), sql)
    }

    /// Runs a file that `pg_dump` made in the database of a URL.
    pub fn load(&self, url: &str, dump: &Path) {
        let mut command = self.client("psql");
        command.args(["--no-psqlrc", "-q", "-v", "ON_ERROR_STOP=1"]);
        command
            .args(["-d", name(url)])
            .stdin(fs::File::open(dump).unwrap());
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }

    /// A cluster for one test alone, which may stop it.
    pub fn start() -> Self {
        let place = place();
        let programs = programs();
        copy(&template(&programs), &place);

        let guardian = unprivileged("sh", &place)
            .args(["-c", GUARDIAN, "sh"])
            .args([&programs, &place])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let postgres = Self {
            place,
            programs,
            databases: AtomicUsize::new(0),
            guardian: Mutex::new(guardian),
        };
        postgres.wait();
        postgres
    }

    /// Stops the cluster in good order for a while, and starts it again.
    pub fn restart(&self, away: Duration) {
        self.interrupt("stop", away);
    }

    /// Stops the cluster until [`Postgres::begin`].
    pub fn stop(&self) {
        self.tell("stop");
        let socket = self.place.join(".s.PGSQL.5432");
        wait_until("the cluster has stopped", || !socket.exists());
    }

    /// Starts a cluster that was stopped.
    pub fn begin(&self) {
        self.tell("start");
        self.wait();
    }

    /// Kills the cluster with all its processes, and starts it again after a while.
    pub fn kill(&self, away: Duration) {
        self.interrupt("kill", away);
    }

    fn interrupt(&self, how: &str, away: Duration) {
        self.tell(how);
        std::thread::sleep(away);
        self.tell("start");
        self.wait();
    }

    fn tell(&self, word: &str) {
        let mut guardian = self.guardian.lock().unwrap();
        writeln!(guardian.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    fn wait(&self) {
        wait_until("PostgreSQL answers", || {
            let mut command = self.client("pg_isready");
            command.output().unwrap().status.success()
        });
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        let mut command = self.client("psql");
        command.args(["--no-psqlrc", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        let output = command.args(["-d", database, "-c", sql]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.arg("-h").arg(&self.place).args(["-U", "garner"]);
        command
    }
}

/// The name of the database of a URL.
fn name(url: &str) -> &str {
    let name = url.rsplit('/').find_map(|part| part.split_once("?host="));
    name.unwrap().0
}

/// A cluster that was never started, to be copied: that takes a tenth of the time of making one.
///
/// Every test has a process of its own, so it lies where all find it. Who comes first makes it; if two do so at once,
/// one of theirs is kept.
fn template(programs: &Path) -> PathBuf {
    let user = fs::metadata("/proc/self").unwrap().uid();
    let version = programs.parent().and_then(Path::file_name).unwrap();
    let name = format!("garner-postgres-{user}-{}", version.to_string_lossy());
    let template = std::env::temp_dir().join(name);
    if !template.exists() {
        let making = place();
        let data = making.join("data");
        let mut initdb = unprivileged(programs.join("initdb"), &making);
        initdb.args(["--no-sync", "--no-locale", "--encoding=UTF8"]);
        initdb.args(["--auth=trust", "--username=garner", "-D"]);
        succeed(initdb.arg(&data));
        if fs::rename(&data, &template).is_err() {
            assert!(template.exists(), "{} cannot be made", template.display());
        }
        fs::remove_dir_all(&making).unwrap();
    }
    template
}

fn copy(template: &Path, place: &Path) {
    let mut copy = unprivileged("cp", place);
    succeed(copy.arg("-R").arg(template).arg(place.join("data")));
    // The directory takes the rights of the template only as far as the umask lets it.
    fs::set_permissions(place.join("data"), Permissions::from_mode(0o700)).unwrap();
}

/// A directory for a cluster, which whoever runs it may use.
fn place() -> PathBuf {
    let place = tempfile::Builder::new()
        .prefix("garner-postgres-")
        .tempdir();
    let place = place.unwrap().keep();
    if is_root(&place) {
        chown(&place, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    place
}

fn succeed(command: &mut Command) {
    let output = command
        .output()
        .expect("PostgreSQL is installed by scripts/setup test");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// A program that runs in a directory of its own, and not as root.
fn unprivileged(program: impl AsRef<OsStr>, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(place).env("LC_ALL", "C");
    if is_root(Path::new("/proc/self")) {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

fn is_root(own: &Path) -> bool {
    fs::metadata(own).unwrap().uid() == 0
}

/// Debian keeps the programs of each version in a directory of its own, off the path.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let newest = versions
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|programs| programs.join("initdb").exists())
        .max_by_key(|programs| {
            let version = programs.parent().and_then(Path::file_name);
            version.and_then(|version| version.to_str()?.parse::<u32>().ok())
        });
    let on_path = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).find(|programs| programs.join("initdb").exists())
    };
    newest
        .or_else(on_path)
        .expect("PostgreSQL is installed by scripts/setup test")
}
