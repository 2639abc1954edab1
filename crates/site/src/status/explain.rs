//! Why a path is offered, or why not, naming the rule.

use crate::{
    Access, Candidate, Facts, Ground, Look, Origin, Requester, Sighting, SiteConfig, SitePath,
};

/// Why something is offered, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The URL or file, as it was given.
    pub target: String,
    /// Whether it is offered to somebody without credentials.
    pub offered: bool,
    /// The reasons, in sentences.
    pub because: Vec<String>,
}

/// Explains the paths of one site.
#[derive(Debug)]
pub struct Explainer<'a> {
    site: &'a SiteConfig,
    ground: &'a Ground,
    access: &'a Access,
    site_url: &'a str,
}

impl<'a> Explainer<'a> {
    /// For a site that need not be open.
    pub fn new(site: &'a SiteConfig, ground: &'a Ground, access: &'a Access) -> Self {
        Self {
            site,
            ground,
            access,
            site_url: &site.site_url,
        }
    }

    /// The same where the requester reaches the site at another URL.
    #[must_use]
    pub fn at(self, site_url: &'a str) -> Self {
        Self { site_url, ..self }
    }

    /// Explains a path. The origin is asked as that requester, if there is one.
    pub fn explain(
        &self,
        target: &str,
        path: &SitePath,
        asking: Option<(&dyn Origin, &Requester)>,
    ) -> Result<Explanation, String> {
        let mut because = Vec::new();
        let sighting = match *path == SitePath::root() {
            true => Sighting::Directory,
            false => self.ground.look(path),
        };
        let offered = match sighting {
            Sighting::LeftOut(reason) => {
                because.push(reason.to_string());
                false
            }
            Sighting::Unknown(error) => {
                because.push(format!("the file system does not say: {error}"));
                false
            }
            Sighting::Directory => {
                because
                    .push("it is a directory; the files in it are offered one by one".to_owned());
                false
            }
            Sighting::File { facts, dynamic } => {
                because.push(format!(
                    "identifier: {}{}",
                    self.site_url,
                    path.to_url_path()
                ));
                match dynamic {
                    true => because.push(self.of_program()),
                    false => because.extend(self.by_type(path, &facts)),
                }
                if dynamic && self.ground.rules.hides_programs() {
                    return Ok(Explanation {
                        target: target.to_owned(),
                        offered: false,
                        because,
                    });
                }
                if let Some(area) = self.access.area_of(path) {
                    because.push(format!(
                        "only for those whom the area `{}` lets in",
                        area.path
                    ));
                }
                let facts = (!dynamic).then_some(facts);
                confirmed(path, facts, asking, &mut because)?
            }
        };
        Ok(Explanation {
            target: target.to_owned(),
            offered,
            because,
        })
    }

    fn of_program(&self) -> String {
        let told = match &self.site.offer.source {
            Some(_) => "a server runs it, so its source is for the users of offer.source alone",
            None => {
                "a server runs it, so its source is never given and its media type is not known \
                 (offer.dynamic)"
            }
        };
        told.to_owned()
    }

    fn by_type(&self, path: &SitePath, facts: &Facts) -> [String; 2] {
        let media_type = self.ground.media_type(path, false);
        let set = oai::SetSpec::of_media_type(media_type);
        let limit = self.site.by_value.limit_of(media_type);
        let size = facts.size;
        [
            format!("media type: {media_type}, set {set}"),
            match size <= limit {
                true => format!("{size} bytes: by value and by reference"),
                false => format!(
                    "{size} bytes: by reference only, the limit is {limit} (by_value.limit)"
                ),
            },
        ]
    }

    /// The path of a URL of this site, or of a URL path.
    pub fn path_of_url(&self, url: &str) -> Result<SitePath, String> {
        let site_url = self.site_url;
        let path = match (url.strip_prefix(site_url), url.split_once("://")) {
            (Some(path), _) => path,
            (None, Some((_, rest))) => {
                return Err(format!(
                    "`{url}` is not a URL of this site, whose URLs begin with {site_url}; name that with --base-url if the site goes by another name, or give the path alone: /{}",
                    rest.split_once('/').map_or("", |(_, path)| path)
                ));
            }
            (None, None) => url.trim_start_matches('/'),
        };
        if path.is_empty() {
            return Ok(SitePath::root());
        }
        SitePath::from_url_path(path)
            .ok_or_else(|| format!("`{url}` is not a URL below {site_url}"))
    }
}

/// Asks the origin.
fn confirmed(
    path: &SitePath,
    facts: Option<Facts>,
    asking: Option<(&dyn Origin, &Requester)>,
    because: &mut Vec<String>,
) -> Result<bool, String> {
    let Some((origin, requester)) = asking else {
        return Ok(true);
    };
    let candidate = Candidate {
        path: path.clone(),
        facts,
    };
    let looks = origin.look(requester, &[candidate])?;
    let (served, line) = match looks.into_iter().next() {
        Some(Look::Served(_)) => (true, "the web server serves this very file".to_owned()),
        Some(Look::Refused) => (
            false,
            "the web server refuses it to those without credentials".to_owned(),
        ),
        Some(Look::NotServed(reason)) => (
            false,
            format!("the web server does not serve this file: {reason}"),
        ),
        None => (false, "the web server does not say".to_owned()),
    };
    because.push(line);
    Ok(served)
}
