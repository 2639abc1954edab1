//! Access to the site: areas protected by passwords and by addresses.

pub(crate) mod areas;
pub mod htpasswd;
pub mod network;
pub(crate) mod opening;
pub(crate) mod origin;
pub(crate) mod password_file;

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use defence::Throttle;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::htpasswd::Htpasswd;
use crate::access::network::Network;
use crate::access::password_file::PasswordFile;
use crate::config::SourceConfig;
use crate::ground::path::deciding;
use crate::index::Visibility;
use crate::{Error, SitePath};

/// A protected part of the site, as it stands in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaConfig {
    /// The URL path of a directory or file; all below it belongs to the area.
    pub path: String,
    /// The realm that browsers show when they ask for a password.
    #[serde(default = "default_realm")]
    pub realm: String,
    /// A password file; bcrypt, apr1 and SHA entries are understood.
    pub htpasswd: Option<PathBuf>,
    /// Only these users of the password file; all if empty.
    #[serde(default)]
    pub users: Vec<String>,
    /// Addresses and networks, such as `192.0.2.7` or `2001:db8::/32`.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Whether password and address must both be right, or one of them.
    #[serde(default)]
    pub require: Require,
}

/// How the conditions of an area add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Require {
    /// Every condition given must hold.
    #[default]
    All,
    /// One is enough.
    Any,
}

/// The client that asks.
#[derive(Debug, Clone)]
pub struct Requester {
    /// From where.
    pub address: IpAddr,
    /// The request's own `Authorization` header.
    pub authorization: Option<String>,
    /// The request's own `Cookie` header; only an origin makes use of it.
    pub cookie: Option<String>,
    /// Other things it showed that may open something: a certificate, headers that not everybody sends. Only an origin
    /// makes use of it.
    pub keys: Vec<String>,
}

/// The verdict on a GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Open,
    /// 401: a password of this realm is needed.
    Unauthorized(String),
    /// 403: no password would help.
    Forbidden,
}

/// All areas of a site.
#[derive(Debug, Default)]
pub struct Access {
    areas: Vec<Area>,
    /// The users who are given the source of programs.
    source: Option<Area>,
    /// Passwords are checked once in a while, not once a request: bcrypt takes its time on purpose.
    checked: Mutex<HashMap<[u8; 32], (bool, Instant)>>,
    throttle: Throttle,
}

/// A password that a request tries.
#[derive(Debug)]
pub struct Try {
    user: String,
    password: String,
    from: IpAddr,
    begun: Instant,
}

/// The knowledge of the password of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It opens an area.
    Right,
    /// It was checked since the try began, and opened nothing.
    Wrong,
    /// The same was known a moment before the try: nothing new can be learned from it.
    WrongBefore,
    /// No area was asked for.
    Unchecked,
}

#[derive(Debug)]
struct Area {
    config: AreaConfig,
    path: SitePath,
    networks: Vec<Network>,
    passwords: Option<PasswordFile>,
}

impl AreaConfig {
    /// Whether everybody may see it, as where an open area lies in a closed one.
    pub(crate) fn is_public(&self) -> bool {
        let networks = self.allow.iter().filter_map(|text| Network::parse(text));
        let everywhere = networks.into_iter().any(|network| network.is_everywhere());
        everywhere && (self.htpasswd.is_none() || self.require == Require::Any)
    }
}

impl Requester {
    /// Somebody without credentials.
    pub fn anonymous(address: IpAddr) -> Self {
        Self {
            address,
            authorization: None,
            cookie: None,
            keys: Vec::new(),
        }
    }

    /// User and password of Basic authentication.
    fn basic(&self) -> Option<(String, String)> {
        let header = self.authorization.as_deref()?;
        let (scheme, encoded) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = base64_simd::STANDARD.decode_to_vec(encoded.trim()).ok()?;
        let text = String::from_utf8(decoded).ok()?;
        let (user, password) = text.split_once(':')?;
        Some((user.to_owned(), password.to_owned()))
    }
}

impl Access {
    /// Compiles the areas; files are relative to a directory. An error names the area.
    pub fn compile(configs: &[AreaConfig], relative_to: &Path) -> Result<Self, Error> {
        let areas: Result<Vec<_>, _> = configs
            .iter()
            .map(|config| Area::compile(config, relative_to))
            .collect();
        let areas = areas.map_err(Error::Config)?;
        for (at, area) in areas.iter().enumerate() {
            if areas[..at].iter().any(|other| other.path == area.path) {
                let message = format!("there are two areas for `{}`; keep one", area.config.path);
                return Err(Error::Config(message));
            }
        }
        Ok(Self {
            areas,
            source: None,
            checked: Mutex::default(),
            throttle: Throttle::default(),
        })
    }

    /// Adds the users who are given the source of programs.
    pub(crate) fn with_source(
        mut self,
        source: &SourceConfig,
        relative_to: &Path,
    ) -> Result<Self, Error> {
        let config = AreaConfig {
            path: "/".to_owned(),
            realm: default_realm(),
            htpasswd: Some(source.htpasswd.clone()),
            users: source.users.clone(),
            allow: Vec::new(),
            require: Require::All,
        };
        let area = Area::compile(&config, relative_to)
            .map_err(|error| Error::Config(format!("offer.source: {error}")))?;
        self.source = Some(area);
        Ok(self)
    }

    /// Whether a requester is one of the users who are given the source of programs.
    pub(crate) fn is_source_user(&self, requester: &Requester) -> bool {
        let verdict = |area| self.verdict_of(area, requester);
        self.source
            .as_ref()
            .is_some_and(|area| verdict(area) == Verdict::Open)
    }

    /// The verdict on a GET of a path for a requester. The longest area that holds the path decides.
    pub fn verdict(&self, path: &SitePath, requester: &Requester) -> Verdict {
        match self.deciding(path) {
            None => Verdict::Open,
            Some(area) => self.verdict_of(area, requester),
        }
    }

    /// The areas that a requester may see, for the index.
    pub(crate) fn visibility(&self, requester: &Requester) -> Visibility {
        let verdict = |area: &Area| self.verdict_of(area, requester) == Verdict::Open;
        let areas = self
            .areas
            .iter()
            .map(|area| (area.path.clone(), verdict(area)));
        Visibility {
            areas: areas.collect(),
            ..Visibility::default()
        }
    }

    /// The areas as configured, to tell later what has changed.
    pub(crate) fn configs(&self) -> Vec<AreaConfig> {
        self.areas.iter().map(|area| area.config.clone()).collect()
    }

    /// Fingerprints of the password files as they are now, by the path of the area.
    pub(crate) fn fingerprints(&self) -> BTreeMap<String, String> {
        let of_area = |area: &Area| {
            let passwords = area.passwords.as_ref()?.current();
            Some((area.config.path.clone(), passwords.fingerprint().to_owned()))
        };
        self.areas.iter().filter_map(of_area).collect()
    }

    /// The fingerprint of the password file of those who are given the source of programs.
    pub(crate) fn source_fingerprint(&self) -> Option<String> {
        let passwords = self.source.as_ref()?.passwords.as_ref()?.current();
        Some(passwords.fingerprint().to_owned())
    }

    /// The area that decides on a path.
    pub fn area_of(&self, path: &SitePath) -> Option<&AreaConfig> {
        self.deciding(path).map(|area| &area.config)
    }

    fn deciding(&self, path: &SitePath) -> Option<&Area> {
        deciding(&self.areas, |area| &area.path, path)
    }

    fn verdict_of(&self, area: &Area, requester: &Requester) -> Verdict {
        let by_address = (!area.networks.is_empty()).then(|| {
            area.networks
                .iter()
                .any(|network| network.holds(requester.address))
        });
        let by_password = area
            .passwords
            .as_ref()
            .map(|file| self.knows(area, file, requester));
        let open = match area.config.require {
            Require::All => {
                let given = by_address.is_some() || by_password.is_some();
                given && by_address != Some(false) && by_password != Some(false)
            }
            Require::Any => by_address == Some(true) || by_password == Some(true),
        };
        let password_would_help = match area.config.require {
            Require::All => by_address != Some(false),
            Require::Any => true,
        };
        match (open, by_password) {
            (true, _) => Verdict::Open,
            (false, Some(false)) if password_would_help => {
                Verdict::Unauthorized(area.config.realm.clone())
            }
            _ => Verdict::Forbidden,
        }
    }

    fn knows(&self, area: &Area, file: &PasswordFile, requester: &Requester) -> bool {
        let Some((user, password)) = requester.basic() else {
            return false;
        };
        let passwords = file.current();
        let key = credentials_key(area, &passwords, &user, &password);
        if let Some((known, at)) = self.checked().get(&key)
            && at.elapsed() < CHECKED_FOR
        {
            return *known;
        }
        // Checked also for users that the area does not want: the time it takes must not tell who they are.
        let users = &area.config.users;
        let fits = passwords.verify(&user, &password);
        let known = fits && (users.is_empty() || users.contains(&user));
        let mut checked = self.checked();
        if checked.len() >= MOST_CHECKED {
            checked.clear();
        }
        checked.insert(key, (known, Instant::now()));
        known
    }

    /// Counts a try of the password of a request, or says how long to wait for the next one. `None` if there is nothing
    /// to be tried: the request has no password, or one that was checked before. A try counts as a failure until
    /// [`Access::end_try`].
    pub fn begin_try(&self, requester: &Requester) -> Result<Option<Try>, Duration> {
        let Some((user, password)) = requester.basic() else {
            return Ok(None);
        };
        let attempt = Try {
            user,
            password,
            from: requester.address,
            begun: Instant::now(),
        };
        match self.outcome(&attempt) {
            Outcome::Right | Outcome::WrongBefore => Ok(None),
            Outcome::Wrong | Outcome::Unchecked if self.has_passwords() => {
                let Try {
                    user, from, begun, ..
                } = &attempt;
                self.throttle.begin(user, *from, *begun)?;
                Ok(Some(attempt))
            }
            Outcome::Wrong | Outcome::Unchecked => Ok(None),
        }
    }

    /// Ends a try once the request has been answered: it was a failure if the password opened no area that was asked
    /// for.
    pub fn end_try(&self, attempt: &Try) {
        match self.outcome(attempt) {
            Outcome::Wrong | Outcome::WrongBefore => tracing::warn!(
                client.address = %attempt.from,
                "the password that {} sends for the user `{}` opens nothing; answers hold what is public",
                attempt.from,
                attempt.user.escape_debug()
            ),
            Outcome::Right | Outcome::Unchecked => {
                self.throttle
                    .succeeded(&attempt.user, attempt.from, attempt.begun);
            }
        }
    }

    fn has_passwords(&self) -> bool {
        self.with_passwords().next().is_some()
    }

    /// The areas that ask for a password, with their password files.
    fn with_passwords(&self) -> impl Iterator<Item = (&Area, &PasswordFile)> {
        let areas = self.areas.iter().chain(&self.source);
        areas.filter_map(|area| Some((area, area.passwords.as_ref()?)))
    }

    /// The remembered check of the password of a try, over all areas.
    fn outcome(&self, attempt: &Try) -> Outcome {
        let checked = self.checked();
        let known = self.with_passwords().filter_map(|(area, file)| {
            let key = credentials_key(area, &file.current(), &attempt.user, &attempt.password);
            checked.get(&key).copied()
        });
        let known: Vec<_> = known.collect();
        // Right passwords are remembered for longer than they need not be checked again: an attack on the same name
        // does not stop whoever knows the password.
        if known.iter().any(|(right, _)| *right) {
            return Outcome::Right;
        }
        match known.iter().map(|(_, at)| *at).max() {
            None => Outcome::Unchecked,
            Some(at) if at < attempt.begun && at.elapsed() < CHECKED_FOR => Outcome::WrongBefore,
            Some(at) if at < attempt.begun => Outcome::Unchecked,
            Some(_) => Outcome::Wrong,
        }
    }

    fn checked(&self) -> MutexGuard<'_, HashMap<[u8; 32], (bool, Instant)>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a check of a password: it is another one as soon as the password file changes.
fn credentials_key(area: &Area, passwords: &Htpasswd, user: &str, password: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    let users = area.config.users.iter().map(String::as_bytes);
    let parts = [
        area.path.as_bytes(),
        passwords.fingerprint().as_bytes(),
        user.as_bytes(),
        password.as_bytes(),
    ];
    for part in parts.into_iter().chain(users) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl Area {
    fn compile(config: &AreaConfig, relative_to: &Path) -> Result<Self, String> {
        let place = &config.path;
        let path = SitePath::from_url_path(place)
            .ok_or(format!("area `{place}`: not a path below the site's root"))?;
        let networks: Result<Vec<_>, _> = config
            .allow
            .iter()
            .map(|text| {
                Network::parse(text).ok_or(format!(
                    "area `{place}`: `{text}` is not an address or network"
                ))
            })
            .collect();
        let passwords = match &config.htpasswd {
            None => None,
            Some(file) => {
                let path = relative_to.join(file);
                let file =
                    PasswordFile::read(path).map_err(|error| format!("area `{place}`: {error}"))?;
                Some(file)
            }
        };
        if passwords.is_none() && !config.users.is_empty() {
            return Err(format!(
                "area `{place}`: users are named, but no htpasswd file"
            ));
        }
        Ok(Self {
            config: config.clone(),
            path,
            networks: networks?,
            passwords,
        })
    }
}

fn default_realm() -> String {
    "protected".to_owned()
}

/// How long a password that was checked need not be checked again.
const CHECKED_FOR: Duration = Duration::from_secs(60);

/// The most checks that are remembered.
const MOST_CHECKED: usize = 10_000;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const READER: &str = "reader:{SHA}QL0AFWMIX8NRZTKeof9cXsvbvu8=\n"; // password: 123

    fn requester(address: &str, credentials: Option<&str>) -> Requester {
        let encoded = credentials.map(|text| base64_simd::STANDARD.encode_to_string(text));
        Requester {
            address: address.parse().unwrap(),
            authorization: encoded.map(|text| format!("Basic {text}")),
            cookie: None,
            keys: Vec::new(),
        }
    }

    fn access(require: Require, allow: &[&str], htpasswd: bool) -> (tempfile::TempDir, Access) {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("users"), READER).unwrap();
        let config = AreaConfig {
            path: "/private/".to_owned(),
            realm: "r".to_owned(),
            htpasswd: htpasswd.then(|| "users".into()),
            users: Vec::new(),
            allow: allow.iter().map(|text| (*text).to_owned()).collect(),
            require,
        };
        let access = Access::compile(&[config], directory.path()).unwrap();
        (directory, access)
    }

    fn verdict(access: &Access, path: &str, requester: &Requester) -> Verdict {
        access.verdict(&SitePath::new(path).unwrap(), requester)
    }

    #[test]
    fn passwords_open_their_area_and_nothing_else_is_closed() {
        let (_keep, access) = access(Require::All, &[], true);
        let nobody = requester("192.0.2.1", None);
        assert_eq!(verdict(&access, "public/a", &nobody), Verdict::Open);
        assert_eq!(verdict(&access, "privateer", &nobody), Verdict::Open);
        assert_eq!(
            verdict(&access, "private/a", &nobody),
            Verdict::Unauthorized("r".to_owned())
        );
        for (credentials, open) in [
            ("reader:123", true),
            ("reader:124", false),
            ("other:123", false),
            ("reader", false),
        ] {
            let asked = verdict(
                &access,
                "private/a",
                &requester("192.0.2.1", Some(credentials)),
            );
            assert_eq!(asked == Verdict::Open, open, "{credentials}");
        }
    }

    #[test]
    fn addresses_and_passwords_add_up_as_configured() {
        let (_keep, all) = access(Require::All, &["192.0.2.0/24"], true);
        assert_eq!(
            verdict(&all, "private", &requester("192.0.2.9", Some("reader:123"))),
            Verdict::Open
        );
        assert_eq!(
            verdict(
                &all,
                "private",
                &requester("198.51.100.1", Some("reader:123"))
            ),
            Verdict::Forbidden
        );
        assert_ne!(
            verdict(&all, "private", &requester("192.0.2.9", None)),
            Verdict::Open
        );

        let (_keep, any) = access(Require::Any, &["192.0.2.0/24"], true);
        assert_eq!(
            verdict(&any, "private", &requester("192.0.2.9", None)),
            Verdict::Open
        );
        assert_eq!(
            verdict(
                &any,
                "private",
                &requester("198.51.100.1", Some("reader:123"))
            ),
            Verdict::Open
        );
    }

    #[test]
    fn an_area_without_conditions_is_closed_to_all() {
        let (_keep, access) = access(Require::All, &[], false);
        assert_eq!(
            verdict(&access, "private/x", &requester("127.0.0.1", None)),
            Verdict::Forbidden
        );
    }

    /// Whether a GET of a protected path may be answered now.
    fn tries(access: &Access, requester: &Requester) -> Result<Verdict, Duration> {
        let attempt = access.begin_try(requester)?;
        let verdict = verdict(access, "private/a", requester);
        if let Some(attempt) = attempt {
            access.end_try(&attempt);
        }
        Ok(verdict)
    }

    #[test]
    fn those_who_try_passwords_have_to_wait_and_others_do_not() {
        let (_keep, access) = access(Require::All, &[], true);
        let reader = requester("192.0.2.1", Some("reader:123"));
        assert_eq!(tries(&access, &reader), Ok(Verdict::Open));

        let guesses = (0..10).map(|guess| requester("192.0.2.1", Some(&format!("reader:{guess}"))));
        let refused = guesses.filter(|guess| tries(&access, guess).is_err());
        assert_eq!(refused.count(), 4);

        // A client that was let in before still is; requests without a password and other names from elsewhere do not wait.
        assert_eq!(tries(&access, &reader), Ok(Verdict::Open));
        assert!(tries(&access, &requester("192.0.2.1", None)).is_ok());
        assert!(tries(&access, &requester("192.0.2.2", Some("other:1"))).is_ok());
        assert!(tries(&access, &requester("192.0.2.2", Some("reader:x"))).is_err());
    }

    #[test]
    fn the_same_wrong_password_again_is_no_further_try() {
        let (_keep, access) = access(Require::All, &[], true);
        let wrong = requester("192.0.2.1", Some("reader:wrong"));
        for _ in 0..100 {
            assert!(tries(&access, &wrong).is_ok());
        }
    }

    #[test]
    fn a_password_for_what_is_open_to_all_is_no_try() {
        let (_keep, access) = access(Require::All, &[], true);
        for guess in 0..100 {
            let requester = requester("192.0.2.1", Some(&format!("reader:{guess}")));
            let attempt = access.begin_try(&requester).unwrap().unwrap();
            assert_eq!(verdict(&access, "public", &requester), Verdict::Open);
            access.end_try(&attempt);
        }
    }

    #[test]
    fn a_changed_password_file_takes_effect() {
        let (directory, access) = access(Require::All, &[], true);
        let reader = requester("192.0.2.1", Some("reader:123"));
        assert_eq!(verdict(&access, "private/x", &reader), Verdict::Open);

        std::thread::sleep(Duration::from_millis(20));
        fs::write(directory.path().join("users"), "").unwrap();
        assert_ne!(verdict(&access, "private/x", &reader), Verdict::Open);
    }
}
