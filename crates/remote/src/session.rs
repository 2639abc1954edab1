//! A session with a server, whatever it speaks.

use crate::address::Scheme;
use crate::connect::{Admits, connect};
use crate::entry::Entry;
#[cfg(feature = "ftp")]
use crate::ftp::Ftp;
#[cfg(feature = "sftp")]
use crate::sftp::Sftp;
use crate::waiting::Waiting;
use crate::{Access, Address, Error, Limits};

/// A server that let us in.
pub(crate) enum Session<'a> {
    #[cfg(feature = "ftp")]
    Ftp(Box<Ftp<'a>>),
    #[cfg(feature = "sftp")]
    Sftp(Box<Sftp<'a>>),
    #[cfg(not(any(feature = "ftp", feature = "sftp")))]
    None(std::convert::Infallible, std::marker::PhantomData<&'a ()>),
}

impl<'a> Session<'a> {
    pub(crate) async fn open(
        address: &'a Address,
        access: &Access,
        admits: &Admits<'_>,
        waiting: Waiting<'a>,
        limits: &'a Limits,
    ) -> Result<Self, Error> {
        let is_built = match address.scheme {
            Scheme::Ftp | Scheme::Ftps => cfg!(feature = "ftp"),
            Scheme::Sftp => cfg!(feature = "sftp"),
        };
        if !is_built {
            return Err(not_built(address));
        }
        let tcp = connect(address, admits, &waiting).await?;
        Ok(match address.scheme {
            #[cfg(feature = "ftp")]
            Scheme::Ftp | Scheme::Ftps => {
                let ftp = Ftp::open(tcp, address, access, waiting, limits).await?;
                Self::Ftp(Box::new(ftp))
            }
            #[cfg(feature = "sftp")]
            Scheme::Sftp => {
                let sftp = Sftp::open(tcp, address, access, waiting, limits).await?;
                Self::Sftp(Box::new(sftp))
            }
            #[allow(unreachable_patterns, reason = "each protocol may be built in")]
            _ => return Err(not_built(address)),
        })
    }

    /// Looks at a path, which may be a file unless `is_directory` is set.
    pub(crate) async fn look(&mut self, path: &[u8], is_directory: bool) -> Result<Entry, Error> {
        match self {
            #[cfg(feature = "ftp")]
            Self::Ftp(ftp) => ftp.look(path, is_directory).await,
            #[cfg(feature = "sftp")]
            Self::Sftp(sftp) => sftp.look(path).await,
            #[cfg(not(any(feature = "ftp", feature = "sftp")))]
            Self::None(never, ..) => match *never {},
        }
    }

    /// All names in a directory, as the server gives them.
    pub(crate) async fn list(&mut self, directory: &[u8]) -> Result<Vec<Entry>, Error> {
        match self {
            #[cfg(feature = "ftp")]
            Self::Ftp(ftp) => ftp.list(directory).await,
            #[cfg(feature = "sftp")]
            Self::Sftp(sftp) => sftp.list(directory).await,
            #[cfg(not(any(feature = "ftp", feature = "sftp")))]
            Self::None(never, ..) => match *never {},
        }
    }

    /// Reads exactly `length` bytes of a file from an offset on. A file that has fewer has changed.
    pub(crate) async fn read(
        &mut self,
        path: &[u8],
        offset: u64,
        length: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            #[cfg(feature = "ftp")]
            Self::Ftp(ftp) => ftp.read(path, offset, length, take).await,
            #[cfg(feature = "sftp")]
            Self::Sftp(sftp) => sftp.read(path, offset, length, take).await,
            #[cfg(not(any(feature = "ftp", feature = "sftp")))]
            Self::None(never, ..) => match *never {},
        }
    }

    /// Whether the next command needs a new connection.
    pub(crate) fn is_broken(&self) -> bool {
        match self {
            #[cfg(feature = "ftp")]
            Self::Ftp(ftp) => ftp.broken,
            #[cfg(feature = "sftp")]
            Self::Sftp(_) => false,
            #[cfg(not(any(feature = "ftp", feature = "sftp")))]
            Self::None(never, ..) => match *never {},
        }
    }
}

fn not_built(address: &Address) -> Error {
    let feature = match address.scheme {
        Scheme::Ftp | Scheme::Ftps => "ftp",
        Scheme::Sftp => "sftp",
    };
    Error::Address(format!(
        "sources by {feature} are not built into this garner (feature `{feature}`); fetch the files otherwise, or use another build"
    ))
}
