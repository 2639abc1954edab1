//! The check of the configuration as a whole, by `httpd -t` and at each start.

use std::ffi::c_int;

use crate::border::guarded;
use crate::config::state_dirs;
use crate::httpd::{INTERNAL_SERVER_ERROR, OK, Pool};
use crate::servers::{self, hosts};
use crate::{log, sys};

/// For `httpd -t` and before each start: refuses what would give the indexes away, and says what is not offered.
pub(crate) unsafe extern "C" fn check(
    _: *mut sys::apr_pool_t,
    _: *mut sys::apr_pool_t,
    temporary: *mut sys::apr_pool_t,
    first: *mut sys::server_rec,
) -> c_int {
    guarded(OK, || {
        servers::set(first);
        // SAFETY: httpd clears the pool when the configuration is read.
        advise_on_aliases(unsafe { Pool::new(temporary) });
        advise_on_plugins();
        match check_sets().and_then(|()| state_dirs::check_all()) {
            Ok(()) => OK,
            Err(reason) => {
                let level = log::CRIT | sys::APLOG_STARTUP as c_int;
                log::server(level, &format!("mod_oai: {reason}"));
                INTERNAL_SERVER_ERROR
            }
        }
    })
}

/// Refuses sets of plug-ins that are not there.
fn check_sets() -> Result<(), String> {
    hosts()
        .filter(|(_, config)| config.offers)
        .try_for_each(|(_, config)| site::check_set_plugins(&config.sets, &config.plugins))
}

/// Says that plug-ins run unconfined where no program can confine them.
fn advise_on_plugins() {
    let mut reasons: Vec<_> = hosts()
        .filter(|(_, config)| config.offers)
        .filter(|(_, config)| config.plugins.iter().any(|plugin| plugin.confined))
        .filter_map(|(_, config)| config.confiner().err())
        .collect();
    reasons.sort();
    reasons.dedup();
    for reason in reasons {
        let level = log::WARNING | sys::APLOG_STARTUP as c_int;
        log::server(
            level,
            &format!("mod_oai: plug-ins are not confined: {reason}"),
        );
    }
}

/// Says which aliases lead to files that cannot be found, unless an `OaiRoot` names them.
fn advise_on_aliases(pool: Pool) {
    let offering: Vec<_> = hosts().filter(|(_, config)| config.offers).collect();
    let mut aliases: Vec<_> = (offering.iter())
        .flat_map(|(_, config)| &config.general_aliases)
        .collect();
    aliases.sort();
    aliases.dedup();
    aliases.retain(|alias| {
        let mut roots = offering.iter().flat_map(|(_, config)| &config.roots);
        !roots.any(|root| alias.is_covered_by(root, pool))
    });
    for alias in aliases {
        log::server(log::NOTICE | sys::APLOG_STARTUP as c_int, &alias.advice());
    }
}
