//! Filters and mappings that are kept in the catalog: what pages and API do alike. Every change ends up in the audit
//! trail.

mod form;
mod trial;

use catalog::{Rules, RulesKind, Schedule, ScheduleQuery};
use harvester::filter::Filters;
use harvester::normalise::Mappings;

pub(crate) use self::form::RulesForm;
pub(crate) use self::trial::{Sample, Tried, try_on};

use crate::parts::Errors;
use crate::problem::Problem;
use crate::schedules::title;
use crate::state::ConsoleState;
use crate::who::Who;

/// The rules with this number.
pub(crate) async fn rules(state: &ConsoleState, id: i64) -> Result<Rules, Problem> {
    let rules = state.catalog().rules_of(id).await?;
    rules.ok_or_else(|| Problem::from(catalog::Error::UnknownRules { id }))
}

/// Notes what is wrong with rules.
pub(crate) fn check(kind: RulesKind, name: &str, content: &str, errors: &mut Errors) {
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control)
    {
        errors.add(
            "name",
            format!("a name has 1 to {LONGEST_NAME} characters, all in one line"),
        );
    }
    if let Err(message) = check_content(kind, content) {
        errors.add("content", message);
    }
}

/// What is wrong with the text of rules, with its line.
fn check_content(kind: RulesKind, content: &str) -> Result<(), String> {
    if content.trim().is_empty() {
        return Err("there is nothing in it; begin with the example of a new one".to_owned());
    }
    let read = match kind {
        RulesKind::Filter => Filters::parse(content.as_bytes()).map(drop),
        RulesKind::Mapping => Mappings::parse(content.as_bytes()).map(drop),
    };
    read.map_err(|malformed| malformed.to_string())
}

/// Adds rules, which have been checked.
pub(crate) async fn add(
    state: &ConsoleState,
    who: &Who,
    kind: RulesKind,
    name: &str,
    content: &str,
) -> Result<Rules, Problem> {
    let by = Some(who.account.name.as_str());
    let rules = state.catalog().add_rules(kind, name, content, by).await?;
    state.audit(who, "rules.add", subject(&rules), None).await;
    Ok(rules)
}

/// Writes rules anew that were seen in this version, and have been checked.
pub(crate) async fn change(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    version: i64,
    (name, content): (&str, &str),
) -> Result<Rules, Problem> {
    let by = Some(who.account.name.as_str());
    let rules = state
        .catalog()
        .change_rules(id, version, name, content, by)
        .await?;
    let details = Some(format!("version {}", rules.version));
    state
        .audit(who, "rules.change", subject(&rules), details)
        .await;
    Ok(rules)
}

/// Removes rules; refused while a schedule goes by them.
pub(crate) async fn remove(state: &ConsoleState, who: &Who, id: i64) -> Result<Rules, Problem> {
    let known = rules(state, id).await?;
    if !state.catalog().remove_rules(id).await? {
        return Err(catalog::Error::UnknownRules { id }.into());
    }
    state
        .audit(who, "rules.remove", subject(&known), None)
        .await;
    Ok(known)
}

/// Which schedules go by which rules: pairs of the number of the rules, and number and name of the schedule.
pub(crate) async fn users(state: &ConsoleState) -> Result<Vec<(i64, i64, String)>, Problem> {
    let schedules = state.catalog().schedules(&ScheduleQuery::default()).await?;
    let users = schedules.iter().flat_map(|schedule| {
        let rules = rules_of(schedule).into_iter().flatten();
        rules.map(|rules| (rules, schedule.id, title(schedule)))
    });
    Ok(users.collect())
}

fn rules_of(schedule: &Schedule) -> [Option<i64>; 2] {
    let parameters = jobs::HarvestParameters::parse(&schedule.settings.parameters);
    parameters.map_or([None, None], |parameters| {
        [parameters.filter, parameters.normalise]
    })
}

fn subject(rules: &Rules) -> String {
    format!("{} {} ({})", rules.kind.name(), rules.id, rules.name)
}

const LONGEST_NAME: usize = 100;

/// What new rules begin with.
pub(crate) fn example(kind: RulesKind) -> &'static str {
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
            check_content(kind, example(kind)).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_line() {
        for (content, said) in [
            ("", "nothing in it"),
            ("no XML", "line 1"),
            (
                "<filters match=\"any\">\n<filter xpath=\"//[\" regexp=\"\"/></filters>",
                "line 2",
            ),
            (
                "<filters match=\"any\">\n\n<filter xpath=\"//a\" regexp=\"(\"/></filters>",
                "line 3",
            ),
            ("<normalize/>", "must be <filters>"),
        ] {
            let error = check_content(RulesKind::Filter, content).unwrap_err();
            assert!(error.contains(said), "{content}: {error}");
        }
    }
}
