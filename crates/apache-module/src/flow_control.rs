//! Flow control: how many lists and programs may run at once, in all and for one client, counted over all processes.
//!
//! The slots lie in memory that the parent shares with its children. A request takes one and gives it back; the parent
//! gives back those of a child that died.

use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::border::guarded;
use crate::sys;

/// The counters.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// Lists and records that are being written.
    List = 1,
    /// Programs that run for a record.
    Program = 2,
}

/// The right to run one; given back when dropped.
pub(crate) struct Permit(Option<&'static Slot>);

/// The lists and programs that run; httpd's memory is zeroed, which is a table with nothing in it.
#[repr(C)]
struct Table {
    /// The last ticket that was given out. Tickets order those who ask at the same time.
    tickets: AtomicU64,
    slots: [Slot; SLOTS],
}

#[repr(C)]
struct Slot {
    /// The ticket of who has it; 0 if it is free.
    ticket: AtomicU64,
    /// The client that asks; 0 while the other fields are being written.
    client: AtomicU64,
    process: AtomicU32,
    kind: AtomicU32,
}

/// Made once by the parent; it outlives restarts.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

/// In the parent: makes the table if there is none.
pub(crate) fn prepare(server: *mut sys::server_rec) {
    if !TABLE.load(Ordering::Acquire).is_null() {
        return;
    }
    // SAFETY: the pool of the process lives as long as the process does, so that the memory does too. It is as large as
    // a table, aligned to a page, and zeroed by the system.
    unsafe {
        let pool = (*(*server).process).pool;
        let mut shared = std::ptr::null_mut();
        let size = size_of::<Table>();
        if sys::apr_shm_create(&raw mut shared, size, std::ptr::null(), pool) == 0 {
            let table: *mut Table = sys::apr_shm_baseaddr_get(shared).cast();
            table.cast::<u8>().write_bytes(0, size);
            TABLE.store(table, Ordering::Release);
        }
    }
}

/// In the parent: gives back the slots of a child that is gone.
pub(crate) unsafe extern "C" fn on_child_status(
    _: *mut sys::server_rec,
    process: sys::pid_t,
    _: sys::ap_generation_t,
    _: c_int,
    state: sys::mpm_child_status,
) {
    guarded((), || {
        if state != sys::mpm_child_status_MPM_CHILD_EXITED {
            return;
        }
        let process = process.unsigned_abs();
        let slots = table().into_iter().flat_map(|table| &table.slots);
        let own = slots.filter(|slot| slot.process.load(Ordering::Acquire) == process);
        own.for_each(Slot::release);
    });
}

/// Lets a client run one more, unless as many run as may in all or for this client. A limit of 0 is none.
pub(crate) fn admit(kind: Kind, client: IpAddr, limit: u64, per_client: u64) -> Option<Permit> {
    let Some(table) = table() else {
        // Without shared memory nobody can count.
        return Some(Permit(None));
    };
    let ticket = table.tickets.fetch_add(1, Ordering::AcqRel) + 1;
    let free = |slot: &&Slot| {
        let (acquire, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
        let taken = slot.ticket.compare_exchange(0, ticket, acquire, relaxed);
        taken.is_ok()
    };
    let slot = table.slots.iter().find(free)?;
    let permit = Permit(Some(slot));
    let client = number_of(client);
    slot.process.store(std::process::id(), Ordering::Release);
    slot.kind.store(kind as u32, Ordering::Release);
    slot.client.store(client, Ordering::Release);

    let earlier = table.slots.iter().filter(|other| {
        let other = other.ticket.load(Ordering::Acquire);
        other != 0 && other < ticket
    });
    let (mut all, mut own) = (0, 0);
    for other in earlier {
        let other_client = other.client();
        if other.kind.load(Ordering::Acquire) == kind as u32 {
            all += 1;
            own += u64::from(other_client == client);
        }
    }
    let within = |running: u64, limit: u64| limit == 0 || running < limit;
    (within(all, limit) && within(own, per_client)).then_some(permit)
}

impl Slot {
    /// The process that holds it, once that is written.
    fn client(&self) -> u64 {
        for _ in 0..MOMENT {
            match self.client.load(Ordering::Acquire) {
                0 => std::hint::spin_loop(),
                client => return client,
            }
        }
        0
    }

    fn release(&self) {
        self.client.store(0, Ordering::Release);
        self.kind.store(0, Ordering::Release);
        self.process.store(0, Ordering::Release);
        self.ticket.store(0, Ordering::Release);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            slot.release();
        }
    }
}

fn table() -> Option<&'static Table> {
    // SAFETY: `prepare` made it, and it is there as long as the process. All of it is atomic.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }
}

/// A number for an address, never 0. One client has a whole /64 of IPv6.
fn number_of(client: IpAddr) -> u64 {
    let mut hasher = DefaultHasher::new();
    match client.to_canonical() {
        IpAddr::V4(address) => address.hash(&mut hasher),
        IpAddr::V6(address) => address.segments()[..4].hash(&mut hasher),
    }
    hasher.finish() | 1
}

/// As many can run at once, whatever the limits are.
const SLOTS: usize = 2048;

/// How often a slot is looked at that is being written.
const MOMENT: u32 = 10_000;
