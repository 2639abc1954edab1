//! Passwords that were checked while one answer is made.
//!
//! A good password hash takes as long as a thousand lookups, and a list asks about thousands of files with one and the
//! same password. So the provider `file` of mod_authn_file is wrapped: on made-up requests a password file is asked once
//! an answer about a name and a password. All else goes its way: which providers and modules have a say, and who of
//! those who are known may see which file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::border::guarded;
use crate::config::DirectoryConfig;
use crate::httpd::{OK, bytes};
use crate::mark::Mark;
use crate::sys;

/// The answers of password files while one answer is made.
#[derive(Debug, Default)]
pub(crate) struct Passwords(RefCell<HashMap<Question, sys::authn_status>>);

/// The question to a password file.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Question {
    password_file: Vec<u8>,
    user: Vec<u8>,
    password: Vec<u8>,
}

/// The provider that is wrapped, from the moment on when the configuration is read.
static WRAPPED: AtomicPtr<sys::authn_provider> = AtomicPtr::new(std::ptr::null_mut());

/// The wrapper.
static WRAPPER: sys::authn_provider = sys::authn_provider {
    check_password: Some(check_password),
    get_realm_hash: Some(get_realm_hash),
};

const GROUP: *const c_char = c"authn".as_ptr();
const NAME: *const c_char = c"file".as_ptr();
const VERSION: *const c_char = c"0".as_ptr();

/// Before the configuration is read, when all modules are there: takes the place of the provider `file`.
pub(crate) unsafe extern "C" fn wrap_provider(
    pool: *mut sys::apr_pool_t,
    _: *mut sys::apr_pool_t,
    _: *mut sys::apr_pool_t,
) -> c_int {
    // SAFETY: httpd keeps what modules have registered as long as its configuration; the wrapper is never unloaded.
    unsafe {
        let provider = sys::ap_lookup_provider(GROUP, NAME, VERSION);
        let wrapper = &raw const WRAPPER;
        if !provider.is_null() && provider.cast_const() != wrapper.cast() {
            WRAPPED.store(provider.cast(), Ordering::Release);
            sys::ap_register_provider(pool, GROUP, NAME, VERSION, wrapper.cast());
        }
    }
    OK
}

unsafe extern "C" fn check_password(
    r: *mut sys::request_rec,
    user: *const c_char,
    password: *const c_char,
) -> sys::authn_status {
    guarded(sys::authn_status_AUTH_GENERAL_ERROR, || {
        // SAFETY: mod_auth_basic hands over a request that is being processed, and two strings.
        unsafe {
            let ask = || match wrapped().and_then(|provider| provider.check_password) {
                Some(check) => check(r, user, password),
                None => sys::authn_status_AUTH_GENERAL_ERROR,
            };
            let passwords = Mark::of(r).and_then(|mark| mark.passwords.as_ref());
            let file = DirectoryConfig::of(r).password_file();
            let (Some(passwords), Some(password_file)) = (passwords, file) else {
                return ask();
            };
            let question = Question {
                password_file: password_file.to_vec(),
                user: bytes(user).unwrap_or_default().to_vec(),
                password: bytes(password).unwrap_or_default().to_vec(),
            };
            passwords.answer(question, ask)
        }
    })
}

unsafe extern "C" fn get_realm_hash(
    r: *mut sys::request_rec,
    user: *const c_char,
    realm: *const c_char,
    hash: *mut *mut c_char,
) -> sys::authn_status {
    // SAFETY: what was handed over is handed on.
    unsafe {
        match wrapped().and_then(|provider| provider.get_realm_hash) {
            Some(get) => get(r, user, realm, hash),
            None => sys::authn_status_AUTH_GENERAL_ERROR,
        }
    }
}

/// # Safety
/// A request is being processed, so that the configuration holds.
unsafe fn wrapped<'a>() -> Option<&'a sys::authn_provider> {
    // SAFETY: the provider is a static of mod_authn_file, which is loaded as long as the configuration holds.
    unsafe { WRAPPED.load(Ordering::Acquire).as_ref() }
}

impl Passwords {
    /// The answer given before, else the one given now. Only a yes or a no is remembered.
    fn answer(
        &self,
        question: Question,
        ask: impl FnOnce() -> sys::authn_status,
    ) -> sys::authn_status {
        if let Some(answer) = self.0.borrow().get(&question) {
            return *answer;
        }
        let answer = ask();
        if [
            sys::authn_status_AUTH_GRANTED,
            sys::authn_status_AUTH_DENIED,
        ]
        .contains(&answer)
        {
            self.0.borrow_mut().insert(question, answer);
        }
        answer
    }
}
