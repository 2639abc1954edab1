//! Which imports somebody may order. Paths are files of the machine, so that not everybody may name any.

use std::path::PathBuf;

use catalog::{ListKind, Role};
use flows::{ImportOrder, Mistake};

use crate::{Actor, Channel, Code, Context, Refusal};

/// Which imports may be ordered, and their defaults.
#[derive(Debug, Clone, Default)]
pub struct ImportRules {
    /// Directories that operators may name something in; admins name any file of the machine.
    pub roots: Vec<PathBuf>,
    /// The import order of the configuration file.
    pub default: ImportOrder,
}

impl ImportRules {
    /// The places that operators may name: below the roots, and those of the configuration itself. Nothing without
    /// roots.
    pub fn within(&self) -> Vec<PathBuf> {
        if self.roots.is_empty() {
            return Vec::new();
        }
        let configured = self.default.files().into_iter();
        let configured = configured.map(|(_, path)| path.to_owned());
        self.roots.iter().cloned().chain(configured).collect()
    }

    /// Refuses an actor that may not order any import.
    pub fn require(&self, actor: &Actor) -> Result<(), Refusal> {
        let is_operator = actor.role >= Role::Operator && !self.roots.is_empty();
        match actor.role >= Role::Admin || is_operator {
            true => Ok(()),
            false => Err(Refusal::new(Code::Forbidden, NOT_ALLOWED)),
        }
    }
}

/// Checks an import that `actor` orders, and confines it to the places that the actor may name: workers check them
/// again. An order that is the same as `before` may stay, whoever changes the times of its schedule.
pub(crate) async fn permit(
    context: &Context,
    actor: &Actor,
    order: &mut ImportOrder,
    before: Option<&ImportOrder>,
) -> Result<Vec<Mistake>, Refusal> {
    if let Some(before) = before {
        order.within.clone_from(&before.within);
        if order.text()? == before.text()? {
            return Ok(Vec::new());
        }
    }
    let rules = &context.settings().imports;
    rules.require(actor)?;
    let mut mistakes = order.check();
    if order.paths.len() > MOST_PATHS {
        let reason = format!("more than {MOST_PATHS}; name the directory that they lie in");
        mistakes.push(Mistake::new("paths", reason));
    }
    let is_admin = actor.role >= Role::Admin;
    let usual = before.map_or(&rules.default.collection, |before| &before.collection);
    if !is_admin && order.collection != *usual {
        let reason = "only admins choose where documents go; leave it as it is";
        mistakes.push(Mistake::new("collection", reason));
    }
    let usual = before.map_or(&rules.default.no_database, |before| &before.no_database);
    if !is_admin && order.no_database != *usual {
        let reason = "only admins choose a folder beside the collection; leave it as it is";
        mistakes.push(Mistake::new("no_database", reason));
    }
    for name in &order.lists {
        let list = context.catalog().url_list_named(name).await?;
        if list.is_none_or(|list| list.kind != ListKind::Blacklist) {
            let reason =
                format!("no blacklist `{name}` is kept; garner lists list shows those that are");
            mistakes.push(Mistake::new("lists", reason));
        }
    }
    if !mistakes.is_empty() {
        return Ok(mistakes);
    }
    order.within = match is_admin {
        true => Vec::new(),
        false => rules.within(),
    };
    let (order, channel) = (order.clone(), actor.channel);
    let looked = tokio::task::spawn_blocking(move || look(&order, channel)).await;
    Ok(looked
        .map_err(anyhow::Error::from)?
        .err()
        .into_iter()
        .collect())
}

/// Finds files that are missing or elsewhere. Relative paths mean another place to each process; the command line makes
/// them whole.
fn look(order: &ImportOrder, channel: Channel) -> Result<(), Mistake> {
    order.check_places()?;
    for (field, path) in order.files() {
        if matches!(flows::is_remote(path), Ok(true)) {
            continue;
        }
        let shown = path.display();
        if !path.is_absolute() && channel != Channel::CommandLine {
            let reason = format!("`{shown}` is not a whole path; begin it with /");
            return Err(Mistake::new(field, reason));
        }
        if let Err(error) = std::fs::metadata(path) {
            let reason = format!("`{shown}` cannot be read: {error}");
            return Err(Mistake::new(field, reason));
        }
    }
    if order.texts.content_filter
        && let Err(error) = flows::load_model(order.texts.model.as_deref())
    {
        return Err(Mistake::new("model", flows::message(&error)));
    }
    Ok(())
}

const NOT_ALLOWED: &str = "only admins name files to be imported; operators may where import.roots of the \
     configuration names directories for them";
/// Longer lists belong into a directory.
const MOST_PATHS: usize = 1000;
