#![doc = include_str!("../README.md")]

mod announce;
mod answer;
mod border;
mod client;
mod config;
mod flow_control;
mod handler;
mod hooks;
mod httpd;
mod log;
mod mark;
mod origin;
mod output;
mod repository;
mod request;
mod servers;
mod status;
mod sys;
mod threads;
mod virtual_request;

use std::ffi::{c_int, c_void};

/// The module as httpd knows it.
#[unsafe(no_mangle)]
pub static mut oai_module: sys::module = sys::module {
    // The interface of httpd that it was built for; another one is refused.
    version: sys::MODULE_MAGIC_NUMBER_MAJOR as c_int,
    minor_version: sys::MODULE_MAGIC_NUMBER_MINOR as c_int,
    // httpd writes the index, the handle and the link when it loads the module.
    module_index: -1,
    // By this name `<IfModule>` knows it.
    name: c"mod_oai.c".as_ptr(),
    dynamic_load_handle: std::ptr::null_mut(),
    next: std::ptr::null_mut(),
    // That this is a module of httpd 2 at all.
    magic: sys::MODULE_MAGIC_COOKIE as _,
    // For multi-processing modules, which see the command line.
    rewrite_args: None,
    // Per directory, location and `.htaccess`, and how an inner one goes with the outer.
    create_dir_config: Some(config::create_directory),
    merge_dir_config: Some(config::merge_directory),
    // Per server, and how a virtual host goes with the server around it.
    create_server_config: Some(config::create_server),
    merge_server_config: Some(config::merge_server),
    cmds: config::DIRECTIVES.as_ptr(),
    // Called whenever the configuration is read.
    register_hooks: Some(hooks::register),
    flags: 0,
};

/// The module's record, for functions of httpd that want to know who asks.
fn module() -> *const sys::module {
    &raw const oai_module
}

/// The number that httpd gave to the module.
fn module_index() -> c_int {
    // SAFETY: httpd writes it once, when the module is loaded, before any other function of it is called.
    unsafe { (*module()).module_index }
}

/// The configuration of this module in one of httpd's vectors of configurations.
///
/// # Safety
/// `vector` is one of httpd's.
unsafe fn module_of(vector: *const sys::ap_conf_vector_t) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { sys::ap_get_module_config(vector, module()) }
}
