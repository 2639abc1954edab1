//! `garner explain`: says why something is or is not offered, naming the rule.

use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use server::Config;
use site::{Candidate, Ground, Look, Origin, Requester, Sighting, SiteConfig, SitePath};

use crate::commands::options::PlaceOptions;
use crate::commands::print;

/// Say why a URL or a file is offered to harvesters, or why not
///
/// Exits with 0 if all of them are offered and with 1 if one is not.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// URLs of the site, or files below its directory
    #[arg(required = true, value_name = "URL|FILE")]
    targets: Vec<String>,
    /// The directory of the site [default: the current one]
    #[arg(long, value_name = "DIR")]
    site: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// The explanation of one target.
struct Explanation {
    target: String,
    offered: bool,
    lines: Vec<String>,
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut config = self.place.config(self.site.as_ref())?;
        config.server.root.get_or_insert_with(|| PathBuf::from("."));
        config.check()?;
        let explainer = Explainer::new(&config)?;
        let mut all_offered = true;
        for target in &self.targets {
            let explanation = explainer.explain(target)?;
            all_offered &= explanation.offered;
            print(explanation.text(self.json).as_bytes())?;
        }
        Ok(if all_offered {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

impl Explanation {
    fn text(&self, json: bool) -> String {
        if json {
            let value = serde_json::json!({
                "target": self.target, "offered": self.offered, "because": self.lines,
            });
            return format!("{value}\n");
        }
        let verdict = if self.offered {
            "offered"
        } else {
            "not offered"
        };
        let mut text = format!("{}: {verdict}\n", self.target);
        for line in &self.lines {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }
}

struct Explainer<'a> {
    config: &'a Config,
    site: SiteConfig,
    ground: Ground,
}

impl<'a> Explainer<'a> {
    fn new(config: &'a Config) -> anyhow::Result<Self> {
        let site = config.site(config.server.listen)?;
        let ground = site.ground()?;
        Ok(Self {
            config,
            site,
            ground,
        })
    }

    fn explain(&self, target: &str) -> anyhow::Result<Explanation> {
        let path = self.path_of(target)?;
        let mut lines = Vec::new();
        let sighting = match path == SitePath::root() {
            true => Sighting::Directory,
            false => self.ground.look(&path),
        };
        let offered = match sighting {
            Sighting::LeftOut(reason) => {
                lines.push(reason.to_string());
                false
            }
            Sighting::Unknown(error) => {
                lines.push(format!("the file system does not say: {error}"));
                false
            }
            Sighting::Directory => {
                lines.push("it is a directory; the files in it are offered one by one".to_owned());
                false
            }
            Sighting::File { facts, dynamic } => {
                lines.push(format!(
                    "identifier: {}{}",
                    self.site.site_url,
                    path.to_url_path()
                ));
                if dynamic {
                    lines.push(
                        "a server runs it, so its source is never given and its media type is not known \
                         (offer.dynamic)"
                            .to_owned(),
                    );
                } else {
                    let media_type = self.ground.media_type(&path, dynamic);
                    let set = oai::SetSpec::of_media_type(media_type);
                    lines.push(format!("media type: {media_type}, set {set}"));
                    lines.push(self.by_value(media_type, facts.size));
                }
                self.protection(&path, &mut lines)?;
                self.confirmed(&path, (!dynamic).then_some(facts), &mut lines)?
            }
        };
        Ok(Explanation {
            target: target.to_owned(),
            offered,
            lines,
        })
    }

    fn by_value(&self, media_type: &str, size: u64) -> String {
        let limit = self.site.by_value.limit_of(media_type);
        match size <= limit {
            true => format!("{size} bytes: by value and by reference"),
            false => {
                format!("{size} bytes: by reference only, the limit is {limit} (by_value.limit)")
            }
        }
    }

    fn protection(&self, path: &SitePath, lines: &mut Vec<String>) -> anyhow::Result<()> {
        if let Some(area) = self.site.access()?.area_of(path) {
            lines.push(format!(
                "only for those whom the area `{}` lets in",
                area.path
            ));
        }
        Ok(())
    }

    /// Asks the origin, where there is one, as somebody without credentials.
    fn confirmed(
        &self,
        path: &SitePath,
        facts: Option<site::Facts>,
        lines: &mut Vec<String>,
    ) -> anyhow::Result<bool> {
        let Some(url) = &self.config.origin.url else {
            return Ok(true);
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let origin = {
            let _inside = runtime.enter();
            let root = self.site.ground()?.root;
            server::HttpOrigin::new(url, &self.site.site_url, root, &self.config.origin)?
        };
        let candidate = Candidate {
            path: path.clone(),
            facts,
        };
        let nobody = Requester::anonymous(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let looks = origin
            .look(&nobody, &[candidate])
            .map_err(anyhow::Error::msg)?;
        let (served, line) = match looks.into_iter().next() {
            Some(Look::Served(_)) => (true, "the origin serves this very file".to_owned()),
            Some(Look::Refused) => (
                false,
                "the origin refuses it to those without credentials".to_owned(),
            ),
            Some(Look::NotServed(reason)) => (
                false,
                format!("the origin does not serve this file: {reason}"),
            ),
            None => (false, "the origin does not say".to_owned()),
        };
        lines.push(line);
        Ok(served)
    }

    /// The path of a URL of this site, of a URL path, or of a file.
    fn path_of(&self, target: &str) -> anyhow::Result<SitePath> {
        let not_here = || {
            let (url, root) = (&self.site.site_url, self.ground.root.path());
            format!(
                "`{target}` is neither a URL below {url} nor a file below {}",
                root.display()
            )
        };
        if let Some((_, rest)) = target.split_once("://") {
            let url_path = match target.strip_prefix(&self.site.site_url) {
                Some(path) => path,
                None => bail!(
                    "`{target}` is not a URL of this site, whose URLs begin with {}; name that with --base-url if the site goes by another name, or give the path alone: /{}",
                    self.site.site_url,
                    rest.split_once('/').map_or("", |(_, path)| path)
                ),
            };
            return SitePath::from_url_path(url_path).with_context(not_here);
        }
        let root = self.ground.root.path();
        let place = std::path::absolute(Path::new(target)).with_context(not_here)?;
        // Links on the way to the site are resolved, one at its end is what is asked about.
        let parent = place.parent().and_then(|parent| parent.canonicalize().ok());
        let resolved = match (parent, place.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => place,
        };
        let relative = resolved.strip_prefix(&root);
        if let Ok(relative) = relative {
            return SitePath::new(relative.as_os_str().as_bytes()).with_context(not_here);
        }
        match target.strip_prefix('/') {
            Some(path) => SitePath::from_url_path(path).with_context(not_here),
            None => {
                let path = SitePath::new(target.trim_start_matches("./").as_bytes());
                path.with_context(not_here)
            }
        }
    }
}
