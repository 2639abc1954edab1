//! GetRecord: one record of one item.

use std::io::Write;

use oai::{ErrorCode, MetadataPrefix, Verb};

use crate::answer::{Answer, Failure, busy, end, no_item};
use crate::view::{Listed, Obtained, View};

impl<V: View> Answer<'_, V> {
    pub(crate) fn get_record<W: Write>(
        &self,
        out: W,
        identifier: &str,
        prefix: &MetadataPrefix,
    ) -> Result<u64, Failure> {
        let listed = self.view.item_in(identifier, prefix.as_str())?;
        if listed.is_none() {
            self.item(identifier)?;
        }
        self.check_format(prefix)?;
        let listed = listed.filter(|item| self.view.has_format(item, prefix.as_str()));
        let Some(item) = listed else {
            let message = format!("this item has no record in `{prefix}`");
            return Err(oai::Error::new(ErrorCode::CannotDisseminateFormat, message).into());
        };
        if !item.header().deleted {
            match self.view.obtain(&item, prefix.as_str())? {
                Obtained::Ready => {}
                Obtained::Gone => return Err(no_item(identifier).into()),
                Obtained::Busy => return Err(busy().into()),
            }
        }
        let mut response = self.begin(out, Verb::GetRecord)?;
        response.record(item.header(), |xml| {
            self.view.write_body(&item, prefix.as_str(), xml)
        })?;
        end(response, Verb::GetRecord, 1)
    }
}
