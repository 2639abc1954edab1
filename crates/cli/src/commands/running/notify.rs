//! Tells systemd that this process is ready, alive, or stopping.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Says something to the manager of services, if there is one that listens: `READY=1`, `STOPPING=1`.
pub(crate) fn notify(state: &str) {
    let Some(name) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let send = || -> std::io::Result<()> {
        // A name that begins with @ is no file.
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(&name)?,
        };
        UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
        Ok(())
    };
    if let Err(error) = send() {
        tracing::warn!("systemd cannot be told `{state}`: {error}");
    }
}

/// Tells that this process is alive, as often as its unit asks for with `WatchdogSec=`. What runs this has to be polled, so
/// a runtime that hangs is noticed.
pub(crate) async fn watchdog() {
    let number = |name: &str| {
        env::var(name)
            .ok()
            .and_then(|value| value.parse::<u64>().ok())
    };
    let is_other = number("WATCHDOG_PID").is_some_and(|pid| pid != u64::from(std::process::id()));
    let Some(microseconds) = number("WATCHDOG_USEC").filter(|time| *time > 0 && !is_other) else {
        return std::future::pending().await;
    };
    loop {
        notify("WATCHDOG=1");
        tokio::time::sleep(Duration::from_micros(microseconds / 2)).await;
    }
}
