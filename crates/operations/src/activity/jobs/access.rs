//! Credentials, a proxy and certificates on their way into a file of the data directory.

use flows::{Access, HarvestOrder};
use harvester::{Client, ClientOptions};

use crate::{Context, HarvestPatch, Mistake, Refusal};

/// Keeps the credentials, proxy and certificates of `patch` for the repository at `base_url`, on top of those that
/// `order` has, and names them in `order`.
pub(crate) fn keep(
    context: &Context,
    patch: &HarvestPatch,
    base_url: &str,
    order: &mut HarvestOrder,
) -> Result<(), Refusal> {
    let holdings = context.holdings();
    if patch.access.is_some()
        && let Some(name) = &order.access
    {
        // A name is no secret: it opens the repository that it was given for, and no other.
        let loaded = Access::load(holdings, name, base_url);
        loaded.map_err(|error| Mistake::new("access", flows::message(&error)))?;
    }
    if !patch.has_access() {
        return Ok(());
    }
    let mut access = match &order.access {
        // Kept settings that cannot be used are replaced as a whole.
        Some(name) => Access::load(holdings, name, base_url).unwrap_or_default(),
        None => Access::default(),
    };
    patch.apply_access(&mut access);
    // Unusable settings are refused now, and not by every harvest.
    let usable = Client::new(ClientOptions {
        proxy: access.proxy.clone(),
        certificates: access.certificates.clone(),
        ..ClientOptions::default()
    });
    usable.map_err(|error| Mistake::new("proxy", error.to_string()))?;
    order.access = access.keep(holdings, base_url)?;
    Ok(())
}
