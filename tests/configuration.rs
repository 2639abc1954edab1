//! Where settings and the data directory come from: files, environment, options.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::command_line::{stderr, stdout};

/// A user's home directory, and a directory to work in.
struct Home {
    place: TempDir,
}

impl Home {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("work")).unwrap();
        Self { place }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.place.path().join(name)
    }

    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command.args(arguments).current_dir(self.path("work"));
        for name in [
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "GARNER_DATA",
            "GARNER_CONFIG",
            "RUST_LOG",
        ] {
            command.env_remove(name);
        }
        command
            .env("HOME", self.place.path())
            .envs(environment.iter().copied());
        command.output().unwrap()
    }
}

fn crawl() -> String {
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    crawl.to_str().unwrap().to_owned()
}

#[test]
fn the_data_directory_follows_one_rule() {
    let home = Home::new();
    let crawl = crawl();
    let import = |environment: &[(&str, &str)]| home.run(&["import", &crawl], environment);

    let output = import(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(home.path(".local/share/garner/catalog.sqlite").exists());
    let said = stderr(&output);
    assert_eq!(said.matches("the data directory is ").count(), 1, "{said}");

    let named = home.path("named");
    let output = import(&[("GARNER_DATA", named.to_str().unwrap())]);
    assert!(named.join("catalog.sqlite").exists());
    assert!(!stderr(&output).contains("the data directory is"));

    fs::create_dir(home.path("work/garner-data")).unwrap();
    import(&[]);
    assert!(home.path("work/garner-data/catalog.sqlite").exists());
    let listed = home.run(&["documents", "list", "--json"], &[]);
    assert!(listed.status.success());
    assert!(
        !stderr(&listed).contains("the data directory is"),
        "{}",
        stderr(&listed)
    );
}

#[test]
fn later_places_win_and_each_setting_names_its_own() {
    let home = Home::new();
    fs::create_dir_all(home.path(".config/garner")).unwrap();
    let own = home.path(".config/garner/garner.toml");
    fs::write(&own, "data = 'mine'\n[jobs]\nworkers = 2\nattempts = 3\n").unwrap();
    fs::write(home.path("work/a.toml"), "[jobs]\nworkers = 5\n").unwrap();
    fs::create_dir(home.path("credentials")).unwrap();
    fs::write(
        home.path("credentials/garner.catalog"),
        "postgres://a:hush@h/d\n",
    )
    .unwrap();
    let credentials = home.path("credentials");
    let environment = [
        ("GARNER_JOBS_ATTEMPTS", "9"),
        ("CREDENTIALS_DIRECTORY", credentials.to_str().unwrap()),
    ];

    let output = home.run(&["config", "show", "--config", "a.toml"], &environment);

    let shown = stdout(&output);
    for line in [
        "jobs.attempts = 9  # $GARNER_JOBS_ATTEMPTS",
        "jobs.workers = 5  # a.toml",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let data = format!(
        "the data directory is {}",
        home.path(".config/garner/mine").display()
    );
    assert!(shown.contains(&data), "{shown}");
    assert!(
        !shown.contains("hush") && shown.contains("(hidden)"),
        "{shown}"
    );
}

#[test]
fn mistakes_are_named_with_the_place_and_the_nearest_key() {
    let home = Home::new();
    let check = |text: &str, environment: &[(&str, &str)]| {
        fs::write(home.path("work/a.toml"), text).unwrap();
        home.run(&["config", "check", "a.toml"], environment)
    };
    for (text, environment, part) in [
        ("[jobs]\nwrokers = 1\n", &[][..], "line 2, `wrokers = 1`"),
        ("[jobs]\nwrokers = 1\n", &[], "did you mean `workers`?"),
        (
            "",
            &[("GARNER_JOBS_WORKRES", "1")],
            "in $GARNER_JOBS_WORKRES",
        ),
        ("[jobs]\nworkers = 0\n", &[], "jobs.workers"),
        ("[server]\nroot = '/nowhere'\n", &[], "/nowhere"),
        ("[admin]\ntoken = 'short'\n", &[], "at least 16"),
        ("[log]\nlevel = 'site=loud'\n", &[], "log.level"),
    ] {
        let output = check(text, environment);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(
            stderr(&output).contains(part),
            "{part}: {}",
            stderr(&output)
        );
    }
    let output = check("[network]\nca = '/ca.pem'\n", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("write network.ca_file"),
        "{}",
        stderr(&output)
    );
    let output = check("", &[("GARNER_TYPO", "1")]);
    assert!(
        stderr(&output).contains("GARNER_TYPO"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_new_file_has_every_key_and_an_old_one_stays() {
    let home = Home::new();
    assert!(home.run(&["config", "init"], &[]).status.success());
    let file = home.path(".config/garner/garner.toml");
    assert!(fs::read_to_string(&file).unwrap().contains("#workers = 4"));
    assert!(home.run(&["config", "check"], &[]).status.success());

    fs::write(&file, "# mine\n").unwrap();
    let output = home.run(&["config", "init"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n");
}

#[test]
fn serve_reads_the_file_of_up() {
    let home = Home::new();
    for site in ["one", "two"] {
        fs::create_dir(home.path("work").join(site)).unwrap();
        fs::write(home.path("work").join(site).join("a.txt"), "a").unwrap();
    }
    let one = "[[site]]\nroot = 'one'\n[site.repository]\nname = 'One'\n";
    fs::write(home.path("work/a.toml"), one).unwrap();
    let output = home.run(&["explain", "/a.txt", "--config", "a.toml"], &[]);
    assert!(output.status.success(), "{}", stderr(&output));

    fs::write(
        home.path("work/a.toml"),
        format!("{one}[[site]]\nroot = 'two'\n"),
    )
    .unwrap();
    let output = home.run(&["explain", "/a.txt", "--config", "a.toml"], &[]);
    assert!(
        stderr(&output).contains("--select-site"),
        "{}",
        stderr(&output)
    );
    let options = [
        "explain",
        "/a.txt",
        "--config",
        "a.toml",
        "--select-site",
        "two",
    ];
    assert!(home.run(&options, &[]).status.success());
}
