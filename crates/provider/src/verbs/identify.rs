//! Identify: the repository describes itself.

use std::io::Write;

use oai::{Identify, Verb};

use crate::answer::{Answer, Failure, end};
use crate::view::View;

impl<V: View> Answer<'_, V> {
    pub(crate) fn identify<W: Write>(&self, out: W) -> Result<u64, Failure> {
        let identify = Identify {
            repository_name: self.provider.repository_name.clone(),
            base_url: self.provider.base_url.clone(),
            admin_emails: self.provider.admin_emails.clone(),
            earliest_datestamp: self.view.earliest_datestamp()?,
            compressions: self.provider.compressions.clone(),
        };
        let mut response = self.begin(out, Verb::Identify)?;
        response.identify(&identify)?;
        for description in &self.provider.descriptions {
            response.description(|xml| description.write(xml))?;
        }
        end(response, Verb::Identify, 0)
    }
}
