//! The decision of the content filter on the documents of a group: those that are not kept leave it.

use catalog::{CaptureRow, ContentRow, ImportCounters, JudgementRow};
use text::Outcome;

use super::{Content, Group, ReportLine};
use crate::import::examine::{SkipReason, Skipped, skipped};
use crate::import::judging::Verdict;
use crate::import::review::RejectedDocument;

impl Group {
    /// Waits until all of its documents are judged. `None` if some never will be, because somebody wants the import to stop:
    /// the group comes again.
    pub(in crate::import) fn resolve(mut self) -> anyhow::Result<Option<Self>> {
        let is_waiting = |content: &Content| content.ticket.is_some();
        if !self.contents.iter().flatten().any(is_waiting) {
            return Ok(Some(self));
        }
        let rows = std::mem::take(&mut self.rows);
        let contents = std::mem::take(&mut self.contents);
        let mut rows: Vec<_> = rows.into_iter().zip(contents).map(Some).collect();
        for told in std::mem::take(&mut self.told) {
            let ReportLine::Row(at) = told else {
                self.told.push(told);
                continue;
            };
            let Some((row, content)) = rows.get_mut(at).and_then(Option::take) else {
                continue;
            };
            if !self.settle(row, content)? {
                return Ok(None);
            }
        }
        Ok(Some(self))
    }

    /// Keeps a row or leaves it; `false` if nobody knows which.
    fn settle(&mut self, row: CaptureRow, content: Option<Content>) -> anyhow::Result<bool> {
        let Some(mut content) = content else {
            self.push(row, None);
            return Ok(true);
        };
        let Some(ticket) = content.ticket.take() else {
            self.push(row, Some(content));
            return Ok(true);
        };
        let judged = ticket.wait();
        if let Some(row) = &judged.row {
            count(&mut self.counters, row);
        }
        let is_rejected = judged.row.is_some() && matches!(judged.verdict, Verdict::Refused(_));
        let refusal = match judged.verdict {
            Verdict::Kept => None,
            Verdict::Refused(reason) => Some(skipped(SkipReason::Content, reason)),
            Verdict::NoText(reason) => Some(skipped(SkipReason::NoText, reason)),
            Verdict::Broken(reason) => Some(skipped(SkipReason::Unreadable, reason)),
            Verdict::Stopped => return Ok(false),
            Verdict::Fatal(error) => return Err(error),
        };
        self.judgements.extend(judged.row.clone());
        if let Some(refusal) = refusal {
            let refusal = Skipped {
                member: row.member.clone(),
                ..refusal
            };
            self.leave(&row.url, &content.place, &refusal);
            if is_rejected {
                content.held = judged.held;
                content.text = judged.text;
                self.rejected.push(RejectedDocument { row, content });
            }
            return Ok(true);
        }
        if let Some(judgement) = &judged.row {
            self.counters.saved_set_aside += u64::from(judgement.is_aside);
            content.met.judge(judgement);
        }
        content.held = judged.held;
        content.text = judged.text.filter(|_| !is_text(&row));
        self.push(row, Some(content));
        Ok(true)
    }
}

/// A document that is text lies where its text would.
pub(in crate::import) fn is_text(row: &CaptureRow) -> bool {
    matches!(&row.content, ContentRow::Bytes { extension, .. } if extension == "txt")
}

fn count(counters: &mut ImportCounters, row: &JudgementRow) {
    let counter = match Outcome::parse(&row.outcome) {
        Some(Outcome::Text) => return,
        Some(Outcome::Encrypted) => &mut counters.text_encrypted,
        Some(Outcome::Damaged) => &mut counters.text_damaged,
        Some(Outcome::Empty) => &mut counters.text_empty,
        Some(Outcome::ImageOnly) => &mut counters.text_image_only,
        Some(Outcome::Limit(_)) => &mut counters.text_limit,
        Some(Outcome::EngineMissing) => &mut counters.text_engine_missing,
        Some(Outcome::Unsupported | Outcome::Failed) | None => &mut counters.text_failed,
    };
    *counter += 1;
}
