//! `/repositories/{id}/edit`: corrects the base URL of a repository.

use askama::Template;
use axum::extract::State;
use operations::repositories::{self, Repository};
use serde::Deserialize;

use super::ask;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    base_url: String,
}

#[derive(Template)]
#[template(path = "repository_edit.html")]
struct Edit {
    who: Who,
    repository: Repository,
    base_url: String,
    errors: Errors,
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let repository = repositories::show(state.context(), id).await?;
    page(&Edit {
        who,
        base_url: repository.base_url.clone(),
        repository,
        errors: Errors::default(),
    })
}

/// Asks at the new address first: a typing error must not make a repository unreachable.
pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let context = state.context();
    let repository = repositories::show(context, id).await?;
    let changed = match ask(&state, &parameters.base_url).await {
        Ok(description) => {
            repositories::change_base_url(context, &who.actor(), id, description).await
        }
        Err(refusal) => Err(refusal),
    };
    match changed {
        Ok(changed) => {
            let message = format!("{} answers at {}.", changed.title(), changed.base_url);
            Ok(done(&format!("/repositories/{id}"), message))
        }
        Err(refusal) => form_again(&Edit {
            errors: Errors::of_form(refusal)?,
            who,
            repository,
            base_url: parameters.base_url.trim().to_owned(),
        }),
    }
}
