//! A session with an SFTP server.

mod login;
mod trust;

use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use russh::client::Handle;
use russh_sftp::client::error::Error as SftpError;
use russh_sftp::client::{Config, RawSftpSession};
use russh_sftp::protocol::{FileAttributes, OpenFlags, StatusCode};
use tokio::net::TcpStream;

use self::trust::Trust;
use crate::entry::{Entry, Kind, join};
use crate::error::said;
use crate::waiting::Waiting;
use crate::{Access, Address, Error, Limits};

/// A server that let us in.
pub(crate) struct Sftp<'a> {
    session: RawSftpSession,
    /// The connection ends with it.
    _ssh: Handle<Trust>,
    host: &'a str,
    waiting: Waiting<'a>,
    limits: &'a Limits,
    /// The directory that relative paths begin at.
    home: Vec<u8>,
}

impl<'a> Sftp<'a> {
    pub(crate) async fn open(
        tcp: TcpStream,
        address: &'a Address,
        access: &Access,
        waiting: Waiting<'a>,
        limits: &'a Limits,
    ) -> Result<Self, Error> {
        let host = address.host.as_str();
        let mut ssh = trust::connect(tcp, address, access, &waiting).await?;
        login::log_in(&mut ssh, address, access, &waiting).await?;
        let opening = async {
            let lost = |error: russh::Error| Error::Lost(format!("{host}: {error}"));
            let channel = ssh.channel_open_session().await.map_err(lost)?;
            let asked = channel.request_subsystem(true, "sftp").await;
            asked.map_err(|_| Error::Refused(format!("{host} offers no SFTP")))?;
            let config = Config {
                request_timeout_secs: limits.silence.as_secs().max(1),
                ..Config::default()
            };
            let session = RawSftpSession::new_with_config(channel.into_stream(), config);
            // A server that does not offer it ends the channel.
            let begun = session.init().await;
            begun.map_err(|error| Error::Refused(format!("{host} offers no SFTP: {error}")))?;
            Ok(session)
        };
        let session = waiting.on(host, opening).await?;
        let mut sftp = Self {
            session,
            _ssh: ssh,
            host,
            waiting,
            limits,
            home: b"/".to_vec(),
        };
        if address.from_home {
            sftp.home = sftp.home().await?;
        }
        Ok(sftp)
    }

    /// Asks for the working directory after the login.
    async fn home(&self) -> Result<Vec<u8>, Error> {
        let host = self.host;
        let asking = async {
            let answer = self.session.realpath(".").await;
            answer.map_err(|error| failure(host, b".", error))
        };
        let answer = self.waiting.on(host, asking).await?;
        let home = answer.files.into_iter().next();
        let home = home.filter(|home| home.filename.starts_with('/'));
        let home =
            home.ok_or_else(|| Error::Refused(format!("{host} does not say where home is")))?;
        Ok(home.filename.into_bytes())
    }

    /// Looks at a path. The user named it, so a link is followed.
    pub(crate) async fn look(&mut self, path: &[u8]) -> Result<Entry, Error> {
        let host = self.host;
        let asking = async {
            let found = self.session.stat(self.whole(path)?).await;
            found.map_err(|error| failure(host, path, error))
        };
        let found = self.waiting.on(host, asking).await?;
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        Ok(entry(name.to_vec(), &found.attrs))
    }

    /// All names in a directory.
    pub(crate) async fn list(&mut self, directory: &[u8]) -> Result<Vec<Entry>, Error> {
        let (host, limits) = (self.host, self.limits);
        let opening = async {
            let handle = self.session.opendir(self.whole(directory)?).await;
            handle.map_err(|error| failure(host, directory, error))
        };
        let handle = self.waiting.on(host, opening).await?.handle;
        let began = Instant::now();
        let mut entries = Vec::new();
        let mut length = 0;
        loop {
            let reading = async {
                match self.session.readdir(handle.clone()).await {
                    Ok(names) => Ok(Some(names.files)),
                    Err(SftpError::Status(status)) if status.status_code == StatusCode::Eof => {
                        Ok(None)
                    }
                    Err(error) => Err(failure(host, directory, error)),
                }
            };
            let Some(files) = self.waiting.on(host, reading).await? else {
                break;
            };
            // An answer without names is one more way to answer without end.
            length += files.len() as u64 + 1;
            for file in files {
                length += file.filename.len() as u64;
                if file.filename != "." && file.filename != ".." {
                    entries.push(entry(file.filename.into_bytes(), &file.attrs));
                }
            }
            let is_long = entries.len() > limits.entries || length > limits.listing;
            if is_long || began.elapsed() > limits.listing_time {
                let directory = said(&String::from_utf8_lossy(directory));
                return Err(Error::Refused(format!(
                    "{host} lists `{directory}` without end"
                )));
            }
        }
        self.close(handle).await?;
        Ok(entries)
    }

    /// Reads part of a file, from an offset on.
    pub(crate) async fn read(
        &mut self,
        path: &[u8],
        offset: u64,
        length: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let host = self.host;
        let opening = async {
            let attributes = FileAttributes::empty();
            let opened = self
                .session
                .open(self.whole(path)?, OpenFlags::READ, attributes);
            opened.await.map_err(|error| failure(host, path, error))
        };
        let handle = self.waiting.on(host, opening).await?.handle;
        let read = self.read_open(&handle, path, offset..offset.saturating_add(length), take);
        let read = read.await;
        match read {
            Ok(()) => self.close(handle).await,
            Err(error) => {
                // The reason counts, not whether the server hears of it.
                if !matches!(error, Error::Lost(_) | Error::Stopped) {
                    self.close(handle).await?;
                }
                Err(error)
            }
        }
    }

    /// Has several requests under way, so that a long way to the server does not make it slow.
    async fn read_open(
        &self,
        handle: &str,
        path: &[u8],
        range: std::ops::Range<u64>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let host = self.host;
        let ask = |at: u64| {
            let wanted = (range.end - at).min(BLOCK);
            let answer = self
                .session
                .read(handle, at, u32::try_from(wanted).unwrap_or(1));
            async move { (wanted, answer.await) }
        };
        let mut position = range.start;
        while position < range.end {
            let mut asked = position;
            let mut answers = FuturesOrdered::new();
            loop {
                while answers.len() < UNDER_WAY && asked < range.end {
                    answers.push_back(ask(asked));
                    asked += (range.end - asked).min(BLOCK);
                }
                let reading = async { Ok(answers.next().await) };
                let Some((wanted, answer)) = self.waiting.on(host, reading).await? else {
                    break;
                };
                let data = match answer {
                    Ok(answer) => answer.data,
                    Err(SftpError::Status(status)) if status.status_code == StatusCode::Eof => {
                        return Err(Error::Changed);
                    }
                    Err(error) => return Err(failure(host, path, error)),
                };
                if data.is_empty() || data.len() as u64 > wanted {
                    return Err(Error::Refused(format!(
                        "{host} sends what was not asked for"
                    )));
                }
                take(&data)?;
                position += data.len() as u64;
                // A short answer leaves a hole before the blocks behind it.
                if (data.len() as u64) < wanted {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn close(&self, handle: String) -> Result<(), Error> {
        let host = self.host;
        let closing = async {
            let closed = self.session.close(handle).await;
            closed.map_err(|error| failure(host, b"", error))
        };
        self.waiting.on(host, closing).await.map(|_| ())
    }

    /// A path as the protocol library takes it. What is no UTF-8 came in changed, and cannot be asked for.
    fn whole(&self, path: &[u8]) -> Result<String, Error> {
        let whole = String::from_utf8(join(&self.home, path));
        let whole = whole.ok().filter(|path| !path.contains('\u{fffd}'));
        whole.ok_or_else(|| Error::Missing("its name is not UTF-8; rename it there".to_owned()))
    }
}

fn entry(name: Vec<u8>, attributes: &FileAttributes) -> Entry {
    let kind = match attributes.permissions.map(|mode| mode & 0o170_000) {
        Some(0o100_000) => Kind::File,
        Some(0o040_000) => Kind::Directory,
        Some(0o120_000) => Kind::Link,
        _ => Kind::Other,
    };
    Entry {
        name,
        kind,
        size: attributes.size,
        modified: attributes.mtime.map(i64::from),
        unique: None,
    }
}

fn failure(host: &str, path: &[u8], error: SftpError) -> Error {
    let path = said(&String::from_utf8_lossy(path));
    match error {
        SftpError::Status(status) => {
            let text = format!(
                "{host} says of `{path}`: {}",
                said(&status.status_code.to_string())
            );
            match status.status_code {
                StatusCode::NoConnection | StatusCode::ConnectionLost => Error::Lost(text),
                StatusCode::BadMessage | StatusCode::OpUnsupported => Error::Refused(text),
                _ => Error::Missing(text),
            }
        }
        SftpError::UnexpectedPacket | SftpError::Limited(_) => {
            Error::Refused(format!("{host} does not answer as an SFTP server does"))
        }
        // The library has no other word for a connection that ended.
        error => Error::Lost(format!("the connection to {host} broke off: {error}")),
    }
}

/// The block size that every server supports.
const BLOCK: u64 = 32 << 10;
const UNDER_WAY: usize = 32;
