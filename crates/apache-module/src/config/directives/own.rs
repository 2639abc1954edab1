//! Our own directives: what their arguments mean.

use std::ffi::c_int;
use std::path::PathBuf;

use provider::Description;
use site::DynamicPolicy;
use site::config::{ByteSize, OwnSetConfig, RightsConfig};
use site::fixity::Algorithm;

use super::{Line, absolute};
use crate::config::aliases::Alias;
use crate::config::{ServerConfig, plugin};
use crate::httpd::Pool;
use crate::{log, sys};

impl Line<'_> {
    /// Takes one of our own directives.
    pub(super) fn apply(&mut self) -> Result<(), String> {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return Err("at least one argument is needed".to_owned());
        }
        match self.name.as_str() {
            // Names may hold any byte.
            "OaiSkip" => {
                self.skip(&words);
                Ok(())
            }
            _ => self.apply_text(&texts(words)?),
        }
    }

    fn apply_text(&mut self, words: &[String]) -> Result<(), String> {
        if self.name == "OaiDynamic" {
            return self.dynamic(words);
        }
        let pool = self.pool;
        let server = self.server.as_deref_mut();
        let server = server.ok_or("it is not for .htaccess")?;
        match self.name.as_str() {
            "OaiBaseURL" => server.base_url = Some(base_url(one(words)?)?),
            "OaiRepositoryName" => server.repository_name = Some(one(words)?.to_owned()),
            "OaiDescription" => {
                let (container, options) = words.split_first().ok_or("it names a container")?;
                let read = Description::of_words(container, options)?;
                server.descriptions.push(read);
            }
            "OaiAdminEmail" => server.admin_emails.extend(emails(words)?),
            "OaiByValueLimit" => by_value_limit(server, words)?,
            "OaiPageLimit" => page_limit(server, words)?,
            "OaiFlowLimit" => flow_limit(server, words)?,
            "OaiUserList" => {
                let users = server.users.get_or_insert_default();
                users.extend(self::users(words)?);
            }
            "OaiRoot" => {
                let directory = root(server, pool, words)?;
                if !directory.is_dir() {
                    self.warn(&format!("OaiRoot `{}` does not exist", directory.display()));
                }
            }
            "OaiPlugin" => server.plugins.push(plugin::parse(words)?),
            "OaiSet" => {
                server.sets.push(set(words)?);
                site::check_sets(&server.sets)?;
            }
            "OaiRights" => {
                let (statement, urls) = words.split_first().ok_or("it takes a statement")?;
                server.rights.push(RightsConfig {
                    statement: statement.clone(),
                    urls: urls.to_vec(),
                });
                RightsConfig::check(&server.rights)?;
            }
            "OaiConfiner" => {
                server.confiner = Some(absolute(pool, one(words)?.as_bytes())?);
            }
            "OaiFixity" => server.fixity = Some(algorithms(words)?),
            "OaiStateDir" => {
                server.state_dir = Some(absolute(pool, one(words)?.as_bytes())?);
            }
            "OaiAnnounce" => server.announce = Some(url_path(one(words)?)?),
            "OaiFreshness" => server.freshness = Some(number(one(words)?)?),
            _ => return Err("it is not a directive of this version".to_owned()),
        }
        Ok(())
    }

    /// `[off|reference|processed] [source USER...]`
    fn dynamic(&mut self, words: &[String]) -> Result<(), String> {
        let at = words
            .iter()
            .position(|word| word.eq_ignore_ascii_case("source"));
        let (own, users) = words.split_at(at.unwrap_or(words.len()));
        let policy = match own {
            [] => DynamicPolicy::Off,
            [word] => policy(word)?,
            _ => return Err("it takes one policy, and `source` with the names of users".to_owned()),
        };
        let users = users.get(1..).unwrap_or_default();
        if at.is_some() {
            if users.is_empty() {
                return Err(
                    "`source` takes the names of the users who are given the source of programs"
                        .to_owned(),
                );
            }
            self.warn(&format!(
                "the source of programs is given to {} (OaiDynamic source): passwords in it are theirs to read",
                users.join(", ")
            ));
        }
        self.directory.set_dynamic(self.pool, policy, users);
        Ok(())
    }

    /// Says what may be meant as it is, as httpd does of a DocumentRoot that is not there.
    fn warn(&self, message: &str) {
        let level = log::WARNING | sys::APLOG_STARTUP as c_int;
        log::about_server(self.server_rec, level, &format!("mod_oai: {message}"));
    }

    fn skip(&mut self, words: &[Vec<u8>]) {
        for word in words {
            match word.as_slice() {
                b"none" => self.directory.skip_none(),
                pattern => self.directory.skip(self.pool, pattern),
            }
        }
    }
}

fn by_value_limit(server: &mut ServerConfig, words: &[String]) -> Result<(), String> {
    let limit = size(&words[0])?;
    if words.len() == 1 {
        server.by_value_limit = Some(limit);
    }
    for media_type in &words[1..] {
        if !media_type.contains('/') {
            return Err(format!(
                "`{media_type}` is not a media type; write `type/subtype` or `type/*`"
            ));
        }
        let types = &mut server.by_value_types;
        types.insert(media_type.to_ascii_lowercase(), limit);
    }
    Ok(())
}

fn page_limit(server: &mut ServerConfig, words: &[String]) -> Result<(), String> {
    let [what, value] = words else {
        return Err("it takes what is limited and a number".to_owned());
    };
    let (limit, value) = match what.as_str() {
        "bytes" => (&mut server.page_bytes, size(value)?.0),
        "identifiers" => (&mut server.page_identifiers, number(value)?),
        "records" => (&mut server.page_records, number(value)?),
        "lookups" => (&mut server.page_lookups, number(value)?),
        "seconds" => (&mut server.page_seconds, number(value)?),
        "programs" => (&mut server.page_programs, number(value)?),
        _ => {
            return Err(format!(
                "`{what}` is not limited; bytes, identifiers, records, lookups, seconds and programs are"
            ));
        }
    };
    *limit = Some(value);
    Ok(())
}

fn flow_limit(server: &mut ServerConfig, words: &[String]) -> Result<(), String> {
    let [what, value] = words else {
        return Err("it takes what is limited and a number".to_owned());
    };
    let limit = match what.as_str() {
        "lists" => &mut server.flow_lists,
        "lists-per-client" => &mut server.flow_lists_per_client,
        "programs" => &mut server.flow_programs,
        _ => {
            return Err(format!(
                "`{what}` is not limited; lists, lists-per-client and programs are"
            ));
        }
    };
    *limit = Some(number(value)?);
    Ok(())
}

/// A set by patterns of URL paths and by plug-ins: `/lectures/*`, `plugin=topics`.
fn set(words: &[String]) -> Result<OwnSetConfig, String> {
    let [spec, name, members @ ..] = words else {
        return Err(
            "it takes a setSpec, a name, and patterns of URL paths or plugin=NAME".to_owned(),
        );
    };
    let (plugins, urls): (Vec<_>, Vec<_>) = members
        .iter()
        .partition(|member| member.starts_with(PLUGIN));
    if plugins.len() > 1 {
        return Err(format!("the set `{spec}` names two plug-ins; it takes one"));
    }
    Ok(OwnSetConfig {
        spec: spec.clone(),
        name: name.clone(),
        urls: urls.into_iter().cloned().collect(),
        plugin: plugins.first().map(|word| word[PLUGIN.len()..].to_owned()),
    })
}

/// The beginning of the word that names the plug-in of a set.
const PLUGIN: &str = "plugin=";

fn root(server: &mut ServerConfig, pool: Pool, words: &[String]) -> Result<PathBuf, String> {
    let [url, directory] = words else {
        return Err("it takes a URL path and a directory".to_owned());
    };
    if !url.starts_with('/') {
        return Err(format!("`{url}` is not a URL path; begin it with a slash"));
    }
    let directory = absolute(pool, directory.as_bytes())?;
    let trimmed = url.trim_end_matches('/');
    let alias = Alias::new(trimmed.as_bytes(), directory.as_os_str().as_encoded_bytes());
    if alias.mount().is_none() {
        return Err(format!("`{url}` is not a path below the site's root"));
    }
    server.roots.push(alias);
    Ok(directory)
}

/// The URL path of a repository, without a slash at the end.
fn url_path(text: &str) -> Result<String, String> {
    let path = text.trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    match path.starts_with('/') && path.len() > 1 && path.bytes().all(is_plain) {
        true => Ok(path.to_owned()),
        false => Err(format!(
            "`{text}` is not the URL path of a repository like /modoai"
        )),
    }
}

fn texts(words: Vec<Vec<u8>>) -> Result<Vec<String>, String> {
    let text = |word| String::from_utf8(word).map_err(|_| "write it in UTF-8".to_owned());
    words.into_iter().map(text).collect()
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
        _ => Err(format!(
            "`{text}` is none of off, reference, processed and source"
        )),
    }
}

fn algorithms(words: &[String]) -> Result<Vec<Algorithm>, String> {
    let mut algorithms = Vec::new();
    for word in words {
        algorithms.push(match word.to_ascii_lowercase().as_str() {
            "none" if words.len() == 1 => return Ok(algorithms),
            "none" => return Err(format!("`{word}` stands alone: it means no digest at all")),
            "md5" => Algorithm::Md5,
            "sha1" => Algorithm::Sha1,
            "sha256" => Algorithm::Sha256,
            _ => return Err(format!("`{word}` is none of md5, sha1, sha256 and none")),
        });
    }
    Ok(algorithms)
}

fn emails(words: &[String]) -> Result<Vec<String>, String> {
    let wrong = words.iter().find(|word| !is_email(word));
    match wrong {
        Some(word) => Err(format!(
            "`{word}` is not an e-mail address like webmaster@example.org"
        )),
        None => Ok(words.to_vec()),
    }
}

/// Whether a text can be an address: harvesters check it against the schema, which wants no blanks.
fn is_email(text: &str) -> bool {
    let legal = !text.contains(|c: char| c.is_whitespace() || c.is_control());
    let parts = text.rsplit_once('@');
    legal && parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
}

/// Names of users, which become parts of paths.
fn users(words: &[String]) -> Result<Vec<String>, String> {
    let wrong = words
        .iter()
        .find(|word| word.is_empty() || word.contains('/') || word.starts_with('.'));
    match wrong {
        Some(word) => Err(format!("`{word}` is not the name of a user")),
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
    if host.is_some_and(|host| host.contains('@')) {
        return Err(format!(
            "`{text}` holds a user or a password, and every record would tell it; leave it out"
        ));
    }
    match host.is_some_and(|host| !host.is_empty()) && legal {
        true => Ok(text.trim_end_matches('/').to_owned()),
        false => Err(format!(
            "`{text}` is not a URL like https://www.example.org/modoai"
        )),
    }
}
