//! Who may have what imported. Paths are files of the machine, so that not everybody may name any.

use std::path::PathBuf;

use axum::http::StatusCode;
use jobs::ImportCrawl;

use crate::parts::Errors;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

/// What people may have imported, and how.
#[derive(Debug, Clone, Default)]
pub struct ImportRules {
    /// Directories that operators may name something in; admins name any file of the machine.
    pub roots: Vec<PathBuf>,
    /// An import as it is configured, for what nobody says otherwise.
    pub usual: ImportCrawl,
    /// The folder for documents that do not go into the catalog. What is ordered here always does, so that nothing can be
    /// ordered if there is one.
    pub no_database: Option<PathBuf>,
}

impl ImportRules {
    /// Where all lies that operators may name: below the roots, and what the configuration itself names. Nothing without
    /// roots.
    pub fn within(&self) -> Vec<PathBuf> {
        if self.roots.is_empty() {
            return Vec::new();
        }
        let configured = self.usual.files().into_iter();
        let configured = configured.map(|(_, path)| path.to_owned());
        self.roots.iter().cloned().chain(configured).collect()
    }
}

/// Checks what somebody wants to have imported. `before` is what was wanted until now: who changes nothing of it, but the
/// times of a schedule, needs no right to name it.
///
/// What comes back is held to where it may be from: workers look again, when they open it.
pub(crate) async fn permitted(
    state: &ConsoleState,
    who: &Who,
    mut order: ImportCrawl,
    before: Option<&ImportCrawl>,
    errors: &mut Errors,
) -> Result<ImportCrawl, Problem> {
    if let Some(before) = before {
        order.within.clone_from(&before.within);
        if order.text().ok() == before.text().ok() {
            return Ok(order);
        }
    }
    let checked = match order.paths.len() {
        ..=MOST_PATHS => order.check(),
        _ => Err(anyhow::anyhow!(
            "paths: more than {MOST_PATHS}; name the directory that they lie in"
        )),
    };
    if let Err(error) = checked {
        note(&error, errors);
        return Ok(order);
    }
    order.within = match who.can_administer() {
        true => Vec::new(),
        false => state.config().imports.within(),
    };
    if let Some(refusal) = refusal(state, who) {
        return Err(refusal.problem());
    }
    let looked_at = order.clone();
    let looked = state.blocking(move |_| look(&looked_at)).await?;
    if let Err(error) = looked {
        note(&error, errors);
    }
    Ok(order)
}

/// Why somebody may have nothing imported, if so.
pub(crate) fn refusal(state: &ConsoleState, who: &Who) -> Option<Refusal> {
    let rules = &state.config().imports;
    if rules.no_database.is_some() {
        return Some(Refusal::NoDatabase);
    }
    let may = who.can_administer() || (who.can_operate() && !rules.roots.is_empty());
    (!may).then_some(Refusal::NotAllowed)
}

/// Why nothing can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The role does not allow it.
    NotAllowed,
    /// The configuration wants documents where no import that is ordered here puts them.
    NoDatabase,
}

impl Refusal {
    /// In words.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::NotAllowed => NOT_ALLOWED,
            Self::NoDatabase => NO_DATABASE,
        }
    }

    pub(crate) fn problem(self) -> Problem {
        match self {
            Self::NotAllowed => Problem::new(StatusCode::FORBIDDEN, "forbidden", NOT_ALLOWED),
            Self::NoDatabase => Problem::conflict(NO_DATABASE),
        }
    }
}

/// Finds what is not there, or elsewhere. Relative paths would mean another place to each process.
fn look(order: &ImportCrawl) -> anyhow::Result<()> {
    order.check_places()?;
    for (field, path) in order.files() {
        if jobs::address(path)?.is_some() {
            continue;
        }
        let shown = path.display();
        if !path.is_absolute() {
            anyhow::bail!("{field}: `{shown}` is not a whole path; begin it with /");
        }
        if let Err(error) = std::fs::metadata(path) {
            anyhow::bail!("{field}: `{shown}` cannot be read: {error}");
        }
    }
    Ok(())
}

/// Notes what is said of a field, at the field.
fn note(error: &anyhow::Error, errors: &mut Errors) {
    let message = jobs::message(error);
    let (field, reason) = message.split_once(": ").unwrap_or(("", &message));
    match FIELDS.iter().find(|known| **known == field) {
        Some(field) => errors.add(field, reason),
        None => errors.add("paths", message),
    }
}

const NOT_ALLOWED: &str = "only admins name files to be imported; operators may where import.roots of the \
     configuration names directories for them";

const NO_DATABASE: &str = "import.no_database of the configuration puts documents into a folder, and imports that are \
     ordered here go into the catalog; take no_database out of the file and start garner again, or import by \
     garner import --config";

/// The fields that checks name.
const FIELDS: [&str; 9] = [
    "paths",
    "log",
    "log_format",
    "root",
    "blacklist",
    "types",
    "max_url_length",
    "base_url",
    "crawler",
];

/// Who has more has them in a directory.
const MOST_PATHS: usize = 1000;
