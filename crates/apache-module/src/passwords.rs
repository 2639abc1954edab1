//! Passwords that were checked while one answer is made.
//!
//! A good password hash takes as long as a thousand lookups, and a list asks about thousands of files with one and the
//! same password. Where a password file alone decides, its verdict is the same for every file, so it is asked once.
//! Who of those who are known may see which file is still decided file by file.

use std::cell::RefCell;
use std::collections::HashMap;

/// The verdicts on one requester's password.
#[derive(Debug, Default)]
pub(crate) struct Passwords {
    /// By the password file: the name of the user if the password was right.
    verdicts: RefCell<HashMap<Vec<u8>, Verdict>>,
}

/// What a password file says of a requester.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The password is that of this user.
    Right(Vec<u8>),
    /// It is nobody's.
    Wrong,
}

impl Passwords {
    /// What a file has said before.
    pub(crate) fn verdict(&self, password_file: &[u8]) -> Option<Verdict> {
        self.verdicts.borrow().get(password_file).cloned()
    }

    /// Remembers what a file says.
    pub(crate) fn remember(&self, password_file: &[u8], verdict: Verdict) {
        self.verdicts
            .borrow_mut()
            .insert(password_file.to_vec(), verdict);
    }
}
