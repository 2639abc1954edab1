//! The command line: help, manual, completions, robots, configuration errors.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use test_support::{Fixture, get, wait_until};

use crate::garner;

#[test]
fn the_help_names_every_command_in_a_line() {
    let help = prints(garner().arg("--help").output());

    let (commands, options) = help.split_once("\nOptions:\n").unwrap();
    for group in [
        "Expose a site",
        "Harvest repositories",
        "Collect documents",
        "Run",
        "Administer",
    ] {
        assert!(commands.contains(&format!("\n{group}:\n  ")), "{group}");
    }
    assert!(commands_of(&help).count() > 30);
    for line in commands.lines() {
        assert!(
            !line.starts_with("   "),
            "the line before is too long: {line}"
        );
    }
    assert!(options.contains("Examples:\n  garner serve") && options.contains("Documentation: "));
}

#[test]
fn no_help_is_wider_than_a_hundred_columns() {
    for (command, help) in helps() {
        let short = prints(garner().args(&command).arg("-h").output());
        for line in help.lines().chain(short.lines()) {
            assert!(line.chars().count() <= 100, "{command:?}: {line}");
        }
    }
}

/// `scripts/reference` writes it.
#[test]
fn the_reference_has_the_help_of_every_command() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/command-line.md");
    let page = fs::read_to_string(page).unwrap();
    let helps = helps();
    for (command, help) in &helps {
        let heading = format!("## garner {}", command.join(" "));
        let section = format!("{}\n\n```\n{help}```\n", heading.trim_end());
        assert!(
            page.contains(&section),
            "this is not in the reference; scripts/reference writes it:\n{section}"
        );
    }
    assert_eq!(page.matches("\n## garner").count(), helps.len());
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = prints(garner().arg("--version").output());
    assert_eq!(version, concat!("garner ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn completions_are_scripts_that_their_shells_accept() {
    for shell in ["bash", "zsh", "fish"] {
        let script = prints(garner().args(["completions", shell]).output());

        for word in ["serve", "explain", "robots", "admin-email", "rebuild"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        if is_installed(shell) {
            let checked = pipe(Command::new(shell).arg("-n"), &script);
            assert!(checked.status.success(), "{shell}: {}", stderr(&checked));
            assert_eq!(stderr(&checked), "", "{shell}");
        }
    }
}

#[test]
fn the_manual_is_a_page_that_man_renders() {
    for (arguments, words) in [
        (
            &["man"][..],
            &["NAME", "SYNOPSIS", "garner-serve(1)", "garner-explain(1)"][..],
        ),
        (
            &["man", "serve"],
            &["NAME", "DIR", "--admin-email", "--origin", "tombstone"],
        ),
        (&["man", "explain"], &["NAME", "--json", "--site"]),
        (
            &["man", "repository", "add"],
            &["NAME", "--credentials", "--base-directory"],
        ),
    ] {
        let page = prints(garner().args(arguments).output());

        assert!(page.contains(".TH garner"), "{page}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(page.contains(section), "{section} is missing");
        }
        let rendered = match (is_installed("man"), is_installed("groff")) {
            (true, _) => pipe(Command::new("man").args(["-l", "-"]), &page),
            (false, true) => pipe(Command::new("groff").args(["-man", "-Tutf8"]), &page),
            (false, false) => continue,
        };
        assert!(rendered.status.success(), "{}", stderr(&rendered));
        for word in words {
            let text = stdout(&rendered);
            assert!(
                text.contains(word),
                "{arguments:?}: {word} is not in\n{text}"
            );
        }
    }
}

#[test]
fn robots_prints_the_lines_to_add() {
    let fixture = Fixture::empty();
    let config = fixture.write_beside(
        "robots.toml",
        "[server]\nbase_url = \"https://www.example.org/archive/oai\"\n",
    );

    let plain = prints(garner().arg("robots").output());
    let exclusive = prints(garner().args(["robots", "--exclusive"]).output());
    let elsewhere = garner().arg("robots").arg("--config").arg(&config);
    let elsewhere = prints(elsewhere.arg("--exclusive").output());

    assert!(plain.ends_with(
        "\nUser-agent: *\nAllow: /modoai\n\nSitemap: http://127.0.0.1:8080/modoai/sitemap.xml\n"
    ));
    assert!(exclusive.contains("\nUser-agent: *\nAllow: /modoai\nDisallow: /\n\nSitemap: "));
    assert!(elsewhere.ends_with(
        "\nUser-agent: *\nAllow: /archive/oai\nDisallow: /\n\n\
         Sitemap: https://www.example.org/archive/oai/sitemap.xml\n"
    ));
    // Issue 18: without the URL nobody finds the repository.
    assert!(plain.contains("\n# http://127.0.0.1:8080/modoai?verb=Identify\n"));
    assert!(elsewhere.contains("\n# https://www.example.org/archive/oai?verb=Identify\n"));
}

#[test]
fn the_robots_txt_that_is_served_has_the_same_lines() {
    let fixture = Fixture::small();
    let config = "[server]\nbase_url = \"http://www.example.org/oai\"\n\
                  site_url = \"http://www.example.org/\"\n[robots]\nexclusive = true\n";
    let file = fixture.write_beside("robots.toml", config);
    let lines = prints(garner().arg("robots").arg("--config").arg(file).output());
    let port = test_support::free_port();

    let _server = garner().serve_on(&fixture, config, port);

    let served = get(&format!("http://127.0.0.1:{port}/robots.txt"));
    assert_eq!(served.status, 200);
    assert!(served.text().ends_with(&lines), "{}", served.text());
    assert!(
        served
            .text()
            .contains("http://www.example.org/oai?verb=Identify")
    );
}

#[test]
fn an_error_in_the_configuration_is_one_line_that_names_the_place_and_the_remedy() {
    for (config, said) in [
        (
            "[repository]\nadmin_email = []\n",
            "line 2, `admin_email = []`: unknown field `admin_email`, expected one of \
             `name`, `admin_emails`, `descriptions`; did you mean `admin_emails`?",
        ),
        (
            "\n[repostory]\nname = \"x\"\n",
            "line 2, `[repostory]`: unknown field `repostory`, expected one of ",
        ),
        (
            "[pages]\nrecords = \"many\"\n",
            "line 2, `records = \"many\"`: invalid type: string \"many\", expected u64",
        ),
        (
            "[by_value]\nlimit = \"1 parsec\"\n",
            "line 2, `limit = \"1 parsec\"`: `1 parsec` is not a size; write it like `500 kB` or `10 MiB`",
        ),
        (
            "[fixity]\nalgorithms = [\"crc\"]\n",
            "unknown variant `crc`, expected one of `md5`, `sha1`, `sha256`",
        ),
        ("[server\n", "line 1, `[server`: "),
        (
            "[offer]\nskip_patterns = [\"(\"]\n",
            "offer.skip_patterns: `(` is not a regular expression: unclosed group",
        ),
        (
            "[offer]\nskip_directories = [\"/../up/\"]\n",
            "offer.skip_directories: `/../up/` is not a path below the site's root",
        ),
        (
            "[offer]\ndynamic = \"processed\"\n",
            "offer.dynamic = \"processed\" needs an origin that runs the programs (--origin URL)",
        ),
        (
            "[[plugin]]\nname = \"a\"\ncommand = [\"true\"]\noutput = \"text\"\nurl_pattern = \"(\"\n",
            "plug-in `a`: `url_pattern` is not a regular expression: unclosed group",
        ),
        (
            "[[plugin]]\nname = \"a\"\ncommand = [\"true\"]\noutput = \"key-value\"\nmap = { T = \"dc:titel\" }\n",
            "plug-in `a`: `T` is mapped to `dc:titel`; map it to one of dc:",
        ),
        (
            "[[plugin]]\nname = \"a\"\ncommand = []\noutput = \"text\"\n",
            "plug-in `a`: `command` is empty; write the program and its arguments as a list",
        ),
        (
            "[[plugin]]\nname = \"a\"\noutput = \"text\"\n",
            "missing field `command`",
        ),
        (
            "[[area]]\npath = \"/private/\"\nhtpasswd = \"passwords\"\n",
            "passwords`: No such file or directory",
        ),
        (
            "[[area]]\npath = \"/private/\"\nallow = [\"somewhere\"]\n",
            "area `/private/`: `somewhere` is not an address or network",
        ),
        (
            "[[area]]\npath = \"/a/\"\nallow = [\"::1\"]\n[[area]]\npath = \"/a\"\nallow = [\"::1\"]\n",
            "there are two areas for `/a`; keep one",
        ),
        (
            "[repository]\nadmin_emails = [\"webmaster\"]\n",
            "`webmaster` is not an e-mail address that harvesters could write to",
        ),
        (
            "[server]\nbase_url = \"ftp://www.example.org/modoai\"\n",
            "`ftp://www.example.org/modoai` is not an http or https URL without query",
        ),
        (
            "[server]\nbase_url = \"http://www.example.org/oai\"\n",
            "the base URL `http://www.example.org/oai` does not end in `/modoai`; set server.site_url too",
        ),
        (
            "[server]\nbase_url = \"http://me:secret@www.example.org/modoai\"\n",
            "in server.base_url: the URL holds a user name or a password; leave out what stands before the `@`",
        ),
        (
            "[server]\nsite_url = \"http://me@www.example.org/\"\n",
            "in server.site_url: the URL holds a user name or a password",
        ),
        (
            "[server]\nsite_url = \"http://www.example.org/\"\n[origin]\nurl = \"http://me:secret@127.0.0.1:1/\"\n",
            "in origin.url: the URL holds a user name or a password",
        ),
        (
            "[server]\nbase_path = \"modoai\"\n",
            "server.base_path `modoai` must begin with a slash, name something and not end in a slash",
        ),
        (
            "[server]\nbase_path = \"/a b?\"\n",
            "server.base_path `/a b?` holds ` `; only letters, digits, slashes and `-._~` can stand there",
        ),
        (
            "[server]\nbase_path = \"/caf%C3%A9\"\n",
            "server.base_path `/caf%C3%A9` holds `%`; only",
        ),
        (
            "[server]\ntrusted_proxies = [\"proxy\"]\n",
            "server.trusted_proxies: `proxy` is not an address or network",
        ),
        (
            "[media_types]\ntables = [\"my.types\"]\n",
            "my.types`: No such file or directory",
        ),
        (
            "[media_types.extensions]\nx = \"unknown\"\n",
            "media_types.extensions: `unknown` is not a media type",
        ),
        (
            "[origin]\nurl = \"http://127.0.0.1:1/\"\n[[area]]\npath = \"/a/\"\nallow = [\"::1\"]\n",
            "beside an origin its own access rules hold: remove [[area]]",
        ),
    ] {
        let fixture = Fixture::small();
        let file = fixture.write_beside("site.toml", config);

        let output = garner()
            .arg("serve")
            .arg(fixture.site())
            .args(["--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .arg("--data")
            .arg(fixture.data())
            .output();

        let line = fails(&output);
        assert!(line.contains(said), "{said}\n{line}");
        assert!(!line.contains("secret"), "{line}");
    }
}

#[test]
fn a_start_that_fails_says_so_in_one_line() {
    let fixture = Fixture::small();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let site = fixture.site();
    let site = site.to_str().unwrap();
    let page = format!("{site}/index.html");

    for (arguments, said) in [
        (
            &["serve"][..],
            "no site is named; give its directory, or server.root in the configuration file",
        ),
        (
            &["serve", "no-such-place"],
            "the site `no-such-place` is not a directory",
        ),
        (&["serve", &page], "index.html` is not a directory"),
        (
            &["serve", site, "--config", "no.toml"],
            "cannot read `no.toml`: No such file or directory",
        ),
        (
            &["serve", site, "--listen", &taken],
            "choose another address with --listen or server.listen: Address already in use",
        ),
        (
            &[
                "serve",
                site,
                "--listen",
                "127.0.0.1:0",
                "--admin-listen",
                &taken,
            ],
            "choose another address with admin.listen: Address already in use",
        ),
        (
            &[
                "serve",
                site,
                "--listen",
                "127.0.0.1:0",
                "--base-url",
                "www.example.org/modoai",
            ],
            "`www.example.org/modoai` is not an http or https URL without query",
        ),
        (
            &[
                "serve",
                site,
                "--listen",
                "127.0.0.1:0",
                "--admin-email",
                "me",
            ],
            "`me` is not an e-mail address that harvesters could write to",
        ),
        (
            &[
                "serve",
                site,
                "--listen",
                "127.0.0.1:0",
                "--data",
                "/proc/garner",
            ],
            "the data directory `/proc/garner` cannot be used: No such file or directory (os error 2)",
        ),
        (
            &["explain", "--site", "no-such-place", "x"],
            "is not a directory",
        ),
        (&["robots", "--config", "no.toml"], "cannot read `no.toml`"),
        (&["man", "frobnicate"], "there is no command `frobnicate`"),
    ] {
        let output = garner().args(arguments).output();

        let line = fails(&output);
        assert!(line.contains(said), "{arguments:?}: {line}");
        let causes = line.matches("(os error").count();
        assert!(causes <= 1, "a cause is said twice: {line}");
    }
}

#[test]
fn listening_everywhere_without_a_base_url_is_warned_of() {
    let fixture = Fixture::small();
    let serve = |listen: &str, more: &[&str]| {
        let server = garner()
            .arg("serve")
            .arg(fixture.site())
            .args(["--listen", listen, "--base-path", "/oai"])
            .arg("--data")
            .arg(fixture.data())
            .args(more)
            .start();
        // The last line of all.
        wait_until("all is said", || server.log().contains("--admin-email"));
        server.stop()
    };

    for (listen, address) in [("0.0.0.0:0", "http://0.0.0.0:"), ("[::]:0", "http://[::]:")] {
        let log = serve(listen, &[]);
        let warning = log
            .lines()
            .find(|line| line.starts_with("warning: "))
            .unwrap();
        let place = format!("identifiers begin with {address}");
        assert!(warning.contains(&place), "{warning}");
        assert!(warning.contains("--base-url http://HOST/oai"), "{warning}");
    }
    let site = serve("0.0.0.0:0", &["--site-url", "http://www.example.org/"]);
    assert!(
        site.contains("warning: the base URL is http://0.0.0.0:"),
        "{site}"
    );
    for (listen, more) in [
        (
            "0.0.0.0:0",
            &["--base-url", "http://www.example.org/oai"][..],
        ),
        ("127.0.0.1:0", &[]),
    ] {
        let log = serve(listen, more);
        assert!(!log.contains("warning: "), "{log}");
    }
}

#[test]
fn an_ipv6_address_makes_urls_that_answer() {
    let fixture = Fixture::small();
    let server = garner()
        .arg("serve")
        .arg(fixture.site())
        .args(["--listen", "[::1]:0", "--data"])
        .arg(fixture.data())
        .start();

    assert!(server.base_url.starts_with("http://[::1]:"));
    assert_eq!(
        server.ask("verb=Identify").text("baseURL").as_ref(),
        Some(&server.base_url)
    );
    let listed = server.all();
    assert_eq!(listed.len(), 6);
    for header in listed {
        assert_eq!(get(&header.identifier).status, 200, "{}", header.identifier);
    }
}

#[test]
fn a_second_garner_on_the_same_index_is_refused() {
    let fixture = Fixture::small();
    let _server = garner().serve(&fixture, "");

    let output = garner()
        .arg("serve")
        .arg(fixture.site())
        .args(["--listen", "127.0.0.1:0", "--data"])
        .arg(fixture.data())
        .output();

    let line = fails(&output);
    assert!(line.contains("is in use by another garner"), "{line}");
}

#[test]
fn wrong_usage_exits_with_two_and_leaves_stdout_alone() {
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["serve", "--frobnicate"],
        &["serve", "a", "b"],
        &["serve", "--listen", "nowhere"],
        &["explain"],
        &["completions", "cmd.exe"],
        &["completions"],
    ] {
        let output = garner().args(arguments).output();

        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert_ne!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn the_configuration_alone_can_start_a_server() {
    let fixture = Fixture::small();
    let port = test_support::free_port();
    let config = format!(
        "[server]\nroot = \"site\"\nlisten = \"127.0.0.1:{port}\"\ndata = \"data\"\n\
         [repository]\nname = \"From a file\"\nadmin_emails = [\"a@example.org\"]\n"
    );
    let file = fixture.write_beside("site.toml", config);

    let server = garner()
        .current_dir(Path::new("/"))
        .arg("serve")
        .arg("--config")
        .arg(&file)
        .start();

    let identify = server.ask("verb=Identify");
    assert_eq!(
        identify.text("repositoryName").as_deref(),
        Some("From a file")
    );
    assert_eq!(server.all().len(), 6);
    assert!(fixture.data().is_dir());
}

/// The words of every command, and its help.
fn helps() -> Vec<(Vec<String>, String)> {
    let (mut found, mut waiting) = (Vec::new(), vec![Vec::<String>::new()]);
    while let Some(words) = waiting.pop() {
        let help = prints(garner().args(&words).arg("--help").output());
        for name in commands_of(&help).filter(|name| name != "help") {
            waiting.push([words.as_slice(), &[name]].concat());
        }
        found.push((words, help));
    }
    assert!(found.len() > 90, "{found:?}");
    found
}

/// The commands below a command, by its help.
fn commands_of(help: &str) -> impl Iterator<Item = String> {
    // The help of the program itself has the commands in groups.
    let lists = help.split("\n\n").filter(|part| {
        let heading = part.lines().next().unwrap_or_default();
        let groups = [
            "Commands:",
            "Expose a site:",
            "Harvest repositories:",
            "Collect documents:",
            "Run:",
            "Administer:",
        ];
        groups.contains(&heading)
    });
    let lines = lists.flat_map(|list| list.lines().skip(1));
    let names = lines.filter(|line| !line.starts_with("   "));
    names.filter_map(|line| Some(line.trim().split(' ').next()?.to_owned()))
}

/// The stdout of a command that must succeed with an empty stderr.
pub(crate) fn prints(output: Output) -> String {
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    stdout(&output)
}

/// The one line of a command that fails.
pub(crate) fn fails(output: &Output) -> String {
    let line = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{line}");
    // With --json, an object says the same.
    let printed = stdout(output);
    assert!(
        printed.is_empty() || printed.starts_with("{\"error\":"),
        "{printed}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.starts_with("garner: "), "{line}");
    line
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|place| place.join(program).is_file())
}

fn pipe(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The pages are longer than a pipe holds, and some readers print before they have read all.
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output
}

/// Issue 18.
#[test]
fn a_command_that_fails_says_so_in_json_if_that_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("no.txt"), "no archive").unwrap();
    for (arguments, status, code) in [
        (
            &["import", "no.txt", "--dry-run", "--json"][..],
            1,
            "not_an_archive",
        ),
        (
            &["import", "nothing.warc", "--dry-run", "--json"],
            1,
            "not_found",
        ),
        (&["import", "--json"], 2, "usage"),
        (&["documents", "list", "--json", "--nonsense"], 2, "usage"),
        (&["documents", "list", "--json"], 1, "no_catalog"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        let output = command
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();

        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(said["state"], "failed");
        assert_eq!(said["error"]["code"], code, "{said}");
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn a_user_who_cannot_write_beside_the_site_gets_an_index_of_their_own() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let place = tempfile::tempdir().unwrap();
    let (www, home) = (place.path().join("www"), place.path().join("home"));
    fs::create_dir_all(www.join("html")).unwrap();
    fs::write(www.join("html/index.html"), "hello").unwrap();
    fs::create_dir(&home).unwrap();
    let own = place.path().join("garner");
    fs::copy(env!("CARGO_BIN_EXE_garner"), &own).unwrap();
    for (path, mode) in [(place.path(), 0o755), (&www, 0o555), (&home, 0o777)] {
        set_mode(path, mode);
    }
    let serve = |home: &Path| {
        let mut command = Command::new(&own);
        command.current_dir(&www).args(["serve", "html"]);
        command.args(["--listen", "127.0.0.1:0"]).env("HOME", home);
        command.env_remove("XDG_DATA_HOME").stderr(Stdio::piped());
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let told = |line: &String| line.contains("the index");
        let told = lines.map(Result::unwrap).find(told);
        let _ = child.kill();
        child.wait().unwrap();
        told.expect("it is told where the index is")
    };

    let told = serve(&home);
    assert!(told.contains(home.to_str().unwrap()), "{told}");
    assert_eq!(fs::read_dir(&www).unwrap().count(), 1);

    set_mode(&home, 0o555);
    let told = serve(&place.path().join("home/none"));
    assert!(told.contains("name a directory with --data"), "{told}");
    set_mode(&www, 0o755);
}

/// A user without rights, on any system.
const NOBODY: u32 = 65_534;
