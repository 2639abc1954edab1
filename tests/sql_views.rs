//! The views for other programs, read with the programs of the two databases.

use std::path::Path;
use std::process::{Command, Output};

use test_support::{Misbehaving, Postgres, Script};

use crate::command_line::{stderr, stdout};
use crate::import::many;
use crate::managed::Managed;

/// A data directory with a harvest, a schedule, a job and an import.
fn filled(managed: Managed) -> Managed {
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    let schedule = ["--every", "1 day", "--starts", "2030-01-01", "--set", "odd"];
    let number = managed.schedule(&repository, &schedule);
    managed.garner(&["schedule", "run", &number]);
    let warc = managed.beside("crawl.warc.gz");
    std::fs::write(&warc, many(10).bytes).unwrap();
    managed.garner(&["import", warc.to_str().unwrap(), "--quiet"]);
    managed
}

const VIEWS: [&str; 11] = [
    "document",
    "parenturl",
    "OAIRepository",
    "OAISet",
    "OAIMetadataFormat",
    "OAIPrefixMapping",
    "OAIRecord",
    "OAISetMapping",
    "OAIRecurringJobs",
    "OAIJob",
    "OAIHistory",
];

/// Queries of the papers' programs; `{}` is the prefix of the views' names.
const QUESTIONS: [(&str, &str); 9] = [
    (
        "SELECT count(*) FROM {}document WHERE state = 0 AND host = 'host-1.example'",
        "2",
    ),
    (
        "SELECT count(*) FROM {}document AS d JOIN {}parenturl AS p ON p.id = d.parent_id",
        "10",
    ),
    (
        "SELECT protocolVersion FROM {}OAIRepository WHERE repositoryID = 1",
        "2.0",
    ),
    (
        "SELECT count(*) FROM {}OAIRecord WHERE repositoryID = 1 AND metadataPrefix = 'oai_dc'",
        "30",
    ),
    (
        "SELECT metadataPrefix FROM {}OAIMetadataFormat NATURAL JOIN {}OAIPrefixMapping WHERE metadataPrefix = 'oai_dc'",
        "oai_dc",
    ),
    (
        "SELECT count(*) > 0 FROM {}OAISetMapping NATURAL JOIN {}OAIRecord WHERE setSpec = 'odd'",
        "1",
    ),
    (
        "SELECT status || ' ' || recordCount FROM {}OAIHistory WHERE historyID = 1",
        "ok 30",
    ),
    (
        "SELECT substr(frequency, 1, 5) || incremental || validation FROM {}OAIRecurringJobs",
        "every10",
    ),
    (
        "SELECT count(*) FROM {}OAIJob WHERE setSpec = 'odd' AND status = 0 AND processID IS NULL",
        "1",
    ),
];

fn answer(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).trim().replace("t\n", "1\n").to_owned()
}

#[test]
fn sqlite3_reads_the_views() {
    let managed = filled(Managed::new());
    let catalog = managed.data().join("catalog.sqlite");
    let ask = |sql: &str| sqlite(&catalog, sql);

    for view in VIEWS {
        answer(&ask(&format!("SELECT * FROM papers_{view}")));
        let refused = ask(&format!("DELETE FROM papers_{view}"));
        assert!(
            stderr(&refused).contains("cannot modify"),
            "{view}: {}",
            stderr(&refused)
        );
    }
    for (question, expected) in QUESTIONS {
        let question = question.replace("{}", "papers_");
        assert_eq!(answer(&ask(&question)), expected, "{question}");
    }
    let date = answer(&ask("SELECT min(discover_date) FROM papers_document"));
    assert!(
        date.starts_with("20") && date.ends_with('Z') && date.len() == 20,
        "{date}"
    );
}

#[test]
fn psql_reads_the_views() {
    let database = Postgres::shared().database();
    let _managed = filled(Managed::on(database.clone()));
    let ask = |sql: &str| {
        let mut psql = Command::new("psql");
        psql.args([
            "--no-psqlrc",
            "--tuples-only",
            "--no-align",
            "-c",
            sql,
            &database,
        ]);
        psql.output().unwrap()
    };

    for view in VIEWS {
        answer(&ask(&format!("SELECT * FROM papers.{view}")));
        let refused = ask(&format!("DELETE FROM papers.{view}"));
        let said = stderr(&refused);
        assert!(
            said.contains("read-only") || said.contains("cannot delete"),
            "{view}: {said}"
        );
    }
    for (question, expected) in QUESTIONS {
        let question = question.replace("{}", "papers.");
        let expected = match question.contains("count(*) > 0") {
            true => "t",
            false => expected,
        };
        assert_eq!(answer(&ask(&question)), expected, "{question}");
    }
    let kind = "SELECT pg_typeof(discover_date) FROM papers.document LIMIT 1";
    assert_eq!(answer(&ask(kind)), "timestamp with time zone");
}

fn sqlite(catalog: &Path, sql: &str) -> Output {
    Command::new("sqlite3")
        .arg(catalog)
        .arg(sql)
        .output()
        .unwrap()
}
