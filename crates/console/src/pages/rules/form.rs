//! The form of rules, with what they do to a record.

use askama::Template;
use catalog::{Rules, RulesKind};

use crate::parts::Errors;
use crate::problem::Problem;
use crate::repository_choices::repository_choices;
use crate::rules::{RulesForm, Sample, Tried, check, try_on};
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
    /// The schedules that go by them.
    pub(super) users: Vec<(i64, String)>,
    pub(super) form: RulesForm,
    pub(super) repositories: Vec<(String, String)>,
    pub(super) tried: Option<Tried>,
    /// What somebody else saved meanwhile.
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
            repositories: repository_choices(state, "choose one").await?,
            tried: None,
            conflict: None,
            errors: Errors::default(),
        })
    }

    /// Notes what is wrong with what is to be saved or tried.
    pub(super) fn check(&mut self) {
        let form = &self.form;
        if form.is_no_text {
            let message = "the file is no text in UTF-8; save it so, and send it again";
            self.errors.add("content", message);
            return;
        }
        let mut errors = Errors::default();
        check(self.kind, form.name.trim(), &form.content, &mut errors);
        // Somebody who only tries may think of a name later.
        if let Some(error) = errors.of("name").filter(|_| form.action != "try") {
            self.errors.add("name", error);
        }
        if let Some(error) = errors.of("content") {
            self.errors.add("content", error);
        }
    }

    /// Tries the rules on the record that was chosen.
    pub(super) async fn try_out(&mut self, state: &ConsoleState) -> Result<(), Problem> {
        let form = &self.form;
        let sample = match form.sample.as_str() {
            "pasted" => Sample::Pasted(form.xml.clone()),
            "held" => match form.record.trim().parse() {
                Ok(id) => Sample::Held(id),
                Err(_) => {
                    self.errors.add(
                        "record",
                        "give the number of a record, as its address has it",
                    );
                    return Ok(());
                }
            },
            _ => Sample::Live {
                repository: form.repository.parse().unwrap_or_default(),
                metadata_prefix: form.metadata_prefix.trim().to_owned(),
                identifier: Some(form.identifier.trim().to_owned()).filter(|text| !text.is_empty()),
            },
        };
        match try_on(state, self.kind, &self.form.content, sample).await? {
            Ok(tried) => self.tried = Some(tried),
            Err((field, message)) => self.errors.add(field, message),
        }
        Ok(())
    }

    fn samples(&self) -> [(&'static str, &'static str); 3] {
        [
            ("live", "a live record of a repository"),
            ("held", "a record that was harvested"),
            ("pasted", "XML that I paste"),
        ]
    }
}
