//! The formats, sets and rules that the form of a schedule offers.

use catalog::{Repository, Rules, RulesKind, Set};

use crate::problem::Problem;
use crate::state::ConsoleState;

/// The formats, sets and rules that a form offers.
#[derive(Debug)]
pub(crate) struct Choices {
    /// The repository; `None` until one is chosen.
    pub(crate) repository: Option<Repository>,
    /// The prefixes of the repository's formats; none if it did not tell them.
    pub(crate) formats: Vec<String>,
    /// The first sets of the repository.
    pub(crate) sets: Vec<Set>,
    pub(crate) filters: Vec<Rules>,
    pub(crate) mappings: Vec<Rules>,
}

impl Choices {
    /// The choices for a harvest of a repository.
    pub(crate) async fn of(state: &ConsoleState, id: i64) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let repository = catalog.repository(id).await?;
        let repository = repository.ok_or(catalog::Error::UnknownRepository { id })?;
        let formats = catalog.formats(id).await?.into_iter();
        Ok(Self {
            repository: Some(repository),
            formats: formats.map(|format| format.metadata_prefix).collect(),
            sets: catalog.some_sets(id, None, MOST_SETS).await?,
            filters: catalog.rules(Some(RulesKind::Filter)).await?,
            mappings: catalog.rules(Some(RulesKind::Mapping)).await?,
        })
    }

    /// The choices before a repository is chosen.
    pub(crate) async fn of_none(state: &ConsoleState) -> Result<Self, Problem> {
        let catalog = state.catalog();
        Ok(Self {
            repository: None,
            formats: Vec::new(),
            sets: Vec::new(),
            filters: catalog.rules(Some(RulesKind::Filter)).await?,
            mappings: catalog.rules(Some(RulesKind::Mapping)).await?,
        })
    }
}

/// More would make the page slow; others are typed in.
const MOST_SETS: u64 = 2000;
