//! Ways to a repository that is not simply open: TLS, passwords, tokens, proxies. The servers are real
//! ones, in front of the misbehaving repository, which behaves here.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod common;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use common::Impatient;
use harvester::{Client, ClientOptions, Credentials, Error, ErrorKind, Incompatibility};
use test_support::{Fixture, Httpd, Misbehaving, Nginx, Script, free_port};

/// A repository, and an nginx in front of it.
struct House {
    fixture: Fixture,
    repository: Misbehaving,
    nginx: Nginx,
    tls_port: u16,
}

impl House {
    /// The directives decide who may pass.
    fn new(directives: &str) -> Self {
        let fixture = Fixture::empty();
        let repository = Misbehaving::start(Script::new(25, 10));
        certificates(&fixture);
        let tls_port = free_port();
        let (crt, key) = (fixture.beside("tls.crt"), fixture.beside("tls.key"));
        let upstream = repository.base_url().replace("/oai", "");
        let nginx = Nginx::start(
            &fixture,
            &format!(
                "listen 127.0.0.1:{tls_port} ssl;\nssl_certificate {};\nssl_certificate_key {};\n\
                 location / {{\n{directives}\nproxy_pass {upstream};\n}}\n",
                crt.display(),
                key.display()
            ),
        );
        Self {
            fixture,
            repository,
            nginx,
            tls_port,
        }
    }

    fn ca_file(&self) -> PathBuf {
        self.fixture.beside("ca.crt")
    }

    fn base_url(&self) -> String {
        format!("{}oai", self.nginx.url)
    }

    fn tls_base_url(&self) -> String {
        format!("https://127.0.0.1:{}/oai", self.tls_port)
    }
}

/// A CA that nobody knows, and a certificate for this machine that it signed.
fn certificates(fixture: &Fixture) {
    let folder = fixture.write_beside("san", "subjectAltName=IP:127.0.0.1\n");
    let folder = folder.parent().unwrap();
    let openssl = |line: &str| {
        let status = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("openssl is installed by scripts/setup test");
        assert!(status.success(), "openssl {line}");
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!(
        "req -x509 {key} -days 2 -subj /CN=CA -keyout ca.key -out ca.crt"
    ));
    openssl(&format!(
        "req {key} -subj /CN=127.0.0.1 -keyout tls.key -out tls.csr"
    ));
    openssl(
        "x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile san -out tls.crt",
    );
}

/// Harvests all records, and tells how many there are.
fn harvest(base_url: &str, options: ClientOptions) -> Result<usize, Error> {
    let client = Client::new(ClientOptions {
        pace: Arc::new(Impatient::default()),
        ..options
    })?;
    let records = client.repository(base_url)?;
    let records = records.list_records("oai_dc", None, None, None);
    Ok(records.collect::<Result<Vec<_>, _>>()?.len())
}

fn refused_with(status: u16, result: Result<usize, Error>) -> bool {
    let refusal = ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(status));
    result.is_err_and(|error| *error.kind() == refusal)
}

#[test]
fn a_certificate_counts_only_if_its_ca_is_known() {
    let house = House::new("");
    let known = ClientOptions {
        ca_file: Some(house.ca_file()),
        ..ClientOptions::default()
    };

    assert_eq!(harvest(&house.tls_base_url(), known).unwrap(), 25);

    let error = harvest(&house.tls_base_url(), ClientOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Transport(_)), "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn a_certificate_for_another_host_does_not_count() {
    let house = House::new("");
    let base_url = house.tls_base_url().replace("127.0.0.1", "localhost");
    let known = ClientOptions {
        ca_file: Some(house.ca_file()),
        ..ClientOptions::default()
    };
    let error = harvest(&base_url, known).unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn a_ca_file_that_cannot_be_used_is_told_at_once() {
    let fixture = Fixture::empty();
    let empty = fixture.write_beside("empty.crt", "nothing");
    for file in [empty, fixture.beside("missing.crt")] {
        let client = Client::new(ClientOptions {
            ca_file: Some(file.clone()),
            ..ClientOptions::default()
        });
        let error = client.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert!(
            error.to_string().contains(file.to_str().unwrap()),
            "{error}"
        );
    }
}

#[test]
fn name_and_password_open_a_door() {
    let passwords = Fixture::empty();
    let file = passwords.write_beside("htpasswd", "librarian:{PLAIN}s@cret\n");
    let house = House::new(&format!(
        "auth_basic library;\nauth_basic_user_file {};",
        file.display()
    ));
    let with = |password: &str| ClientOptions {
        credentials: Some(Credentials::Basic {
            user: "librarian".to_owned(),
            password: password.to_owned(),
        }),
        ..ClientOptions::default()
    };
    let base_url = house.base_url();

    assert_eq!(harvest(&base_url, with("s@cret")).unwrap(), 25);
    assert!(refused_with(401, harvest(&base_url, with("guess"))));
    assert!(refused_with(
        401,
        harvest(&base_url, ClientOptions::default())
    ));
    let in_url = base_url.replace("http://", "http://librarian:s%40cret@");
    assert_eq!(harvest(&in_url, ClientOptions::default()).unwrap(), 25);
}

#[test]
fn a_bearer_token_opens_a_door() {
    let house = House::new("if ($http_authorization != \"Bearer abc.def\") { return 403; }");
    let with = |token: &str| ClientOptions {
        credentials: Some(Credentials::Bearer(token.to_owned())),
        ca_file: Some(house.ca_file()),
        ..ClientOptions::default()
    };
    assert_eq!(harvest(&house.tls_base_url(), with("abc.def")).unwrap(), 25);
    assert!(refused_with(403, harvest(&house.tls_base_url(), with("x"))));
}

#[test]
fn a_proxy_is_asked_for_names_that_only_it_knows() {
    let house = House::new("");
    let through = ClientOptions {
        proxy: Some(house.nginx.url.clone()),
        ..ClientOptions::default()
    };
    let base_url = "http://repository.invalid/oai";

    assert_eq!(harvest(base_url, through).unwrap(), 25);
    let head = house.repository.heads().remove(0);
    assert!(head.starts_with("GET /oai?verb=ListRecords"), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(head.contains("accept-encoding: gzip, zstd"), "{head}");
    assert!(harvest(base_url, ClientOptions::default()).is_err());
}

#[test]
fn tls_goes_through_a_proxy_that_wants_a_password() {
    let house = House::new("");
    let proxy_place = Fixture::empty();
    let passwords = proxy_place.write_beside("passwords", "");
    let made = Command::new("htpasswd")
        .args(["-b", passwords.to_str().unwrap(), "me", "pr0xy"])
        .stderr(Stdio::null())
        .status()
        .expect("htpasswd is installed by scripts/setup test");
    assert!(made.success());
    let proxy = Httpd::of(&proxy_place)
        .plain()
        .modules(&["proxy", "proxy_connect"])
        .conf(&format!(
            "ProxyRequests On\nAllowCONNECT {}\n<Proxy *>\nAuthType Basic\nAuthName proxy\n\
             AuthUserFile {}\nRequire valid-user\n</Proxy>",
            house.tls_port,
            passwords.display()
        ))
        .start();
    let through = |user: &str| ClientOptions {
        proxy: Some(format!("http://{user}127.0.0.1:{}", proxy.port())),
        ca_file: Some(house.ca_file()),
        ..ClientOptions::default()
    };

    let harvested = harvest(&house.tls_base_url(), through("me:pr0xy@"));

    assert_eq!(harvested.unwrap(), 25, "{}", proxy.error_log());
    let error = harvest(&house.tls_base_url(), through("")).unwrap_err();
    assert!(!error.to_string().contains("pr0xy"), "{error}");
}
