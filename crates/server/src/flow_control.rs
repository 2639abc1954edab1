//! Flow control: how many lists may run at once, in all and for one client (OAI-PMH 2.0, section 3.1.2.2).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts what is running.
#[derive(Debug)]
pub(crate) struct FlowControl {
    limit: usize,
    limit_per_client: usize,
    running: Mutex<HashMap<IpAddr, usize>>,
}

/// The right to run one list; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    control: Arc<FlowControl>,
    client: IpAddr,
}

impl FlowControl {
    pub(crate) fn new(limit: usize, limit_per_client: usize) -> Self {
        Self {
            limit,
            limit_per_client,
            running: Mutex::default(),
        }
    }

    /// Lets a client run one more list, or not now.
    pub(crate) fn admit(self: &Arc<Self>, client: IpAddr) -> Option<Permit> {
        let mut running = self.running();
        let all: usize = running.values().sum();
        let own = running.get(&client).copied().unwrap_or(0);
        if all >= self.limit || own >= self.limit_per_client {
            return None;
        }
        running.insert(client, own + 1);
        metrics::gauge!("garner_oai_lists_running").set((all + 1) as f64);
        Some(Permit {
            control: Arc::clone(self),
            client,
        })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut running = self.control.running();
        if let Some(own) = running.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                running.remove(&self.client);
            }
        }
        metrics::gauge!("garner_oai_lists_running").set(running.values().sum::<usize>() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_in_all_and_for_one_client() {
        let control = Arc::new(FlowControl::new(3, 2));
        let [a, b] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());

        let first = control.admit(a).unwrap();
        let _second = control.admit(a).unwrap();
        assert!(control.admit(a).is_none());
        let _third = control.admit(b).unwrap();
        assert!(control.admit(b).is_none());

        drop(first);
        assert!(control.admit(a).is_some());
    }
}
