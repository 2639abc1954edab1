//! `/repositories/{id}/edit`: corrects where a repository answers.

use askama::Template;
use axum::extract::State;
use catalog::Repository;
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::problem::Answer;
use crate::repositories::{NO_REPOSITORY, ask, called, change_base_url, repository};
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
    let repository = repository(&state, id).await?;
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
    let mut answer = Edit {
        who,
        repository: repository(&state, id).await?,
        base_url: parameters.base_url.trim().to_owned(),
        errors: Errors::default(),
    };
    let changed = match ask(&state, &answer.base_url).await {
        Ok(description) => change_base_url(&state, &answer.who, id, description).await,
        Err(problem) => Err(problem),
    };
    match changed {
        Ok(repository) => {
            let message = format!(
                "{} answers at {}.",
                called(&repository),
                repository.base_url
            );
            Ok(done(&format!("/repositories/{id}"), message))
        }
        Err(problem) if matches!(problem.code, NO_REPOSITORY | "busy") => {
            answer.errors.add("base_url", problem.message);
            form_again(&answer)
        }
        Err(problem) if problem.code == "conflict" => {
            let message = "Another repository of this catalog answers there already.";
            answer.errors.add("base_url", message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}
