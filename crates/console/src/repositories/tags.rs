//! `/repositories/tags`: adds tags to repositories and removes others.

use askama::Template;
use axum::extract::State;
use operations::repositories::{self, Repository, TagChange, read_tags};
use serde::Deserialize;

use crate::dress::{form_again, page};
use crate::extract::{Form, Query};
use crate::parts::Errors;
use crate::parts::table::{BulkForm, bulk_done};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Template)]
#[template(path = "repository_tags.html")]
struct TagsPage {
    who: Who,
    repositories: Vec<Repository>,
    /// Tags that are known.
    known: Vec<String>,
    form: TagForm,
    errors: Errors,
}

/// The chosen repositories, and their tags.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<(String, String)>")]
pub(crate) struct TagForm {
    ids: Vec<i64>,
    add: String,
    remove: String,
}

impl From<Vec<(String, String)>> for TagForm {
    fn from(fields: Vec<(String, String)>) -> Self {
        let given = |wanted: &str| {
            let found = fields.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        Self {
            add: given("add"),
            remove: given("remove"),
            ids: BulkForm::from(fields).ids,
        }
    }
}

impl TagsPage {
    async fn new(
        state: &ConsoleState,
        who: Who,
        form: TagForm,
        errors: Errors,
    ) -> Result<Self, Problem> {
        let mut repositories = Vec::with_capacity(form.ids.len());
        for id in &form.ids {
            repositories.push(repositories::show(state.context(), *id).await?);
        }
        let known = repositories::tags(state.context()).await?;
        Ok(Self {
            who,
            repositories,
            known: known.into_iter().map(|tag| tag.tag).collect(),
            form,
            errors,
        })
    }
}

/// `GET /repositories/tags?id=1&id=2`
pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(form): Query<TagForm>,
) -> Answer {
    page(&TagsPage::new(&state, who, form, Errors::default()).await?)
}

/// `POST /repositories/tags`
pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<TagForm>,
) -> Answer {
    let change = TagChange {
        add: read_tags(&form.add),
        remove: read_tags(&form.remove),
    };
    let mut results = Vec::with_capacity(form.ids.len());
    for id in &form.ids {
        let changed = repositories::change_tags(state.context(), &who.actor(), *id, &change).await;
        match changed {
            // A tag that cannot be one is wrong for all of them.
            Err(refusal) if refusal.is_mistake() => {
                let errors = Errors::of_form(refusal)?;
                return form_again(&TagsPage::new(&state, who, form, errors).await?);
            }
            changed => results.push((*id, changed.map(drop))),
        }
    }
    bulk_done(
        "/repositories",
        ["repository", "repositories"],
        "tagged",
        results,
    )
}
