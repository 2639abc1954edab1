//! `/lists/new` and `/lists/{id}`: a list added, read, changed, compared and removed.

use askama::Template;
use axum::extract::State;
use catalog::ListKind;
use operations::Refusal;
use operations::lists::{
    self, CompareQuery, ListPatch, ListsQuery, NewList, UrlList, UrlListComparison,
};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path, Query};
use crate::parts::{Confirm, Errors};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Template)]
#[template(path = "url_list.html")]
struct ListPage {
    who: Who,
    heading: String,
    action: String,
    known: Option<UrlList>,
    others: Vec<(String, String)>,
    kind: &'static str,
    name: String,
    version: String,
    /// None if it is too long for a form.
    content: Option<String>,
    errors: Errors,
}

#[derive(Template)]
#[template(path = "url_lists_compared.html")]
struct ComparePage {
    who: Who,
    compared: UrlListComparison,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListForm {
    kind: String,
    name: String,
    content: String,
    version: String,
}

pub(crate) async fn new(Operator(who): Operator, Query(asked): Query<Parameters>) -> Answer {
    let kind = ListKind::parse(&asked.kind).unwrap_or(ListKind::Blacklist);
    page(&new_page(who, kind, ListForm::default()))
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<ListForm>,
) -> Answer {
    let kind = ListKind::parse(&form.kind);
    let kind = kind.ok_or_else(|| Refusal::invalid("kind", "it is blacklist or whitelist"))?;
    let new = NewList {
        kind,
        name: form.name.clone(),
        content: form.content.clone(),
    };
    match lists::add(state.context(), &who.actor(), &new).await {
        Ok(list) => {
            let message = format!("The {} {} is saved.", kind.name(), list.name);
            Ok(done("/lists", message))
        }
        Err(refusal) => form_again(&ListPage {
            errors: Errors::of_form(refusal)?,
            ..new_page(who, kind, form)
        }),
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&known_page(&state, who, id).await?)
}

pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(form): Form<ListForm>,
) -> Answer {
    let version = form.version.parse();
    let version = version.map_err(|_| Refusal::invalid("version", "give the one that was seen"))?;
    let patch = ListPatch {
        version: Some(version),
        name: Some(form.name.clone()),
        content: Some(form.content.clone()),
        ..ListPatch::default()
    };
    match lists::change(state.context(), &who.actor(), id, &patch).await {
        Ok(list) => {
            let message = format!("The {} {} is changed.", list.kind.name(), list.name);
            Ok(done("/lists", message))
        }
        Err(refusal) => form_again(&ListPage {
            errors: Errors::of_form(refusal)?,
            name: form.name,
            content: Some(form.content),
            version: form.version,
            ..known_page(&state, who, id).await?
        }),
    }
}

pub(crate) async fn compare(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(query): Query<CompareQuery>,
) -> Answer {
    let compared = lists::compare(state.context(), id, query.with, MOST_NAMED).await?;
    page(&ComparePage { who, compared })
}

pub(crate) async fn confirm_removal(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let list = lists::show(state.context(), id).await?;
    let kind = list.kind.name();
    page(&Confirm {
        who,
        question: format!("Remove the {kind} {}?", list.name),
        losses: vec![format!("Its {} entries.", list.entries)],
        verb: format!("Remove the {kind}"),
        action: format!("/lists/{id}/remove"),
        back: format!("/lists/{id}"),
    })
}

pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let list = lists::remove(state.context(), &who.actor(), id).await?;
    let message = format!("The {} {} is removed.", list.kind.name(), list.name);
    Ok(done("/lists", message))
}

fn new_page(who: Who, kind: ListKind, form: ListForm) -> ListPage {
    ListPage {
        who,
        heading: format!("New {}", kind.name()),
        action: "/lists".to_owned(),
        known: None,
        others: Vec::new(),
        kind: kind.name(),
        name: form.name,
        version: String::new(),
        content: Some(form.content),
        errors: Errors::default(),
    }
}

async fn known_page(state: &ConsoleState, who: Who, id: i64) -> Result<ListPage, Problem> {
    let context = state.context();
    let known = lists::show(context, id).await?;
    let others = lists::list(context, ListsQuery::default()).await?;
    let others = others.into_iter().filter(|other| other.id != id);
    let others = others.map(|other| (other.id.to_string(), other.name));
    let text = lists::text(context, id).await?;
    Ok(ListPage {
        who,
        heading: known.name.clone(),
        action: format!("/lists/{id}"),
        others: others.collect(),
        kind: known.kind.name(),
        name: known.name.clone(),
        version: known.version.to_string(),
        content: Some(text).filter(|text| text.len() <= LONGEST),
        known: Some(known),
        errors: Errors::default(),
    })
}

impl ListPage {
    fn hint(&self) -> &'static str {
        match self.kind {
            "whitelist" => "A URL on each line; comments begin with #.",
            _ => "A host or the beginning of a URL on each line; comments begin with #.",
        }
    }
}

impl ComparePage {
    fn is_mixed(&self) -> bool {
        self.compared.first.kind != self.compared.second.kind
    }
}

const MOST_NAMED: usize = 1000;
/// A form that is longer is a burden for browsers.
const LONGEST: usize = 256 << 10;
