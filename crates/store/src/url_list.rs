//! A list of URLs, one a line: the seeds of a crawler. It appears when it is complete.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::Error;

/// A list of URLs that is being written beside the place where it will be.
#[derive(Debug)]
pub struct UrlList {
    path: PathBuf,
    unfinished: PathBuf,
    out: Option<BufWriter<File>>,
}

impl UrlList {
    /// Begins a list. What is at the path stays there until the list is finished.
    pub fn create(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::io("written", path, Errno::ISDIR));
        }
        let mut unfinished = path.as_os_str().to_owned();
        // Two processes that write one list do not write one file.
        unfinished.push(format!(".{}.tmp", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        let file = File::create(&unfinished).map_err(|error| Error::io("written", path, error))?;
        Ok(Self {
            path: path.to_owned(),
            unfinished,
            out: Some(BufWriter::new(file)),
        })
    }

    /// Adds a URL. What would break the line is percent-encoded.
    pub fn add(&mut self, url: &str) -> Result<(), Error> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        write_line(out, url).map_err(|error| Error::io("written", &self.unfinished, error))
    }

    /// Puts the list at its place.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some(mut out) = self.out.take() else {
            return Ok(());
        };
        let written = out.flush().and_then(|()| out.get_ref().sync_all());
        let placed = written.and_then(|()| std::fs::rename(&self.unfinished, &self.path));
        if placed.is_err() {
            let _ = std::fs::remove_file(&self.unfinished);
        }
        placed.map_err(|error| Error::io("written", &self.path, error))
    }
}

impl Drop for UrlList {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            let _ = std::fs::remove_file(&self.unfinished);
        }
    }
}

fn write_line(out: &mut impl Write, url: &str) -> std::io::Result<()> {
    for piece in url.split_inclusive(breaks_line) {
        let end = piece.chars().next_back().filter(|c| breaks_line(*c));
        let text = &piece[..piece.len() - end.map_or(0, char::len_utf8)];
        out.write_all(text.as_bytes())?;
        if let Some(end) = end {
            for byte in end.encode_utf8(&mut [0; 4]).bytes() {
                write!(out, "%{byte:02X}")?;
            }
        }
    }
    out.write_all(b"\n")
}

fn breaks_line(c: char) -> bool {
    c.is_control() || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_appears_when_it_is_finished() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("urls.txt");
        std::fs::write(&path, "old\n").unwrap();

        let mut list = UrlList::create(&path).unwrap();
        list.add("http://a.example/1").unwrap();
        list.add("http://a.example/2\nhttp://evil.example/ \u{85}")
            .unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old\n");
        list.finish().unwrap();

        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "http://a.example/1\nhttp://a.example/2%0Ahttp://evil.example/%20%C2%85\n"
        );
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_list_that_is_given_up_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut list = UrlList::create(&directory.path().join("urls.txt")).unwrap();
        list.add("http://a.example/").unwrap();

        drop(list);

        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }
}
