//! `garner filter test`: what a filter or mapping file does to a record, and why.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use harvester::filter::{Explanation, Filters, Match};
use harvester::normalise::{Mappings, Normalised};
use harvester::xml::{self, Limits};
use serde_json::{Value, json};

use crate::output::{Out, to_stdout, write_json};
use crate::text::{plain, plain_lines};

/// Try filter files and mapping files out
#[derive(Debug, Args)]
pub(crate) struct Filter {
    #[command(subcommand)]
    command: FilterCommand,
}

#[derive(Debug, Subcommand)]
enum FilterCommand {
    Test(FilterTest),
}

/// Show what a filter file or a mapping file does to a record, and why
///
/// Of a filter file each filter is told, with the nodes that it looks at, and whether the record is accepted. Of a
/// mapping file all that it adds is told, and the record as it would be stored. The root element says which it is.
///
/// Exits with 0 if the record is accepted or was mapped, with 1 if it is rejected, and with 2 if the file or the record
/// cannot be used.
#[derive(Debug, Args)]
struct FilterTest {
    /// The filter file or mapping file
    file: PathBuf,
    /// A file with a record, such as one that was harvested; - for stdin
    record: PathBuf,
    /// Take FILE for a mapping file, whatever its root element is
    #[arg(long)]
    normalise: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Filter {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let FilterCommand::Test(test) = self.command;
        match test.run() {
            // 1 is the answer "no", so what prevents an answer is told apart.
            Err(error) => {
                eprintln!("garner: {}", plain(&jobs::message(&error)));
                Ok(ExitCode::from(UNUSABLE))
            }
            result => result,
        }
    }
}

impl FilterTest {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let file = read(&self.file)?;
        let root = root_element(&file).with_context(|| name.to_string())?;
        if self.normalise || MAPPING_ROOTS.contains(&root.as_str()) {
            let mappings = Mappings::parse(&file).with_context(|| name.to_string())?;
            return self.map(&mappings);
        }
        if root != "filters" {
            let root = plain(&root);
            bail!(
                "{name}: the root element is <{root}>; that of a filter file is <filters>, that of a mapping file <normalize>"
            );
        }
        let filters = Filters::parse(&file).with_context(|| name.to_string())?;
        self.filter(&filters)
    }

    fn filter(&self, filters: &Filters) -> anyhow::Result<ExitCode> {
        let record = read_record(&self.record)?;
        let unusable = || format!("the record {}", self.record.display());
        let explanation = filters.explain(&record).with_context(unusable)?;
        let deleted = is_deleted(&record);
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &filter_json(&explanation, deleted))?,
                false => filter_text(out, &explanation, deleted)?,
            }
            Ok(match explanation.accepted || deleted {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            })
        })
    }

    fn map(&self, mappings: &Mappings) -> anyhow::Result<ExitCode> {
        let record = read_record(&self.record)?;
        let unusable = || format!("the record {}", self.record.display());
        let normalised = mappings.apply(&record).with_context(unusable)?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &mapping_json(&normalised))?,
                false => mapping_text(out, &normalised)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn filter_text(out: &mut Out, explanation: &Explanation, deleted: bool) -> std::io::Result<()> {
    write!(out, "{}", plain_lines(&explanation.to_string()))?;
    if deleted {
        writeln!(
            out,
            "accepted all the same: the record is deleted, and those are not filtered"
        )?;
    }
    Ok(())
}

fn filter_json(explanation: &Explanation, deleted: bool) -> Value {
    let nodes = |step: &harvester::filter::Step| -> Vec<Value> {
        let found = step.found.iter();
        found
            .map(|node| json!({"path": node.path, "text": node.text, "matches": node.matches}))
            .collect()
    };
    let filters: Vec<Value> = explanation
        .steps
        .iter()
        .map(|step| {
            json!({
                "xpath": step.xpath, "regexp": step.regexp, "ignore_case": step.ignore_case,
                "invert": step.invert, "holds": step.holds, "nodes": nodes(step),
            })
        })
        .collect();
    let matching = match explanation.matching {
        Match::Any => "any",
        Match::All => "all",
    };
    json!({
        "accepted": explanation.accepted || deleted, "deleted": deleted, "match": matching,
        "filters": filters,
    })
}

fn mapping_text(out: &mut Out, normalised: &Normalised) -> std::io::Result<()> {
    for added in &normalised.added {
        let (name, value) = (plain(&added.name), plain(&added.value));
        let cause = plain(&added.because_of);
        writeln!(out, "added: <{name}> {value}, because of \"{cause}\"")?;
    }
    match normalised.added.len() {
        0 => writeln!(out, "nothing is added")?,
        1 => writeln!(out, "1 element is added")?,
        count => writeln!(out, "{count} elements are added")?,
    }
    let record = String::from_utf8_lossy(&normalised.xml);
    writeln!(out, "\n{}", plain_lines(record.trim_end()))
}

fn mapping_json(normalised: &Normalised) -> Value {
    let added: Vec<Value> = normalised
        .added
        .iter()
        .map(|added| {
            json!({"name": added.name, "value": added.value, "because_of": added.because_of})
        })
        .collect();
    json!({"added": added, "record": String::from_utf8_lossy(&normalised.xml)})
}

fn root_element(file: &[u8]) -> Result<String, xml::Malformed> {
    let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let document = xml::parse(file, &Limits::default())?;
    Ok(document.root_element().tag_name().name().to_owned())
}

/// Whether the header of the record says so.
fn is_deleted(record: &[u8]) -> bool {
    let Ok(document) = xml::parse(record, &Limits::default()) else {
        return false;
    };
    let root = document.root_element();
    let header = root
        .children()
        .find(|child| child.tag_name().name() == "header");
    header.is_some_and(|header| header.attribute("status") == Some("deleted"))
}

fn read_record(path: &Path) -> anyhow::Result<Vec<u8>> {
    match path == Path::new("-") {
        true => read_from(std::io::stdin().lock()).context("cannot read the record from stdin"),
        false => read(path),
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = std::fs::File::open(path).and_then(read_from);
    file.with_context(|| format!("cannot read {}", path.display()))
}

/// Reads no more than is looked at anyway: one byte above the limit tells that there is too much.
fn read_from(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = Limits::default().bytes as u64 + 1;
    reader.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const MAPPING_ROOTS: [&str; 3] = ["normalize", "normalise", "mappings"];
/// The exit code if there is no answer.
const UNUSABLE: u8 = 2;
