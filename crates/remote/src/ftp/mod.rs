//! A session with an FTP server, encrypted or not.

mod encoding;
mod listing;
mod tls;

use std::time::Instant;

use suppaftp::tokio::{AsyncRustlsFtpStream, AsyncRustlsStream, TransferStream};
use suppaftp::types::FileType;
use suppaftp::{FtpError, Mode, Status};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;

use self::encoding::{Transparent, bytes, text};
use self::listing::{human_line, machine_line, moment};
use crate::address::Scheme;
use crate::entry::{Entry, Kind, join};
use crate::error::said;
use crate::name::objection;
use crate::netrc::Login;
use crate::waiting::Waiting;
use crate::{Access, Address, Error, Limits};

/// A server that let us in.
pub(crate) struct Ftp<'a> {
    stream: AsyncRustlsFtpStream,
    host: &'a str,
    waiting: Waiting<'a>,
    limits: &'a Limits,
    /// Whether it lists directories for machines.
    has_machine_lists: bool,
    /// The working directory after the login.
    home: Vec<u8>,
    /// Whether it said something that leaves in doubt what it says next.
    pub(crate) broken: bool,
}

impl<'a> Ftp<'a> {
    pub(crate) async fn open(
        tcp: TcpStream,
        address: &'a Address,
        access: &Access,
        waiting: Waiting<'a>,
        limits: &'a Limits,
    ) -> Result<Self, Error> {
        let host = address.host.as_str();
        let opening = async {
            let stream = AsyncRustlsFtpStream::connect_with_stream(tcp).await;
            let stream = stream.map_err(|error| failure(host, error))?;
            match address.scheme {
                Scheme::Ftps => {
                    let connector = tls::connector(access)?;
                    let secured = stream.into_secure(connector, host).await;
                    secured.map_err(|error| failure(host, error))
                }
                Scheme::Ftp | Scheme::Sftp => Ok(stream),
            }
        };
        let mut stream = waiting.on(host, opening).await?;
        stream.set_encoding(Transparent).await;
        // Whatever address a server names for data, the one it is connected to is taken: it cannot lead us elsewhere.
        stream.set_passive_nat_workaround(true);
        let mut ftp = Self {
            stream,
            host,
            waiting,
            limits,
            has_machine_lists: false,
            home: Vec::new(),
            broken: false,
        };
        ftp.log_in(access.login(address)?).await?;
        ftp.settle().await?;
        if !address.from_home {
            ftp.home = b"/".to_vec();
        }
        Ok(ftp)
    }

    async fn log_in(&mut self, login: Login) -> Result<(), Error> {
        let user = login.user.unwrap_or_else(|| "anonymous".to_owned());
        let password = match &login.password {
            Some(password) => password.expose(),
            None if user == "anonymous" || user == "ftp" => "garner@",
            None => "",
        };
        let user = text(user.as_bytes());
        let password = text(password.as_bytes());
        let host = self.host;
        let answer = async {
            let answer = self.stream.login(user.clone(), password).await;
            answer.map_err(|error| match failure(host, error) {
                Error::Lost(why) => Error::Lost(why),
                _ => {
                    let user = said(&user);
                    Error::Refused(format!(
                        "{host} does not let {user} in; name the user in the address and write the password into ~/.netrc"
                    ))
                }
            })
        };
        self.waiting.on(host, answer).await
    }

    /// Finds out how the server is to be spoken to.
    async fn settle(&mut self) -> Result<(), Error> {
        let host = self.host;
        let asking = async {
            let error = |error| failure(host, error);
            // Servers that have no other spelling do not know the command.
            let utf8 = self
                .stream
                .custom_command("OPTS UTF8 ON", &[Status::CommandOk]);
            tolerate(utf8.await.map(|_| ()))?;
            self.stream
                .transfer_type(FileType::Binary)
                .await
                .map_err(error)?;
            let features = self.stream.feat().await;
            let has = features.as_ref().is_ok_and(|features| {
                features.keys().any(|name| {
                    let name = name.to_ascii_uppercase();
                    name.starts_with("MLST") || name.starts_with("MLSD")
                })
            });
            tolerate(features.map(|_| ()))?;
            let extended = self
                .stream
                .custom_command("EPSV", &[Status::ExtendedPassiveMode]);
            let extended = extended.await.map(|_| ());
            let mode = match &extended {
                Ok(()) => Mode::ExtendedPassive,
                Err(_) => Mode::Passive,
            };
            tolerate(extended)?;
            self.stream.set_mode(mode);
            let home = self.stream.pwd().await;
            let home = match home {
                Ok(home) => bytes(&home).unwrap_or_default(),
                Err(FtpError::UnexpectedResponse(_)) => b"/".to_vec(),
                Err(other) => return Err(error(other)),
            };
            Ok((has, home))
        };
        let (has, home) = self.waiting.on(host, asking).await?;
        if home.iter().any(u8::is_ascii_control) {
            return Err(Error::Refused(format!(
                "{host} puts us into a directory whose name cannot be said"
            )));
        }
        self.has_machine_lists = has;
        self.home = home;
        Ok(())
    }

    /// Looks at a path: a directory, or a file with its size and time.
    pub(crate) async fn look(&mut self, path: &[u8], is_directory: bool) -> Result<Entry, Error> {
        let whole = join(&self.home, path);
        let entered = self.enter(&whole).await;
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let entry = |kind| Entry {
            name: name.to_vec(),
            kind,
            size: None,
            modified: None,
            unique: None,
        };
        match entered {
            Ok(()) => Ok(entry(Kind::Directory)),
            Err(Error::Missing(_) | Error::Refused(_)) if !is_directory => {
                let mut entry = entry(Kind::File);
                self.measure(&whole, &mut entry).await?;
                Ok(entry)
            }
            Err(error) => Err(error),
        }
    }

    /// All names in a directory.
    pub(crate) async fn list(&mut self, directory: &[u8]) -> Result<Vec<Entry>, Error> {
        let whole = join(&self.home, directory);
        self.enter(&whole).await?;
        let command = match self.has_machine_lists {
            true => "MLSD",
            false => "LIST",
        };
        let mut transfer = self.transfer(command, 0).await?;
        let (host, limits) = (self.host, self.limits);
        let began = Instant::now();
        let mut lines = BufReader::new(&mut transfer);
        let mut entries = Vec::new();
        let (mut line, mut length) = (Vec::new(), 0);
        loop {
            line.clear();
            let reading = async {
                let most = limits.line as u64 + 1;
                let mut lines = (&mut lines).take(most);
                let read = lines.read_until(b'\n', &mut line).await;
                read.map_err(|error| broken_off(host, &error))
            };
            let read = self.waiting.on(host, reading).await?;
            if read == 0 {
                break;
            }
            length += read as u64;
            let too_much = line.len() > limits.line || length > limits.listing;
            if too_much || entries.len() > limits.entries || began.elapsed() > limits.listing_time {
                return Err(endless(host, directory));
            }
            let line = line.trim_ascii_end();
            let entry = match self.has_machine_lists {
                true => machine_line(line),
                false => human_line(line),
            };
            entries.extend(entry);
        }
        self.finish(transfer).await?;
        if !self.has_machine_lists {
            for entry in &mut entries {
                // A name that is not taken is not asked about either.
                if entry.kind == Kind::File && objection(&entry.name).is_none() {
                    let path = join(&whole, &entry.name);
                    match self.measure(&path, entry).await {
                        Err(Error::Missing(_) | Error::Refused(_)) | Ok(()) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
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
        let whole = join(&self.home, path);
        let command = format!("RETR {}", text(&whole));
        let mut transfer = self.transfer(&command, offset).await?;
        let host = self.host;
        let mut buffer = vec![0; BLOCK];
        let mut left = length;
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            let reading = async {
                let read = transfer.read(&mut buffer[..most]).await;
                read.map_err(|error| broken_off(host, &error))
            };
            let read = self.waiting.on(host, reading).await?;
            if read == 0 {
                // The final reply tells the end of the file from a lost connection.
                self.finish(transfer).await?;
                return Err(Error::Changed);
            }
            take(&buffer[..read])?;
            left -= read as u64;
        }
        // All is there that was asked for. A file that grows has more, and the server complains that nobody takes it.
        match self.finish(transfer).await {
            Err(Error::Stopped) => Err(Error::Stopped),
            Err(_) => {
                self.broken = true;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Asks for the size of a file and when it was changed.
    async fn measure(&mut self, whole: &[u8], entry: &mut Entry) -> Result<(), Error> {
        let host = self.host;
        let path = text(whole);
        let asking = async {
            let size = self
                .stream
                .custom_command(format!("SIZE {path}"), &[Status::File]);
            let size = size.await.map_err(|error| failure(host, error))?;
            let time = self
                .stream
                .custom_command(format!("MDTM {path}"), &[Status::File]);
            let time = match time.await {
                Ok(time) => Some(time),
                Err(FtpError::UnexpectedResponse(_)) => None,
                Err(error) => return Err(failure(host, error)),
            };
            Ok((size, time))
        };
        let (size, time) = self.waiting.on(host, asking).await?;
        let number = |body: &[u8]| {
            let text = String::from_utf8_lossy(body.get(4..).unwrap_or_default()).into_owned();
            text.trim().to_owned()
        };
        entry.size = number(&size.body).parse().ok();
        entry.modified = time.and_then(|time| moment(&number(&time.body)));
        Ok(())
    }

    async fn enter(&mut self, whole: &[u8]) -> Result<(), Error> {
        let host = self.host;
        let entering = async {
            let entered = self.stream.cwd(text(whole)).await;
            entered.map_err(|error| failure(host, error))
        };
        self.waiting.on(host, entering).await
    }

    async fn transfer(
        &mut self,
        command: &str,
        offset: u64,
    ) -> Result<TransferStream<AsyncRustlsStream>, Error> {
        let host = self.host;
        let offset = usize::try_from(offset).map_err(|_| Error::NoResume(String::new()))?;
        let opening = async {
            let error = |error| failure(host, error);
            self.stream.resume_transfer(offset).await.map_err(error)?;
            let expected = [Status::AboutToSend, Status::AlreadyOpen];
            let opened = self.stream.custom_data_command(command, &expected).await;
            match opened {
                Ok((_, transfer)) => Ok(transfer),
                Err(FtpError::UnexpectedResponse(answer))
                    if offset > 0 && !is_of_file(answer.status) && !is_passing(answer.status) =>
                {
                    Err(Error::NoResume(format!(
                        "{host} cannot resume in the middle of a file"
                    )))
                }
                Err(other) => Err(error(other)),
            }
        };
        self.waiting.on(host, opening).await
    }

    async fn finish(&mut self, transfer: TransferStream<AsyncRustlsStream>) -> Result<(), Error> {
        let host = self.host;
        let finishing = async {
            let finished = transfer.finish().await;
            finished.map_err(|error| failure(host, error))
        };
        self.waiting.on(host, finishing).await
    }
}

/// A command that servers need not know.
fn tolerate(answer: Result<(), FtpError>) -> Result<(), Error> {
    match answer {
        Ok(()) | Err(FtpError::UnexpectedResponse(_) | FtpError::BadResponse) => Ok(()),
        Err(error) => Err(failure("the server", error)),
    }
}

fn failure(host: &str, error: FtpError) -> Error {
    match error {
        FtpError::ConnectionError(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Error::Refused(format!("{host} answers without end"))
        }
        FtpError::ConnectionError(error) => broken_off(host, &error),
        FtpError::SecureError(why) => Error::Refused(format!(
            "{host} cannot be trusted: {}; a certificate of your own goes into GARNER_CA_FILE",
            said(&why)
        )),
        FtpError::UnexpectedResponse(answer) => {
            let words = said(&String::from_utf8_lossy(&answer.body));
            let text = format!("{host} says `{words}`");
            match answer.status {
                status if is_passing(status) => Error::Lost(text),
                status if is_of_file(status) => Error::Missing(text),
                _ => Error::Refused(text),
            }
        }
        FtpError::BadResponse | FtpError::InvalidAddress(_) => {
            Error::Refused(format!("{host} does not answer as an FTP server does"))
        }
        FtpError::DataConnectionAlreadyOpen => Error::Lost(format!("{host} is out of step")),
    }
}

/// Whether the same may be answered otherwise later.
fn is_passing(status: Status) -> bool {
    matches!(
        status,
        Status::NotAvailable
            | Status::CannotOpenDataConnection
            | Status::TransferAborted
            | Status::HostUnavailable
            | Status::ActionAborted
            | Status::RequestedActionNotTaken
    )
}

fn is_of_file(status: Status) -> bool {
    matches!(
        status,
        Status::RequestFileActionIgnored
            | Status::FileUnavailable
            | Status::PageTypeUnknown
            | Status::BadFilename
    )
}

fn broken_off(host: &str, error: &std::io::Error) -> Error {
    Error::Lost(format!("the connection to {host} broke off: {error}"))
}

fn endless(host: &str, directory: &[u8]) -> Error {
    let directory = said(&String::from_utf8_lossy(directory));
    Error::Refused(format!("{host} lists `{directory}` without end"))
}

const BLOCK: usize = 256 << 10;
