//! The files of this machine that may be imported, to pick from.

use std::path::{Path, PathBuf};

use catalog::Role;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Actor, Context, Refusal};

/// A directory of files that may be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SourceDirectory {
    /// The directory; absent for the list of `import.roots`.
    pub path: Option<String>,
    /// The directory above it, unless it is one of `import.roots`.
    pub parent: Option<String>,
    /// Its entries, directories first, at most 1000.
    pub items: Vec<SourceFile>,
    /// Whether there is more in it.
    pub is_more: bool,
}

/// A file or directory that may be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// The whole path, as an import names it.
    pub path: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// The size of a file in bytes.
    pub size: Option<u64>,
}

/// Lists a directory below one of `import.roots`; without a directory, the roots themselves.
pub async fn browse(
    context: &Context,
    actor: &Actor,
    directory: Option<&str>,
) -> Result<SourceDirectory, Refusal> {
    actor.require(Role::Operator)?;
    let roots = context.settings().imports.roots.clone();
    if roots.is_empty() {
        return Err(Refusal::conflict(NO_ROOTS));
    }
    let Some(directory) = directory.map(str::trim).filter(|text| !text.is_empty()) else {
        let items = roots.iter().map(|root| root_of(root)).collect();
        return Ok(SourceDirectory {
            path: None,
            parent: None,
            items,
            is_more: false,
        });
    };
    let path = PathBuf::from(directory);
    let is_root = roots.contains(&path);
    let shown = path.display().to_string();
    let looked = tokio::task::spawn_blocking(move || {
        let found = flows::browse_sources(&roots, &path, MOST);
        found.map(|found| (path, found))
    });
    let looked = looked.await.map_err(anyhow::Error::from)?;
    let (path, (found, is_more)) = looked
        .map_err(|error| Refusal::invalid("path", format!("`{shown}` cannot be shown: {error}")))?;
    let parent = path.parent().filter(|_| !is_root);
    let items = found.into_iter().map(|file| SourceFile {
        name: file.name,
        path: file.path.display().to_string(),
        is_directory: file.is_directory,
        size: file.size,
    });
    Ok(SourceDirectory {
        parent: parent.map(|parent| parent.display().to_string()),
        path: Some(shown),
        items: items.collect(),
        is_more,
    })
}

fn root_of(root: &Path) -> SourceFile {
    let path = root.display().to_string();
    SourceFile {
        name: path.clone(),
        path,
        is_directory: true,
        size: None,
    }
}

const NO_ROOTS: &str = "there is nothing to browse: name directories in import.roots of the configuration, and start garner again";
const MOST: usize = 1000;
