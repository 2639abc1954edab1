//! On whose behalf something is done.

use catalog::{Account, Role};

use crate::Refusal;

/// On whose behalf an operation works, and with which role.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The name that the audit trail gets.
    pub name: String,
    /// The greatest role that the actor may use: that of the account, or less for a token.
    pub role: Role,
    /// The number of the account; none for the command line.
    pub account: Option<i64>,
    /// How the actor reached garner.
    pub channel: Channel,
}

/// How an actor reached garner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// By the program itself, with access to the data directory.
    CommandLine,
    /// By a session of the console.
    Session,
    /// By a token of the API.
    Token,
}

impl Actor {
    /// The user who runs the program. Whoever may write the catalog may do everything.
    pub fn command_line() -> Self {
        let user = ["SUDO_USER", "USER", "LOGNAME"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|name| is_plain(name)))
            .unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()));
        Self {
            name: format!("(command line: {user})"),
            role: Role::Admin,
            account: None,
            channel: Channel::CommandLine,
        }
    }

    /// An account that logged in, or a program with one of its tokens, which may have a lesser `role`.
    pub fn account(account: &Account, role: Role, channel: Channel) -> Self {
        Self {
            name: account.name.clone(),
            role,
            account: Some(account.id),
            channel,
        }
    }

    /// Refuses unless the actor has at least the role `needed`.
    pub fn require(&self, needed: Role) -> Result<(), Refusal> {
        match self.role >= needed {
            true => Ok(()),
            false => Err(Refusal::forbidden(needed, self.role)),
        }
    }
}

/// Whether a name from the environment can stand in the audit trail.
fn is_plain(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}
