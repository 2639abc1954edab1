//! The command line as an actor: one line for each operation.

use std::sync::Arc;

use flows::Holdings;
use operations::{Actor, Context, Refusal};

use crate::commands::holdings_options::HoldingsOptions;

/// The data directory, and the user who runs the command.
pub(crate) struct Operating {
    pub(crate) holdings: Arc<Holdings>,
    pub(crate) context: Context,
    pub(crate) actor: Actor,
}

impl Operating {
    /// Opens a data directory that is there.
    pub(crate) fn open(options: &HoldingsOptions) -> anyhow::Result<Self> {
        Ok(Self::on(options.open()?))
    }

    /// Works on `holdings`.
    pub(crate) fn on(holdings: Holdings) -> Self {
        let holdings = Arc::new(holdings);
        Self {
            context: Context::new(Arc::clone(&holdings)),
            holdings,
            actor: Actor::command_line(),
        }
    }

    /// Waits for an operation.
    pub(crate) fn wait<T>(
        &self,
        operation: impl Future<Output = Result<T, Refusal>>,
    ) -> anyhow::Result<T> {
        Ok(self.holdings.wait(operation)?)
    }
}
