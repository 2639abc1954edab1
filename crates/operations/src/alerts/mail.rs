//! E-mail, by SMTP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use lettre::message::{Mailbox, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Message, SmtpTransport, Transport};
use serde::Deserialize;

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Encrypted after STARTTLS; a server without it gets nothing.
    #[default]
    Starttls,
    /// Encrypted from the beginning.
    Tls,
    /// In the clear, for a server on this machine.
    None,
}

/// `[mail]`: the server that takes e-mails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MailConfig {
    /// Its name or address; without it no e-mail is sent.
    pub host: Option<String>,
    /// Its port: 587 for STARTTLS, 465 for TLS, 25 without either.
    pub port: Option<u16>,
    /// The sender.
    pub from: Option<String>,
    /// How it is spoken to.
    pub security: Security,
    /// The name of an account there.
    pub username: Option<String>,
    /// A file with its password.
    pub password_file: Option<PathBuf>,
    /// How long the server may take, in seconds; 30 if nothing is said.
    pub timeout_seconds: Option<u64>,
}

impl MailConfig {
    /// The first mistake, if e-mails are to be sent.
    pub fn mistake(&self) -> Option<&'static str> {
        match (&self.host, &self.from, &self.username, &self.password_file) {
            (None, ..) => Some("[mail] has no `host`"),
            (_, None, ..) => Some("[mail] has no `from`"),
            (_, Some(from), ..) if from.parse::<Mailbox>().is_err() => {
                Some("`from` of [mail] is no e-mail address")
            }
            (.., Some(_), None) => Some("[mail] has a `username`, but no `password_file`"),
            _ => None,
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The addresses of those who get it.
    pub to: Vec<String>,
    /// Its subject, one line.
    pub subject: String,
    /// Its text.
    pub body: String,
}

/// Sends messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mailer {
    /// The server that takes them.
    pub config: MailConfig,
    /// A file of certificates to trust beside those of the system.
    pub ca_file: Option<PathBuf>,
}

impl Mailer {
    /// Whether messages can be sent.
    pub fn can_send(&self) -> bool {
        self.config.mistake().is_none()
    }

    /// Sends a message to each of its addresses; this blocks.
    pub fn send(&self, mail: &Mail) -> anyhow::Result<()> {
        send(&self.config, self.ca_file.as_deref(), mail)
    }
}

fn send(config: &MailConfig, ca_file: Option<&Path>, mail: &Mail) -> anyhow::Result<()> {
    let Some(host) = &config.host else {
        bail!("[mail] has no `host`");
    };
    let from = config.from.as_deref().context("[mail] has no `from`")?;
    let mut message = Message::builder()
        .from(from.parse().with_context(|| format!("`{from}`"))?)
        .subject(&mail.subject)
        .header(ContentType::TEXT_PLAIN);
    for address in &mail.to {
        message = message.to(address.parse().with_context(|| format!("`{address}`"))?);
    }
    let message = message.body(mail.body.clone())?;
    let (port, tls) = match config.security {
        Security::Starttls => (587, Tls::Required(parameters(host, ca_file)?)),
        Security::Tls => (465, Tls::Wrapper(parameters(host, ca_file)?)),
        Security::None => (25, Tls::None),
    };
    let seconds = config.timeout_seconds.unwrap_or(30).max(1);
    let mut transport = SmtpTransport::builder_dangerous(host)
        .port(config.port.unwrap_or(port))
        .tls(tls)
        .timeout(Some(Duration::from_secs(seconds)));
    if let (Some(user), Some(file)) = (&config.username, &config.password_file) {
        let password = std::fs::read_to_string(file)
            .with_context(|| format!("the password in `{}`", file.display()))?;
        let password = password.trim_end_matches(['\r', '\n']).to_owned();
        transport = transport.credentials(Credentials::new(user.clone(), password));
    }
    let sent = transport.build().send(&message);
    sent.map(|_| ())
        .with_context(|| format!("the mail server {host}"))
}

/// Certificates of the system are trusted, and those of `ca`.
fn parameters(host: &str, ca: Option<&Path>) -> anyhow::Result<TlsParameters> {
    let mut parameters = TlsParameters::builder(host.to_owned());
    if let Some(file) = ca {
        let pem = std::fs::read(file)
            .with_context(|| format!("the certificates in `{}`", file.display()))?;
        parameters = parameters.add_root_certificate(Certificate::from_pem(&pem)?);
    }
    Ok(parameters.build()?)
}
