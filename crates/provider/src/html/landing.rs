//! The page of the base URL itself, for people who follow a link to it.

use std::io::Write;

use super::escape::{escaped, linked, query_value};
use super::page::{FOOT, top};
use crate::{Error, Provider, View};

/// Writes the page.
pub(crate) fn write<V: View, W: Write>(
    provider: &Provider,
    view: &V,
    mut out: W,
) -> Result<(), Error> {
    let formats = view.metadata_formats();
    let prefixes: Vec<_> = formats.iter().map(|format| format.prefix.clone()).collect();
    let name = &provider.repository_name;
    let rows = formats.iter().map(|format| {
        let prefix = query_value(&format.prefix);
        format!(
            "<tr><th scope=\"row\"><code>{}</code></th><td data-label=\"Namespace\">{}</td>\
             <td data-label=\"Look at\" class=\"gn-look\"><ul class=\"gn-links\">\
             <li><a href=\"?verb=ListRecords&amp;metadataPrefix={prefix}\">records</a></li>\
             <li><a href=\"?verb=ListIdentifiers&amp;metadataPrefix={prefix}\">identifiers</a></li></ul></td></tr>\n",
            escaped(&format.prefix),
            linked(&format.namespace)
        )
    });
    let options = prefixes.iter().map(|prefix| {
        let prefix = escaped(prefix);
        format!("<option>{prefix}</option>")
    });
    let emails: Vec<_> = provider
        .admin_emails
        .iter()
        .map(|email| escaped(email))
        .collect();
    let page = format!(
        "{}<p class=\"gn-verb\">OAI-PMH repository</p>\n<h1 dir=\"auto\">{}</h1>\n\
         <section class=\"gn-error gn-start\"><h2>Base URL</h2>\n<p class=\"gn-said\"><code>{}</code></p>\n\
         <p>Programs harvest this repository at this address. People can read it here:</p>\n<ul class=\"gn-next\">\
         <li><a href=\"?verb=Identify\">About this repository</a></li>\
         <li><a href=\"?verb=ListSets\">Its sets</a></li>\
         <li><a href=\"?verb=ListIdentifiers&amp;metadataPrefix=oai_dc\">A list of its records</a></li></ul></section>\n\
         <section><h2>Metadata formats</h2>\n<table class=\"gn-list gn-card\"><thead><tr><th scope=\"col\">Prefix</th>\
         <th scope=\"col\">Namespace</th><th scope=\"col\">Look at</th></tr></thead><tbody>\n{}</tbody></table></section>\n\
         <section class=\"gn-card\"><h2>Find a record</h2>\n<form method=\"get\" class=\"gn-form\">\
         <input type=\"hidden\" name=\"verb\" value=\"GetRecord\">\
         <label>Identifier <input name=\"identifier\" required></label> \
         <label>Format <select name=\"metadataPrefix\">{}</select></label> \
         <button>Show</button></form></section>\n\
         <p class=\"gn-quiet\">Administrator: {}</p>\n{FOOT}",
        top(provider, name, &prefixes, "", ""),
        escaped(name),
        escaped(&provider.base_url),
        rows.collect::<String>(),
        options.collect::<String>(),
        emails.join(", ")
    );
    out.write_all(page.as_bytes())?;
    Ok(out.flush()?)
}
