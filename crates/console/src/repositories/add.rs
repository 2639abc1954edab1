//! `/repositories/new`: a repository is asked about itself, and added if it is the right one.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use operations::repositories::{self, Preview, Repository};
use serde::Deserialize;

use super::ask;
use super::friends::Friend;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::filters;
use crate::parts::Errors;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    base_url: String,
    /// The token of a preview that was shown.
    preview: String,
}

#[derive(Template)]
#[template(path = "repository_new.html")]
struct Add {
    who: Who,
    base_url: String,
    friends: Arc<Vec<Friend>>,
    errors: Errors,
    preview: Option<Preview>,
    /// The token of the preview.
    token: String,
    /// The repository of the preview, if it is known already.
    known: Option<Repository>,
}

/// Repositories to choose from: those of the configured list, else the well-known ones.
fn choices(state: &ConsoleState) -> Arc<Vec<Friend>> {
    if state.outside().friends.is_some() {
        return state.friends().known(state.outside());
    }
    let known = repositories::well_known("").into_iter();
    let friends = known.map(|known| Friend {
        base_url: known.base_url.to_owned(),
        name: Some(format!("{}, {}", known.name, known.country)),
    });
    Arc::new(friends.collect())
}

impl Add {
    fn new(state: &ConsoleState, who: Who, base_url: &str) -> Self {
        Self {
            who,
            base_url: base_url.trim().to_owned(),
            friends: choices(state),
            errors: Errors::default(),
            preview: None,
            token: String::new(),
            known: None,
        }
    }

    fn facts(&self, preview: &&Preview) -> Vec<(&'static str, String)> {
        let identity = preview.identity.clone();
        let facts = [
            ("Name", identity.name),
            ("Protocol", identity.protocol_version),
            ("E-mail", Some(identity.admin_emails.join(", "))),
            ("Earliest record", identity.earliest_datestamp),
            ("Deleted records", identity.deleted_record),
            ("Granularity", identity.granularity),
        ];
        let facts = facts.into_iter().filter_map(|(name, fact)| {
            let fact = fact.filter(|fact| !fact.is_empty())?;
            Some((name, fact))
        });
        facts.collect()
    }
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    page(&Add::new(&state, who, &parameters.base_url))
}

/// `POST /repositories/new`: asks it, and shows its answers.
pub(crate) async fn preview(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let mut answer = Add::new(&state, who, &parameters.base_url);
    let description = match ask(&state, &answer.base_url).await {
        Ok(description) => description,
        Err(refusal) => {
            answer.errors = Errors::of_form(refusal)?;
            return form_again(&answer);
        }
    };
    let (context, actor) = (state.context(), answer.who.actor());
    let preview = repositories::preview(context, &actor, &description).await?;
    if let Some(id) = preview.known {
        answer.known = Some(repositories::show(context, id).await?);
    }
    answer.preview = Some(preview);
    answer.token = state.previews().keep(answer.who.account.id, description)?;
    page(&answer)
}

/// `POST /repositories`: adds it. A preview that is forgotten meanwhile is asked for again.
pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(wanted): Form<Parameters>,
) -> Answer {
    let description = match state.previews().take(who.account.id, &wanted.preview) {
        Some(description) => Ok(description),
        None => ask(&state, &wanted.base_url).await,
    };
    let added = match description {
        Ok(description) => {
            repositories::add(state.context(), &who.actor(), description, None).await
        }
        Err(refusal) => Err(refusal),
    };
    match added {
        Ok(added) => {
            let place = format!("/repositories/{}", added.repository.id);
            Ok(done(&place, "Repository added. Next: set a schedule."))
        }
        Err(refusal) => form_again(&Add {
            errors: Errors::of_form(refusal)?,
            ..Add::new(&state, who, &wanted.base_url)
        }),
    }
}
