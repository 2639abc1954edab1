//! Runs a command as a hook: without a shell, within its time, and with all that it started ended when it must be.
//!
//! Processes that a command leaves behind continue, for a command may start an indexer and end.

use std::fs::File;
use std::io::{Seek, Write};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use harvester::{Error, ErrorKind};
use process::{Confiner, End, Stop, run_trusted};
use serde_json::Value;

use super::{VARIABLES, shortened};

/// Runs a command with the facts and returns its output.
pub(super) fn run(
    command: &[String],
    facts: &Value,
    timeout: Duration,
    confiner: Option<&Confiner>,
    stop: &Stop,
) -> anyhow::Result<String> {
    let (program, arguments) = command
        .split_first()
        .context("the command names no program")?;
    let mut line = match confiner {
        Some(confiner) => confiner.bound(program),
        None => Command::new(program),
    };
    line.args(arguments).envs(variables(facts));
    let ended = run_trusted(line, input(facts)?, MOST_KEPT, timeout, stop.flag())
        .context("the command cannot be watched")?;
    let output = shortened(&ended.printed);
    let quoted = match output.is_empty() {
        true => String::new(),
        false => format!(": {output}"),
    };
    match ended.end {
        End::Code(0) => Ok(output),
        End::Code(code) => bail!("the command ended with exit status {code}{quoted}"),
        End::Signal(signal) => bail!("the command was ended by signal {signal}{quoted}"),
        End::NotFound | End::NotBegun => bail!(
            "`{program}` cannot be started; check that it is installed and may be executed{quoted}"
        ),
        _ if stop.is_set() => Err(Error::new(ErrorKind::Stopped).into()),
        _ => bail!(
            "the command did not end within {} s; raise `timeout_seconds` if it needs longer{quoted}",
            timeout.as_secs()
        ),
    }
}

/// The facts as a file without a name: a program that reads none of it cannot keep us waiting.
fn input(facts: &Value) -> anyhow::Result<File> {
    let mut file = tempfile::tempfile()?;
    serde_json::to_writer(&mut file, facts)?;
    file.write_all(b"\n")?;
    file.rewind()?;
    Ok(file)
}

fn variables(facts: &Value) -> impl Iterator<Item = (&'static str, String)> + '_ {
    VARIABLES.into_iter().filter_map(|(fact, name)| {
        let value = match facts.get(fact)? {
            // No variable can hold this character.
            Value::String(text) => text.replace('\0', ""),
            Value::Null => return None,
            value => value.to_string(),
        };
        Some((name, value))
    })
}

/// The end of the output, in bytes.
const MOST_KEPT: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn shell(script: &str, timeout: Duration, stop: &Stop) -> anyhow::Result<String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        let facts = json!({"job": 7, "base_url": "http://a/\u{0}b", "state": "finished", "set": null, "new": 3});
        run(&command, &facts, timeout, None, stop)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_command_is_given_the_facts() {
        let script = "cat; echo \"$GARNER_JOB $GARNER_BASE_URL $GARNER_STATE $GARNER_NEW ${GARNER_SET-none}\" >&2";
        let said = shell(script, LONG, &Stop::default()).unwrap();
        let (facts, variables) = said.split_once('\n').unwrap();
        assert_eq!(serde_json::from_str::<Value>(facts).unwrap()["job"], 7);
        assert_eq!(variables, "7 http://a/b finished 3 none");
    }

    #[test]
    fn nothing_is_read_by_a_shell() {
        let command = ["echo", "$HOME; `id`", "*"].map(str::to_owned);
        let said = run(&command, &json!({}), LONG, None, &Stop::default()).unwrap();
        assert_eq!(said, "$HOME; `id` *");
    }

    #[test]
    fn what_went_wrong_is_told() {
        let failed = |script| {
            shell(script, LONG, &Stop::default())
                .unwrap_err()
                .to_string()
        };
        let error = failed("echo no disk >&2; exit 3");
        assert_eq!(error, "the command ended with exit status 3: no disk");
        let error = failed("kill -9 $$");
        assert_eq!(error, "the command was ended by signal 9");
        let missing = ["/nowhere/index".to_owned()];
        let error = run(&missing, &json!({}), LONG, None, &Stop::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`/nowhere/index` cannot be started")
        );
    }

    #[test]
    fn endless_output_is_drained_and_not_kept() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; \
                      i=$((i+1)); done; echo end";
        let said = shell(script, LONG, &Stop::default()).unwrap();
        assert!(said.len() < 3000 && said.ends_with("\nend"), "{said}");
    }

    #[test]
    fn at_the_end_of_its_time_a_command_goes_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let script = format!(
            "(sleep 1; echo alive > {}) & trap '' TERM; sleep 60",
            note.display()
        );
        let begun = Instant::now();

        let error = shell(&script, Duration::from_millis(300), &Stop::default()).unwrap_err();

        assert!(error.to_string().contains("did not end within"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(8));
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!note.exists(), "a child lives on");
    }

    #[test]
    fn a_stop_ends_a_command_soon() {
        let stop = Stop::default();
        let begun = Instant::now();
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                stop.set();
            });
            shell("sleep 60", LONG, &stop).unwrap_err()
        });
        let stopped = error.downcast_ref::<Error>().unwrap();
        assert_eq!(*stopped.kind(), ErrorKind::Stopped);
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn what_a_command_leaves_behind_does_not_keep_us_waiting() {
        let begun = Instant::now();
        let said = shell("sleep 20 & echo started", LONG, &Stop::default()).unwrap();
        assert_eq!(said, "started");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
