//! Checks answers against the XML schemas with xmllint.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The schemas of the protocol and of every format, joined so that the contents of records are checked too.
#[derive(Debug)]
pub struct Schemas {
    directory: TempDir,
}

impl Schemas {
    /// Reads the published schemas, which are not part of the product. `None`, and a word about it, where they
    /// are not there.
    pub fn load() -> Option<Self> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let published = project.join("../shared/samples/schemas");
        if !published.is_dir() {
            eprintln!("SKIPPED: the published schemas are not at ../shared/samples/schemas");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let mut all = String::from("<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">");
        for (name, namespace, text) in files(&project, &published) {
            fs::write(directory.path().join(name), text).unwrap();
            if !namespace.is_empty() {
                all.push_str(&format!(
                    "<xs:import namespace=\"{namespace}\" schemaLocation=\"{name}\"/>"
                ));
            }
        }
        all.push_str("</xs:schema>");
        fs::write(directory.path().join("all.xsd"), all).unwrap();
        Some(Self { directory })
    }

    /// Validates a document; the complaints of xmllint are the error.
    pub fn validate(&self, xml: &str) -> Result<(), String> {
        let mut child = Command::new("xmllint")
            .args(["--noout", "--nonet", "--huge", "--schema"])
            .arg(self.directory.path().join("all.xsd"))
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("xmllint is installed by scripts/setup test");
        let written = child.stdin.take().unwrap().write_all(xml.as_bytes());
        let output = child.wait_with_output().unwrap();
        written.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// Each schema: the name of its file, the namespace to import it for unless another schema does, and its text.
fn files(project: &Path, published: &Path) -> [(&'static str, &'static str, String); 9] {
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    // The kept copy does not look into records; ours does.
    let protocol = read(published.join("OAI-PMH.xsd"))
        .replace("processContents=\"skip\"", "processContents=\"strict\"");
    let elements = read(published.join("simpledc20021212.xsd"))
        .replace("http://www.w3.org/2001/03/xml.xsd", "xml.xsd");
    [
        (
            "OAI-PMH.xsd",
            "http://www.openarchives.org/OAI/2.0/",
            protocol,
        ),
        (
            "oai_dc.xsd",
            "http://www.openarchives.org/OAI/2.0/oai_dc/",
            read(published.join("oai_dc.xsd")),
        ),
        ("simpledc20021212.xsd", "", elements),
        ("xml.xsd", "", XML_NAMESPACE.to_owned()),
        (
            "http_header.xsd",
            "urn:x-garner:http_header",
            read(project.join("crates/provider/src/assets/http_header.xsd")),
        ),
        (
            "didl.xsd",
            "urn:mpeg:mpeg21:2002:02-DIDL-NS",
            read(project.join("tests/schemas/didl.xsd")),
        ),
        (
            "provenance.xsd",
            "http://www.openarchives.org/OAI/2.0/provenance",
            read(project.join("tests/schemas/provenance.xsd")),
        ),
        (
            "sitemap.xsd",
            "http://www.sitemaps.org/schemas/sitemap/0.9",
            read(project.join("tests/schemas/sitemap.xsd")),
        ),
        (
            "resourcesync.xsd",
            "http://www.openarchives.org/rs/terms/",
            read(project.join("tests/schemas/resourcesync.xsd")),
        ),
    ]
}

/// The attribute that the Dublin Core schema takes from elsewhere.
const XML_NAMESPACE: &str = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"
    targetNamespace="http://www.w3.org/XML/1998/namespace"><xs:attribute name="lang" type="xs:string"/></xs:schema>"#;
