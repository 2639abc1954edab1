//! The listing of a store: objects with their sizes, and deeper folders.

use std::io;

use roxmltree::{Document, Node};

use crate::encoding::decoded;

/// One page of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Keys and sizes.
    pub(crate) objects: Vec<(String, u64)>,
    /// Beginnings of keys that have a slash behind the prefix.
    pub(crate) deeper: Vec<String>,
    /// The token to ask with for the next page.
    pub(crate) next: Option<String>,
}

/// Reads the answer to ListObjectsV2, whose keys are encoded as those of URLs.
pub(crate) fn parse(xml: &str) -> io::Result<Page> {
    let wrong = |why: &dyn std::fmt::Display| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the store's list cannot be read: {why}"),
        )
    };
    let document = Document::parse(xml).map_err(|error| wrong(&error))?;
    let root = document.root_element();
    let text = |node: Node<'_, '_>, name: &str| {
        let mut children = node.children();
        let child = children.find(|child| child.tag_name().name() == name)?;
        Some(child.text().unwrap_or_default().to_owned())
    };
    let is_encoded = text(root, "EncodingType").as_deref() == Some("url");
    let key = |key: String| match is_encoded {
        true => decoded(&key).ok_or_else(|| wrong(&"a key is not UTF-8")),
        false => Ok(key),
    };
    let mut page = Page::default();
    for child in root.children() {
        match child.tag_name().name() {
            "Contents" => {
                let name = text(child, "Key").ok_or_else(|| wrong(&"an object has no key"))?;
                let size = text(child, "Size").and_then(|size| size.parse().ok());
                page.objects.push((key(name)?, size.unwrap_or(0)));
            }
            "CommonPrefixes" => {
                let name = text(child, "Prefix").ok_or_else(|| wrong(&"a prefix is missing"))?;
                page.deeper.push(key(name)?);
            }
            _ => {}
        }
    }
    if text(root, "IsTruncated").as_deref() == Some("true") {
        page.next = text(root, "NextContinuationToken");
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_with_what_lies_deeper() {
        let page = parse(
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType>\
             <IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>\
             <Contents><Key>a/b+c%C3%BC</Key><Size>12</Size></Contents>\
             <CommonPrefixes><Prefix>a/001/</Prefix></CommonPrefixes></ListBucketResult>",
        );
        let expected = Page {
            objects: vec![("a/b cü".to_owned(), 12)],
            deeper: vec!["a/001/".to_owned()],
            next: Some("n".to_owned()),
        };
        assert_eq!(page.unwrap(), expected);
        assert!(parse("<html>").is_err());
    }
}
