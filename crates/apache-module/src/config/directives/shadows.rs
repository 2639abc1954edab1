//! The shadows: what other modules' directives tell about where files are, and what is left out of listings.

use super::{Line, absolute};
use crate::config::aliases::{Alias, GeneralAlias};
use crate::sys;

impl Line<'_> {
    /// Takes note of what another module's directive says.
    pub(super) fn overhear(&mut self) {
        let words = std::mem::take(&mut self.words);
        match (self.name.as_str(), words.as_slice()) {
            ("SetHandler", [handler]) if handler == b"oai" => {
                self.directory.set_location(self.pool, self.path);
                if let Some(server) = &mut self.server {
                    server.offers = true;
                    let path = self
                        .path
                        .map(|path| String::from_utf8_lossy(path).into_owned());
                    server.location = path.filter(|path| path.starts_with('/'));
                }
            }
            ("Alias" | "ScriptAlias", [url, file]) => {
                self.alias(|file| Some(Alias::new(url, file)), file);
            }
            ("Alias" | "ScriptAlias", [file]) => self.location_alias(file),
            ("AliasMatch" | "ScriptAliasMatch", [expression, file]) => {
                self.alias(|file| Alias::of_match(expression, file), file);
                let general = GeneralAlias::new(&self.name, expression, file);
                if let Some(server) = &mut self.server {
                    server.general_aliases.extend(general);
                }
            }
            ("UserDir", [first, ..])
                if !first.eq_ignore_ascii_case(b"disabled")
                    && !first.eq_ignore_ascii_case(b"enabled") =>
            {
                if let Some(server) = &mut self.server {
                    let text = |word: &Vec<u8>| String::from_utf8_lossy(word).into_owned();
                    server.user_dirs = Some(words.iter().map(text).collect());
                }
            }
            ("IndexIgnore", patterns) => {
                let directory = self.path.unwrap_or_default();
                for pattern in patterns {
                    self.directory.ignore(self.pool, directory, pattern);
                }
            }
            ("IndexIgnoreReset", [flag]) => {
                self.directory
                    .reset_ignore(flag.eq_ignore_ascii_case(b"on"));
            }
            ("AuthUserFile", [path]) => {
                if let Ok(path) = absolute(self.pool, path) {
                    let path = path.into_os_string().into_encoded_bytes();
                    self.directory.set_password_file(self.pool, &path);
                }
            }
            ("AddOutputFilterByType", [filters, types @ ..]) => {
                let answers = |name: &Vec<u8>| ANSWER_TYPE.starts_with(&name.to_ascii_lowercase());
                if types.iter().any(answers) {
                    for filter in filters.split(|byte| *byte == b';') {
                        self.directory.add_filter(self.pool, filter);
                    }
                }
            }
            ("Action", [name, ..]) => self.directory.add_action(self.pool, name),
            // On the level of a server these hold for the first handshake, which is over.
            ("SSLVerifyClient", [how]) if self.path.is_some() && how != b"none" => {
                self.directory.want_certificate();
            }
            (name, _) if name.starts_with("SSL") && self.path.is_some() => {
                self.directory.want_other_tls();
            }
            _ => {}
        }
    }

    fn alias(&mut self, make: impl FnOnce(&[u8]) -> Option<Alias>, file: &[u8]) {
        let Ok(path) = absolute(self.pool, file) else {
            return;
        };
        // Cleaned by httpd, but whether it ends in a slash counts.
        let mut cleaned = path.into_os_string().into_encoded_bytes();
        if file.ends_with(b"/") && !cleaned.ends_with(b"/") {
            cleaned.push(b'/');
        }
        if let (Some(alias), Some(server)) = (make(&cleaned), &mut self.server) {
            server.aliases.push(alias);
        }
    }

    /// An alias in a location takes the location's own path.
    fn location_alias(&mut self, file: &[u8]) {
        let path = absolute(self.pool, file);
        let (Some(url), Ok(path), Some(server)) = (self.path, path, &mut self.server) else {
            return;
        };
        let path = path.into_os_string().into_encoded_bytes();
        server.location_aliases.push(Alias::new(url, &path));
    }

    /// Whether the module that the directive belongs to is not loaded.
    pub(super) fn owner_is_missing(&self) -> bool {
        let owner = match self.name.as_str() {
            "SetHandler" => return false,
            "UserDir" => c"mod_userdir.c",
            "IndexIgnore" | "IndexIgnoreReset" => c"mod_autoindex.c",
            "AuthUserFile" => c"mod_authn_file.c",
            "Action" => c"mod_actions.c",
            "AddOutputFilterByType" => c"mod_filter.c",
            name if name.starts_with("SSL") => c"mod_ssl.c",
            _ => c"mod_alias.c",
        };
        // SAFETY: the name is a C string, and the list of modules is complete when directives are taken.
        unsafe { sys::ap_find_linked_module(owner.as_ptr()) }.is_null()
    }
}

/// The media type of answers.
const ANSWER_TYPE: &[u8] = b"text/xml";
