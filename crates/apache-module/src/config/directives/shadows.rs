//! The shadows: what other modules' directives tell about where files are, and what is left out of listings.

use std::ffi::c_int;

use super::{Line, absolute};
use crate::config::aliases::Alias;
use crate::{log, sys};

impl Line<'_> {
    /// Takes note of what another module's directive says.
    pub(super) fn overhear(&mut self) {
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

    /// Whether the module that the directive belongs to is not loaded.
    pub(super) fn owner_is_missing(&self) -> bool {
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
