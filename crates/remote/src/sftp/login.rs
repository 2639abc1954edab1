//! Gets in: with a key file, the keys of the agent, the usual keys, or a password.

use std::path::Path;
use std::sync::Arc;

use russh::client::{Handle, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{PrivateKeyWithHashAlg, load_secret_key};

use super::trust::Trust;
use crate::secret::Secret;
use crate::waiting::Waiting;
use crate::{Access, Address, Error};

/// Tries all that there is, the one that somebody named first.
pub(super) async fn log_in(
    ssh: &mut Handle<Trust>,
    address: &Address,
    access: &Access,
    waiting: &Waiting<'_>,
) -> Result<(), Error> {
    let login = access.login(address)?;
    let user = login.user.or_else(|| std::env::var("USER").ok());
    let Some(user) = user.filter(|user| !user.is_empty()) else {
        let host = &address.host;
        return Err(Error::Address(format!(
            "who are you at {host}? Name the user in the address: sftp://USER@{host}/"
        )));
    };
    let mut attempt = Attempt {
        ssh,
        user,
        host: &address.host,
        tried: Vec::new(),
    };
    let trying = attempt.all(access, login.password.as_ref());
    waiting
        .within(waiting.silence * 2, &address.host, trying)
        .await
}

struct Attempt<'a> {
    ssh: &'a mut Handle<Trust>,
    user: String,
    host: &'a str,
    /// The methods that were refused, for the message.
    tried: Vec<String>,
}

impl Attempt<'_> {
    async fn all(&mut self, access: &Access, password: Option<&Secret>) -> Result<(), Error> {
        if let Some(key) = &access.ssh_key {
            if self.key(key).await? {
                return Ok(());
            }
        } else {
            if let Some(agent) = &access.agent
                && self.agent(agent).await?
            {
                return Ok(());
            }
            for key in access.usual_keys() {
                if self.key(&key).await? {
                    return Ok(());
                }
            }
        }
        if let Some(password) = password
            && self.password(password).await?
        {
            return Ok(());
        }
        let (host, user) = (self.host, &self.user);
        let tried = match self.tried.is_empty() {
            true => "there is no agent, no key in ~/.ssh and no password in ~/.netrc".to_owned(),
            false => format!("tried: {}", self.tried.join(", ")),
        };
        Err(Error::Refused(format!(
            "{host} does not let {user} in; {tried}"
        )))
    }

    async fn key(&mut self, file: &Path) -> Result<bool, Error> {
        let shown = file.display();
        let key = match load_secret_key(file, None) {
            Ok(key) => key,
            Err(russh::keys::Error::KeyIsEncrypted) => {
                self.tried.push(format!(
                    "`{shown}`, which has a passphrase: ssh-add '{shown}'"
                ));
                return Ok(false);
            }
            Err(error) => {
                self.tried
                    .push(format!("`{shown}`, which cannot be used: {error}"));
                return Ok(false);
            }
        };
        self.tried.push(format!("`{shown}`"));
        let key = PrivateKeyWithHashAlg::new(Arc::new(key), None);
        let answer = self.ssh.authenticate_publickey(&self.user, key).await;
        Ok(answer.map_err(|error| self.lost(&error))?.success())
    }

    /// An agent that does not answer is one door less, no failure.
    async fn agent(&mut self, socket: &Path) -> Result<bool, Error> {
        let Ok(mut agent) = AgentClient::connect_uds(socket).await else {
            return Ok(false);
        };
        let identities = agent.request_identities().await.unwrap_or_default();
        for identity in identities.into_iter().take(MOST_IDENTITIES) {
            let AgentIdentity::PublicKey { key, comment } = identity else {
                continue;
            };
            let comment = crate::error::said(&comment);
            self.tried.push(format!("the agent's key `{comment}`"));
            let answer = self
                .ssh
                .authenticate_publickey_with(&self.user, key, None, &mut agent)
                .await;
            match answer {
                Ok(answer) if answer.success() => return Ok(true),
                Ok(_) => {}
                Err(russh::AgentAuthError::Send(error)) => return Err(self.lost(&error)),
                // This key cannot be used; another may.
                Err(_) => {}
            }
        }
        Ok(false)
    }

    async fn password(&mut self, password: &Secret) -> Result<bool, Error> {
        self.tried.push("a password".to_owned());
        let answer = self
            .ssh
            .authenticate_password(&self.user, password.expose())
            .await;
        if answer.map_err(|error| self.lost(&error))?.success() {
            return Ok(true);
        }
        // Many servers ask for it in a dialogue only.
        let answer = self
            .ssh
            .authenticate_keyboard_interactive_start(&self.user, None)
            .await;
        let mut answer = answer.map_err(|error| self.lost(&error))?;
        for _ in 0..MOST_QUESTIONS {
            let KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } = &answer else {
                break;
            };
            // More than one question asks for more than a password.
            if prompts.len() > 1 {
                return Ok(false);
            }
            let said = prompts.iter().map(|_| password.expose().to_owned());
            let said = said.collect();
            let next = self
                .ssh
                .authenticate_keyboard_interactive_respond(said)
                .await;
            answer = next.map_err(|error| self.lost(&error))?;
        }
        Ok(matches!(answer, KeyboardInteractiveAuthResponse::Success))
    }

    fn lost(&self, error: &dyn std::fmt::Display) -> Error {
        let host = self.host;
        match self.tried.len() {
            0 => Error::Lost(format!("{host} broke off: {error}")),
            // Servers hang up on those who try too much.
            _ => Error::Refused(format!(
                "{host} broke off the login of {} ({error}); tried: {}",
                self.user,
                self.tried.join(", ")
            )),
        }
    }
}

/// Servers hang up after six attempts.
const MOST_IDENTITIES: usize = 4;
const MOST_QUESTIONS: usize = 3;
