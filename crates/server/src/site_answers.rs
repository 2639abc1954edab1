//! The site as a repository that answers at an address of this server.

use std::io::Write;
use std::sync::Arc;

use oai::Verb;
use provider::Outcome;
use provider::View;
use site::records::RecordsView;
use site::traffic::Answered;
use site::{Requester, SitePath};

use crate::config::FlowControlConfig;
use crate::flow_control::FlowControl;
use crate::router::State;
use crate::streaming::{Answering, Question};

impl Answering for State {
    fn write(
        &self,
        requester: &Requester,
        question: &Question,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error> {
        let view = self.site.view(requester.clone())?;
        match self.site.records() {
            Some(records) => {
                let view = RecordsView::new(view, records, &self.provider.base_url);
                self.answer_from(&view, question, out)
            }
            None => self.answer_from(&view, question, out),
        }
    }

    fn note(&self, answered: &Answered<'_>) {
        self.site.traffic().note(answered);
    }

    fn takes_long(&self, verb: Verb) -> bool {
        match verb {
            Verb::ListIdentifiers | Verb::ListRecords | Verb::GetRecord => true,
            // Which sets a requester may see is asked of the origin, type by type.
            Verb::ListSets => self.config.origin.url.is_some(),
            Verb::Identify | Verb::ListMetadataFormats => false,
        }
    }

    fn control(&self) -> &FlowControlConfig {
        &self.config.flow_control
    }

    fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }
}

impl State {
    fn answer_from<V: View>(
        &self,
        view: &V,
        question: &Question,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error> {
        match question {
            Question::Verb(arguments, form) => self.provider.answer_as(*form, view, arguments, out),
            Question::Document { document, at_root } => {
                let directory = match at_root {
                    true => self.site.url_of(&SitePath::root()),
                    false => format!("{}/", self.provider.base_url),
                };
                self.provider.synchronize(view, document, &directory, out)
            }
        }
    }
}
