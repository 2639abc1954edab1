//! The credentials of a repository for harvests that run by themselves: user and password, a proxy, certificates.
//!
//! Each schedule that has some owns a file in the directory `secrets` of the data directory, which only its owner may
//! read. The catalog has the name of that file and nothing else of it. The file names the repository it is for, so that
//! nobody who may change a schedule can send its credentials elsewhere.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use catalog::{JobQuery, JobState, ScheduleQuery};
use harvester::{ClientOptions, Credentials, Repository};
use serde::{Deserialize, Serialize};

use crate::Holdings;
use crate::harvest::digest;

/// The credentials of a harvest. It has no `Debug`, because it is not for logs.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The credentials.
    pub credentials: Option<Credentials>,
    /// A proxy for all requests; its URL may hold a password.
    pub proxy: Option<String>,
    /// Certificates in PEM to trust beside those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<String>,
}

/// An [`Access`] as its file has it.
#[derive(Serialize, Deserialize)]
struct Kept {
    base_url: String,
    #[serde(flatten)]
    access: Access,
}

impl Access {
    /// Reads what was kept under a name for the repository at `base_url`.
    pub fn load(holdings: &Holdings, name: &str, base_url: &str) -> anyhow::Result<Self> {
        check_name(name).map_err(anyhow::Error::msg)?;
        let file = directory(holdings).join(name);
        let text = std::fs::read_to_string(&file).with_context(|| {
            format!(
                "the credentials of the schedule cannot be read from {}; give them again",
                file.display()
            )
        })?;
        // The reason would quote the file.
        let Ok(Kept {
            base_url: own,
            mut access,
        }) = serde_json::from_str(&text)
        else {
            bail!("{} is damaged; give the credentials again", file.display());
        };
        if own != base_url {
            bail!(
                "the credentials of the schedule are for {own}, not for {base_url}; give them again"
            );
        }
        // Earlier versions kept them in a file of their own.
        if access.certificates.is_none() {
            access.certificates = std::fs::read_to_string(certificates(&file)).ok();
        }
        Ok(access)
    }

    /// Keeps this for the repository at `base_url`, and returns the name of the file; none if there is nothing to keep.
    pub fn keep(&self, holdings: &Holdings, base_url: &str) -> anyhow::Result<Option<String>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let name = random::<16>()?;
        let file = directory(holdings).join(&name);
        let kept = Kept {
            base_url: base_url.to_owned(),
            access: self.clone(),
        };
        write(holdings, &file, serde_json::to_string(&kept)?.as_bytes())?;
        Ok(Some(name))
    }

    /// Puts this in the place of what a client would show.
    pub fn apply(self, options: &mut ClientOptions) {
        options.credentials = self.credentials;
        options.proxy = self.proxy.or(options.proxy.take());
        options.certificates = self.certificates.or(options.certificates.take());
    }
}

/// A mark of what is shown to a repository, by which the next harvest knows whether it may see the same. It says nothing about the
/// credentials to anybody who has not got the key, which lies beside them.
pub(crate) fn mark(holdings: &Holdings, remote: &Repository) -> anyhow::Result<Option<String>> {
    let (credentials, options) = (remote.credentials(), remote.client().options());
    let (proxy, headers) = (&options.proxy, &options.headers);
    let shown = match headers.is_empty() {
        true if credentials.is_none() && proxy.is_none() => return Ok(None),
        // Marks of harvests without headers stay as they were before there were any.
        true => serde_json::to_string(&(credentials, proxy))?,
        false => serde_json::to_string(&(credentials, proxy, headers))?,
    };
    let mark = digest::of_bytes(format!("{}{shown}", key(holdings)?).as_bytes());
    Ok(Some(mark[..16].to_owned()))
}

/// Removes the file that parameters name, unless a schedule or a job that is not over names it too.
pub async fn forget_access(holdings: &Holdings, parameters: &str) -> Result<(), catalog::Error> {
    let order = crate::HarvestOrder::parse(parameters);
    let Some(name) = order
        .ok()
        .and_then(|order| order.access)
        .filter(|name| check_name(name).is_ok())
    else {
        return Ok(());
    };
    if !named(holdings).await?.iter().any(|it| it.contains(&name)) {
        remove(&directory(holdings).join(name));
    }
    Ok(())
}

/// Removes files that nobody names: those of schedules that went with their repository, or that were never added.
pub fn sweep(holdings: &Holdings) -> Result<(), catalog::Error> {
    let Ok(entries) = std::fs::read_dir(directory(holdings)) else {
        return Ok(());
    };
    let named = holdings.wait(named(holdings))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A schedule may be on its way into the catalog.
        let is_old = entry
            .metadata()
            .and_then(|data| data.modified())
            .is_ok_and(|time| SystemTime::now().duration_since(time).unwrap_or_default() > AN_HOUR);
        if is_old && check_name(&name).is_ok() && !named.iter().any(|it| it.contains(&name)) {
            remove(&entry.path());
        }
    }
    Ok(())
}

/// The parameters of all schedules, and of all jobs that are not over.
async fn named(holdings: &Holdings) -> Result<Vec<String>, catalog::Error> {
    let catalog = holdings.catalog();
    let schedules = catalog.schedules(&ScheduleQuery::default()).await?;
    let query = JobQuery {
        states: vec![JobState::Scheduled, JobState::Running],
        limit: u32::MAX.into(),
        ..JobQuery::default()
    };
    let jobs = catalog.jobs(&query).await?;
    let schedules = schedules.into_iter().map(|it| it.settings.parameters);
    Ok(schedules
        .chain(jobs.into_iter().map(|job| job.parameters))
        .collect())
}

/// Refuses what names another file.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    match name.len() == 32 && name.bytes().all(plain) {
        true => Ok(()),
        false => Err(format!(
            "`{name}` names no credentials; give credentials, and garner keeps them under a name"
        )),
    }
}

/// The secret by which credentials are marked.
fn key(holdings: &Holdings) -> anyhow::Result<String> {
    let file = directory(holdings).join("key");
    if !file.exists() {
        match write(holdings, &file, random::<32>()?.as_bytes()) {
            Err(error) if is_there(&error) => {}
            written => written?,
        }
    }
    let key = std::fs::read_to_string(&file);
    key.with_context(|| format!("{} cannot be read", file.display()))
}

fn is_there(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::AlreadyExists)
}

/// Writes a new file that nobody else may read.
fn write(holdings: &Holdings, file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let directory = directory(holdings);
    let made = DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(&directory);
    made.with_context(|| format!("{} cannot be made", directory.display()))?;
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(file);
    let written = opened.and_then(|mut opened| {
        opened.write_all(bytes)?;
        opened.sync_all()
    });
    written.with_context(|| format!("{} cannot be written", file.display()))
}

fn remove(file: &Path) {
    for file in [file, &certificates(file)] {
        if let Err(error) = std::fs::remove_file(file)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!("{} cannot be removed: {error}", file.display());
        }
    }
}

fn certificates(file: &Path) -> PathBuf {
    file.with_extension("pem")
}

fn directory(holdings: &Holdings) -> PathBuf {
    holdings.directory().join(DIRECTORY)
}

fn random<const N: usize>() -> anyhow::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

/// The directory of such files below the data directory.
pub(crate) const DIRECTORY: &str = "secrets";
const AN_HOUR: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn access() -> Access {
        Access {
            credentials: Some(Credentials::Bearer("t0ken".to_owned())),
            ..Access::default()
        }
    }

    #[test]
    fn credentials_are_for_one_repository_and_for_nobody_elses_eyes() {
        let directory = tempfile::tempdir().unwrap();
        let holdings = Holdings::create(directory.path(), None).unwrap();

        let name = access().keep(&holdings, "http://a.example/oai").unwrap();

        let name = name.unwrap();
        let secrets = directory.path().join(DIRECTORY);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&secrets), mode(&secrets.join(&name))), (0o700, 0o600));
        let load = |name: &str, url| Access::load(&holdings, name, url);
        assert!(load(&name, "http://a.example/oai").unwrap() == access());
        assert!(load(&name, "http://b.example/oai").is_err());
        assert!(load("../catalog.sqlite", "http://a.example/oai").is_err());
        holdings
            .wait(forget_access(
                &holdings,
                &format!(r#"{{"access":"{name}"}}"#),
            ))
            .unwrap();
        assert!(load(&name, "http://a.example/oai").is_err());
    }

    #[test]
    fn a_mark_tells_credentials_apart_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let holdings = Holdings::create(directory.path(), None).unwrap();
        let of = |access: Option<Access>| {
            let mut options = ClientOptions::default();
            access.unwrap_or_default().apply(&mut options);
            let client = harvester::Client::new(options).unwrap();
            mark(&holdings, &client.repository("http://a.example").unwrap()).unwrap()
        };

        assert_eq!(of(None), None);
        assert_eq!(of(Some(access())), of(Some(access())));
        let proxied = Access {
            proxy: Some("http://p.example".to_owned()),
            ..access()
        };
        assert_ne!(of(Some(access())), of(Some(proxied)));
        let known = digest::of_bytes(br#"[{"Bearer":"t0ken"},null]"#);
        assert_ne!(of(Some(access())).unwrap(), known[..16]);
    }
}
