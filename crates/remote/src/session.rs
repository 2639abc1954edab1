//! A session with a server, whatever it speaks.

use crate::address::Scheme;
use crate::connect::{Admits, connect};
use crate::entry::Entry;
use crate::ftp::Ftp;
use crate::sftp::Sftp;
use crate::waiting::Waiting;
use crate::{Access, Address, Error, Limits};

/// A server that let us in.
pub(crate) enum Session<'a> {
    Ftp(Box<Ftp<'a>>),
    Sftp(Box<Sftp<'a>>),
}

impl<'a> Session<'a> {
    pub(crate) async fn open(
        address: &'a Address,
        access: &Access,
        admits: &Admits<'_>,
        waiting: Waiting<'a>,
        limits: &'a Limits,
    ) -> Result<Self, Error> {
        let tcp = connect(address, admits, &waiting).await?;
        Ok(match address.scheme {
            Scheme::Ftp | Scheme::Ftps => {
                let ftp = Ftp::open(tcp, address, access, waiting, limits).await?;
                Self::Ftp(Box::new(ftp))
            }
            Scheme::Sftp => {
                let sftp = Sftp::open(tcp, address, access, waiting, limits).await?;
                Self::Sftp(Box::new(sftp))
            }
        })
    }

    /// What lies at a path, which may be a file unless it can only be a directory.
    pub(crate) async fn look(&mut self, path: &[u8], is_directory: bool) -> Result<Entry, Error> {
        match self {
            Self::Ftp(ftp) => ftp.look(path, is_directory).await,
            Self::Sftp(sftp) => sftp.look(path).await,
        }
    }

    /// All names in a directory, as the server gives them.
    pub(crate) async fn list(&mut self, directory: &[u8]) -> Result<Vec<Entry>, Error> {
        match self {
            Self::Ftp(ftp) => ftp.list(directory).await,
            Self::Sftp(sftp) => sftp.list(directory).await,
        }
    }

    /// Reads exactly so many bytes of a file from an offset on. If there are fewer by now, the file changed.
    pub(crate) async fn read(
        &mut self,
        path: &[u8],
        offset: u64,
        length: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Ftp(ftp) => ftp.read(path, offset, length, take).await,
            Self::Sftp(sftp) => sftp.read(path, offset, length, take).await,
        }
    }

    /// Whether the next command needs a new connection.
    pub(crate) fn is_broken(&self) -> bool {
        match self {
            Self::Ftp(ftp) => ftp.broken,
            Self::Sftp(_) => false,
        }
    }
}
