//! The console as people meet it: in a real Chromium, and for programs by its API, with `garner up` behind it.

/// Every operation, held against the description.
mod api;
/// Repositories, rules, accounts and the audit trail: the same by command and API.
mod catalog_json;
/// Documents that are downloaded, wherever the collection lies.
mod documents;
/// From the link in the terminal to a harvest that one watches.
mod first_steps;
/// The frame of every page: the navigation, the search over everything, the menu of a phone.
mod frame;
/// Harvests in the console: history, comparison, download, records.
mod holdings;
/// Links by e-mail: invitations, and passwords that were forgotten.
mod invitations;
/// A job that runs: watched, stopped, tried again.
mod jobs;
/// Lists: sorted, filtered, chosen from, with a mouse, with keys and on a phone.
mod lists;
/// Every page: for people who cannot see well, with a phone, in the dark, with keys alone.
mod pages;
/// Logging in and out, roles, two who edit one thing.
mod people;
/// Filters tried before they are saved.
mod rules;
/// JSON held against a schema.
mod schema;
/// Sites that are exposed: items, hidden files, harvesters, the check of the protocol.
mod sites;
/// The installation: workers, disks, settings, findings.
mod system;

pub(crate) use self::api::token;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use test_support::{Browser, Fault, Misbehaving, Script};

use crate::managed::{Managed, Process};

/// `garner up` with a console.
pub(crate) struct Console {
    pub(crate) managed: Managed,
    up: Process,
    url: String,
}

impl Console {
    /// Starts it on what is there, with a configuration. Repositories of this machine may be asked.
    pub(crate) fn start(managed: Managed, config: &str) -> Self {
        Self::start_with(managed, config, &[])
    }

    /// The same, in another environment.
    fn start_with(managed: Managed, config: &str, environment: &[(&str, String)]) -> Self {
        let allow = "[network]\nallow = ['127.0.0.1']\n";
        let config = match config.contains("[network]\n") {
            true => config.replace("[network]\n", allow),
            false => format!("{config}{allow}"),
        };
        let config = format!("[console]\nlisten = '127.0.0.1:0'\n{config}");
        let config = managed.write("garner.toml", &config);
        let mut command = managed.command(&["up", "--config", config.to_str().unwrap()]);
        command.envs(environment.iter().cloned());
        let up = Process::start(command, "garner is up");
        let log = up.log();
        let said = log
            .lines()
            .find_map(|line| line.strip_prefix("the console is at "));
        let url = said.unwrap().trim_end_matches('/').to_owned();
        Self { managed, up, url }
    }

    /// The link that makes the first account.
    fn setup_link(&self) -> String {
        let log = self.up.log();
        let link = log.lines().find(|line| line.contains("/setup/")).unwrap();
        link.rsplit(' ').next().unwrap().to_owned()
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// A browser in which somebody is logged in.
    fn browser(&self, name: &str) -> Browser {
        let browser = Browser::start();
        self.log_in(&browser, name, PASSWORD);
        browser.wait("one is inside", || browser.path() == "/");
        browser
    }

    fn log_in(&self, browser: &Browser, name: &str, password: &str) {
        browser.open(&self.at("/login"));
        browser.fill("Name", name);
        browser.fill("Password", password);
        browser.press("Log in");
    }
}

/// Adds an account, whose password is [`PASSWORD`].
pub(crate) fn account(managed: &Managed, name: &str, role: &str) {
    let mut child = managed
        .command(&["account", "add", name, "--role", role])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(PASSWORD.as_bytes()).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// A repository with so many pages of ten records, each of which comes after a pause in milliseconds.
fn slow(pages: usize, pause: u64) -> Misbehaving {
    let script = (0..pages).fold(Script::new(pages * 10, 10), |script, page| {
        script.with(Fault::Slow { page, pause })
    });
    Misbehaving::start(script)
}

/// Where pictures of pages are kept.
pub(crate) fn picture(name: &str) -> PathBuf {
    // It stands beside the built program: target/debug/garner.
    let target = Path::new(env!("CARGO_BIN_EXE_garner")).ancestors().nth(2);
    let place = target.unwrap().join("console-screenshots");
    place.join(format!("{name}.png"))
}

const PASSWORD: &str = "correct horse battery";
