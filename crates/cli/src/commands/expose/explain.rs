//! `garner explain`: says why something is or is not offered, naming the rule.

use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use server::{Config, HttpOrigin};
use site::{Access, Explainer, Explanation, Ground, Origin, Requester, SiteConfig, SitePath};
use tokio::runtime::Runtime;

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

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut config = self.place.config(self.site.as_ref())?;
        config.server.root.get_or_insert_with(|| PathBuf::from("."));
        config.check()?;
        let files = Files::new(&config)?;
        let mut all_offered = true;
        for target in &self.targets {
            let explanation = files.explain(target)?;
            all_offered &= explanation.offered;
            print(text(&explanation, self.json).as_bytes())?;
        }
        Ok(if all_offered {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// The text for people, or a line of JSON.
fn text(explanation: &Explanation, json: bool) -> String {
    let Explanation {
        target,
        offered,
        because,
    } = explanation;
    if json {
        let value = serde_json::json!({
            "target": target, "offered": offered, "because": because,
        });
        return format!("{value}\n");
    }
    let verdict = if *offered { "offered" } else { "not offered" };
    let mut text = format!("{target}: {verdict}\n");
    for line in because {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// A site without its index, and the web server beside it.
struct Files {
    site: SiteConfig,
    ground: Ground,
    access: Access,
    origin: Option<HttpOrigin>,
    _runtime: Runtime,
}

impl Files {
    fn new(config: &Config) -> anyhow::Result<Self> {
        let site = config.site(config.server.listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let origin = match &config.origin.url {
            Some(url) => {
                let _inside = runtime.enter();
                let root = site.ground()?.root;
                Some(HttpOrigin::new(url, &site.site_url, root, &config.origin)?)
            }
            None => None,
        };
        Ok(Self {
            ground: site.ground()?,
            access: site.access()?,
            site,
            origin,
            _runtime: runtime,
        })
    }

    fn explain(&self, target: &str) -> anyhow::Result<Explanation> {
        let explainer = Explainer::new(&self.site, &self.ground, &self.access);
        let path = match self.path_of_file(target)? {
            Some(path) => path,
            None => explainer.path_of_url(target).map_err(|reason| {
                // The URL of another host is told apart.
                let is_elsewhere =
                    target.contains("://") && !target.starts_with(&self.site.site_url);
                anyhow::Error::msg(match is_elsewhere {
                    true => reason,
                    false => self.not_here(target),
                })
            })?,
        };
        let nobody = Requester::anonymous(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let origin = self.origin.as_ref();
        let asking = origin.map(|origin| (origin as &dyn Origin, &nobody));
        let explained = explainer.explain(target, &path, asking);
        explained.map_err(anyhow::Error::msg)
    }

    fn not_here(&self, target: &str) -> String {
        let (url, root) = (&self.site.site_url, self.ground.root.path());
        format!(
            "`{target}` is neither a URL below {url} nor a file below {}",
            root.display()
        )
    }

    /// The path of a file below the directory of the site.
    fn path_of_file(&self, target: &str) -> anyhow::Result<Option<SitePath>> {
        if target.contains("://") {
            return Ok(None);
        }
        let root = self.ground.root.path();
        let place =
            std::path::absolute(Path::new(target)).with_context(|| self.not_here(target))?;
        // Links on the way to the site are resolved, one at its end is what is asked about.
        let parent = place.parent().and_then(|parent| parent.canonicalize().ok());
        let resolved = match (parent, place.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => place,
        };
        let relative = match resolved.strip_prefix(&root) {
            Ok(relative) => relative.as_os_str().as_bytes().to_owned(),
            Err(_) if target.starts_with('/') => return Ok(None),
            Err(_) => target.trim_start_matches("./").as_bytes().to_owned(),
        };
        let path = SitePath::new(relative).with_context(|| self.not_here(target))?;
        Ok(Some(path))
    }
}
