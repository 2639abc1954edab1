//! `--sort` and `--descending`, for every list.

use clap::Args;
use operations::Paging;

/// The order of a list
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Sorting {
    /// Sort by this column; a wrong name lists the right ones
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
    /// Print the largest or latest first
    #[arg(long)]
    pub(crate) descending: bool,
}

impl Sorting {
    /// All rows in this order.
    pub(crate) fn paging(&self) -> Paging {
        Paging {
            sort: self.sort.clone(),
            descending: Some(self.descending),
            ..Paging::default()
        }
    }
}
