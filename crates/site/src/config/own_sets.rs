//! Sets of the webmaster's own, by patterns of URLs and by plug-ins.

use oai::{Set, SetSpec};
use serde::Deserialize;

use crate::SitePath;
use crate::ground::rules::wildcard::wildcard;
use crate::plugin::{OutputForm, PluginRule};

/// A set of the webmaster's own: items whose URL paths match one of the patterns, and those that a plug-in puts into it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSetConfig {
    /// Its `setSpec`.
    pub spec: String,
    /// Its `setName`.
    pub name: String,
    /// Wildcard patterns of URL paths, escapes decoded: `/lectures/*`.
    #[serde(default)]
    pub urls: Vec<String>,
    /// The name of the plug-in that prints the sets of a file.
    #[serde(default)]
    pub plugin: Option<String>,
}

/// The sets of the webmaster's own, ready to decide.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnSets(Vec<OwnSet>);

#[derive(Debug, Clone)]
struct OwnSet {
    set: Set,
    urls: Vec<Vec<u8>>,
    plugin: Option<String>,
}

impl OwnSets {
    pub(crate) fn compile(configs: &[OwnSetConfig]) -> Result<Self, String> {
        let mut sets: Vec<OwnSet> = Vec::with_capacity(configs.len());
        for config in configs {
            let spec = SetSpec::parse(&config.spec).ok_or_else(|| {
                format!(
                    "the set `{}`: a setSpec has letters, digits and -_.!~*'() in parts with colons between them",
                    config.spec
                )
            })?;
            let first = config.spec.split(':').next().unwrap_or_default();
            if first == "mime" {
                return Err(format!(
                    "the set `{spec}`: `mime` is for the sets by media type"
                ));
            }
            if sets.iter().any(|other| other.set.spec == spec) {
                return Err(format!("there are two sets `{spec}`; rename one"));
            }
            if config.name.trim().is_empty() {
                return Err(format!("the set `{spec}` has no name"));
            }
            if let Some(wrong) = config.urls.iter().find(|url| !url.starts_with(['/', '*'])) {
                return Err(format!(
                    "the set `{spec}`: the pattern `{wrong}` begins with neither / nor *, so nothing can match it"
                ));
            }
            if config.urls.is_empty() && config.plugin.is_none() {
                return Err(format!(
                    "the set `{spec}` has neither patterns in `urls` nor a `plugin`"
                ));
            }
            sets.push(OwnSet {
                set: Set {
                    spec,
                    name: config.name.clone(),
                },
                urls: config
                    .urls
                    .iter()
                    .map(|url| url.as_bytes().to_vec())
                    .collect(),
                plugin: config.plugin.clone(),
            });
        }
        Ok(Self(sets))
    }

    /// Checks that the plug-ins of sets are there and can print sets.
    pub(crate) fn check_plugins(
        configs: &[OwnSetConfig],
        plugins: &[PluginRule],
    ) -> Result<(), String> {
        for config in configs {
            let (spec, Some(name)) = (&config.spec, &config.plugin) else {
                continue;
            };
            let plugin = plugins.iter().find(|plugin| plugin.name == *name);
            let plugin =
                plugin.ok_or_else(|| format!("the set `{spec}`: there is no plug-in `{name}`"))?;
            if plugin.output == OutputForm::Xml {
                return Err(format!(
                    "the set `{spec}`: the plug-in `{name}` prints XML; one that prints sets has the output `text` or `key-value`"
                ));
            }
        }
        Ok(())
    }

    /// Whether a plug-in decides on some set.
    pub(crate) fn ask_plugins(&self) -> bool {
        self.0.iter().any(|set| set.plugin.is_some())
    }

    /// Whether this plug-in decides on some set.
    pub(crate) fn ask(&self, plugin: &str) -> bool {
        let asked = |set: &OwnSet| set.plugin.as_deref() == Some(plugin);
        self.0.iter().any(asked)
    }

    /// Those of the sets that a plug-in names which are its to give.
    pub(crate) fn given_by<'s>(
        &'s self,
        plugin: &str,
        names: &[&str],
    ) -> impl Iterator<Item = &'s SetSpec> {
        let own = self.0.iter().filter(move |set| {
            set.plugin.as_deref() == Some(plugin) && names.contains(&set.set.spec.as_str())
        });
        own.map(|set| &set.set.spec)
    }

    /// Whether a set is one of these.
    pub(crate) fn is_own(&self, spec: &str) -> bool {
        self.0.iter().any(|set| set.set.spec.as_str() == spec)
    }

    /// The sets of a path.
    pub(crate) fn of(&self, path: &SitePath) -> impl Iterator<Item = &SetSpec> {
        let url = self.url(path);
        let sets = self.0.iter().filter(move |set| set.has(&url));
        sets.map(|set| &set.set.spec)
    }

    /// Whether a set is one of these, or above one.
    pub(crate) fn has(&self, spec: &SetSpec) -> bool {
        self.0.iter().any(|set| spec.contains(&set.set.spec))
    }

    /// Whether a path may be in a set or below: plug-ins have their say later.
    pub(crate) fn may_be_in(&self, path: &SitePath, spec: &SetSpec) -> bool {
        let by_plugin = |set: &OwnSet| set.plugin.is_some() && spec.contains(&set.set.spec);
        self.0.iter().any(by_plugin) || self.of(path).any(|own| spec.contains(own))
    }

    /// All of them, with those above them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Set> {
        let above = self.0.iter().flat_map(|set| {
            let parents = std::iter::successors(set.set.spec.parent(), SetSpec::parent);
            parents.map(|spec| Set {
                name: spec.as_str().to_owned(),
                spec,
            })
        });
        above.chain(self.0.iter().map(|set| set.set.clone()))
    }

    /// The URL path of a path, if anybody wants it.
    fn url(&self, path: &SitePath) -> Vec<u8> {
        match self.0.is_empty() {
            true => Vec::new(),
            false => [b"/", path.as_bytes()].concat(),
        }
    }
}

impl OwnSet {
    fn has(&self, url: &[u8]) -> bool {
        self.urls.iter().any(|pattern| wildcard(pattern, url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(spec: &str, urls: &[&str]) -> OwnSetConfig {
        OwnSetConfig {
            spec: spec.to_owned(),
            name: spec.to_uppercase(),
            urls: urls.iter().map(|url| (*url).to_owned()).collect(),
            plugin: None,
        }
    }

    #[test]
    fn sets_hold_what_matches_and_all_below_them() {
        let sets = [config("a:b", &["/x/*"]), config("c", &["*.pdf", "/y/?"])];
        let sets = OwnSets::compile(&sets).unwrap();
        let of = |path: &str| {
            let path = SitePath::new(path).unwrap();
            let specs = sets.of(&path).map(|spec| spec.as_str().to_owned());
            specs.collect::<Vec<_>>()
        };

        assert_eq!(of("x/1.pdf"), ["a:b", "c"]);
        assert_eq!(of("y/1"), ["c"]);
        assert!(of("y/12").is_empty());
        let above = SetSpec::parse("a").unwrap();
        assert!(sets.has(&above) && sets.may_be_in(&SitePath::new("x/1").unwrap(), &above));
        let names: Vec<_> = sets.all().map(|set| set.name).collect();
        assert_eq!(names, ["a", "A:B", "C"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (sets, part) in [
            (vec![config("a b", &["*"])], "a setSpec"),
            (vec![config("mime:x", &["*"])], "by media type"),
            (vec![config("a", &["*"]), config("a", &["*"])], "two sets"),
            (vec![config("a", &[])], "neither patterns"),
            (vec![config("a", &["x/*"])], "nothing can match"),
        ] {
            let error = OwnSets::compile(&sets).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_plug_in_gives_the_sets_that_are_its_own() {
        let by = |spec: &str, plugin: &str| OwnSetConfig {
            plugin: Some(plugin.to_owned()),
            ..config(spec, &[])
        };
        let sets = [by("a", "one"), by("b", "two"), config("c", &["*"])];
        let sets = OwnSets::compile(&sets).unwrap();

        let given = sets.given_by("one", &["a", "b", "c", "d"]);

        assert_eq!(given.map(SetSpec::as_str).collect::<Vec<_>>(), ["a"]);
        let missing = OwnSets::check_plugins(&[by("a", "one")], &[]).unwrap_err();
        assert!(missing.contains("no plug-in `one`"), "{missing}");
    }
}
