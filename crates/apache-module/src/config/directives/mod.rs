//! The directives: our own, and the shadows of other modules' ones.
//!
//! Several modules may register one name, and httpd calls them all. A shadow hears what its owner hears, in the same
//! order and merged in the same way, and never complains: that is for the owner to do.

mod own;
mod shadows;

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{DirectoryConfig, ServerConfig};
use crate::border::guarded;
use crate::httpd::{Pool, bytes, c_string, text};
use crate::{module_of, sys};

/// The table as httpd wants it.
pub(crate) struct Directives([sys::command_rec; 34]);

// SAFETY: httpd reads the table from one thread, while it reads the configuration; nobody writes it.
unsafe impl Sync for Directives {}

impl Directives {
    pub(crate) const fn as_ptr(&self) -> *const sys::command_rec {
        self.0.as_ptr()
    }
}

const SERVER: c_int = sys::RSRC_CONF as c_int;
const DIRECTORY: c_int = (sys::RSRC_CONF | sys::ACCESS_CONF) as c_int;
const INDEXES: c_int = sys::OR_INDEXES as c_int;
const AUTHENTICATION: c_int = sys::OR_AUTHCFG as c_int;
const TLS: c_int = (sys::RSRC_CONF | sys::OR_AUTHCFG) as c_int;
const FILE_INFO: c_int = sys::OR_FILEINFO as c_int;

pub(crate) static DIRECTIVES: Directives = Directives([
    own(
        c"OaiBaseURL",
        SERVER,
        c"the URL at which the repository is reached, if httpd does not know it",
    ),
    own(
        c"OaiRepositoryName",
        SERVER,
        c"the name of the repository for people",
    ),
    own(
        c"OaiAdminEmail",
        SERVER,
        c"one or more addresses to write to; ServerAdmin by default",
    ),
    own(
        c"OaiByValueLimit",
        SERVER,
        c"the size up to which files go into records, then media types it is for",
    ),
    own(
        c"OaiPageLimit",
        SERVER,
        c"bytes, identifiers, records, lookups, seconds or programs, and a number; 0 is no limit",
    ),
    own(
        c"OaiFlowLimit",
        SERVER,
        c"lists, lists-per-client or programs, and how many may run at once; 0 is no limit",
    ),
    own(
        c"OaiSkip",
        INDEXES,
        c"wildcard patterns of names or URL paths that are not offered, or none",
    ),
    own(
        c"OaiDynamic",
        DIRECTORY,
        c"off, reference or processed, and source with users who are given the source: what becomes of files that httpd runs",
    ),
    own(
        c"OaiUserList",
        SERVER,
        c"the users whose directories are offered where UserDir is on",
    ),
    own(
        c"OaiRoot",
        SERVER,
        c"a URL path and the directory that httpd serves there by other means than Alias",
    ),
    own(
        c"OaiDescription",
        SERVER,
        c"a container for Identify (oai_identifier, friends, branding, toolkit or eprints) and what it says",
    ),
    own(
        c"OaiPlugin",
        SERVER,
        c"a name, options, and a program that tells more about files",
    ),
    own(
        c"OaiSet",
        SERVER,
        c"a set of one's own: its setSpec, its name, and patterns of URL paths or plugin=NAME",
    ),
    own(
        c"OaiRights",
        SERVER,
        c"the rights on records: a text or the URL of a licence, then patterns of URL paths that it is for",
    ),
    own(
        c"OaiConfiner",
        SERVER,
        c"the program garner-confine, which confines plug-ins",
    ),
    own(
        c"OaiFixity",
        SERVER,
        c"the digests that are told: md5, sha1, sha256, or none",
    ),
    own(
        c"OaiStateDir",
        SERVER,
        c"the directory in which the indexes are kept",
    ),
    own(
        c"OaiFreshness",
        SERVER,
        c"for how many seconds an answer may rest on an earlier look at the files",
    ),
    own(
        c"OaiAnnounce",
        SERVER,
        c"the URL path of the repository: its sitemap and ResourceSync answer at the root of the site as well",
    ),
    shadow(c"SetHandler", FILE_INFO),
    shadow(c"Alias", DIRECTORY),
    shadow(c"ScriptAlias", DIRECTORY),
    shadow(c"AliasMatch", SERVER),
    shadow(c"ScriptAliasMatch", SERVER),
    shadow(c"UserDir", SERVER),
    shadow(c"IndexIgnore", INDEXES),
    shadow(c"IndexIgnoreReset", INDEXES),
    shadow(c"AuthUserFile", AUTHENTICATION),
    shadow(c"Action", FILE_INFO),
    shadow(c"AddOutputFilterByType", FILE_INFO),
    shadow(c"SSLVerifyClient", TLS),
    shadow(c"SSLVerifyDepth", TLS),
    shadow(c"SSLCipherSuite", TLS),
    END,
]);

const fn own(name: &'static CStr, contexts: c_int, usage: &'static CStr) -> sys::command_rec {
    sys::command_rec {
        name: name.as_ptr(),
        func: sys::cmd_func {
            raw_args: Some(take_own),
        },
        cmd_data: std::ptr::null_mut(),
        req_override: contexts,
        args_how: sys::cmd_how_RAW_ARGS,
        errmsg: usage.as_ptr(),
    }
}

const fn shadow(name: &'static CStr, contexts: c_int) -> sys::command_rec {
    sys::command_rec {
        func: sys::cmd_func {
            raw_args: Some(take_shadow),
        },
        ..own(name, contexts, c"")
    }
}

const END: sys::command_rec = sys::command_rec {
    name: std::ptr::null(),
    func: sys::cmd_func { raw_args: None },
    ..own(c"", 0, c"")
};

/// One directive as it stands in the configuration.
struct Line<'a> {
    name: String,
    /// The arguments; a name in them may hold any byte.
    words: Vec<Vec<u8>>,
    /// The section it stands in; none at the level of a server.
    path: Option<&'a [u8]>,
    pool: Pool,
    /// None in a `.htaccess`, which is read while others use the server's settings.
    server: Option<&'a mut ServerConfig>,
    directory: &'a mut DirectoryConfig,
    server_rec: *const sys::server_rec,
}

unsafe extern "C" fn take_own(
    parms: *mut sys::cmd_parms,
    directory: *mut c_void,
    arguments: *const c_char,
) -> *const c_char {
    let panicked = c"mod_oai failed on this directive".as_ptr();
    guarded(panicked, || {
        // SAFETY: httpd hands over what belongs to the directive it is reading.
        let mut line = unsafe { Line::read(parms, directory, arguments) };
        match line.apply() {
            Ok(()) => std::ptr::null(),
            Err(problem) => line.pool.string(format!("{}: {problem}", line.name)),
        }
    })
}

unsafe extern "C" fn take_shadow(
    parms: *mut sys::cmd_parms,
    directory: *mut c_void,
    arguments: *const c_char,
) -> *const c_char {
    guarded(std::ptr::null(), || {
        // SAFETY: httpd hands over what belongs to the directive it is reading.
        let mut line = unsafe { Line::read(parms, directory, arguments) };
        match line.owner_is_missing() {
            // Without us httpd would not know the name, and would say so in these words.
            true => line.pool.string(format!(
                "Invalid command '{}', perhaps misspelled or defined by a module not included in the server \
                 configuration",
                line.name
            )),
            false => {
                line.overhear();
                std::ptr::null()
            }
        }
    })
}

impl<'a> Line<'a> {
    /// # Safety
    /// The arguments are those that httpd gave to a directive.
    unsafe fn read(
        parms: *mut sys::cmd_parms,
        directory: *mut c_void,
        mut arguments: *const c_char,
    ) -> Self {
        // SAFETY: httpd keeps all of it until the directive is done; the configurations are those that
        // `create_server` and `create_directory` made. A directory's is being made for this reader alone. A server's
        // is nobody else's only while the configuration itself is read, by one thread, and not for a `.htaccess`:
        // there both pools are the request's.
        unsafe {
            let parms = &*parms;
            let mut words = Vec::new();
            while let Some(word) = bytes(sys::ap_getword_conf(parms.temp_pool, &raw mut arguments))
                .filter(|word| !word.is_empty())
            {
                words.push(word.to_vec());
            }
            let for_all = parms.pool != parms.temp_pool;
            Self {
                name: text((*parms.cmd).name).unwrap_or_default(),
                words,
                path: bytes(parms.path),
                pool: Pool::new(parms.pool),
                server: for_all
                    .then(|| &mut *module_of((*parms.server).module_config).cast::<ServerConfig>()),
                directory: &mut *directory.cast::<DirectoryConfig>(),
                server_rec: parms.server,
            }
        }
    }
}

/// A path of the configuration; relative ones begin at ServerRoot.
fn absolute(pool: Pool, path: &[u8]) -> Result<PathBuf, String> {
    let name = c_string(path);
    // SAFETY: the pool and the string live for the call; the result is in the pool.
    let absolute = unsafe { bytes(sys::ap_server_root_relative(pool.raw(), name.as_ptr())) };
    let absolute =
        absolute.ok_or_else(|| format!("`{}` is not a path", String::from_utf8_lossy(path)))?;
    Ok(Path::new(OsStr::from_bytes(absolute)).to_owned())
}
