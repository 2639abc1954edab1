//! Errors of the protocol in place of a page.

use oai::ErrorCode;

use super::run::Harvest;
use super::tally::Pass;
use super::window::Cut;
use crate::Quirk;
use crate::client::{code, refusal};
use crate::error::{Error, Incompatibility, Misbehaviour};
use crate::read::Report;
use crate::record::LeftOut;

impl Harvest {
    /// Takes the errors of the protocol.
    pub(super) fn refused(&mut self, report: Report) -> Result<(), Error> {
        let Some(window) = self.state.windows.last().cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&window);
        let borrowed: Vec<_> = arguments
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let request = self.repository.request(&borrowed);
        let Some(error) = refusal(&report, &borrowed).map(|error| error.at(&request)) else {
            return Ok(());
        };
        let code = code(&report).and_then(Result::ok);
        let resumed = window.token.is_some();
        match code {
            Some(ErrorCode::NoRecordsMatch) => self.no_records_match(report, resumed),
            Some(ErrorCode::CannotDisseminateFormat) => self.no_format(report, error),
            Some(_) if resumed => self.expired(report),
            // Quirk: repositories whose earliestDatestamp is that of today, and that refuse what is before it. Nothing is
            // older by their own word, so all of it is asked for.
            Some(ErrorCode::BadArgument)
                if window.from < self.state.earliest && self.asks_without_from() =>
            {
                self.page.quirks.merge(report.quirks);
                Ok(())
            }
            Some(ErrorCode::NoSetHierarchy | ErrorCode::BadVerb) => Err(error),
            _ if self.asks_without_dates() => {
                self.page.quirks.merge(report.quirks);
                Ok(())
            }
            _ if resumed || window.part => {
                self.page.quirks.add(Quirk::UnknownErrorCode);
                self.page.quirks.merge(report.quirks);
                self.narrow(&error, report.bytes)
            }
            _ => Err(error),
        }
    }

    /// Asks for the current list with days instead of seconds, or else without `from`; whether there is a way.
    pub(super) fn asks_without_dates(&mut self) -> bool {
        let Some(window) = self.state.windows.last() else {
            return false;
        };
        if window.token.is_some() || window.part || window.pass != Pass::First {
            return false;
        }
        // Quirk: repositories that tell seconds and refuse them.
        if !self.state.days && (window.from.is_some() || window.until.is_some()) {
            self.page.quirks.add(Quirk::GranularityRefused);
            self.state.days = true;
            return true;
        }
        self.asks_without_from()
    }

    /// Asks for the whole list instead of a part; whether it was a part.
    fn asks_without_from(&mut self) -> bool {
        let Some(window) = self.state.windows.last_mut() else {
            return false;
        };
        if window.from.take().is_none() {
            return false;
        }
        window.tally.begin = None;
        // Days were refused as well, so it was not for the granularity.
        if self.page.quirks.remove(Quirk::GranularityRefused) {
            self.state.days = false;
        }
        self.page.quirks.add(Quirk::FromRefused);
        true
    }

    fn no_records_match(&mut self, report: Report, resumed: bool) -> Result<(), Error> {
        if resumed {
            self.page.quirks.add(Quirk::ListEndsWithError);
            let missing = self.missing();
            if missing != Some(0) && self.begin_behind_what_came() {
                self.page.quirks.merge(report.quirks);
                let reason = "the list ended with an error".to_owned();
                self.push_page(report.bytes, None, Some(reason));
                return Ok(());
            }
            if let Some(missing @ 1..) = missing
                && !self.state.ordered()
            {
                self.page.quirks.add(Quirk::WrongCompleteListSize);
                let window = self.state.windows.last();
                if window.is_some_and(|window| window.restarts == 0) {
                    return self.expired(report);
                }
                self.lose_rest(missing);
            }
        } else if self.state.given == 0 && !self.state.windows.iter().any(|w| w.part) {
            self.check_set()?;
        }
        self.note_time(&report, None);
        self.page.quirks.merge(report.quirks);
        // That a small part is empty does not mean that parts can be read.
        if self.state.windows.last().is_some_and(|window| !window.part) {
            self.state.failures = 0;
        }
        self.end_list(report.bytes, None);
        Ok(())
    }

    /// How many records of the current list did not come; `None` if it never said how many there are.
    fn missing(&self) -> Option<u64> {
        let window = self.state.windows.last()?;
        Some(window.announced?.saturating_sub(window.given))
    }

    /// Tells that a list has ended early, and has so when it was begun anew.
    fn lose_rest(&mut self, missing: u64) {
        let granularity = self.state.granularity();
        let window = self.state.windows.last();
        let dates = window.map(|window| window.dates(granularity));
        self.state.holes += 1;
        self.leave_out(LeftOut {
            identifier: None,
            dates,
            reason: format!("the list ended with noRecordsMatch where {missing} more were due"),
        });
    }

    /// A set that has vanished is not the same as one without news.
    fn check_set(&self) -> Result<(), Error> {
        let Some(wanted) = &self.state.plan.set else {
            return Ok(());
        };
        let set = oai::SetSpec::parse(wanted);
        let respelled = set.map_or(wanted.clone(), |set| set.respelled().to_string());
        for set in self.repository.list_sets() {
            // A repository that cannot list its sets is taken at its word.
            let Ok(set) = set else {
                return Ok(());
            };
            for wanted in [wanted, &respelled] {
                let below = set.set_spec.strip_prefix(wanted.as_str());
                if below.is_some_and(|rest| rest.is_empty() || rest.starts_with(':')) {
                    return Ok(());
                }
            }
        }
        Err(Incompatibility::Set(wanted.clone()).into())
    }

    /// A format that no record has is not the same as one that does not exist.
    fn no_format(&mut self, report: Report, error: Error) -> Result<(), Error> {
        let formats = self.repository.list_metadata_formats(None);
        let Ok(formats) = formats else {
            return Err(error);
        };
        let prefix = &self.state.plan.metadata_prefix;
        if formats
            .iter()
            .any(|format| &format.metadata_prefix == prefix)
        {
            return self.no_records_match(report, false);
        }
        let offered = formats.into_iter().map(|format| format.metadata_prefix);
        Err(Incompatibility::MetadataPrefix {
            prefix: prefix.clone(),
            offered: offered.collect(),
        }
        .into())
    }

    /// A token that does not work any longer: goes on by date.
    pub(super) fn expired(&mut self, report: Report) -> Result<(), Error> {
        self.page.quirks.merge(report.quirks);
        self.page.quirks.add(Quirk::TokenExpired);
        let Some(mut window) = self.state.windows.pop() else {
            return Ok(());
        };
        let size = window.tally.size;
        let progress = window.restart(self.state.ordered(), self.state.granularity());
        window.restarts += 1;
        self.forget_list();
        if window.pass == Pass::Check {
            self.lose_check(window, &Misbehaviour::TokensExpire.into())?;
            self.close_patch();
        } else if progress || window.restarts == 1 {
            if !progress {
                self.listed.forget();
            }
            self.state.windows.push(window);
        } else {
            // Smaller lists are done before their tokens expire.
            self.listed.forget();
            self.learn_until();
            self.open_patch(&window, size, "the resumptionToken expired", false);
            match self.cut(&window, None) {
                Cut::Halves(halves) => self.push_halves(*halves),
                Cut::Grain if window.restarts > MOST_RESTARTS => {
                    return Err(Misbehaviour::TokensExpire.into());
                }
                Cut::Grain => self.state.windows.push(window),
            }
        }
        let reason = "the resumptionToken did not work any longer".to_owned();
        self.decide(|| format!("{reason}; beginning this part of the list again"));
        self.push_page(report.bytes, None, Some(reason));
        Ok(())
    }
}

const MOST_RESTARTS: u32 = 3;
