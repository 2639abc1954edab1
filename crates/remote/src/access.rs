//! Credentials for servers, and their identities: passwords, keys, certificates. None of it is ever shown or kept.

use std::path::PathBuf;

use crate::netrc::{self, Login};
use crate::secret::Secret;
use crate::{Address, Error};

/// The files with passwords and keys. By default those that ftp, curl and ssh read.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// A file of hosts, users and passwords.
    pub netrc: Option<PathBuf>,
    /// The key for SFTP. Without one, the agent and the usual keys are tried.
    pub ssh_key: Option<PathBuf>,
    /// Files of the keys of known servers, instead of the usual ones.
    pub known_hosts: Option<PathBuf>,
    /// Certificates in PEM to trust beside those of the system, for FTPS.
    pub ca_file: Option<PathBuf>,
    pub(crate) password: Option<Secret>,
    pub(crate) agent: Option<PathBuf>,
    home: Option<PathBuf>,
}

impl Access {
    /// Reads the environment: `GARNER_NETRC`, `GARNER_SSH_KEY`, `GARNER_KNOWN_HOSTS`, `GARNER_CA_FILE`,
    /// `GARNER_REMOTE_PASSWORD`, `SSH_AUTH_SOCK`, `HOME`.
    pub fn of_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let path = |name: &str| set(name).map(PathBuf::from);
        let password = set("GARNER_REMOTE_PASSWORD").and_then(|value| value.into_string().ok());
        Self {
            netrc: path("GARNER_NETRC").or_else(|| path("NETRC")),
            ssh_key: path("GARNER_SSH_KEY"),
            known_hosts: path("GARNER_KNOWN_HOSTS"),
            ca_file: path("GARNER_CA_FILE"),
            password: password.map(Secret::new),
            agent: path("SSH_AUTH_SOCK"),
            home: path("HOME"),
        }
    }

    /// Sets a password, for all servers.
    pub fn with_password(mut self, password: String) -> Self {
        self.password = Some(Secret::new(password));
        self
    }

    /// Sets the socket of an agent for SSH.
    pub fn with_agent(mut self, socket: PathBuf) -> Self {
        self.agent = Some(socket);
        self
    }

    /// Returns the login for a server. A password in the environment belongs to the user that the address names.
    pub(crate) fn login(&self, address: &Address) -> Result<Login, Error> {
        let user = address.user.as_deref();
        let netrc = self.netrc.clone().or_else(|| self.at_home(".netrc"));
        let found = match netrc {
            Some(file) => netrc::look_up(&file, &address.host, user)?,
            None => None,
        };
        let found = found.unwrap_or(Login {
            user: None,
            password: None,
        });
        let password = self.password.clone().filter(|_| user.is_some());
        Ok(Login {
            user: address.user.clone().or(found.user),
            password: password.or(found.password),
        })
    }

    /// The files that servers are known from; the first is the one to add to.
    pub(crate) fn known_hosts(&self) -> Vec<PathBuf> {
        if let Some(file) = &self.known_hosts {
            return vec![file.clone()];
        }
        let mut files = Vec::from_iter(self.at_home(".ssh/known_hosts"));
        files.push(PathBuf::from("/etc/ssh/ssh_known_hosts"));
        files
    }

    /// Keys that are tried if none is named.
    pub(crate) fn usual_keys(&self) -> Vec<PathBuf> {
        let names = [".ssh/id_ed25519", ".ssh/id_ecdsa"];
        let keys = names.iter().filter_map(|name| self.at_home(name));
        keys.filter(|key| key.exists()).collect()
    }

    fn at_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }
}
