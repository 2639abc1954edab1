//! Tells a web server of a harvest.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{anyhow, bail};
use harvester::{Client, ClientOptions, ErrorKind, Stop};
use serde_json::Value;

use super::shortened;
use super::signature::sign;

/// Posts the facts under the `id` of the message, and returns what the server says to that. It was told if it answers with
/// success. Where it may lie, `options` say: that depends on who named it.
pub(crate) fn tell(
    url: &str,
    secret: Option<&str>,
    id: &str,
    facts: &Value,
    timeout: Duration,
    options: &ClientOptions,
    stop: &Stop,
) -> anyhow::Result<String> {
    // Credentials of repositories are not for this server.
    let client = Client::new(ClientOptions {
        credentials: None,
        stop: stop.clone(),
        ..options.clone()
    })?;
    let body = serde_json::to_vec(facts)?;
    let time = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let signature = secret.map(|secret| sign(secret, id, time, &body));
    let signature = signature.transpose()?;
    let time = time.to_string();
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("webhook-id", id),
        ("webhook-timestamp", &time),
    ];
    headers.extend(signature.as_deref().map(|value| (SIGNATURE, value)));
    let host = host(url);
    let posted = client.post(url, &headers, body, timeout);
    let posted = posted.map_err(|error| match error.kind() {
        ErrorKind::Transport(reason) => anyhow!("{host} cannot be told: {reason}"),
        _ => error.into(),
    })?;
    let said = shortened(&posted.beginning);
    match posted.status {
        200..300 => Ok(said),
        status if said.is_empty() => bail!("{host} answers {status}"),
        status => bail!("{host} answers {status}: {said}"),
    }
}

/// The server alone: what else is in the URL may be a secret, and everybody may read how a job ended.
fn host(url: &str) -> &str {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    let authority = place.split(['/', '?', '#']).next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

const SIGNATURE: &str = "webhook-signature";

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;
    use std::time::Instant;

    use harvester::{AddressPolicy, Error};
    use serde_json::json;

    use super::*;

    /// A server that hears one request and gives one answer. Its URL, and what it heard.
    fn server(answer: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/told", listener.local_addr().unwrap());
        let heard = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = Vec::new();
            while !heard.ends_with(b"}") {
                let mut block = [0; 1024];
                let length = stream.read(&mut block).unwrap();
                heard.extend_from_slice(&block[..length]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(heard).unwrap()
        });
        (url, heard)
    }

    fn tell_one(answer: &'static str) -> (anyhow::Result<String>, String) {
        let (url, heard) = server(answer);
        let options = ClientOptions {
            allow: AddressPolicy::Anything,
            credentials: Some(harvester::Credentials::Bearer("hush".to_owned())),
            ..ClientOptions::default()
        };
        let facts = json!({"job": 7});
        let told = tell(
            &url,
            Some("key"),
            "garner-4711",
            &facts,
            Duration::from_secs(20),
            &options,
            &Stop::default(),
        );
        (told, heard.join().unwrap())
    }

    #[test]
    fn a_server_is_told_the_facts_with_a_signature_and_without_our_credentials() {
        let (told, heard) = tell_one("HTTP/1.1 202 Yes\r\nContent-Length: 5\r\n\r\nnoted");
        assert_eq!(told.unwrap(), "noted");
        let (head, body) = heard.split_once("\r\n\r\n").unwrap();
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("post /told http/1.1"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let header = |name: &str| {
            let line = heard.lines().find_map(|line| {
                let (found, value) = line.split_once(": ")?;
                found.eq_ignore_ascii_case(name).then_some(value)
            });
            line.unwrap_or_else(|| panic!("no {name} in {head}"))
        };
        assert_eq!(header("webhook-id"), "garner-4711");
        let time = header("webhook-timestamp").parse().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert!(now.as_secs().abs_diff(time) < 60, "{time}");
        let signature = sign("key", "garner-4711", time, body.as_bytes()).unwrap();
        assert_eq!(header("webhook-signature"), signature);
        assert!(!head.contains("hush"), "{head}");
        assert_eq!(body, r#"{"job":7}"#);
    }

    #[test]
    fn no_more_than_the_server_is_told_of_a_url() {
        let urls = [
            "https://user:secret@ci.example:8443/hook?key=secret",
            "http://ci.example/#secret",
        ];
        assert_eq!(urls.map(host), ["ci.example:8443", "ci.example"]);
    }

    #[test]
    fn only_success_is_success_and_no_redirect_is_followed() {
        let (told, _) = tell_one("HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nfull");
        assert!(told.unwrap_err().to_string().ends_with("answers 500: full"));
        let (told, _) = tell_one(
            "HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
        );
        assert!(told.unwrap_err().to_string().ends_with("answers 307"));
    }

    #[test]
    fn a_server_that_is_silent_or_never_ends_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let tell = |stop: &Stop, time| {
            tell(
                &url,
                None,
                "garner-1",
                &json!({}),
                time,
                &ClientOptions::default(),
                stop,
            )
            .unwrap_err()
        };
        let begun = Instant::now();
        let error = tell(&Stop::default(), Duration::from_millis(300));
        assert!(error.to_string().contains("within"), "{error}");

        let stop = Stop::default();
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                stop.set();
            });
            tell(&stop, Duration::from_secs(60))
        });
        let stopped = error.downcast_ref::<Error>().unwrap();
        assert_eq!(*stopped.kind(), ErrorKind::Stopped);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
