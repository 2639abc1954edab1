//! Where a repository answers: `host:port`, to which politeness is owed.

/// The host and the port of a base URL, in lower case; all of the text if it is no URL.
pub(crate) fn host(base_url: &str) -> String {
    let url = base_url.to_lowercase();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let place = authority
        .rsplit_once('@')
        .map_or(authority, |(_, place)| place);
    let has_port = place
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    match scheme {
        _ if has_port => place.to_owned(),
        "https" => format!("{place}:443"),
        _ => format!("{place}:80"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_the_one_that_is_named_or_that_of_the_scheme() {
        for (url, expected) in [
            ("http://A.example/oai", "a.example:80"),
            ("https://a.example?x=://b", "a.example:443"),
            ("http://user:word@a.example:8080/oai", "a.example:8080"),
            ("https://[2001:db8::1]/oai", "[2001:db8::1]:443"),
            ("http://[2001:db8::1]:81/oai", "[2001:db8::1]:81"),
            ("no URL", "no url"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
