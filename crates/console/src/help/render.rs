//! Markdown of the documentation as HTML. Raw HTML in it is shown as text, and links lead to help pages or to the web.

use std::collections::HashMap;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html as writer};

use super::pages::{HelpPage, PAGES};

/// A page as HTML.
pub(super) fn html(page: &HelpPage) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut anchors = Anchors::default();
    let mut events = Vec::new();
    // Where the heading began that is being read, and its text so far.
    let mut heading: Option<(usize, String)> = None;
    // Whether the link that is being read leads nowhere here.
    let mut is_dead = false;
    for event in Parser::new_ext(page.text, options) {
        match event {
            // Nothing of a page is taken for HTML.
            Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(text)),
            Event::Start(Tag::Heading { .. }) => {
                heading = Some((events.len(), String::new()));
                events.push(event);
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some((start, text)) = heading.take() {
                    let id = anchors.of(&text);
                    events[start] = raw(format!("<{level} id=\"{id}\">"));
                }
                events.push(raw(format!("</{level}>\n")));
            }
            Event::Start(Tag::Link { ref dest_url, .. }) => match address(page, dest_url) {
                Some(address) => events.push(raw(format!("<a href=\"{}\">", escaped(&address)))),
                None => is_dead = true,
            },
            Event::End(TagEnd::Link) if is_dead => is_dead = false,
            // Content wider than a phone scrolls in its own frame, and keys reach that frame.
            Event::Start(Tag::Table(_)) => {
                events.push(raw("<div class=\"scroll\" tabindex=\"0\">".to_owned()));
                events.push(event);
            }
            Event::End(TagEnd::Table) => {
                events.push(event);
                events.push(raw("</div>\n".to_owned()));
            }
            Event::Start(Tag::CodeBlock(_)) => {
                events.push(raw("<pre tabindex=\"0\"><code>".to_owned()));
            }
            Event::End(TagEnd::CodeBlock) => events.push(raw("</code></pre>\n".to_owned())),
            Event::Text(ref text) | Event::Code(ref text) => {
                if let Some((_, heading)) = &mut heading {
                    heading.push_str(text);
                }
                events.push(event);
            }
            event => events.push(event),
        }
    }
    let mut html = String::with_capacity(page.text.len() * 3 / 2);
    writer::push_html(&mut html, events.into_iter());
    // The corner above a first column that needs no heading: a heading without text confuses screen readers.
    html.replace("<th></th>", "<td></td>")
}

/// The addresses of links and pictures, as they are written.
#[cfg(test)]
pub(super) fn links(page: &HelpPage) -> Vec<String> {
    let parser = Parser::new_ext(page.text, Options::ENABLE_TABLES);
    let links = parser.filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url),
        _ => None,
    });
    links.map(|link| link.to_string()).collect()
}

/// The anchors of headings, as GitHub makes them.
#[derive(Default)]
struct Anchors(HashMap<String, usize>);

impl Anchors {
    fn of(&mut self, heading: &str) -> String {
        let plain = |c: char| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        };
        let id: String = heading.to_lowercase().chars().filter_map(plain).collect();
        let times = self.0.entry(id.clone()).or_default();
        *times += 1;
        match *times {
            1 => id,
            times => format!("{id}-{}", times - 1),
        }
    }
}

/// Where a link of a page leads: to another page, to a heading, or to the web. Other files are not carried.
fn address(page: &HelpPage, link: &str) -> Option<String> {
    if link.starts_with("https://") || link.starts_with("http://") || link.starts_with("mailto:") {
        return Some(link.to_owned());
    }
    let (path, heading) = match link.split_once('#') {
        Some((path, heading)) => (path, format!("#{heading}")),
        None => (link, String::new()),
    };
    if path.is_empty() {
        return Some(heading);
    }
    let mut parts: Vec<&str> = page.name.split('/').collect();
    parts.pop();
    for part in path.strip_suffix(".md")?.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let name = parts.join("/");
    let page = PAGES.iter().find(|page| page.name == name)?;
    Some(format!("{}{heading}", page.address()))
}

fn raw(html: String) -> Event<'static> {
    Event::Html(CowStr::from(html))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &'static str) -> String {
        let name = "guides/harvest";
        html(&HelpPage { name, text })
    }

    #[test]
    fn nothing_is_taken_for_html_and_no_link_runs_script() {
        let html = shown(
            "<script>alert(1)</script>\n\na <b onclick='x'>b</b> [c](javascript:alert(1)) [d](https://e.example/\"x)\n",
        );
        assert!(!html.contains("<script"), "{html}");
        assert!(!html.contains("<b "), "{html}");
        assert!(!html.contains("javascript"), "{html}");
    }

    #[test]
    fn links_lead_to_help_pages_and_headings_have_anchors() {
        let html = shown(
            "# The `X` of Y\n\n## The `X` of Y\n\n[up](../reference/up.md#import) [here](#the-x-of-y) [file](../../examples/x.toml)\n",
        );
        assert!(html.contains("<h1 id=\"the-x-of-y\">"), "{html}");
        assert!(html.contains("<h2 id=\"the-x-of-y-1\">"), "{html}");
        assert!(
            html.contains("href=\"/help/reference/up#import\""),
            "{html}"
        );
        assert!(html.contains("href=\"#the-x-of-y\""), "{html}");
        assert!(!html.contains("examples"), "{html}");
    }
}
