//! A pasted list of repositories: an address a line, or ListFriends. Each line that is no address is named.

use std::collections::BTreeMap;

use harvester::{base_url_of, canonical_base_url};

use super::find::looks_like_host;

/// A line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastedLine {
    /// Its number, from 1 on.
    pub number: usize,
    /// The address, or why there is none.
    pub address: Result<String, String>,
}

/// The addresses of a list, each once, and the lines without one. Blank lines and comments are no lines of the list.
pub fn pasted(content: &[u8]) -> anyhow::Result<Vec<PastedLine>> {
    let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
    if content.trim_ascii_start().starts_with(b"<") {
        let friends = flows::friends::parse(content)?.into_iter().enumerate();
        return Ok(friends
            .map(|(at, friend)| PastedLine {
                number: at + 1,
                address: Ok(friend.base_url),
            })
            .collect());
    }
    let mut lines = Vec::new();
    let mut known = BTreeMap::new();
    for (at, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let number = at + 1;
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let address = match std::str::from_utf8(line) {
            Ok(line) => address(line),
            Err(_) => Err("it is not UTF-8".to_owned()),
        };
        let address = address.and_then(|address| match known.get(&address) {
            Some(first) => Err(format!("it is the same as line {first}")),
            None => {
                known.insert(address.clone(), number);
                Ok(address)
            }
        });
        lines.push(PastedLine { number, address });
    }
    Ok(lines)
}

/// The address at the beginning of a line; a name or a tab-separated column may follow.
fn address(line: &str) -> Result<String, String> {
    let word = line
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '<' | '>'))
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    if word.contains("://") {
        let request = base_url_of(word);
        return canonical_base_url(request.as_deref().unwrap_or(word))
            .map_err(|error| error.to_string());
    }
    match looks_like_host(word) {
        true => Ok(word.to_owned()),
        false => {
            let shown: String = line.chars().take(LONGEST_SHOWN).collect();
            Err(format!("`{shown}` is no address; write https://HOST/PATH"))
        }
    }
}

const LONGEST_SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_line_of_ten_thousand_is_named_and_the_rest_is_taken() {
        let mut list = String::from("\u{feff}# repositories\n\n");
        for number in 3..=10_000 {
            let line = match number % 10 {
                0 => "no address here".to_owned(),
                1 => format!("ftp://a{number}.example/"),
                2 => format!("\u{202e}\u{1b}[2J{number}"),
                3 => format!("a{number}.example/oai"),
                4 => format!("http://a{number}.example/oai?verb=Identify, \"A name\""),
                _ => format!("  https://a{number}.example/oai\tA name\r"),
            };
            list.push_str(&line);
            list.push('\n');
        }
        let lines = pasted(list.as_bytes()).unwrap();

        assert_eq!(lines.len(), 9998);
        for line in lines {
            let (is_bad, number) = (line.number % 10 < 3, line.number);
            assert_eq!(
                line.address.is_err(),
                is_bad,
                "{number}: {:?}",
                line.address
            );
        }
    }

    #[test]
    fn an_address_is_taken_once() {
        let list = b"http://a.example/oai\nhttp://a.example/oai?verb=Identify\n\xff\xfe\nhttp://A.example/oai";
        let lines = pasted(list).unwrap();
        assert_eq!(lines[0].address, Ok("http://a.example/oai".to_owned()));
        for (line, reason) in [
            (1, "it is the same as line 1"),
            (2, "it is not UTF-8"),
            (3, "it is the same as line 1"),
        ] {
            assert_eq!(lines[line].address, Err(reason.to_owned()));
        }
    }

    #[test]
    fn a_list_of_friends_is_read_as_well() {
        let list = b"<BaseURLs><baseURL id=\"a\">http://a.example/oai</baseURL></BaseURLs>";
        assert_eq!(
            pasted(list).unwrap()[0].address,
            Ok("http://a.example/oai".to_owned())
        );
        assert!(pasted(b"<html><body>no list").is_err());
    }
}
