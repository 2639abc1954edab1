//! The digest that tells a document inside of a container from others: it has the URL of the container.

use document::digest::hex;
use md5::{Digest, Md5};

/// The MD5 of a URL and of a path inside of what is there.
pub(in crate::import) fn md5_of_member(url: &str, member: &str) -> String {
    let mut md5 = Md5::new_with_prefix(url);
    md5.update(b"#");
    md5.update(member);
    hex(&md5.finalize())
}
