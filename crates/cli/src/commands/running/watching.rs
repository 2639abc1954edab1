//! Answers for monitoring, for `garner up`, `garner worker` and `garner serve --catalog`.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use console::Watch;
use flows::Holdings;
use operations::Context;
use operations::monitoring::Monitoring;
use tokio::net::TcpListener;

use crate::config::Config;

/// Monitoring of the holdings, with what this process counts.
pub(crate) fn watch(config: &Config, holdings: &Arc<Holdings>) -> anyhow::Result<Watch> {
    let context = Context::interactive(Arc::clone(holdings));
    let counters = server::counters()?;
    let token = config.admin.token()?;
    Ok(Watch::guarded(Monitoring::new(context), token, counters))
}

/// Answers monitoring at an address of its own until the process ends.
pub(crate) async fn serve_watch(
    address: SocketAddr,
    config: &Config,
    holdings: &Arc<Holdings>,
) -> anyhow::Result<()> {
    let watch = watch(config, holdings)?.for_operators();
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!(
            "cannot listen at {address}; choose another address with --admin-listen or admin.listen"
        )
    })?;
    eprintln!("metrics are at http://{}/metrics", listener.local_addr()?);
    tokio::spawn(console::serve_watch(
        listener,
        watch,
        std::future::pending(),
    ));
    Ok(())
}
