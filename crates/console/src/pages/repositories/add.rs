//! `/repositories/new`: a repository is asked about itself, and added if it is the right one.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use catalog::Repository;
use jobs::SelfDescription;
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::filters;
use crate::friends::Friend;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::repositories::{NO_REPOSITORY, ask, called, keep};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    base_url: String,
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    base_url: String,
    /// What was shown can be asked for by this.
    #[serde(default)]
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
}

/// What a repository says of itself.
struct Preview {
    token: String,
    known: Option<Repository>,
    base_url: String,
    facts: Vec<(&'static str, String)>,
    formats: Option<String>,
    sets: Option<usize>,
}

impl Add {
    fn new(state: &ConsoleState, who: Who, base_url: &str) -> Self {
        Self {
            who,
            base_url: base_url.trim().to_owned(),
            friends: state.friends().known(state.outside()),
            errors: Errors::default(),
            preview: None,
        }
    }
}

impl Preview {
    async fn new(
        state: &ConsoleState,
        who: &Who,
        description: SelfDescription,
    ) -> Result<Self, Problem> {
        let identity = description.identity().clone();
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
        let formats = description.formats().map(|formats| {
            let prefixes = formats.iter().map(|format| format.metadata_prefix.as_str());
            prefixes.collect::<Vec<_>>().join(", ")
        });
        let base_url = description.base_url().to_owned();
        Ok(Self {
            known: state.catalog().repository_at(&base_url).await?,
            facts: facts.collect(),
            formats,
            sets: description.sets().map(<[_]>::len),
            token: state.previews().keep(who.account.id, description)?,
            base_url,
        })
    }
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    page(&Add::new(&state, who, &parameters.base_url))
}

/// `POST /repositories/new`: asks it, and shows what it says.
pub(crate) async fn preview(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let mut answer = Add::new(&state, who, &parameters.base_url);
    if answer.base_url.is_empty() {
        answer
            .errors
            .add("base_url", "Type in where the repository answers.");
        return form_again(&answer);
    }
    match ask(&state, &answer.base_url).await {
        Ok(description) => {
            let preview = Preview::new(&state, &answer.who, description).await?;
            answer.preview = Some(preview);
            page(&answer)
        }
        Err(problem) if problem.code == NO_REPOSITORY => {
            answer.errors.add("base_url", problem.message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}

/// `POST /repositories`: adds it. If what it said is forgotten meanwhile, it is asked again.
pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let description = match state.previews().take(who.account.id, &wanted.preview) {
        Some(description) => description,
        None => match ask(&state, &wanted.base_url).await {
            Ok(description) => description,
            Err(problem) if problem.code == NO_REPOSITORY => {
                let mut answer = Add::new(&state, who, &wanted.base_url);
                answer.errors.add("base_url", problem.message);
                return form_again(&answer);
            }
            Err(problem) => return Err(problem),
        },
    };
    let repository = keep(&state, &who, description).await?;
    let place = format!("/repositories/{}", repository.id);
    let message = format!(
        "{} is added. Schedule its harvests next.",
        called(&repository)
    );
    Ok(done(&place, message))
}
