//! The blacklists of an import that are kept in the catalog.

use anyhow::Context as _;
use catalog::ListKind;

use super::ImportOrder;
use crate::Holdings;

impl ImportOrder {
    /// Reads the blacklists that are named, as the catalog has them now.
    pub fn read_lists(&mut self, holdings: &Holdings) -> anyhow::Result<()> {
        if self.lists.is_empty() {
            return Ok(());
        }
        let catalog = holdings.catalog();
        let mut all = String::new();
        for name in &self.lists {
            let list = holdings.wait(catalog.url_list_named(name))?;
            let list = list.filter(|list| list.kind == ListKind::Blacklist);
            let list = list.with_context(|| {
                format!("no blacklist `{name}` is kept in the catalog; garner lists list shows those that are")
            })?;
            let text = holdings.wait(catalog.url_list_text(list.id))?;
            all.push_str(&text.unwrap_or_default());
            all.push('\n');
        }
        self.listed = Some(all);
        Ok(())
    }
}
