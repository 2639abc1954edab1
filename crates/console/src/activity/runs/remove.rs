//! `/runs/remove`: removes chosen runs that are over, after a page that says what is lost.

use axum::extract::{RawQuery, State};
use operations::runs::{self, Run, RunState};
use serde::Deserialize;

use super::compare::chosen;
use crate::api::Reply;
use crate::dress::{done, page};
use crate::extract::{Path, Query};
use crate::parts::{Confirm, Link};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// Numbers with commas between them.
    #[serde(default)]
    ids: String,
}

/// `GET /runs/remove?id=3&id=7`
pub(crate) async fn confirm(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    RawQuery(query): RawQuery,
) -> Answer {
    let ids = chosen(query.as_deref());
    if ids.is_empty() {
        return Ok(done(
            LIST,
            "No run was chosen. Tick the boxes of the rows first.".to_owned(),
        ));
    }
    if ids.len() > MOST {
        return Err(Problem::invalid(format!("choose at most {MOST} at a time")));
    }
    let (mut losses, mut kept) = (Vec::new(), Vec::new());
    for id in &ids {
        let run = runs::show(state.context(), *id).await?;
        match run.state.is_over() {
            true => {
                losses.push(loss(&run));
                kept.push(id.to_string());
            }
            false => losses.push(format!(
                "Run {id} is {} and stays; stop it first.",
                run.state.name()
            )),
        }
    }
    if kept.is_empty() {
        let message = "Nothing was deleted: none of the chosen runs is over.";
        return Ok(done(LIST, message.to_owned()));
    }
    losses.push(
        "Their counts, logs and problems go with them. Records and documents stay.".to_owned(),
    );
    page(&Confirm {
        who,
        question: match kept.as_slice() {
            [one] => format!("Delete run {one}?"),
            all => format!("Delete {} runs?", all.len()),
        },
        losses,
        verb: "Delete".to_owned(),
        action: Link::to("/runs/remove")
            .with("ids", kept.join(","))
            .to_string(),
        back: LIST.to_owned(),
    })
}

/// `POST /runs/remove?ids=3,7`
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Answer {
    let ids = wanted.ids.split(',').filter_map(|id| id.parse().ok());
    let ids: Vec<i64> = ids.take(MOST).collect();
    let removed = runs::remove(state.context(), &who.actor(), &ids).await?;
    let message = match removed.removed {
        0 => "No run was chosen.".to_owned(),
        1 => "1 run deleted.".to_owned(),
        number => format!("{number} runs deleted."),
    };
    Ok(done(LIST, message))
}

/// Removes a run that is over, with what the history has of it; records and documents stay
#[utoipa::path(delete, path = "/api/v1/runs/{id}", tag = "runs", operation_id = "remove_run",
    params(("id" = i64, Path)), responses((status = 200, body = operations::harvests::Removed)))]
pub(crate) async fn remove_one(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<operations::harvests::Removed> {
    let removed = runs::remove(state.context(), &who.actor(), &[id]).await?;
    Ok(axum::Json(removed))
}

fn loss(run: &Run) -> String {
    let what = format!(
        "Run {}: {} of {} ({})",
        run.id,
        run.what,
        run.title,
        run.state.name()
    );
    let is_needed =
        matches!(run.state, RunState::Ok | RunState::Incomplete) && run.harvest.is_some();
    match is_needed {
        true => format!(
            "{what}. If it is the last of its kind, the next harvest fetches everything anew."
        ),
        false => format!("{what}."),
    }
}

const LIST: &str = "/runs/all";
const MOST: usize = 200;
