//! A site: its ground, its index, who may see what, and how its records are made.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::access::{Access, AreaConfig};
use crate::config::{
    ByValueConfig, FixityConfig, IndexConfig, MediaTypesConfig, OwnSetConfig, OwnSets, RightsConfig,
};
use crate::follow::indexer::{Following, Indexer};
use crate::ground::may_be_away;
use crate::ground::media_types::MediaTypes;
use crate::ground::mounts::Mounts;
use crate::index::{Index, OpenedIndex};
use crate::record::helpers::{self, Helpers, StartThread};
use crate::records::Formats;
use process::Confiner;

use crate::follow::scan;
use crate::follow::sweep::Sweep;
use crate::plugin::{Plugin, PluginFormat, PluginRule};
use crate::status::traffic::Traffic;
use crate::{
    Addresses, DynamicPolicy, Error, Ground, Mount, OfferConfig, Origin, Requester, Root, Rules,
    SharedOrigin, Sharing, SitePath, SiteView,
};

/// How a site is set up.
#[derive(Debug, Clone)]
pub struct SiteConfig {
    /// The directory of its files.
    pub root: PathBuf,
    /// Directories and files that appear in it from elsewhere, each at a path of its own; the one at `/` is the root.
    pub mounts: Vec<Mount>,
    /// Where the index is kept.
    pub data: PathBuf,
    /// The beginning of the URLs of its files, with a slash at the end.
    pub site_url: String,
    /// Where the repository answers.
    pub base_url: String,
    /// Files named in the configuration are relative to this directory.
    pub relative_to: PathBuf,
    /// The offer.
    pub offer: OfferConfig,
    /// Media types.
    pub media_types: MediaTypesConfig,
    /// Protected areas.
    pub areas: Vec<AreaConfig>,
    /// Resources by value.
    pub by_value: ByValueConfig,
    /// Digests.
    pub fixity: FixityConfig,
    /// Plug-ins.
    pub plugins: Vec<PluginRule>,
    /// Sets of the webmaster's own.
    pub sets: Vec<OwnSetConfig>,
    /// The rights on records.
    pub rights: Vec<RightsConfig>,
    /// How the index follows the site.
    pub index: IndexConfig,
    /// Whether other processes have the index open too.
    pub sharing: Sharing,
    /// The formats of the files, where they are records and not a site.
    pub records: Option<Arc<Formats>>,
    /// A text that changes with the configuration of the web server that the site is in.
    pub server_rules: String,
    /// How threads are started that work beside those that answer.
    pub start_thread: StartThread,
    /// How plug-ins are confined, or why they are not.
    pub confiner: Result<Confiner, String>,
}

/// A web site whose files are items.
#[derive(Debug)]
pub struct Site {
    pub(crate) config: SiteConfig,
    pub(crate) ground: Arc<Ground>,
    pub(crate) index: Arc<Index>,
    pub(crate) access: Access,
    pub(crate) plugins: Vec<Plugin>,
    pub(crate) own_sets: OwnSets,
    pub(crate) helpers: Helpers,
    pub(crate) origin: Option<SharedOrigin>,
    traffic: Traffic,
    /// Whether the last notes of an answer could not be written.
    pub(crate) notes_failing: AtomicBool,
    /// Whether the last try to keep results failed.
    pub(crate) findings_failing: AtomicBool,
    /// When the look at the files began that this process knows of, where several share the index.
    pub(crate) followed_scan: Mutex<Option<SystemTime>>,
    /// Items whose bytes could not be sent lately; they go by reference for a while.
    troubles: Mutex<HashMap<i64, Instant>>,
    /// Fingerprints of the password files whose change was noticed, by the path of the area.
    pub(crate) noticed_passwords: Mutex<BTreeMap<String, String>>,
}

/// The threads that keep the index true.
#[derive(Debug)]
pub struct Followers {
    _indexer: Indexer,
    _sweep: Option<Sweep>,
}

impl SiteConfig {
    /// Everything but what must be known.
    pub fn new(root: &Path, data: &Path, site_url: &str, base_url: &str) -> Self {
        Self {
            root: root.to_owned(),
            mounts: Vec::new(),
            data: data.to_owned(),
            site_url: site_url.to_owned(),
            base_url: base_url.to_owned(),
            relative_to: PathBuf::from("."),
            offer: OfferConfig::default(),
            media_types: MediaTypesConfig::default(),
            areas: Vec::new(),
            by_value: ByValueConfig::default(),
            fixity: FixityConfig::default(),
            plugins: Vec::new(),
            sets: Vec::new(),
            rights: Vec::new(),
            index: IndexConfig::default(),
            sharing: Sharing::Alone,
            records: None,
            server_rules: String::new(),
            start_thread: helpers::start_thread,
            confiner: Err("this program does not confine them".to_owned()),
        }
    }

    /// Where the site and its repository are reached.
    pub fn addresses(&self) -> Addresses {
        Addresses {
            site_url: self.site_url.clone(),
            base_url: self.base_url.clone(),
        }
    }

    /// The ground of the site, without its index: enough to explain what is offered.
    pub fn ground(&self) -> Result<Ground, Error> {
        let mut offer = self.offer.clone();
        offer.areas = self.areas.iter().map(|area| area.path.clone()).collect();
        let rules = Rules::compile(offer).map_err(Error::Config)?;
        let symlinks = rules.symlinks();
        let mounts = Mounts::new(self.mounts.clone(), symlinks);
        let root = match may_be_away(symlinks, &mounts.now()) {
            true => Root::mount(SitePath::root(), &self.root, symlinks),
            false => Root::open(&self.root, symlinks).map_err(|source| Error::Root {
                path: self.root.clone(),
                source,
            })?,
        };
        Ok(Ground {
            root,
            rules,
            media_types: self.compile_media_types()?,
            mounts,
            records: self.records.clone(),
        })
    }

    /// The areas, ready to decide.
    pub fn access(&self) -> Result<Access, Error> {
        let access = Access::compile(&self.areas, &self.relative_to)?;
        match &self.offer.source {
            Some(source) => access.with_source(source, &self.relative_to),
            None => Ok(access),
        }
    }

    fn compile_media_types(&self) -> Result<MediaTypes, Error> {
        let mut types = MediaTypes::embedded();
        for table in &self.media_types.tables {
            let path = self.relative_to.join(table);
            let named = |error: String| {
                Error::Config(format!("media_types.tables: `{}`: {error}", path.display()))
            };
            let text = std::fs::read_to_string(&path).map_err(|error| named(error.to_string()))?;
            types
                .extend(&text)
                .map_err(|error| named(error.to_string()))?;
        }
        for (extension, media_type) in &self.media_types.extensions {
            let set = types.set(extension, media_type);
            set.map_err(|error| Error::Config(format!("media_types.extensions: {error}")))?;
        }
        if let Some(default) = &self.media_types.default {
            let set = types.set_default(default);
            set.map_err(|error| Error::Config(format!("media_types.default: {error}")))?;
        }
        Ok(types)
    }
}

impl Site {
    /// Opens a site and brings its index up to date; `progress` is told the number of files looked at. A shared
    /// index that is there already is taken as it is.
    pub fn open(
        config: SiteConfig,
        origin: Option<SharedOrigin>,
        rebuild: bool,
        progress: &dyn Fn(u64),
    ) -> Result<Self, Error> {
        config
            .offer
            .check_source()
            .map_err(|mistake| Error::Config(mistake.to_owned()))?;
        let policy = config.offer.policy(false);
        if policy == DynamicPolicy::Processed && origin.is_none() {
            let key = match config.offer.source {
                Some(_) => "offer.source.others",
                None => "offer.dynamic",
            };
            return Err(Error::Config(format!(
                "{key} = \"processed\" needs an origin that runs the programs (--origin URL)"
            )));
        }
        if let Some(source) = &config.offer.source {
            tracing::warn!(
                "the source of programs is given to {} (offer.dynamic = \"source\"): passwords in it are theirs to read",
                source.users.join(", ")
            );
        }
        if policy == DynamicPolicy::Reference && origin.is_none() {
            tracing::warn!(
                "programs are offered by reference, but this server does not run them: \
                 make sure that another one answers at {}",
                config.site_url
            );
        }
        let ground = Arc::new(config.ground()?);
        Self::open_on(ground, config, origin, None, rebuild, progress)
    }

    /// Opens a site inside of the web server that serves it. A new index is loaded with what this origin says of the
    /// files; it is asked by who opens the site and answers for that request alone.
    pub fn open_through(
        ground: Arc<Ground>,
        config: SiteConfig,
        origin: &dyn Origin,
    ) -> Result<Self, Error> {
        Self::open_on(ground, config, None, Some(origin), false, &|_| {})
    }

    fn open_on(
        ground: Arc<Ground>,
        config: SiteConfig,
        origin: Option<SharedOrigin>,
        asked: Option<&dyn Origin>,
        rebuild: bool,
        progress: &dyn Fn(u64),
    ) -> Result<Self, Error> {
        let access = config.access()?;
        let plugins: Result<Vec<_>, _> = config
            .plugins
            .iter()
            .map(|rule| Plugin::compile(rule.clone(), &config.relative_to))
            .collect();
        let plugins = plugins.map_err(|error| Error::Config(error.to_string()))?;
        check_formats(&plugins)?;
        let own_sets = OwnSets::compile(&config.sets).map_err(Error::Config)?;
        check_set_plugins(&config.sets, &config.plugins).map_err(Error::Config)?;
        RightsConfig::check(&config.rights).map_err(Error::Config)?;
        if plugins.iter().any(Plugin::is_confined) {
            warn_of_open_doors(&config.confiner);
        }
        let index = open_index(&config, &ground, asked, rebuild, progress)?;
        let site = Self {
            ground,
            index: Arc::from(index),
            access,
            plugins,
            own_sets,
            helpers: Helpers::new(config.start_thread),
            traffic: Traffic::new(&config.data, config.start_thread),
            origin,
            followed_scan: Mutex::default(),
            notes_failing: AtomicBool::new(false),
            findings_failing: AtomicBool::new(false),
            troubles: Mutex::default(),
            noticed_passwords: Mutex::default(),
            config,
        };
        // Other processes with the same configuration wait, and then find nothing new.
        let turn = site.index.turn()?;
        site.notice_configuration()?;
        if site.index.is_first() {
            site.index.retry_failed_plugins()?;
        }
        drop(turn);
        if site.config.sharing == Sharing::Alone {
            // From now on answers can be given: what turns up with an older modification time is late.
            site.index.answer()?;
        }
        Ok(site)
    }

    /// Starts what keeps the index true; it stops when the value is dropped.
    pub fn follow(&self) -> std::io::Result<Followers> {
        let remotes = self.ground.remotes();
        for (path, kind) in &remotes {
            tracing::warn!(
                "`{}` is on {kind}: changes by other machines are not told, so the site is scanned every {} s \
                 (index.network_rescan_seconds)",
                path.display(),
                self.config.index.network_rescan_seconds.max(1)
            );
        }
        let rescan_seconds = match remotes.is_empty() {
            true => self.config.index.rescan_seconds,
            false => {
                (self.config.index.rescan_seconds).min(self.config.index.network_rescan_seconds)
            }
        };
        let following = Following {
            watch: self.config.index.watch,
            watch_limit: self.config.index.watch_limit,
            rescan: Duration::from_secs(rescan_seconds.max(1)),
        };
        let sweep = match &self.origin {
            Some(origin) => Some(Sweep::start(
                Arc::clone(&self.ground),
                Arc::clone(&self.index),
                Arc::clone(origin),
                Duration::from_secs(self.config.index.sweep_seconds.max(1)),
            )?),
            None => None,
        };
        Ok(Followers {
            _indexer: Indexer::start(Arc::clone(&self.ground), Arc::clone(&self.index), following)?,
            _sweep: sweep,
        })
    }

    /// The view of a requester now. The moment is taken here: see `horizon`.
    pub fn view(&self, requester: Requester) -> Result<SiteView<'_>, Error> {
        self.notice_passwords();
        let origin = self.origin.as_deref().map(|origin| origin as &dyn Origin);
        SiteView::new(self, requester, origin, self.config.addresses())
    }

    /// The view of a requester now through an origin of its own: one that answers for this request alone, at
    /// the addresses that were asked. The site's areas decide nothing then, for the origin does.
    pub fn view_through<'a>(
        &'a self,
        requester: Requester,
        origin: &'a dyn Origin,
        addresses: Addresses,
    ) -> Result<SiteView<'a>, Error> {
        SiteView::new(self, requester, Some(origin), addresses)
    }

    /// The formats of the files, where they are records and not a site.
    pub fn records(&self) -> Option<&Formats> {
        self.config.records.as_deref()
    }

    /// The site's ground.
    pub fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }

    /// The rules on access.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The requests that are counted.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// How many items there are, and how many tombstones.
    pub fn totals(&self) -> Result<(u64, u64), Error> {
        self.index.reader()?.totals()
    }

    /// The secret of this site's resumption tokens.
    pub fn token_secret(&self) -> &[u8] {
        self.index.secret()
    }

    /// Mends the index, if it is damaged, from what can be read of it and of the site. To be called when something
    /// failed with an error that [is damage](Error::is_damage); other processes may have the index open.
    pub fn rebuild_index(&self) -> Result<(), Error> {
        match self.index.mend()? {
            true => scan::scan_all(&self.ground, &self.index, &|_| {}),
            false => Ok(()),
        }
    }

    /// Whether another process that shares the index was last seen to have a newer configuration. This one then
    /// answers, but writes nothing of what it sees.
    pub fn is_superseded(&self) -> bool {
        self.index.is_superseded()
    }

    /// Ends in good order.
    pub fn close(&self) -> Result<(), Error> {
        self.traffic.flush();
        self.index.close()
    }

    /// The URL of a file under the configured address.
    pub fn url_of(&self, path: &SitePath) -> String {
        format!("{}{}", self.config.site_url, path.to_url_path())
    }

    /// Remembers that an item's bytes could not be sent.
    pub(crate) fn note_trouble(&self, item: i64) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        troubles.retain(|_, since| since.elapsed() < TROUBLE_LASTS);
        troubles.insert(item, Instant::now());
    }

    pub(crate) fn is_trouble(&self, item: i64) -> bool {
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        troubles
            .get(&item)
            .is_some_and(|since| since.elapsed() < TROUBLE_LASTS)
    }

    /// A configuration that changes what records say, or who may see them, is a change of these records.
    fn notice_configuration(&self) -> Result<(), Error> {
        let site_url = &self.config.site_url;
        if self.notice("site_url", site_url)? {
            tracing::warn!(
                "the site's URL is now {site_url}: every identifier is a new one for harvesters"
            );
        }
        if self.notice("records", &self.records_fingerprint())? {
            tracing::info!(
                "what records say has changed with the configuration: all are stamped anew"
            );
        }
        self.notice_hidden_programs()?;
        self.notice_areas()
    }

    /// Programs that were offered to all and are for named users from now on leave tombstones.
    fn notice_hidden_programs(&self) -> Result<(), Error> {
        let now = match self.config.offer.policy(false) {
            _ if self.ground.rules.hides_programs() => "hidden",
            // Those who were told of them may not have heard yet that they are gone.
            DynamicPolicy::Off => return Ok(()),
            _ => "public",
        };
        let before = self.index.fact(PROGRAMS)?;
        if before.as_deref() == Some(now) {
            return Ok(());
        }
        if before.is_some() && now == "hidden" {
            self.index.withdraw_programs(|path| {
                let area = self.access.area_of(path);
                area.is_none_or(AreaConfig::is_public)
            })?;
        }
        self.index.set_fact(PROGRAMS, now)
    }

    /// Stamps all items anew if a fact differs from what the index knew. The fact is kept last, so that a
    /// start that is cut short is made good by the next one.
    fn notice(&self, key: &str, value: &str) -> Result<bool, Error> {
        let before = self.index.fact(key)?;
        let changed = before.as_ref().is_some_and(|before| before != value);
        if changed {
            self.index.touch(&SitePath::root())?;
        }
        if before.as_deref() != Some(value) {
            self.index.set_fact(key, value)?;
        }
        Ok(changed)
    }

    /// A text that changes whenever the configuration changes what records say.
    fn records_fingerprint(&self) -> String {
        let plugins: Vec<_> = self.plugins.iter().map(Plugin::fingerprint).collect();
        let algorithms: Vec<_> = self
            .config
            .fixity
            .algorithms
            .iter()
            .map(|a| a.name())
            .collect();
        let by_value = &self.config.by_value;
        let limits: Vec<_> = by_value
            .media_types
            .iter()
            .map(|(name, size)| format!("{name}={}", size.0))
            .collect();
        format!(
            "by value {} {limits:?}; fixity {algorithms:?}; plug-ins {plugins:?}; dynamic {:?}; \
             beside an origin {}; schema at {}{}{}",
            by_value.limit.0,
            self.config.offer.dynamic,
            self.origin.is_some(),
            self.config.base_url,
            self.config
                .records
                .as_ref()
                .map_or_else(String::new, |records| format!(
                    "; records {}",
                    records.fingerprint()
                )),
            // An index of those who have none stays as it is.
            match self.config.sets.is_empty() {
                true => String::new(),
                false => format!("; sets {:?}", self.config.sets),
            }
        ) + &match self.config.rights.is_empty() {
            true => String::new(),
            false => format!("; rights {:?}", self.config.rights),
        } + &match &self.config.offer.source {
            None => String::new(),
            Some(source) => format!(
                "; source for {:?}, others {:?}",
                source.users, source.others
            ),
        }
    }
}

/// Checks sets of the webmaster's own.
pub fn check_sets(sets: &[OwnSetConfig]) -> Result<(), String> {
    OwnSets::compile(sets).map(drop)
}

/// Checks that the plug-ins of sets are there.
pub fn check_set_plugins(sets: &[OwnSetConfig], plugins: &[PluginRule]) -> Result<(), String> {
    OwnSets::check_plugins(sets, plugins)
}

fn open_index(
    config: &SiteConfig,
    ground: &Ground,
    origin: Option<&dyn Origin>,
    rebuild: bool,
    progress: &dyn Fn(u64),
) -> Result<Box<Index>, Error> {
    let opened = match rebuild {
        true => Index::rebuild(&config.data, config.sharing)?,
        false => Index::open(&config.data, config.sharing)?,
    };
    match opened {
        OpenedIndex::Fresh(loader) => scan::first_scan(ground, *loader, origin, progress),
        OpenedIndex::Known(index) if config.sharing != Sharing::Alone => Ok(index),
        OpenedIndex::Known(index) => match scan::scan_all(ground, &index, progress) {
            Ok(()) => Ok(index),
            Err(error) if error.is_damage() && !rebuild => {
                tracing::error!("{error}; it is rebuilt from what can be read of it");
                drop(index);
                open_index(config, ground, origin, true, progress)
            }
            Err(error) => Err(error),
        },
    }
}

/// Several plug-ins may print records of one format, for different files.
fn check_formats(plugins: &[Plugin]) -> Result<(), Error> {
    let formats = || plugins.iter().filter_map(Plugin::format);
    for format in formats() {
        let differs = |other: &&PluginFormat| other.prefix == format.prefix && *other != format;
        if formats().find(differs).is_some() {
            return Err(Error::Config(format!(
                "the plug-ins with the format `{}` differ in its namespace or schema",
                format.prefix
            )));
        }
    }
    Ok(())
}

/// The fact whether the programs of the index were public last, or hidden from all but named users.
const PROGRAMS: &str = "programs";

/// How long an item goes by reference after its bytes could not be sent.
const TROUBLE_LASTS: Duration = Duration::from_secs(300);

/// Tells the one who runs the site which deeds of plug-ins the system cannot prevent.
fn warn_of_open_doors(confiner: &Result<Confiner, String>) {
    let lacks = match confiner {
        Ok(confiner) => confiner.lacks().map_err(|error| error.to_string()),
        Err(reason) => Err(reason.clone()),
    };
    match lacks {
        Ok(lacks) => {
            for lack in lacks {
                tracing::warn!("plug-ins are confined less than they should be: {lack}");
            }
        }
        Err(reason) => tracing::warn!(
            "plug-ins are not confined: {reason}; they could read, empty, change and remove the files that this process \
             may, start services and reach the network. Their limits on time, memory and output hold"
        ),
    }
}
