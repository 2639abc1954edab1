//! ListMetadataFormats: the formats of the repository, or of one item.

use std::io::Write;

use oai::{ErrorCode, Verb};

use crate::answer::{Answer, Failure, end};
use crate::view::View;

impl<V: View> Answer<'_, V> {
    pub(crate) fn list_metadata_formats<W: Write>(
        &self,
        out: W,
        identifier: Option<String>,
    ) -> Result<u64, Failure> {
        let mut formats = self.view.metadata_formats();
        if let Some(identifier) = &identifier {
            let item = self.item(identifier)?;
            formats.retain(|format| self.view.has_format(&item, &format.prefix));
        }
        if formats.is_empty() {
            return Err(oai::Error::new(
                ErrorCode::NoMetadataFormats,
                "there are no formats for this item",
            )
            .into());
        }
        let mut response = self.begin(out, Verb::ListMetadataFormats)?;
        for format in &formats {
            response.metadata_format(format)?;
        }
        end(response, Verb::ListMetadataFormats, 0)
    }
}
