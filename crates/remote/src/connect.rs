//! Opens a connection to a server, if its address may be connected to.

use std::net::IpAddr;

use tokio::net::TcpStream;

use crate::waiting::Waiting;
use crate::{Address, Error};

/// Which addresses may be connected to: the name that led to it, if it was one, and the address.
pub(crate) type Admits<'a> = dyn Fn(Option<&str>, IpAddr) -> bool + Sync + 'a;

/// Connects to the first of the host's addresses that answers.
pub(crate) async fn connect(
    address: &Address,
    admits: &Admits<'_>,
    waiting: &Waiting<'_>,
) -> Result<TcpStream, Error> {
    let host = address.host.as_str();
    let literal = host.parse::<IpAddr>().ok();
    let lookup = async {
        let found = tokio::net::lookup_host((host, address.port)).await;
        let found = found.map_err(|error| Error::Lost(format!("{host} is not found: {error}")))?;
        Ok(found.collect::<Vec<_>>())
    };
    let found = waiting.on(host, lookup).await?;
    let name = Some(host).filter(|_| literal.is_none());
    let admitted = found.into_iter().filter(|found| admits(name, found.ip()));
    let mut refusal = Error::Refused(format!(
        "{host} is not public; the configuration may allow it with network.allow"
    ));
    for found in admitted {
        let connecting = async {
            let stream = TcpStream::connect(found).await;
            stream.map_err(|error| Error::Lost(format!("{host} cannot be connected to: {error}")))
        };
        match waiting.on(host, connecting).await {
            Ok(stream) => {
                // A matter of speed alone.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}
