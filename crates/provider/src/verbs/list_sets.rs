//! ListSets: all sets, in one page.

use std::io::Write;

use oai::{ErrorCode, Verb};

use crate::answer::{Answer, Failure, end};
use crate::view::View;

impl<V: View> Answer<'_, V> {
    pub(crate) fn list_sets<W: Write>(
        &self,
        out: W,
        resumption_token: Option<String>,
    ) -> Result<u64, Failure> {
        if resumption_token.is_some() {
            let message = "ListSets answers in one page here and gives no tokens";
            return Err(oai::Error::new(ErrorCode::BadResumptionToken, message).into());
        }
        let sets = self.view.sets()?;
        if sets.is_empty() {
            let message = "this repository has no sets";
            return Err(oai::Error::new(ErrorCode::NoSetHierarchy, message).into());
        }
        let mut response = self.begin(out, Verb::ListSets)?;
        for set in &sets {
            response.set(set)?;
        }
        end(response, Verb::ListSets, 0)
    }
}
