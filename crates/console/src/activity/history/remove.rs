//! `/history/remove`: removes chosen or old entries, after a page that says what is lost.

use axum::extract::{RawQuery, State};
use jobs::Retention;
use operations::harvests::{self, HarvestState};
use serde::Deserialize;

use crate::dress::{done, page};
use crate::extract::Query;
use crate::parts::{Confirm, Link};
use crate::problem::{Answer, Problem};
use crate::runs::compare::chosen;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// Numbers with commas between them.
    #[serde(default)]
    ids: String,
    #[serde(default)]
    days: String,
}

/// `GET /history/remove?id=3&id=7` or `?days=365`
pub(crate) async fn confirm(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    RawQuery(query): RawQuery,
) -> Answer {
    let arguments = oai::Arguments::parse(query.as_deref().unwrap_or_default());
    match arguments.get("days") {
        Some(days) => confirm_old(who, &state, number_of_days(days)?),
        None => confirm_chosen(who, &state, chosen(query.as_deref())).await,
    }
}

/// `POST /history/remove`
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Answer {
    let removed = match wanted.days.as_str() {
        "" => {
            let ids: Vec<i64> = wanted
                .ids
                .split(',')
                .filter_map(|id| id.parse().ok())
                .collect();
            // The page before this said what is lost.
            harvests::remove(state.context(), &who.actor(), &ids, true).await?
        }
        days => {
            let days = number_of_days(days)?;
            harvests::remove_old(state.context(), &who.actor(), days).await?
        }
    };
    let message = match removed.removed {
        0 => "There was nothing to remove.".to_owned(),
        1 => "One entry is removed.".to_owned(),
        number => format!("{number} entries are removed."),
    };
    Ok(done("/runs/all?kind=harvest", message))
}

fn confirm_old(who: Who, state: &ConsoleState, days: u32) -> Answer {
    page(&Confirm {
        who,
        question: format!("Remove entries that ended more than {days} days ago?"),
        losses: vec![
            "The counts, quirks and warnings of those harvests.".to_owned(),
            "Records stay. So does the last entry of each repository, format and set, and the one that the next harvest continues from.".to_owned(),
            retention(state.config().retention),
        ],
        verb: "Remove old entries".to_owned(),
        action: Link::to("/history/remove").with("days", days).to_string(),
        back: "/runs/all?kind=harvest".to_owned(),
    })
}

async fn confirm_chosen(who: Who, state: &ConsoleState, ids: Vec<i64>) -> Answer {
    if ids.is_empty() {
        return Err(Problem::invalid(
            "choose the harvests that are to be removed",
        ));
    }
    if ids.len() > MOST {
        return Err(Problem::invalid(format!("choose at most {MOST} at a time")));
    }
    let mut losses = Vec::new();
    for id in &ids {
        let harvest = harvests::show(state.context(), *id).await?;
        let (base_url, prefix) = (&harvest.base_url, &harvest.metadata_prefix);
        let (state_name, is_running) =
            (harvest.state.name(), harvest.state == HarvestState::Running);
        let what = format!("Harvest {id} of {base_url}, {prefix} ({state_name})");
        let is_needed = harvests::is_needed(state.context(), &harvest).await?;
        losses.push(match (is_running, is_needed) {
            (true, _) => format!("{what}: it is running; cancel it first."),
            (_, true) => format!("{what}: the next incremental harvest continues from it, and would fetch everything anew."),
            (_, false) => format!("{what}."),
        });
    }
    losses.push("Records stay.".to_owned());
    let list: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let question = match list.as_slice() {
        [one] => format!("Remove harvest {one} from the history?"),
        all => format!("Remove {} entries from the history?", all.len()),
    };
    page(&Confirm {
        who,
        question,
        losses,
        verb: "Remove from the history".to_owned(),
        action: Link::to("/history/remove")
            .with("ids", list.join(","))
            .to_string(),
        back: "/runs/all?kind=harvest".to_owned(),
    })
}

/// How long entries are kept, as it is configured.
fn retention(retention: Retention) -> String {
    match retention.history_days {
        None => "Entries are kept until somebody removes them; history.keep_days in the configuration does so automatically.".to_owned(),
        Some(days) => format!("Entries that ended more than {days} days ago are removed automatically (history.keep_days)."),
    }
}

fn number_of_days(text: &str) -> Result<u32, Problem> {
    let days = text.trim().parse().ok().filter(|days| *days <= 36_500);
    days.ok_or_else(|| Problem::invalid("give a number of days from 0 to 36500"))
}

const MOST: usize = 100;
