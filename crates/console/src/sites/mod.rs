//! Sites that this process exposes.

pub(crate) mod aggregator;
pub(crate) mod api;
pub(crate) mod check;
pub(crate) mod hidden;
pub(crate) mod list;
pub(crate) mod show;

use harvester::{AddressPolicy, ClientOptions};
use operations::repositories::RepositoryCheck;
use operations::{Refusal, sites};

use crate::repositories::question_with;
use crate::state::ConsoleState;

/// Checks the repository of a site.
async fn checked(state: &ConsoleState, id: u64) -> Result<RepositoryCheck, Refusal> {
    let base_url = sites::base_url(state.context(), id)?;
    let options = ClientOptions {
        // The address stands in the configuration file: nobody typed it in.
        allow: AddressPolicy::Anything,
        ..state.outside().question()
    };
    let checked = question_with(state, options, move |client| {
        Ok(sites::check(client, &base_url)?)
    });
    Ok(checked.await??)
}
