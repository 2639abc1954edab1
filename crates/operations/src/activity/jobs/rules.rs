//! Filter files and mapping files on their way into the catalog, where schedules and jobs find them.

use std::path::Path;

use catalog::RulesKind;
use flows::HarvestOrder;
use flows::rules::{ReadRules, RulesName};

use crate::{Actor, Context, Mistake, Refusal};

/// Puts the files that `order` names into the catalog. A file is read now: later changes of it change nothing. The same
/// text is kept once.
pub(crate) async fn adopt(
    context: &Context,
    actor: &Actor,
    order: &mut HarvestOrder,
) -> Result<(), Refusal> {
    for (field, kind, rules) in [
        ("filter", RulesKind::Filter, &mut order.filter),
        ("normalise", RulesKind::Mapping, &mut order.normalise),
    ] {
        if let Some(RulesName::File(file)) = rules {
            let number = number(context, actor, field, kind, file).await?;
            *rules = Some(RulesName::Number(number));
        }
    }
    Ok(())
}

async fn number(
    context: &Context,
    actor: &Actor,
    field: &'static str,
    kind: RulesKind,
    file: &Path,
) -> Result<i64, Refusal> {
    let shown = file.display();
    let content = std::fs::read_to_string(file).map_err(|error| {
        Mistake::new(field, format!("`{shown}` cannot be read as text: {error}"))
    })?;
    ReadRules::parse(content.as_bytes(), Some(kind))
        .map_err(|error| Mistake::new(field, format!("{shown}: {}", flows::message(&error))))?;
    let catalog = context.catalog();
    let known = catalog.rules(Some(kind)).await?;
    if let Some(same) = known.iter().find(|rules| rules.content == content) {
        return Ok(same.id);
    }
    let name = file
        .file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy();
    let further = (2..=known.len() + 2).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_string()).chain(further);
    let free = names.find(|name| known.iter().all(|rules| rules.name != *name));
    let name = free.unwrap_or_else(|| name.to_string());
    let by = Some(actor.name.as_str());
    let rules = catalog.add_rules(kind, &name, &content, by).await?;
    let subject = format!("{} {} ({})", kind.name(), rules.id, rules.name);
    context.audit(actor, "rules.add", subject, None).await;
    Ok(rules.id)
}
