//! Serves a repository that is no site, at one path: OAI-PMH, lists of resources, and resources that it gives out.

use std::fmt::Debug;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use connection::{Limits, RequestBody};
use http::header::{HeaderValue, SERVER, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use oai::Verb;
use provider::{Outcome, assets};
use site::{Access, Requester, network};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::body::Body;
use crate::config::FlowControlConfig;
use crate::download::Resource;
use crate::flow_control::FlowControl;
use crate::resource_sync::DocumentRequest;
use crate::router::{asset, refuse_method, text, wait_for};
use crate::run::{LAST_WORDS, LONGEST_HEAD, bind, told};
use crate::streaming::{Answering, Question};
use crate::{client, oai_pmh};

/// A repository that answers for itself.
pub trait Repository: Debug + Send + Sync + 'static {
    /// Answers one question; this blocks.
    fn answer(
        &self,
        requester: &Requester,
        question: &Question,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error>;

    /// The resource at a path below the repository, such as `document/7`; this blocks.
    fn resource(&self, requester: &Requester, path: &str) -> Result<Resource, provider::Error>;

    /// The access rules.
    fn access(&self) -> &Access;

    /// The realm of the password without which a requester sees nothing at all.
    fn closed_to(&self, requester: &Requester) -> Option<String>;
}

/// How a repository is served.
#[derive(Debug, Clone)]
pub struct RepositoryConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The setting by which another address is chosen, for messages.
    pub setting: &'static str,
    /// The path at which it answers, `/oai` for instance.
    pub path: String,
    /// Proxies whose word on the client's address is taken.
    pub trusted_proxies: Vec<String>,
    /// How much may be asked at once.
    pub flow_control: FlowControlConfig,
}

#[derive(Debug)]
struct State {
    config: RepositoryConfig,
    repository: Arc<dyn Repository>,
    flow_control: Arc<FlowControl>,
}

/// Serves a repository until `stop` is ready. `make` is given the address that it answers at, before anything is
/// answered; `ready` is called when requests are.
pub async fn run_repository(
    config: RepositoryConfig,
    make: impl FnOnce(SocketAddr) -> anyhow::Result<Arc<dyn Repository>>,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let listener: TcpListener = bind(config.listen, config.setting).await?;
    let listening = listener.local_addr()?;
    let control = &config.flow_control;
    let limits = Limits {
        connections: control.connections,
        per_client: control.connections_per_client,
        stall: Duration::from_secs(control.stall_seconds),
        head: LONGEST_HEAD,
        last_words: LAST_WORDS,
    };
    let state = Arc::new(State {
        repository: make(listening)?,
        flow_control: Arc::new(FlowControl::new(control.lists, control.lists_per_client)),
        config,
    });
    let (stopping, stopped) = watch::channel(());
    let handler = {
        let state = Arc::clone(&state);
        move |request, peer| route(Arc::clone(&state), request, peer)
    };
    let is_proxy = {
        let state = Arc::clone(&state);
        move |address| network::address_in(&state.config.trusted_proxies, address)
    };
    let task = tokio::spawn(connection::serve(
        listener,
        limits,
        is_proxy,
        handler,
        told(stopped),
    ));
    ready(listening);
    stop.await;
    drop(stopping);
    Ok(task.await?)
}

async fn route(
    state: Arc<State>,
    request: Request<RequestBody>,
    peer: SocketAddr,
) -> Response<Body> {
    let requester = client::requester(peer.ip(), request.headers(), &state.config.trusted_proxies);
    let access = state.repository.access();
    let mut response = match access.begin_try(&requester) {
        Err(wait) => wait_for(requester.address, wait),
        Ok(attempt) => {
            let response = dispatch(&state, request, requester).await;
            if let Some(attempt) = attempt {
                access.end_try(&attempt);
            }
            response
        }
    };
    let server = HeaderValue::from_static(site::headers::SERVER);
    response.headers_mut().entry(SERVER).or_insert(server);
    response
}

async fn dispatch(
    state: &Arc<State>,
    request: Request<RequestBody>,
    requester: Requester,
) -> Response<Body> {
    let path = request.uri().path();
    let below = path.strip_prefix(state.config.path.as_str());
    let document = match below {
        Some(rest) => {
            let name = rest.strip_prefix('/');
            name.and_then(|name| DocumentRequest::below_repository(name, &request))
        }
        None => DocumentRequest::below_root(path, &request),
    };
    match (below, document) {
        (Some("" | "/"), _) => match refusal(state, &requester).await {
            None => oai_pmh::answer(state, request, requester).await,
            Some(refusal) => refusal,
        },
        (_, Some(document)) => match refusal(state, &requester).await {
            None => document.answer(state, requester).await,
            Some(refusal) => refusal,
        },
        (Some(rest), None) if rest.starts_with('/') => {
            let name = rest[1..].to_owned();
            match assets::find(&name) {
                Some(_) => asset(request.method(), &name),
                None => resource(state, &request, requester, name).await,
            }
        }
        _ => text(
            StatusCode::NOT_FOUND,
            &format!("this server answers OAI-PMH, at {}", state.config.path),
        ),
    }
}

/// Answers with a resource of the repository.
async fn resource(
    state: &Arc<State>,
    request: &Request<RequestBody>,
    requester: Requester,
    path: String,
) -> Response<Body> {
    if let Some(refusal) = refuse_method(request.method(), &[Method::GET, Method::HEAD]) {
        return refusal;
    }
    let repository = Arc::clone(&state.repository);
    let found = tokio::task::spawn_blocking(move || repository.resource(&requester, &path)).await;
    match found {
        Ok(Ok(Resource::Found(download))) => {
            let head_only = request.method() == Method::HEAD;
            let stall = Duration::from_secs(state.config.flow_control.stall_seconds);
            download.answer(request.headers(), head_only, stall).await
        }
        Ok(Ok(Resource::Nothing)) => text(
            StatusCode::NOT_FOUND,
            "there is nothing here; the repository answers one level up",
        ),
        Ok(Ok(Resource::Closed(realm))) => unauthorized(&realm),
        Ok(Err(error)) => {
            tracing::warn!("a resource is not given out: {error}");
            let message = "this cannot be given out at the moment; try again later";
            text(StatusCode::SERVICE_UNAVAILABLE, message)
        }
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "this cannot be answered"),
    }
}

/// The answer to a requester that may see nothing at all.
async fn refusal(state: &Arc<State>, requester: &Requester) -> Option<Response<Body>> {
    let asking = (Arc::clone(state), requester.clone());
    let closed = tokio::task::spawn_blocking(move || asking.0.repository.closed_to(&asking.1));
    match closed.await {
        Ok(None) => None,
        Ok(Some(realm)) => Some(unauthorized(&realm)),
        Err(_) => Some(text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this cannot be answered",
        )),
    }
}

fn unauthorized(realm: &str) -> Response<Body> {
    let mut response = text(StatusCode::UNAUTHORIZED, "this repository wants a password");
    let plain: String = realm.chars().filter(|c| !matches!(c, '"' | '\\')).collect();
    let challenge = HeaderValue::from_str(&format!("Basic realm=\"{plain}\", charset=\"UTF-8\""));
    let challenge = challenge.unwrap_or(HeaderValue::from_static("Basic realm=\"garner\""));
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

impl Answering for State {
    fn write(
        &self,
        requester: &Requester,
        question: &Question,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error> {
        self.repository.answer(requester, question, out)
    }

    fn takes_long(&self, verb: Verb) -> bool {
        !matches!(verb, Verb::Identify | Verb::ListMetadataFormats)
    }

    fn control(&self) -> &FlowControlConfig {
        &self.config.flow_control
    }

    fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }
}
