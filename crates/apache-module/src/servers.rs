//! The servers and virtual hosts of the present configuration.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::config::ServerConfig;
use crate::httpd::bytes;
use crate::sys;

/// The first of httpd's list; null while a configuration is being read.
static FIRST: AtomicPtr<sys::server_rec> = AtomicPtr::new(std::ptr::null_mut());

/// A number that changes with the configuration.
static FINGERPRINT: AtomicU64 = AtomicU64::new(0);

/// Forgets them: httpd is about to read its configuration, and the old one is gone.
pub(crate) fn forget() {
    FIRST.store(std::ptr::null_mut(), Ordering::Release);
}

/// Takes note of the list that holds from now on.
pub(crate) fn set(first: *mut sys::server_rec) {
    FIRST.store(first, Ordering::Release);
}

/// Takes the fingerprint of the configuration that was just read.
pub(crate) fn take_fingerprint() {
    let mut hasher = DefaultHasher::new();
    // SAFETY: httpd keeps the tree of directives as long as its configuration, and nobody changes it any more.
    unsafe { hash_directives(sys::ap_conftree, &mut hasher) };
    FINGERPRINT.store(hasher.finish(), Ordering::Release);
}

/// The fingerprint of the present configuration.
pub(crate) fn fingerprint() -> u64 {
    FINGERPRINT.load(Ordering::Acquire)
}

/// # Safety
/// The directive is one of httpd's tree, or null.
unsafe fn hash_directives(mut directive: *const sys::ap_directive_t, hasher: &mut DefaultHasher) {
    // SAFETY: the caller's promise; sections are only a few deep.
    unsafe {
        while let Some(this) = directive.as_ref() {
            bytes(this.directive).hash(hasher);
            bytes(this.args).hash(hasher);
            hash_directives(this.first_child, hasher);
            directive = this.next;
        }
    }
}

/// The main server, whose log takes what is about no request; null if none is known.
pub(crate) fn main() -> *const sys::server_rec {
    FIRST.load(Ordering::Acquire)
}

/// The document root of a server, where no request says that it is another one.
///
/// # Safety
/// `server` is one of the present configuration.
pub(crate) unsafe fn document_root(server: *const sys::server_rec) -> PathBuf {
    // SAFETY: the caller's promise; every server has settings of httpd's core. The text is copied.
    let root = unsafe {
        let core = sys::ap_get_core_module_config((*server).module_config);
        bytes((*core.cast::<sys::core_server_config>()).ap_document_root)
    };
    PathBuf::from(OsStr::from_bytes(root.unwrap_or_default()))
}

/// All of them with their settings.
pub(crate) fn hosts() -> impl Iterator<Item = (*const sys::server_rec, &'static ServerConfig)> {
    // SAFETY: the servers belong to the present configuration, which outlives this look at them.
    all().map(|server| (server, unsafe { ServerConfig::of(server) }))
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = *const sys::server_rec> {
    let there = |server: *const sys::server_rec| (!server.is_null()).then_some(server);
    // SAFETY: httpd keeps its list of servers as long as its configuration; the last one has none behind it.
    std::iter::successors(there(main()), move |server| unsafe {
        there((**server).next)
    })
}
