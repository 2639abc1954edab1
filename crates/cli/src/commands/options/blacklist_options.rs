//! Options that name blacklists.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use operations::lists;

/// The blacklists that a command goes by.
#[derive(Debug, Args)]
pub(crate) struct BlacklistOptions {
    /// File with a host or a URL prefix on each line, and comments behind #; - is stdin
    #[arg(long, value_name = "FILE")]
    blacklist: Vec<PathBuf>,
    /// Name of a blacklist that is kept in the catalog: see garner lists
    #[arg(long = "list", value_name = "NAME")]
    pub(crate) lists: Vec<String>,
}

impl BlacklistOptions {
    /// Whether none is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.blacklist.is_empty() && self.lists.is_empty()
    }

    /// The texts of all files, one behind the other. A mistake names the file that it is in.
    pub(crate) fn text(&self) -> anyhow::Result<Option<String>> {
        let mut all = String::new();
        for path in &self.blacklist {
            let text = read_list(path)?;
            let named = || format!("in `{}`", path.display());
            lists::check_blacklist(&text).with_context(named)?;
            match all.is_empty() {
                true => all = text,
                false => all.extend(["\n", &text]),
            }
        }
        Ok((!self.blacklist.is_empty()).then_some(all))
    }
}

/// The text of a file with a list, or of stdin.
pub(crate) fn read_list(path: &Path) -> anyhow::Result<String> {
    let named = || format!("cannot read `{}`", path.display());
    let bytes = match path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
            bytes
        }
        false => std::fs::read(path).with_context(named)?,
    };
    lists::decode(bytes).with_context(named)
}
