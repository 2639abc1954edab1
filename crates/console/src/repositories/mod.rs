//! Repositories: the list, one of them, and the ways to add, refresh, edit, harvest and remove one.

pub(crate) mod actions;
pub(crate) mod add;
pub(crate) mod api;
pub(crate) mod choices;
pub(crate) mod edit;
pub(crate) mod friends;
pub(crate) mod list;
pub(crate) mod previews;
pub(crate) mod question;
pub(crate) mod remove;
pub(crate) mod set_list;
mod sets;
pub(crate) mod show;
pub(crate) mod tags;

use flows::SelfDescription;
use operations::{Refusal, repositories};

use crate::state::ConsoleState;
use question::question;
pub(crate) use question::question_with;

/// Asks a repository about itself.
async fn ask(state: &ConsoleState, base_url: &str) -> Result<SelfDescription, Refusal> {
    let base_url = base_url.to_owned();
    let asked = question(state, move |client| {
        Ok(repositories::find(client, &base_url, true)?.description)
    });
    asked
        .await?
        .map_err(|error| Refusal::from(error).at("base_url"))
}
