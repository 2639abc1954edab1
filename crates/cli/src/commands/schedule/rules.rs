//! Filter files and mapping files on their way into the catalog, where schedules find them.

use std::path::Path;

use anyhow::{Context, bail};
use catalog::RulesKind;
use harvester::filter::Filters;
use harvester::normalise::Mappings;
use jobs::Holdings;

pub(super) use catalog::RulesKind as Kind;

/// The number of the rules that somebody names by number or by file; none if the name is empty.
///
/// A file is read now: what it says later changes nothing. The same text is kept once.
pub(super) fn chosen(
    holdings: &Holdings,
    kind: RulesKind,
    named: &str,
) -> anyhow::Result<Option<i64>> {
    if named.is_empty() {
        return Ok(None);
    }
    let catalog = holdings.catalog();
    if let Ok(number) = named.parse::<i64>() {
        let rules = holdings.wait(catalog.rules_of(number))?;
        let what = kind.name();
        let rules = rules.filter(|rules| rules.kind == kind);
        rules.with_context(|| format!("there is no {what} with the number {number}"))?;
        return Ok(Some(number));
    }
    let content = std::fs::read_to_string(named)
        .with_context(|| format!("`{named}` cannot be read as text"))?;
    match kind {
        RulesKind::Filter => Filters::parse(content.as_bytes()).map(drop),
        RulesKind::Mapping => Mappings::parse(content.as_bytes()).map(drop),
    }
    .with_context(|| named.to_owned())?;

    let known = holdings.wait(catalog.rules(Some(kind)))?;
    if let Some(same) = known.iter().find(|rules| rules.content == content) {
        return Ok(Some(same.id));
    }
    let file = Path::new(named).file_name();
    let file = file.map_or(named.into(), |name| name.to_string_lossy());
    let further = (2..=known.len() + 2).map(|number| format!("{file} ({number})"));
    let mut names = std::iter::once(file.to_string()).chain(further);
    let free = names.find(|name| known.iter().all(|rules| rules.name != *name));
    let Some(name) = free else {
        bail!("no name is free for `{file}`; give the file another");
    };
    let added = catalog.add_rules(kind, &name, &content, Some(super::add::BY));
    Ok(Some(holdings.wait(added)?.id))
}
