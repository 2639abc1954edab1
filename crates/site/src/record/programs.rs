//! The last answers of programs. Lists tell the media type by them and skip programs whose GET is refused, without
//! running anything.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::index::findings::Finding;
use crate::index::{Reader, Row, State};
use crate::view::SiteView;
use crate::{DynamicPolicy, Error, Look, NotFetched, Origin, Served};

/// The status of a program's last answer to one requester.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct LastAnswer {
    status: u16,
    /// When, in seconds since 1970.
    at: i64,
}

/// Adds to an origin's word on a row what is remembered of the program behind it. `who` is the requester, none if it
/// has no credentials.
pub(crate) fn remembered(
    reader: &Reader<'_>,
    row: &Row,
    who: Option<i64>,
    policy: DynamicPolicy,
    look: Look,
) -> Result<Look, Error> {
    let Look::Served(served) = look else {
        return Ok(look);
    };
    if served.dynamic.unwrap_or(policy) != DynamicPolicy::Processed {
        return Ok(Look::Served(served));
    }
    Ok(match last_answer(reader, row, who)? {
        Some(LastAnswer { status, .. }) if status != OK => {
            Look::NotServed(format!("the server answers {status}"))
        }
        _ => Look::Served(with_type(reader, row, served)?),
    })
}

impl SiteView<'_> {
    /// The looks at rows, with what is remembered of programs. One that failed long ago is tried again: it must not
    /// be offered before it works, and not be left out for ever.
    pub(crate) fn with_answers(
        &self,
        origin: &dyn Origin,
        rows: &[Row],
        looks: Vec<Look>,
    ) -> Result<Vec<Look>, Error> {
        let there = rows.iter().filter(|row| row.state != State::Deleted);
        let with_answer = |(row, look): (&Row, Look)| {
            let policy = match row.dynamic {
                true => self.programs,
                false => DynamicPolicy::Off,
            };
            let fresh = matches!(&look, Look::Served(served)
                if served.dynamic.unwrap_or(policy) == DynamicPolicy::Processed);
            if fresh && self.works_again(origin, row)? {
                return Ok(look);
            }
            remembered(&self.reader, row, self.credentials(), policy, look)
        };
        there.zip(looks).map(with_answer).collect()
    }

    /// Remembers what a program answered to this requester.
    pub(crate) fn note_answer(&self, row: &Row, status: u16, media_type: Option<&str>) {
        if status == OK && self.is_known_to_work(row, media_type) {
            return;
        }
        let answer = LastAnswer {
            status,
            at: seconds_now(),
        };
        let mut findings = vec![(
            status_key(self.credentials()),
            serde_json::to_string(&answer),
        )];
        if let Some(media_type) = media_type {
            findings.push((TYPE.to_owned(), serde_json::to_string(media_type)));
        }
        for (key, outcome) in findings {
            let Ok(outcome) = outcome else { continue };
            self.findings.add(Finding {
                item: row.id,
                key,
                mark: row.mark,
                outcome,
            });
        }
        // It took long, or the next look depends on it.
        self.keep_findings();
    }

    /// Whether nothing new is learnt from a further good answer.
    fn is_known_to_work(&self, row: &Row, media_type: Option<&str>) -> bool {
        let last = last_answer(&self.reader, row, self.credentials());
        let kept = self.reader.plugin_result(row.id, TYPE, row.mark);
        let kept = kept.ok().flatten();
        let kept = kept.and_then(|text| serde_json::from_str::<String>(&text).ok());
        matches!(last, Ok(Some(LastAnswer { status: OK, .. })))
            && media_type.is_none_or(|media_type| kept.as_deref() == Some(media_type))
    }

    /// Runs a program again that failed long ago, a few for one answer.
    fn works_again(&self, origin: &dyn Origin, row: &Row) -> Result<bool, Error> {
        let last = last_answer(&self.reader, row, self.credentials())?;
        let overdue = |last: &LastAnswer| {
            last.status != OK && seconds_now().saturating_sub(last.at) >= TRIED_AGAIN_AFTER
        };
        if !last.as_ref().is_some_and(overdue) || self.retries.get() >= MOST_RETRIES {
            return Ok(false);
        }
        self.retries.set(self.retries.get() + 1);
        match origin.fetch(&self.requester, &row.path, LARGEST_TRIED) {
            Ok(_)
            | Err(NotFetched::Failed {
                headers: Some(_), ..
            }) => {
                self.note_answer(row, OK, None);
                Ok(true)
            }
            Err(NotFetched::Status(status)) => {
                self.note_answer(row, status, None);
                Ok(false)
            }
            Err(_) => Ok(false),
        }
    }

    /// The requester's number, unless it has no credentials.
    fn credentials(&self) -> Option<i64> {
        let requester = &self.requester;
        let bare = requester.authorization.is_none()
            && requester.cookie.is_none()
            && requester.keys.is_empty();
        (!bare).then(|| self.who())
    }
}

fn with_type(reader: &Reader<'_>, row: &Row, served: Served) -> Result<Served, Error> {
    if served.media_type.as_deref() != Some("") {
        return Ok(served);
    }
    let kept = reader.plugin_result(row.id, TYPE, row.mark)?;
    let media_type = kept.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Served {
        media_type: media_type.or(served.media_type),
        ..served
    })
}

fn last_answer(
    reader: &Reader<'_>,
    row: &Row,
    who: Option<i64>,
) -> Result<Option<LastAnswer>, Error> {
    let kept = reader.plugin_result(row.id, &status_key(who), row.mark)?;
    Ok(kept.and_then(|text| serde_json::from_str(&text).ok()))
}

fn status_key(who: Option<i64>) -> String {
    who.map_or_else(|| STATUS.to_owned(), |who| format!("{STATUS} {who:016x}"))
}

fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

/// The keys of findings about programs; no plug-in has a name with a blank.
const STATUS: &str = "program status";
const TYPE: &str = "program type";

const OK: u16 = 200;

/// After so many seconds a program that failed is run again to see whether it works.
const TRIED_AGAIN_AFTER: i64 = 3600;
/// How many of them are run for one answer.
const MOST_RETRIES: u32 = 4;
/// How much of its output is taken.
const LARGEST_TRIED: u64 = 1024 * 1024;
