//! Where a collection is: `s3://bucket/prefix`, and for stores that are not Amazon's `?endpoint=https://…&region=…`.

use std::io;

use url::Url;

/// A bucket, and what the names of our objects in it begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub(crate) bucket: String,
    /// Without a slash at either end; empty if there is none.
    pub(crate) prefix: String,
    pub(crate) endpoint: Option<Url>,
    pub(crate) region: Option<String>,
}

impl Location {
    /// Whether a text is meant as the location of a bucket.
    pub fn is_meant(text: &str) -> bool {
        text.get(..5)
            .is_some_and(|begin| begin.eq_ignore_ascii_case("s3://"))
    }

    /// Reads a location. What it lacks comes from the environment: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, and
    /// `AWS_REGION` or `AWS_DEFAULT_REGION`.
    pub fn parse(text: &str) -> io::Result<Self> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut location = Self::given(text)?;
        if location.endpoint.is_none() {
            let endpoint = set("AWS_ENDPOINT_URL_S3").or_else(|| set("AWS_ENDPOINT_URL"));
            location.endpoint = endpoint.map(|text| endpoint_of(&text)).transpose()?;
        }
        if location.region.is_none() {
            location.region = set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION"));
        }
        Ok(location)
    }

    /// Reads a location as it is written, whatever the environment says.
    pub fn given(text: &str) -> io::Result<Self> {
        let wrong = |why: &str| invalid(format!("`{text}` {why}; write s3://BUCKET/PREFIX"));
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "s3"
            || !url.username().is_empty()
            || url.password().is_some()
            || url.port().is_some()
        {
            return Err(wrong("is not the location of a bucket"));
        }
        let bucket = url.host_str().unwrap_or_default().to_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if bucket.is_empty() || bucket.len() > 63 || !bucket.chars().all(plain) {
            return Err(wrong("names no bucket"));
        }
        let prefix = crate::encoding::decoded(&url.path().replace('+', "%2B"));
        let prefix = prefix.ok_or_else(|| wrong("has a prefix that is not UTF-8"))?;
        let names: Vec<_> = prefix.split('/').filter(|name| !name.is_empty()).collect();
        if names
            .iter()
            .any(|name| *name == "." || *name == ".." || name.contains(char::is_control))
        {
            return Err(wrong("has a prefix that cannot be used"));
        }
        let mut location = Self {
            bucket,
            prefix: names.join("/"),
            endpoint: None,
            region: None,
        };
        for (name, value) in url.query_pairs() {
            match &*name {
                "endpoint" => location.endpoint = Some(endpoint_of(&value)?),
                "region" => location.region = Some(value.into_owned()),
                other => {
                    return Err(wrong(&format!(
                        "has `{other}`, where endpoint and region can stand"
                    )));
                }
            }
        }
        Ok(location)
    }

    /// The location of what is below a name.
    pub fn below(mut self, name: &str) -> Self {
        self.prefix = self.key(name);
        self
    }

    /// The location above the last name, and that name, if there is one.
    pub fn split(mut self) -> (Self, Option<String>) {
        if self.prefix.is_empty() {
            return (self, None);
        }
        let prefix = std::mem::take(&mut self.prefix);
        let name = match prefix.rsplit_once('/') {
            Some((above, name)) => {
                above.clone_into(&mut self.prefix);
                name.to_owned()
            }
            None => prefix,
        };
        (self, Some(name))
    }

    /// The location without what is only needed to get there.
    pub fn shown(&self) -> String {
        match self.prefix.as_str() {
            "" => format!("s3://{}", self.bucket),
            prefix => format!("s3://{}/{prefix}", self.bucket),
        }
    }

    /// The location with what is needed to get there, as far as it is known.
    pub fn whole(&self) -> String {
        let mut query = Vec::new();
        if let Some(endpoint) = &self.endpoint {
            query.push(format!(
                "endpoint={}",
                crate::encoding::encoded(endpoint.as_str(), false)
            ));
        }
        if let Some(region) = &self.region {
            query.push(format!(
                "region={}",
                crate::encoding::encoded(region, false)
            ));
        }
        let begin = match self.prefix.is_empty() {
            true => self.shown(),
            false => format!(
                "s3://{}/{}",
                self.bucket,
                crate::encoding::encoded(&self.prefix, true)
            ),
        };
        match query.is_empty() {
            true => begin,
            false => format!("{begin}?{}", query.join("&")),
        }
    }

    /// Where requests for an object go, or for the bucket itself. Other people's stores have buckets as directories;
    /// Amazon's have hosts of their own.
    pub(crate) fn url(&self, key: &str) -> String {
        let key = crate::encoding::encoded(key, true);
        let region = self.region();
        match &self.endpoint {
            Some(endpoint) => {
                let endpoint = endpoint.as_str().trim_end_matches('/');
                format!("{endpoint}/{}/{key}", self.bucket)
            }
            // The certificate of Amazon does not cover names with dots.
            None if self.bucket.contains('.') => {
                format!("https://s3.{region}.amazonaws.com/{}/{key}", self.bucket)
            }
            None => format!("https://{}.s3.{region}.amazonaws.com/{key}", self.bucket),
        }
    }

    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or("us-east-1")
    }

    /// The key of a path below the prefix.
    pub(crate) fn key(&self, path: &str) -> String {
        match self.prefix.as_str() {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        }
    }
}

fn endpoint_of(text: &str) -> io::Result<Url> {
    let url = Url::parse(text).ok();
    let usable = |url: &Url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none()
    };
    let url = url.filter(usable).filter(|url| url.password().is_none());
    url.ok_or_else(|| invalid(format!("the endpoint `{text}` is not an http or https URL")))
}

pub(crate) fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_says_bucket_prefix_and_way() {
        let text = "s3://papers/a%20b/c/?endpoint=http%3A%2F%2F127.0.0.1%3A9000&region=eu-west-1";
        let location = Location::given(text).unwrap();
        assert_eq!(location.shown(), "s3://papers/a b/c");
        assert_eq!(
            location.url(&location.key("x y")),
            "http://127.0.0.1:9000/papers/a%20b/c/x%20y"
        );
        assert_eq!(Location::given(&location.whole()).unwrap(), location);
        let amazon = Location::given("s3://papers").unwrap();
        assert_eq!(
            amazon.url("k"),
            "https://papers.s3.us-east-1.amazonaws.com/k"
        );
        assert_eq!(
            (amazon.key("k").as_str(), amazon.whole().as_str()),
            ("k", "s3://papers")
        );
        let dots = Location::given("s3://my.papers").unwrap();
        assert_eq!(
            dots.url("k"),
            "https://s3.us-east-1.amazonaws.com/my.papers/k"
        );
    }

    #[test]
    fn what_is_no_location_is_refused() {
        for text in [
            "s3:///a",
            "s3://",
            "s3://a:b@c/",
            "s3://a/?x=y",
            "s3://a/%2e%2e%2fb",
            "s3://a/?endpoint=ftp://b",
            "s3://a_b c/",
            "http://a/",
        ] {
            assert!(Location::given(text).is_err(), "{text}");
        }
        assert!(Location::is_meant("S3://a") && !Location::is_meant("s3:/a"));
    }
}
