//! The form of rules, with their effect on a record.

use askama::Template;
use catalog::RulesKind;
use operations::Refusal;
use operations::rules::Rules;

use super::fields::RulesForm;
use super::trial::{Sample, Tried, try_on};
use crate::dress::{form_again, page};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::repositories::choices::{pick, repository_suggestions};
use crate::state::ConsoleState;
use crate::who::Who;

/// The form.
#[derive(Template)]
#[template(path = "rules_form.html")]
pub(super) struct FormPage {
    pub(super) who: Who,
    pub(super) kind: RulesKind,
    pub(super) heading: String,
    /// Where it is sent.
    pub(super) action: String,
    /// The rules that are changed; `None` if they are added.
    pub(super) known: Option<Rules>,
    /// The schedules that use them.
    pub(super) users: Vec<(i64, String)>,
    pub(super) form: RulesForm,
    pub(super) repositories: Vec<(String, String)>,
    pub(super) tried: Option<Tried>,
    /// The version that somebody else saved meanwhile.
    pub(super) conflict: Option<Rules>,
    pub(super) errors: Errors,
}

impl FormPage {
    pub(super) async fn new(
        state: &ConsoleState,
        who: Who,
        kind: RulesKind,
        mut form: RulesForm,
    ) -> Result<Self, Problem> {
        if form.sample.is_empty() {
            "live".clone_into(&mut form.sample);
            "oai_dc".clone_into(&mut form.metadata_prefix);
        }
        Ok(Self {
            who,
            kind,
            heading: format!("Add a {}", kind.name()),
            action: "/rules".to_owned(),
            known: None,
            users: Vec::new(),
            form,
            repositories: repository_suggestions(state).await?,
            tried: None,
            conflict: None,
            errors: Errors::default(),
        })
    }

    /// Whether the form is to be saved: it is not only tried, and its file is a text.
    pub(super) fn is_to_be_saved(&self) -> bool {
        self.form.action != "try" && !self.form.is_no_text
    }

    /// The form once more, with the mistakes of a refusal.
    pub(super) fn again(mut self, refusal: Refusal) -> Answer {
        self.errors = Errors::of_form(refusal)?;
        form_again(&self)
    }

    /// Tries the rules on the record that was chosen.
    pub(super) async fn try_out(mut self, state: &ConsoleState) -> Answer {
        if self.form.is_no_text {
            let reason = "the file is no text in UTF-8; save it so, and send it again";
            return self.again(Refusal::invalid("content", reason));
        }
        let tried = match self.sample() {
            Ok(sample) => try_on(state, self.kind, &self.form.content, sample).await,
            Err(refusal) => Err(refusal),
        };
        match tried {
            Ok(tried) => {
                self.tried = Some(tried);
                page(&self)
            }
            Err(refusal) => self.again(refusal),
        }
    }

    fn sample(&self) -> Result<Sample, Refusal> {
        let form = &self.form;
        Ok(match form.sample.as_str() {
            "pasted" => Sample::Pasted(form.xml.clone()),
            "held" => Sample::Held(form.record.trim().parse().map_err(|_| {
                let reason = "give the number of a record, as its address has it";
                Refusal::invalid("record", reason)
            })?),
            _ => Sample::Live {
                repository: pick(&self.repositories, &form.repository)
                    .map_err(|reason| Refusal::invalid("repository", reason))?
                    .0,
                metadata_prefix: form.metadata_prefix.trim().to_owned(),
                identifier: Some(form.identifier.trim().to_owned()).filter(|text| !text.is_empty()),
            },
        })
    }

    fn samples(&self) -> [(&'static str, &'static str); 3] {
        [
            ("live", "a live record of a repository"),
            ("held", "a record that was harvested"),
            ("pasted", "XML that I paste"),
        ]
    }
}
