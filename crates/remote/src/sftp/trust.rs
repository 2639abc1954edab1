//! Whether an SSH server is the one that is meant: its key must be known.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use russh::client::{self, Config, Handle};
use russh::keys::{Algorithm, EcdsaCurve, HashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{Preferred, SshId};
use tokio::net::TcpStream;

use crate::error::said;
use crate::known_hosts::{KnownHosts, Verdict, name};
use crate::waiting::Waiting;
use crate::{Access, Address, Error};

/// Decides on the key of a server.
pub(crate) struct Trust {
    known: KnownHosts,
    /// How the server is named in files.
    name: String,
    /// The file that a new server is added to.
    file: String,
    refusal: Arc<Mutex<Option<String>>>,
}

/// Greets a server and checks its key.
pub(super) async fn connect(
    tcp: TcpStream,
    address: &Address,
    access: &Access,
    waiting: &Waiting<'_>,
) -> Result<Handle<Trust>, Error> {
    let (host, port) = (address.host.as_str(), address.port);
    let files = access.known_hosts();
    let known = KnownHosts::read(&files, host, port);
    let known =
        known.map_err(|error| Error::Disk(format!("known_hosts cannot be read: {error}")))?;
    let config = Config {
        client_id: SshId::Standard(Cow::Borrowed(concat!(
            "SSH-2.0-garner_",
            env!("CARGO_PKG_VERSION")
        ))),
        preferred: Preferred {
            key: Cow::Owned(preferred(&known)),
            ..Preferred::default()
        },
        inactivity_timeout: Some(waiting.silence * 2),
        ..Config::default()
    };
    let refusal = Arc::default();
    let trust = Trust {
        known,
        name: name(host, port),
        file: files.first().map_or_else(String::new, |file| shown(file)),
        refusal: Arc::clone(&refusal),
    };
    let connecting = async {
        let connected = client::connect_stream(Arc::new(config), tcp, trust).await;
        connected.map_err(|error| match error {
            russh::Error::NoCommonAlgo { .. } => {
                let why = said(&error.to_string());
                Error::Refused(format!("{host} and garner share no way to encrypt: {why}"))
            }
            russh::Error::Version => Error::Refused(format!("{host} is no SSH server")),
            error => Error::Lost(format!(
                "{host} cannot be greeted: {}",
                said(&error.to_string())
            )),
        })
    };
    let connected = waiting.on(host, connecting).await;
    let refused = refusal
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match refused {
        Some(why) => Err(Error::Refused(why)),
        None => connected,
    }
}

/// The kinds of keys that a server is asked for: those that are known of it first.
fn preferred(known: &KnownHosts) -> Vec<Algorithm> {
    let ecdsa = |curve| Algorithm::Ecdsa { curve };
    let mut all = vec![
        Algorithm::Ed25519,
        ecdsa(EcdsaCurve::NistP256),
        ecdsa(EcdsaCurve::NistP384),
        ecdsa(EcdsaCurve::NistP521),
    ];
    all.sort_by_key(|algorithm| !known.has(algorithm.as_str()));
    all
}

impl Trust {
    fn judge(&self, key: &PublicKey) -> Result<(), String> {
        let line = key.to_openssh().unwrap_or_default();
        let mut words = line.split(' ');
        let (algorithm, base64) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let (name, file) = (&self.name, &self.file);
        let fingerprint = key.fingerprint(HashAlg::Sha256);
        match self.known.verdict(algorithm, base64) {
            Verdict::Known => Ok(()),
            Verdict::Unknown => Err(format!(
                "{name} is not known; if {fingerprint} is its fingerprint, as whoever runs it can tell, add this line to {file}: {name} {algorithm} {base64}"
            )),
            Verdict::Contradicted { file, line } => Err(format!(
                "{name} has another key than line {line} of `{}` says, or one that was withdrawn: somebody may stand in between; its fingerprint is {fingerprint} now. If whoever runs it confirms that, change the line",
                file.display()
            )),
        }
    }
}

impl client::Handler for Trust {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = key else {
            return Ok(false);
        };
        match self.judge(key) {
            Ok(()) => Ok(true),
            Err(why) => {
                let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
                *refusal = Some(why);
                Ok(false)
            }
        }
    }
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}
