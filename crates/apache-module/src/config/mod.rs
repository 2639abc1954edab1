//! The configuration: per server and virtual host, per directory, and what other modules' directives say.

mod aliases;
pub(super) mod check;
mod directives;
pub(super) mod directories;
mod directory;
pub(super) mod patterns;
mod plugin;
mod server;
mod space;
pub(super) mod state_dirs;
mod user_dirs;

use std::ffi::c_void;

pub(crate) use self::directives::DIRECTIVES;
pub(crate) use self::directory::DirectoryConfig;
pub(crate) use self::server::ServerConfig;
pub(crate) use self::space::Space;

use crate::border::guarded;
use crate::httpd::Pool;
use crate::{module_of, sys};

impl ServerConfig {
    /// The configuration of a server or virtual host.
    ///
    /// # Safety
    /// `server` is a server of the present configuration.
    pub(crate) unsafe fn of<'a>(server: *const sys::server_rec) -> &'a Self {
        // SAFETY: httpd made one with `create_server` for every server, and keeps it as long as the server.
        unsafe { &*module_of((*server).module_config).cast() }
    }
}

impl DirectoryConfig {
    /// The configuration that holds for a request at its present stage.
    ///
    /// # Safety
    /// `r` is being processed; the value must not be used when its pool is gone.
    pub(crate) unsafe fn of<'a>(r: *const sys::request_rec) -> &'a Self {
        // SAFETY: `create_directory` and `merge_directory` made it in the request's pool or a longer one.
        unsafe { &*module_of((*r).per_dir_config).cast() }
    }
}

pub(crate) unsafe extern "C" fn create_server(
    pool: *mut sys::apr_pool_t,
    _: *mut sys::server_rec,
) -> *mut c_void {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: httpd hands over the configuration's pool.
        let pool = unsafe { Pool::new(pool) };
        pool.keep(ServerConfig::default()).cast()
    })
}

pub(crate) unsafe extern "C" fn merge_server(
    pool: *mut sys::apr_pool_t,
    base: *mut c_void,
    add: *mut c_void,
) -> *mut c_void {
    guarded(add, || {
        // SAFETY: httpd hands over the configuration's pool and what `create_server` made.
        let (pool, base, add) = unsafe {
            let (base, add) = (base.cast::<ServerConfig>(), add.cast::<ServerConfig>());
            (Pool::new(pool), &*base, &*add)
        };
        pool.keep(ServerConfig::merge(base, add)).cast()
    })
}

pub(crate) unsafe extern "C" fn create_directory(
    pool: *mut sys::apr_pool_t,
    _: *mut std::ffi::c_char,
) -> *mut c_void {
    // SAFETY: httpd hands over a pool that lives as long as the configuration is used.
    let pool = unsafe { Pool::new(pool) };
    pool.place(DirectoryConfig::default()).cast()
}

pub(crate) unsafe extern "C" fn merge_directory(
    pool: *mut sys::apr_pool_t,
    base: *mut c_void,
    add: *mut c_void,
) -> *mut c_void {
    // SAFETY: httpd hands over a pool and what `create_directory` or this function made.
    unsafe {
        let (base, add) = (
            &*base.cast::<DirectoryConfig>(),
            &*add.cast::<DirectoryConfig>(),
        );
        let pool = Pool::new(pool);
        pool.place(DirectoryConfig::merge(pool, base, add)).cast()
    }
}
