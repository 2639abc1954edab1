//! The directories of users, `/~ann/`, as `UserDir` places them. Which of them are enabled is for httpd to say.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use site::{Mount, SitePath};

use crate::httpd::{Pool, bytes, c_string};
use crate::sys;

/// The directories of users: of those who are named, else of all that can be found.
pub(super) fn mounts(user_dirs: &[String], users: Option<&[String]>) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    for pattern in user_dirs {
        for (user, path) in directories(pattern, users) {
            let Some(at) = SitePath::new([b"~".as_slice(), &user].concat()) else {
                continue;
            };
            // httpd takes the first that is there.
            if path.is_dir() && mounts.iter().all(|mount| mount.at != at) {
                mounts.push(Mount { at, path });
            }
        }
    }
    mounts
}

/// Names of users with where their files would be, by one argument of `UserDir`.
fn directories(pattern: &str, users: Option<&[String]>) -> Vec<(Vec<u8>, PathBuf)> {
    if pattern.contains(':') {
        // A URL: those files are somewhere else.
        return Vec::new();
    }
    if !pattern.starts_with('/') {
        return homes(users)
            .into_iter()
            .map(|(user, home)| (user, home.join(pattern)))
            .collect();
    }
    let (before, after) = pattern
        .split_once('*')
        .map_or((pattern, ""), |(before, after)| {
            (before.trim_end_matches('/'), after.trim_start_matches('/'))
        });
    let before = Path::new(before);
    let names = match users {
        Some(users) => users.iter().map(|user| user.clone().into_bytes()).collect(),
        None => names_in(before),
    };
    let place = |name: Vec<u8>| {
        let home = before.join(OsStr::from_bytes(&name));
        let path = match after {
            "" => home,
            after => home.join(after),
        };
        (name, path)
    };
    names.into_iter().map(place).collect()
}

fn names_in(directory: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_vec()).collect();
    names.sort();
    names
}

/// Users with their homes: those who are named, wherever this machine knows them from, else those of its own list.
fn homes(users: Option<&[String]>) -> Vec<(Vec<u8>, PathBuf)> {
    match users {
        Some(users) => {
            let home = |user: &String| Some((user.clone().into_bytes(), home_of(user)?));
            users.iter().filter_map(home).collect()
        }
        None => local_homes(),
    }
}

/// The home of one user, who may be known to a directory service only.
fn home_of(user: &str) -> Option<PathBuf> {
    let name = c_string(user);
    let mut home = std::ptr::null_mut();
    let pool = Pool::root();
    // SAFETY: the pool and the name live for the call; the path is copied before the pool is gone.
    let path = unsafe {
        match sys::apr_uid_homepath_get(&raw mut home, name.as_ptr(), pool.raw()) {
            0 => bytes(home).map(|home| PathBuf::from(OsStr::from_bytes(home))),
            _ => None,
        }
    };
    // SAFETY: nothing of it is in use any more.
    unsafe { pool.destroy() };
    path
}

/// The users in the machine's own list.
fn local_homes() -> Vec<(Vec<u8>, PathBuf)> {
    let passwd = fs::read("/etc/passwd").unwrap_or_default();
    let lines = passwd.split(|byte| *byte == b'\n');
    let entries = lines.filter_map(|line| {
        let fields: Vec<_> = line.split(|byte| *byte == b':').collect();
        let (user, home) = (fields.first()?.to_vec(), fields.get(5)?);
        Some((user, PathBuf::from(OsStr::from_bytes(home))))
    });
    entries.collect()
}
