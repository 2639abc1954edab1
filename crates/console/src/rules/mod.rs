//! Filters and mappings: the list, the form with its trial, and the removal.

pub(crate) mod add;
pub(crate) mod api;
pub(crate) mod edit;
mod fields;
mod form;
pub(crate) mod list;
pub(crate) mod remove;
mod trial;

use catalog::{RulesKind, Schedule, ScheduleQuery};

use crate::problem::Problem;
use crate::schedules::title;
use crate::state::ConsoleState;

/// The schedules that use rules: the number of the rules, and number and name of the schedule.
async fn users(state: &ConsoleState) -> Result<Vec<(i64, i64, String)>, Problem> {
    let schedules = state.catalog().schedules(&ScheduleQuery::default()).await?;
    let users = schedules.iter().flat_map(|schedule| {
        let rules = rules_of(schedule).into_iter().flatten();
        rules.map(|rules| (rules, schedule.id, title(schedule)))
    });
    Ok(users.collect())
}

fn rules_of(schedule: &Schedule) -> [Option<i64>; 2] {
    let parameters = flows::HarvestOrder::parse(&schedule.settings.parameters);
    parameters.map_or([None, None], |parameters| {
        let rules = [parameters.filter, parameters.normalise];
        rules.map(|rules| rules.and_then(|rules| rules.number()))
    })
}

/// The text of new rules.
fn example(kind: RulesKind) -> &'static str {
    match kind {
        RulesKind::Filter => FILTER,
        RulesKind::Mapping => MAPPING,
    }
}

const FILTER: &str = r#"<filters match="any">
  <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
  <filter xpath="//dc:subject" regexp="lighthouse|beacon" ignoreCase="true" />
</filters>
"#;

const MAPPING: &str = r#"<normalize>
  <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
  <mapping xpath="//dc:format">
    <newElement regexp="jpe?g|gif|png|tiff?" ignoreCase="true" name="dc:type">
      <newValue>image</newValue>
    </newElement>
  </mapping>
</normalize>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_can_be_used() {
        for kind in [RulesKind::Filter, RulesKind::Mapping] {
            let record = b"<record><metadata/></record>";
            operations::rules::try_on(Some(kind), example(kind).as_bytes(), record).unwrap();
        }
    }
}
