//! The rights on a record, for its `about` container: OAI-PMH guidelines, "Conveying rights expressions about metadata".

use std::io::{self, Write};

use super::dublin_core;
use crate::xml::{self, Writer};

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/rights/";

/// Writes a `rights` element: a reference where the statement is the URL of a licence, else its text.
pub fn write<W: Write>(xml: &mut Writer<W>, statement: &str) -> io::Result<()> {
    let location = format!("{NAMESPACE} http://www.openarchives.org/OAI/2.0/rights.xsd");
    let attributes = [
        ("xmlns", NAMESPACE),
        ("xmlns:xsi", xml::XSI),
        ("xsi:schemaLocation", location.as_str()),
    ];
    xml.start("rights", &attributes)?;
    match is_url(statement) {
        true => xml.empty("rightsReference", &[("ref", statement)])?,
        false => {
            xml.start("rightsDefinition", &[])?;
            dublin_core::write(xml, &[("rights", statement.to_owned())])?;
            xml.end("rightsDefinition")?;
        }
    }
    xml.end("rights")
}

fn is_url(statement: &str) -> bool {
    let has_scheme = ["http://", "https://"].iter().any(|scheme| {
        statement
            .strip_prefix(scheme)
            .is_some_and(|rest| !rest.is_empty())
    });
    has_scheme && !statement.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(statement: &str) -> String {
        let mut out = Vec::new();
        write(&mut Writer::new(&mut out), statement).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_url_is_referred_to_and_a_text_is_given() {
        let licence = "https://creativecommons.org/licenses/by/4.0/?a=1&b=2";
        let text = written(licence);
        assert!(
            text.contains("<rightsReference ref=\"https://creativecommons.org/licenses/by/4.0/?a=1&amp;b=2\"/>"),
            "{text}"
        );

        let text = written("see https://a.example & ask");
        assert!(
            text.contains("<dc:rights>see https://a.example &amp; ask</dc:rights>"),
            "{text}"
        );
        assert!(!text.contains("rightsReference"), "{text}");
    }
}
