//! Templates of imports: settings that are kept under a name, to be filled into a form, an order or a command.

use catalog::{Role, SavedKind};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{Actor, Context, ImportPatch, Listed, Refusal, Time, read_fields};

/// Settings of an import that are kept under a name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImportTemplate {
    /// Its name.
    pub name: String,
    /// The settings; those that are not given are as they are configured.
    #[schema(value_type = ImportPatch)]
    pub import: Map<String, Value>,
    /// When it was saved.
    pub changed: Time,
    /// The account that saved it.
    pub changed_by: Option<String>,
}

impl ImportTemplate {
    /// Its settings as a patch.
    pub fn patch(&self) -> Result<ImportPatch, Refusal> {
        let (patch, mistakes) = read_fields(self.import.clone());
        Refusal::unless_empty(mistakes)?;
        Ok(patch)
    }
}

/// All templates, by name.
pub async fn templates(context: &Context) -> Result<Listed<ImportTemplate>, Refusal> {
    let rows = context.catalog().saved(SavedKind::Import).await?;
    let read: Result<Vec<_>, _> = rows.into_iter().map(read).collect();
    Ok(Listed::all(read?))
}

/// The template of a name.
pub async fn template(context: &Context, name: &str) -> Result<ImportTemplate, Refusal> {
    let name = name.trim();
    let row = context.catalog().saved_as(SavedKind::Import, name).await?;
    read(row.ok_or_else(|| unknown(name))?)
}

/// Keeps settings under a name, instead of others of that name.
pub async fn save_template(
    context: &Context,
    actor: &Actor,
    name: &str,
    import: &Map<String, Value>,
) -> Result<ImportTemplate, Refusal> {
    actor.require(Role::Operator)?;
    let name = crate::saved_name(name)?;
    // A setting that nobody can read is no template.
    let (_, mistakes) = read_fields::<ImportPatch>(import.clone());
    Refusal::unless_empty(mistakes)?;
    let content = serde_json::to_string(import).map_err(anyhow::Error::from)?;
    if content.len() > LONGEST {
        return Err(Refusal::invalid(
            "import",
            "the settings are too long; name directories instead of files",
        ));
    }
    let by = Some(actor.name.as_str());
    let row = context
        .catalog()
        .save(SavedKind::Import, &name, &content, by)
        .await?;
    let subject = format!("import template `{name}`");
    context
        .audit(actor, "import.template", subject, Some(content))
        .await;
    read(row)
}

/// Forgets a template.
pub async fn remove_template(context: &Context, actor: &Actor, name: &str) -> Result<(), Refusal> {
    actor.require(Role::Operator)?;
    let name = name.trim();
    if !context
        .catalog()
        .remove_saved(SavedKind::Import, name)
        .await?
    {
        return Err(unknown(name));
    }
    let subject = format!("import template `{name}`");
    context
        .audit(actor, "import.template.remove", subject, None)
        .await;
    Ok(())
}

fn read(row: catalog::Saved) -> Result<ImportTemplate, Refusal> {
    Ok(ImportTemplate {
        import: serde_json::from_str(&row.content).map_err(anyhow::Error::from)?,
        name: row.name,
        changed: Time(row.changed),
        changed_by: row.changed_by,
    })
}

fn unknown(name: &str) -> Refusal {
    Refusal::not_found(format!("no import template is saved as `{name}`"))
}

const LONGEST: usize = 256 << 10;
