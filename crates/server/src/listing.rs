//! A page for a directory that has no index file: what of it a requester may see.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use oai::xml::Writer;
use site::{Requester, Sighting, Site, SitePath, Verdict};

/// The most entries on a page.
const MOST: usize = 10_000;

/// The page, or nothing if there is no such directory.
pub(crate) fn page(site: &Site, directory: &SitePath, requester: &Requester) -> Option<String> {
    let ground = site.ground();
    if ground.rules.hidden(directory).is_some() {
        return None;
    }
    let place = directory.below(&ground.root.path()).canonicalize().ok()?;
    // A link must not lead around what protects its target.
    let target = place.strip_prefix(ground.root.path()).ok()?;
    let target = SitePath::new(target.as_os_str().as_bytes())?;
    let open = |path: &SitePath| site.access().verdict(path, requester) == Verdict::Open;
    if !open(&target) {
        return None;
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(place).ok()?.flatten().take(MOST) {
        let name = entry.file_name();
        let path = directory.join(name.as_bytes());
        if !open(&path) || !open(&target.join(name.as_bytes())) {
            continue;
        }
        match ground.look(&path) {
            // This server refuses a program, and tells nothing of its source.
            Sighting::File { dynamic: true, .. } => {}
            Sighting::File { facts, .. } => entries.push((path, Some(facts.size))),
            Sighting::Directory if ground.rules.hidden(&path).is_none() => {
                entries.push((path, None));
            }
            _ => {}
        }
    }
    entries.sort();
    Some(html(directory, &entries))
}

fn html(directory: &SitePath, entries: &[(SitePath, Option<u64>)]) -> String {
    let title = escaped(&format!("/{}", directory.display()));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>\
         :root{{color-scheme:light dark}}body{{font:1rem/1.6 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
         padding:0 1rem}}h1,td{{overflow-wrap:anywhere}}td{{padding:.1rem 1.5rem .1rem 0;vertical-align:baseline}}\
         td+td{{padding-right:0;text-align:right;white-space:nowrap}}\
         </style></head><body><h1>{title}</h1><table>\n"
    );
    if !directory.as_bytes().is_empty() {
        page.push_str("<tr><td><a href=\"../\">up</a></td><td></td></tr>\n");
    }
    for (path, size) in entries {
        let slash = if size.is_none() { "/" } else { "" };
        let name = escaped(&String::from_utf8_lossy(path.name()));
        let size = size.map_or(String::new(), |size| format!("{size} bytes"));
        // Relative, so that it holds behind a proxy that gives the site another path.
        let url = path.to_url_path();
        let url = url.rsplit('/').next().unwrap_or_default();
        let _ = writeln!(
            page,
            "<tr><td><a href=\"./{url}{slash}\">{name}{slash}</a></td><td>{size}</td></tr>"
        );
    }
    page.push_str("</table></body></html>\n");
    page
}

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = Writer::new(&mut out).text(text);
    String::from_utf8_lossy(&out).into_owned()
}
