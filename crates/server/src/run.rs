//! Starts everything in order, answers until told to stop, and ends in order.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use connection::Limits;
use oai::TokenKey;
use provider::{PageLimits, Provider};
use site::{Followers, SharedOrigin, Site, SiteConfig, network};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::admin;
use crate::config::Config;
use crate::flow_control::FlowControl;
use crate::origin::HttpOrigin;
use crate::router::{self, State};
use crate::served::ServedSite;

/// How long open requests may go on after the order to stop.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(10);
/// The longest head of a request.
pub(crate) const LONGEST_HEAD: usize = 256 * 1024;

/// Where the server answers, once it does.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// Where the repository answers.
    pub base_url: String,
    /// The beginning of the URLs of the files.
    pub site_url: String,
    /// Items that are offered.
    pub items: u64,
    /// Files that are no records, where files are records.
    pub refused: usize,
    /// Where operators look.
    pub admin: Option<SocketAddr>,
    /// The site itself.
    pub site: ServedSite,
}

/// Serves a site until `stop` is ready.
///
/// `progress` is told the number of files looked at by the first scan; `ready` is called once when
/// requests are answered.
pub async fn run(
    config: Config,
    rebuild: bool,
    progress: impl Fn(u64) + Send + 'static,
    ready: impl FnOnce(&Addresses),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    config.check()?;
    let listener = bind(config.server.listen, "--listen or server.listen").await?;
    let admin_listener = match config.admin.listen {
        Some(address) => Some(bind(address, "admin.listen").await?),
        None => None,
    };
    let listening = listener.local_addr()?;
    let site_config = config.site(listening)?;
    let (site_url, base_url) = (site_config.site_url.clone(), site_config.base_url.clone());
    let origin = origin(&config, &site_config)?;
    if let Some(origin) = &origin {
        origin.check().await;
    }
    let origin = origin.map(|origin| origin as SharedOrigin);

    let mut stop = std::pin::pin!(stop);
    let opening =
        tokio::task::spawn_blocking(move || Site::open(site_config, origin, rebuild, &progress));
    let site = tokio::select! {
        site = opening => site.context("the site could not be opened")??,
        // The scan is crash-safe, so it can be left where it is.
        () = &mut stop => return Ok(()),
    };
    let followers = site.follow().context("the site cannot be watched")?;
    let (items, _) = site.totals()?;
    let state = Arc::new(state(config, site, &base_url)?);
    let handle = admin::install()?;
    let addresses = Addresses {
        base_url,
        site_url,
        items,
        refused: state
            .site
            .records()
            .map_or(0, |records| records.refused().len()),
        admin: admin_listener
            .as_ref()
            .and_then(|listener| listener.local_addr().ok()),
        site: ServedSite {
            state: Arc::clone(&state),
            listening,
        },
    };

    let control = &state.config.flow_control;
    let limits = Limits {
        connections: control.connections,
        per_client: control.connections_per_client,
        stall: Duration::from_secs(control.stall_seconds),
        head: LONGEST_HEAD,
        last_words: LAST_WORDS,
    };
    let (stopping, stopped) = watch::channel(());
    let admin_task = admin_listener.map(|listener| {
        let (state, handle) = (Arc::clone(&state), handle.clone());
        let handler = move |request, _| admin::route(Arc::clone(&state), handle.clone(), request);
        tokio::spawn(connection::serve(
            listener,
            limits,
            |_| false,
            handler,
            told(stopped.clone()),
        ))
    });
    let handler = {
        let state = Arc::clone(&state);
        move |request, peer| router::route(Arc::clone(&state), request, peer)
    };
    let is_proxy = {
        let state = Arc::clone(&state);
        move |address| network::address_in(&state.config.server.trusted_proxies, address)
    };
    let main_task = tokio::spawn(connection::serve(
        listener,
        limits,
        is_proxy,
        handler,
        told(stopped),
    ));
    ready(&addresses);
    stop.await;

    tracing::info!("stopping");
    drop(stopping);
    main_task.await?;
    if let Some(task) = admin_task {
        task.await?;
    }
    Ok(tokio::task::spawn_blocking(move || close(followers, &state.site)).await?)
}

/// The web server to stand beside, if there is one.
fn origin(config: &Config, site: &SiteConfig) -> anyhow::Result<Option<Arc<HttpOrigin>>> {
    let Some(url) = &config.origin.url else {
        return Ok(None);
    };
    let root = site.ground()?.root;
    let origin = HttpOrigin::new(url, &site.site_url, root, &config.origin)?;
    Ok(Some(Arc::new(origin)))
}

fn state(config: Config, site: Site, base_url: &str) -> anyhow::Result<State> {
    let name = config.repository.name.clone().unwrap_or_else(|| {
        let root = site.ground().root.path();
        let name = root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| "a web site".to_owned())
    });
    let provider = Provider {
        base_url: base_url.to_owned(),
        repository_name: name,
        admin_emails: config.admin_emails(),
        descriptions: config.repository.descriptions.clone(),
        compressions: vec!["gzip".to_owned()],
        limits: PageLimits {
            bytes: config.pages.bytes.0,
            identifiers: config.pages.identifiers,
            records: config.pages.records,
            seconds: config.pages.seconds,
            lookups: config.pages.lookups,
            ..PageLimits::default()
        },
        token_key: TokenKey::new(site.token_secret()),
    };
    let control = &config.flow_control;
    Ok(State {
        admin_token: config.admin.token()?,
        flow_control: Arc::new(FlowControl::new(control.lists, control.lists_per_client)),
        provider,
        site,
        config,
    })
}

fn close(followers: Followers, site: &Site) {
    drop(followers);
    if let Err(error) = site.close() {
        // Nothing is lost by it: the next start takes this one for a crash, and looks closer.
        tracing::error!("{error}");
    }
}

pub(crate) async fn bind(address: SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen at {address}; choose another address with {setting}")
    })
}

/// Ready when the sender is dropped.
pub(crate) async fn told(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}
