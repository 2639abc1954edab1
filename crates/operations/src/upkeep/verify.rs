//! Compares the catalog with the files of documents, records and mirrors, and repairs what differs.

use catalog::Role;
use flows::{HarvestVerification, Verification, VerifyOptions};
use serde::Serialize;

use crate::{Actor, Context, Refusal};

/// Everything that differs.
#[derive(Debug, Serialize)]
pub struct Verified {
    /// Documents.
    #[serde(flatten)]
    pub documents: Verification,
    /// Records and mirrors.
    pub harvested: HarvestVerification,
}

/// Compares the catalog with the files; this blocks. `progress` gets the number of contents compared so far.
pub fn verify(
    context: &Context,
    actor: &Actor,
    options: VerifyOptions,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Verified, Refusal> {
    actor.require(Role::Admin)?;
    let (holdings, repair) = (context.holdings(), options.repair);
    let documents = flows::verify(holdings, options, progress)?;
    let harvested = flows::verify_harvested(holdings, repair, progress)?;
    if repair {
        let found = documents.findings.len() + harvested.findings.len();
        let details = Some(format!("{found} findings"));
        context.wait(context.audit(actor, "collection.repair", "the collection", details));
    }
    Ok(Verified {
        documents,
        harvested,
    })
}
