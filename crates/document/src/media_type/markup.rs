//! HTML and XML, as the WHATWG's MIME Sniffing Standard finds them, and a little further.

use super::sniff::{Family, Sniffed};
use super::text::{begins, find, trim_start};

/// Looks for markup at the beginning.
pub(super) fn sniff(readable: &[u8]) -> Option<Sniffed> {
    let start = trim_start(readable);
    if begins(start, b"<?xml") {
        return Some(xml(start));
    }
    let content = without_comments(start);
    if PAGES.iter().any(|tag| is_tag(content, tag)) {
        return Some(Sniffed::of("text/html", Family::Html));
    }
    if let Some(found) = vocabulary(content) {
        return Some(found);
    }
    let commented = content.len() != start.len();
    let tagged = commented || TAGS.iter().any(|tag| is_tag(content, tag));
    tagged.then_some(Sniffed::of("text/html", Family::TaggedText))
}

/// The kind of this XML, by its root element.
fn xml(start: &[u8]) -> Sniffed {
    let root = without_comments(start);
    if begins(root, b"<!doctype html") || is_tag(root, b"<html") {
        return Sniffed::of("application/xhtml+xml", Family::Html);
    }
    vocabulary(root).unwrap_or(Sniffed::of("application/xml", Family::Xml))
}

fn vocabulary(root: &[u8]) -> Option<Sniffed> {
    let known = VOCABULARIES.iter().find(|(tag, _)| is_tag(root, tag));
    known.map(|(_, media_type)| Sniffed::certain(media_type))
}

/// The rest after comments, processing instructions, document types of other languages and blanks.
fn without_comments(start: &[u8]) -> &[u8] {
    let mut rest = start;
    loop {
        let (opens, end): (usize, &[u8]) = match rest {
            _ if rest.starts_with(b"<!--") => (4, b"-->"),
            _ if rest.starts_with(b"<?") => (2, b"?>"),
            _ if begins(rest, b"<!doctype") && !begins(rest, b"<!doctype html") => (9, b">"),
            _ => return rest,
        };
        let Some(at) = find(&rest[opens..], end) else {
            return b"";
        };
        rest = trim_start(&rest[opens + at + end.len()..]);
    }
}

/// Whether a tag stands here, and not only a word that begins like it.
fn is_tag(bytes: &[u8], tag: &[u8]) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    begins(bytes, tag) && bytes.get(tag.len()).is_none_or(ends)
}

/// Tags that only pages begin with.
const PAGES: &[&[u8]] = &[
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<body",
    b"<title",
    b"<script",
    b"<meta",
    b"<frameset",
    b"<base",
    b"<link",
];

/// Tags that a page may begin with, and a template, a mail or a text just as well.
const TAGS: &[&[u8]] = &[
    b"<iframe", b"<h1", b"<h2", b"<h3", b"<div", b"<font", b"<table", b"<a", b"<style", b"<b",
    b"<br", b"<p", b"<center", b"<pre", b"<img",
];

const VOCABULARIES: &[(&[u8], &str)] = &[
    (b"<rss", "application/rss+xml"),
    (b"<rdf:rdf", "application/rdf+xml"),
    (b"<feed", "application/atom+xml"),
    (b"<svg", "image/svg+xml"),
    (b"<mathml", "application/mathml+xml"),
    (b"<tei", "application/tei+xml"),
];
