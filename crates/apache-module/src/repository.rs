//! The repositories of this process: one for each virtual host that was asked, opened when it is first asked.
//!
//! The index is shared with all other processes; what is kept here is the way to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oai::TokenKey;
use provider::{Description, PageLimits, Provider};
use site::{Addresses, DynamicPolicy, OfferConfig, Origin, Sharing, Site, SiteConfig, Symlinks};

use crate::config::{ServerConfig, Space};
use crate::httpd::text;
use crate::origin::ApacheOrigin;
use crate::request::Request;
use crate::{servers, sys, threads};

/// The repository of one virtual host.
pub(crate) struct Repository {
    pub(crate) site: Site,
    name: String,
    admin_emails: Vec<String>,
    descriptions: Vec<Description>,
    limits: PageLimits,
    pub(crate) freshness: Duration,
    space: Mutex<Space>,
}

/// A place for a repository; locked while it is opened.
type Slot = Arc<Mutex<Option<Arc<Repository>>>>;

/// By the address of the server record, which stays where it is as long as this process lives.
static REPOSITORIES: Mutex<BTreeMap<usize, Slot>> = Mutex::new(BTreeMap::new());

/// When the configuration was read, in microseconds. The processes of an earlier one go on for a while, but the
/// index is not theirs any more.
static GENERATION: AtomicI64 = AtomicI64::new(0);

/// Notes that the configuration has just been read.
pub(crate) fn begin_generation() {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
    // Later than the last one even if the clock was set back.
    let next = now.max(GENERATION.load(Ordering::Acquire) + 1);
    GENERATION.store(next, Ordering::Release);
}

/// Lets go of everything, at the beginning of a process.
pub(crate) fn forget_all() {
    locked(&REPOSITORIES).clear();
}

impl Repository {
    /// The repository of the virtual host that a request came to.
    pub(crate) fn of(request: Request<'_>) -> Result<Arc<Self>, site::Error> {
        let slot = Arc::clone(
            locked(&REPOSITORIES)
                .entry(request.server().addr())
                .or_default(),
        );
        let mut repository = locked(&slot);
        if let Some(repository) = &*repository {
            return Ok(Arc::clone(repository));
        }
        let opened = Arc::new(Self::open(request)?);
        *repository = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// The same if it is open already, and nobody opens it right now.
    pub(crate) fn opened(request: Request<'_>) -> Option<Arc<Self>> {
        let slot = locked(&REPOSITORIES)
            .get(&request.server().addr())
            .cloned()?;
        let repository = slot.try_lock().ok()?;
        repository.clone()
    }

    fn open(request: Request<'_>) -> Result<Self, site::Error> {
        let config = request.server_config();
        let space = Space::of(config, request.document_root());
        let state_dir = config.state_dir();
        // The directories of users were not looked at when the configuration was checked.
        let checked = space.check_state_dir(&state_dir);
        checked.map_err(site::Error::Config)?;
        let host = Host::of(request.server());
        let site_config = site_config(config, &space, &host);
        let ground = Arc::new(site_config.ground()?);
        // SAFETY: the request is being handled, and the origin is gone when the site is open.
        let origin =
            unsafe { ApacheOrigin::new(request.raw(), Arc::clone(&ground), request.requester()) };
        let site = Site::open_through(ground, site_config, &origin)?;
        let admin_emails = match config.admin_emails.is_empty() {
            true => vec![host.admin()],
            false => config.admin_emails.clone(),
        };
        Ok(Self {
            site,
            name: config.repository_name.clone().unwrap_or(host.name),
            admin_emails,
            descriptions: config.descriptions.clone(),
            limits: config.page_limits(),
            freshness: config.freshness(),
            space: Mutex::new(space),
        })
    }

    /// Brings the index up to date, if it is older than it may be. However old that is, once under each configuration
    /// the files are looked at.
    pub(crate) fn refresh(
        &self,
        freshness: Duration,
        request: Request<'_>,
        origin: &dyn Origin,
    ) -> Result<(), site::Error> {
        self.site.refresh(freshness, origin, || {
            // Users come and go.
            let space = Space::of(request.server_config(), request.document_root());
            let mut known = locked(&self.space);
            if *known != space {
                self.site.ground().set_mounts(space.mounts.clone());
                *known = space;
            }
        })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The provider as it is reached by this requester.
    pub(crate) fn provider(&self, request: Request<'_>, addresses: &Addresses) -> Provider {
        Provider {
            base_url: addresses.base_url.clone(),
            repository_name: self.name.clone(),
            admin_emails: self.admin_emails.clone(),
            descriptions: self.descriptions.clone(),
            compressions: request.compressions(),
            limits: self.limits,
            token_key: TokenKey::new(self.site.token_secret()),
        }
    }
}

/// A virtual host by its name.
struct Host {
    name: String,
    port: u16,
    /// The address it answers at, where another one has the same name and port.
    address: Option<String>,
    admin: Option<String>,
}

impl Host {
    fn of(server: *const sys::server_rec) -> Self {
        let mut host = Self::by_name(server);
        let twin = |other: *const sys::server_rec| {
            let other_host = Self::by_name(other);
            other != server && other_host.name == host.name && other_host.port == host.port
        };
        if servers::all().any(twin) {
            // SAFETY: the server belongs to the present configuration; the text is copied.
            host.address = unsafe {
                let addresses = (*server).addrs.as_ref();
                addresses.and_then(|address| text(address.virthost))
            };
        }
        host
    }

    fn by_name(server: *const sys::server_rec) -> Self {
        // SAFETY: the server belongs to the present configuration; the texts are copied.
        unsafe {
            let server = &*server;
            let port = server.addrs.as_ref().map(|address| address.host_port);
            Self {
                name: text(server.server_hostname).unwrap_or_else(|| "localhost".to_owned()),
                port: [port, Some(server.port)]
                    .into_iter()
                    .flatten()
                    .find(|port| *port != 0)
                    .unwrap_or(HTTP),
                address: None,
                admin: text(server.server_admin),
            }
        }
    }

    /// The directory of its index.
    fn directory(&self) -> PathBuf {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || "-.".contains(c) {
                c
            } else {
                '_'
            }
        };
        let address = self.address.as_deref();
        let address = address.map_or(String::new(), |address| format!("_{address}"));
        let name = format!("{}_{}{address}", self.name, self.port);
        let name: String = name.chars().map(safe).collect();
        PathBuf::from(name.trim_start_matches('.'))
    }

    /// Whom to write to: ServerAdmin, unless nobody has set it.
    fn admin(&self) -> String {
        let set = self.admin.clone().filter(|admin| admin.contains('@'));
        set.unwrap_or_else(|| format!("webmaster@{}", self.name))
    }
}

fn site_config(config: &ServerConfig, space: &Space, host: &Host) -> SiteConfig {
    let data = config.state_dir().join(host.directory());
    let base_url = config.base_url.clone().unwrap_or_default();
    // For programs that want to know the URL of a file; requesters are told the one that they use.
    let site_url = format!("http://{}:{}/", host.name, host.port);
    SiteConfig {
        mounts: space.mounts.clone(),
        sharing: Sharing::Shared {
            generation: GENERATION.load(Ordering::Acquire),
        },
        server_rules: format!("{:016x}", servers::fingerprint()),
        // httpd decides on everything that could be decided by a name.
        offer: OfferConfig {
            skip_names: Vec::new(),
            symlinks: Symlinks::Every,
            dynamic: DynamicPolicy::Off,
            dynamic_extensions: Vec::new(),
            ..OfferConfig::default()
        },
        by_value: config.by_value(),
        fixity: config.fixity(),
        plugins: config.plugins.clone(),
        sets: config.sets.clone(),
        rights: config.rights.clone(),
        start_thread: threads::start,
        confiner: match config.plugins.is_empty() {
            true => Err("there is none".to_owned()),
            false => config.confiner(),
        },
        ..SiteConfig::new(&space.root, &data, &site_url, &base_url)
    }
}

/// The port of servers that name none.
const HTTP: u16 = 80;

/// Locks a value that a panicking thread cannot have left half done: it is replaced as a whole.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
