//! A repository that was harvested, for the tests of what is held.

use std::path::PathBuf;

use flows::Holdings;
use tempfile::TempDir;
use test_support::{Garner, Misbehaving, Script};

use crate::command_line::stderr;
use crate::garner;

/// A repository, and a data directory for what comes from it.
pub(crate) struct Harvested {
    directory: TempDir,
    pub(crate) repository: Misbehaving,
}

impl Harvested {
    /// Starts a repository and harvests it as `oai_dc`.
    pub(crate) fn new(script: Script) -> Self {
        let this = Self {
            directory: tempfile::tempdir().unwrap(),
            repository: Misbehaving::start(script),
        };
        this.harvest(&this.base_url(), &[]);
        this
    }

    /// Harvests once more, from wherever and with whatever options; what comes of it is in the history.
    pub(crate) fn harvest(&self, base_url: &str, options: &[&str]) {
        let command = self.garner(&["harvest", base_url, "--quiet"]).args(options);
        let place = self.directory.path();
        let output = command.current_dir(place).output();
        assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
    }

    pub(crate) fn holdings(&self) -> Holdings {
        Holdings::create(&self.data(), None).unwrap()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A place beside the data directory.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn base_url(&self) -> String {
        self.repository.base_url()
    }

    /// The program with arguments and this data directory.
    pub(crate) fn garner(&self, arguments: &[&str]) -> Garner {
        garner().args(arguments).arg("--data").arg(self.data())
    }

    /// A text with the address of the repository, the data directory and all dates of today blanked.
    pub(crate) fn blanked(&self, text: &str) -> String {
        let text = text.replace(&self.base_url(), "BASE_URL");
        let text = text.replace(self.data().to_str().unwrap(), "DATA");
        let address = self.base_url();
        let port = address.rsplit_once(':').unwrap().1;
        let text = text.replace(port.trim_end_matches("/oai"), "PORT");
        blank_dates(&text)
    }
}

/// Replaces the dates of this year and the next, whose digits differ from run to run, by as many of one digit.
fn blank_dates(text: &str) -> String {
    let mut blanked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Z") {
        let (before, after) = rest.split_at(at + 1);
        let date = before
            .len()
            .checked_sub(20)
            .and_then(|from| before.get(from..));
        let is_now = date.is_some_and(|date| {
            date.starts_with("20") && date.as_bytes()[10] == b'T' && !date.starts_with("2020")
        });
        match is_now {
            true => {
                blanked.push_str(&before[..before.len() - 20]);
                blanked.push_str("0000-00-00T00:00:00Z");
            }
            false => blanked.push_str(before),
        }
        rest = after;
    }
    blanked + rest
}
