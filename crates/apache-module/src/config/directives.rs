//! The directives: our own, and the shadows of other modules' ones.
//!
//! Several modules may register one name, and httpd calls them all. A shadow hears what its owner hears, in the same
//! order and merged in the same way, and never complains: that is for the owner to do.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use site::DynamicPolicy;
use site::config::ByteSize;
use site::fixity::Algorithm;

use super::aliases::Alias;
use super::{DirectoryConfig, ServerConfig, plugin};
use crate::border::guarded;
use crate::httpd::{Pool, bytes, c_string, text};
use crate::{log, module_of, sys};

/// The table as httpd wants it.
pub(crate) struct Directives([sys::command_rec; 27]);

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
        c"bytes, identifiers, records, lookups or seconds, and a number; 0 is no limit",
    ),
    own(
        c"OaiSkip",
        INDEXES,
        c"wildcard patterns of names or URL paths that are not offered, or none",
    ),
    own(
        c"OaiDynamic",
        DIRECTORY,
        c"off, reference or processed: what becomes of files that httpd runs",
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
        c"OaiPlugin",
        SERVER,
        c"a name, options, and a program that tells more about files",
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
    shadow(c"SetHandler", FILE_INFO),
    shadow(c"Alias", DIRECTORY),
    shadow(c"ScriptAlias", DIRECTORY),
    shadow(c"AliasMatch", SERVER),
    shadow(c"ScriptAliasMatch", SERVER),
    shadow(c"UserDir", SERVER),
    shadow(c"IndexIgnore", INDEXES),
    shadow(c"IndexIgnoreReset", INDEXES),
    shadow(c"AuthUserFile", AUTHENTICATION),
    shadow(c"AuthBasicProvider", AUTHENTICATION),
    shadow(c"AuthBasicAuthoritative", AUTHENTICATION),
    shadow(c"AuthBasicFake", AUTHENTICATION),
    shadow(c"AuthBasicUseDigestAlgorithm", AUTHENTICATION),
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
    words: Vec<String>,
    /// The section it stands in; none at the level of a server.
    path: Option<&'a [u8]>,
    pool: Pool,
    server: &'a mut ServerConfig,
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
        // `create_server` and `create_directory` made, and nobody else holds them while it reads.
        unsafe {
            let parms = &*parms;
            let mut words = Vec::new();
            while let Some(word) = text(sys::ap_getword_conf(parms.temp_pool, &raw mut arguments))
                .filter(|word| !word.is_empty())
            {
                words.push(word);
            }
            Self {
                name: text((*parms.cmd).name).unwrap_or_default(),
                words,
                path: bytes(parms.path),
                pool: Pool::new(parms.pool),
                server: &mut *module_of((*parms.server).module_config).cast::<ServerConfig>(),
                directory: &mut *directory.cast::<DirectoryConfig>(),
                server_rec: parms.server,
            }
        }
    }

    /// Takes one of our own directives.
    fn apply(&mut self) -> Result<(), String> {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return Err("at least one argument is needed".to_owned());
        }
        match self.name.as_str() {
            "OaiBaseURL" => self.server.base_url = Some(base_url(one(&words)?)?),
            "OaiRepositoryName" => self.server.repository_name = Some(one(&words)?.to_owned()),
            "OaiAdminEmail" => self.server.admin_emails.extend(emails(&words)?),
            "OaiByValueLimit" => self.by_value_limit(&words)?,
            "OaiPageLimit" => self.page_limit(&words)?,
            "OaiSkip" => self.skip(&words),
            "OaiDynamic" => self.directory.set_dynamic(policy(one(&words)?)?),
            "OaiUserList" => {
                let users = self.server.users.get_or_insert_default();
                users.extend(words);
            }
            "OaiRoot" => self.root(&words)?,
            "OaiPlugin" => self.server.plugins.push(plugin::parse(&words)?),
            "OaiFixity" => self.server.fixity = Some(algorithms(&words)?),
            "OaiStateDir" => self.server.state_dir = Some(absolute(self.pool, one(&words)?)?),
            "OaiFreshness" => self.server.freshness = Some(number(one(&words)?)?),
            _ => return Err("it is not a directive of this version".to_owned()),
        }
        Ok(())
    }

    fn by_value_limit(&mut self, words: &[String]) -> Result<(), String> {
        let limit = size(&words[0])?;
        match words.len() {
            1 => self.server.by_value_limit = Some(limit),
            _ => {
                for media_type in &words[1..] {
                    if !media_type.contains('/') {
                        return Err(format!(
                            "`{media_type}` is not a media type; write `type/subtype` or `type/*`"
                        ));
                    }
                    let types = &mut self.server.by_value_types;
                    types.insert(media_type.to_ascii_lowercase(), limit);
                }
            }
        }
        Ok(())
    }

    fn page_limit(&mut self, words: &[String]) -> Result<(), String> {
        let [what, value] = words else {
            return Err("it takes what is limited and a number".to_owned());
        };
        let server = &mut *self.server;
        let (limit, value) = match what.as_str() {
            "bytes" => (&mut server.page_bytes, size(value)?.0),
            "identifiers" => (&mut server.page_identifiers, number(value)?),
            "records" => (&mut server.page_records, number(value)?),
            "lookups" => (&mut server.page_lookups, number(value)?),
            "seconds" => (&mut server.page_seconds, number(value)?),
            _ => {
                return Err(format!(
                    "`{what}` is not limited; bytes, identifiers, records, lookups and seconds are"
                ));
            }
        };
        *limit = Some(value);
        Ok(())
    }

    fn skip(&mut self, words: &[String]) {
        for word in words {
            match word.as_str() {
                "none" => self.directory.skip_none(),
                pattern => self.directory.skip(self.pool, pattern.as_bytes()),
            }
        }
    }

    fn root(&mut self, words: &[String]) -> Result<(), String> {
        let [url, directory] = words else {
            return Err("it takes a URL path and a directory".to_owned());
        };
        if !url.starts_with('/') {
            return Err(format!("`{url}` is not a URL path; begin it with a slash"));
        }
        let directory = absolute(self.pool, directory)?;
        let trimmed = url.trim_end_matches('/');
        let alias = Alias::new(trimmed.as_bytes(), directory.as_os_str().as_encoded_bytes());
        let mount = alias.mount().is_some();
        self.server.roots.push(alias);
        match mount {
            true => Ok(()),
            false => Err(format!("`{url}` is not a path below the site's root")),
        }
    }

    /// Takes note of what another module's directive says.
    fn overhear(&mut self) {
        let words = std::mem::take(&mut self.words);
        match (self.name.as_str(), words.as_slice()) {
            ("SetHandler", [handler]) if handler == "oai" => {
                self.directory.set_location(self.pool, self.path);
                self.server.offers = true;
            }
            ("Alias" | "ScriptAlias", [url, file]) => {
                self.alias(|file| Some(Alias::new(url.as_bytes(), file)), file);
            }
            ("Alias" | "ScriptAlias", [file]) => self.location_alias(file),
            ("AliasMatch" | "ScriptAliasMatch", [expression, file]) => {
                self.alias(|file| Alias::of_match(expression.as_bytes(), file), file);
            }
            ("UserDir", [first, ..])
                if !["disabled", "enabled"].contains(&first.to_ascii_lowercase().as_str()) =>
            {
                self.server.user_dirs = Some(words);
            }
            ("IndexIgnore", patterns) => {
                let directory = self.path.unwrap_or_default();
                for pattern in patterns {
                    self.directory
                        .ignore(self.pool, directory, pattern.as_bytes());
                }
            }
            ("IndexIgnoreReset", [flag]) => {
                self.directory.reset_ignore(flag.eq_ignore_ascii_case("on"));
            }
            ("AuthUserFile", [path]) => {
                if let Ok(path) = absolute(self.pool, path) {
                    let path = path.into_os_string().into_encoded_bytes();
                    self.directory.set_password_file(self.pool, &path);
                }
            }
            // The default.
            ("AuthBasicProvider", [provider]) if provider == "file" => {}
            (
                "AuthBasicProvider"
                | "AuthBasicAuthoritative"
                | "AuthBasicFake"
                | "AuthBasicUseDigestAlgorithm",
                _,
            ) => self.directory.set_other_authentication(),
            _ => {}
        }
    }

    fn alias(&mut self, make: impl FnOnce(&[u8]) -> Option<Alias>, file: &str) {
        let Ok(path) = absolute(self.pool, file) else {
            return;
        };
        // Cleaned by httpd, but whether it ends in a slash counts.
        let mut cleaned = path.into_os_string().into_encoded_bytes();
        if file.ends_with('/') && !cleaned.ends_with(b"/") {
            cleaned.push(b'/');
        }
        match make(&cleaned) {
            Some(alias) => self.server.aliases.push(alias),
            None => log::about_server(
                self.server_rec,
                log::NOTICE | sys::APLOG_STARTUP as c_int,
                &format!(
                    "mod_oai: the URLs of {} for {file} cannot be enumerated, so its files are not offered; OaiRoot \
                     can name a directory and its URL path",
                    self.name
                ),
            ),
        }
    }

    /// An alias in a location takes the location's own path.
    fn location_alias(&mut self, file: &str) {
        let (Some(url), Ok(path)) = (self.path, absolute(self.pool, file)) else {
            return;
        };
        let path = path.into_os_string().into_encoded_bytes();
        self.server.location_aliases.push(Alias::new(url, &path));
    }

    fn owner_is_missing(&self) -> bool {
        let owner = match self.name.as_str() {
            "SetHandler" => return false,
            "UserDir" => c"mod_userdir.c",
            "IndexIgnore" | "IndexIgnoreReset" => c"mod_autoindex.c",
            "AuthUserFile" => c"mod_authn_file.c",
            name if name.starts_with("AuthBasic") => c"mod_auth_basic.c",
            _ => c"mod_alias.c",
        };
        // SAFETY: the name is a C string, and the list of modules is complete when directives are taken.
        unsafe { sys::ap_find_linked_module(owner.as_ptr()) }.is_null()
    }
}

fn one(words: &[String]) -> Result<&str, String> {
    match words {
        [word] => Ok(word),
        _ => Err("it takes one argument; put quotes around one that holds blanks".to_owned()),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| format!("`{text}` is not a number"))
}

fn size(text: &str) -> Result<ByteSize, String> {
    let size = text.parse();
    size.map_err(|_| format!("`{text}` is not a size; write it like 500K or 10M"))
}

fn policy(text: &str) -> Result<DynamicPolicy, String> {
    match text.to_ascii_lowercase().as_str() {
        "off" => Ok(DynamicPolicy::Off),
        "reference" => Ok(DynamicPolicy::Reference),
        "processed" => Ok(DynamicPolicy::Processed),
        _ => Err(format!("`{text}` is none of off, reference and processed")),
    }
}

fn algorithms(words: &[String]) -> Result<Vec<Algorithm>, String> {
    let mut algorithms = Vec::new();
    for word in words {
        algorithms.push(match word.to_ascii_lowercase().as_str() {
            "none" => continue,
            "md5" => Algorithm::Md5,
            "sha1" => Algorithm::Sha1,
            "sha256" => Algorithm::Sha256,
            _ => return Err(format!("`{word}` is none of md5, sha1, sha256 and none")),
        });
    }
    Ok(algorithms)
}

fn emails(words: &[String]) -> Result<Vec<String>, String> {
    let wrong = words.iter().find(|word| !word.contains('@'));
    match wrong {
        Some(word) => Err(format!("`{word}` is not an e-mail address")),
        None => Ok(words.to_vec()),
    }
}

fn base_url(text: &str) -> Result<String, String> {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split('/').next());
    let legal = text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.contains(['?', '#', '"', '<', '>']);
    match host.is_some_and(|host| !host.is_empty()) && legal {
        true => Ok(text.trim_end_matches('/').to_owned()),
        false => Err(format!(
            "`{text}` is not a URL like https://www.example.org/modoai"
        )),
    }
}

/// A path of the configuration; relative ones begin at ServerRoot.
fn absolute(pool: Pool, path: &str) -> Result<PathBuf, String> {
    let name = c_string(path);
    // SAFETY: the pool and the string live for the call; the result is in the pool.
    let absolute = unsafe { bytes(sys::ap_server_root_relative(pool.raw(), name.as_ptr())) };
    let absolute = absolute.ok_or_else(|| format!("`{path}` is not a path"))?;
    Ok(Path::new(OsStr::from_bytes(absolute)).to_owned())
}
