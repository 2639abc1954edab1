//! Tests of rules, what they apply to and what comes out of them; of `rule` too, whose checks show in `compile`.

use super::*;

fn rule(json: &str) -> PluginRule {
    serde_json::from_str(json).unwrap()
}

fn plugin(json: &str) -> Plugin {
    Plugin::compile(rule(json), Path::new("/etc/site")).unwrap()
}

fn error(json: &str) -> String {
    let error = Plugin::compile(rule(json), Path::new("/etc/site")).expect_err(json);
    error.to_string()
}

/// A plug-in whose program is a shell script.
fn scripted(script: &str, output: &str, map: &[(&str, &str)]) -> Plugin {
    let rule = PluginRule {
        command: ["sh", "-c", script, "sh", "{file}", "{url}"]
            .map(String::from)
            .into(),
        map: map
            .iter()
            .map(|(key, element)| ((*key).to_owned(), (*element).to_owned()))
            .collect(),
        ..rule(&format!(
            r#"{{"name":"test","command":[],"output":"{output}"}}"#
        ))
    };
    Plugin::compile(rule, Path::new("/")).unwrap()
}

fn reason(outcome: PluginOutcome) -> String {
    match outcome {
        PluginOutcome::Failed { reason, .. } => reason,
        PluginOutcome::Output(output) => panic!("{output:?}"),
    }
}

#[test]
fn what_a_rule_leaves_out_has_defaults() {
    let rule = rule(r#"{"name":"a","command":["true"],"output":"key-value"}"#);

    assert_eq!(rule.media_types, ["*/*"]);
    assert_eq!(rule.url_pattern, None);
    assert_eq!(rule.timeout_seconds, 10);
    assert_eq!(rule.memory_mb, 512);
    assert_eq!(rule.output_kb, 256);
    assert!(rule.map.is_empty());
}

#[test]
fn unknown_keys_of_a_rule_are_errors() {
    let json = r#"{"name":"a","command":["true"],"output":"text","timeout":3}"#;

    let error = serde_json::from_str::<PluginRule>(json).unwrap_err();

    assert!(
        error.to_string().contains("unknown field `timeout`"),
        "{error}"
    );
}

#[test]
fn errors_name_the_rule_and_the_remedy() {
    for (json, expected) in [
        (
            r#"{"name":" ","command":["x"],"output":"text"}"#,
            "plug-in ` `: the name is empty; give each plug-in a name of its own",
        ),
        (
            r#"{"name":"a","command":[],"output":"text"}"#,
            "plug-in `a`: `command` is empty; write the program and its arguments as a list",
        ),
        (
            r#"{"name":"a","command":[""],"output":"text"}"#,
            "plug-in `a`: `command` is empty; write the program and its arguments as a list",
        ),
        (
            r#"{"name":"a","command":["{file}"],"output":"text"}"#,
            "plug-in `a`: the program `{file}` holds a placeholder; use {file} and {url} in the arguments only",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","media_types":["pdf"]}"#,
            "plug-in `a`: `pdf` is not a media type; write `type/subtype`, `type/*` or `*/*`",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","media_types":["*/pdf"]}"#,
            "plug-in `a`: `*/pdf` is not a media type; write `type/subtype`, `type/*` or `*/*`",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","media_types":[]}"#,
            "plug-in `a`: `media_types` is empty; leave it out for all types",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","url_pattern":"("}"#,
            "plug-in `a`: `url_pattern` is not a regular expression: unclosed group",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"key-value","separator":""}"#,
            "plug-in `a`: `separator` is for output `key-value` and must not be empty; leave it out for `=`",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","separator":":"}"#,
            "plug-in `a`: `separator` is for output `key-value` and must not be empty; leave it out for `=`",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"xml","map":{"text":"dc:title"}}"#,
            "plug-in `a`: `map` is not for output `xml`; leave it out, or print key-value lines",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","map":{"Title":"dc:title"}}"#,
            "plug-in `a`: the only key of text output is `text`, not `Title`",
        ),
        (
            r#"{"name":"a","command":["x"],"output":"text","timeout_seconds":0}"#,
            "plug-in `a`: `timeout_seconds` is 0; choose from 1 to 3600",
        ),
    ] {
        assert_eq!(error(json), expected);
    }
}

#[test]
fn only_dublin_core_elements_are_mapped_to() {
    for element in ["title", "dc:author", "dcterms:title", "dc:Title", "dc:"] {
        let json = format!(
            r#"{{"name":"a","command":["x"],"output":"key-value","map":{{"k":"{element}"}}}}"#
        );
        let error = error(&json);
        assert!(
            error.starts_with(&format!(
                "plug-in `a`: `k` is mapped to `{element}`; map it to one of dc:title, "
            )),
            "{error}"
        );
    }
}

#[test]
fn rules_apply_by_media_type() {
    let some = plugin(
        r#"{"name":"a","command":["x"],"output":"text","media_types":["Application/PDF","text/*"]}"#,
    );
    let all = plugin(r#"{"name":"a","command":["x"],"output":"text"}"#);

    assert!(some.applies_to("application/pdf", "/a"));
    assert!(some.applies_to("application/PDF", "/a"));
    assert!(some.applies_to("text/html; charset=utf-8", "/a"));
    assert!(!some.applies_to("application/pdfx", "/a"));
    assert!(!some.applies_to("textual/html", "/a"));
    assert!(all.applies_to("image/png", "/a"));
}

#[test]
fn rules_apply_by_the_path_of_the_url() {
    let plugin = plugin(
        r#"{"name":"a","command":["x"],"output":"text","media_types":["text/*"],"url_pattern":"^/papers/.*\\.txt$"}"#,
    );

    assert!(plugin.applies_to("text/plain", "/papers/1.txt"));
    assert!(!plugin.applies_to("text/plain", "/old/papers/1.txt"));
    assert!(!plugin.applies_to("image/png", "/papers/1.txt"));
}

#[test]
fn relative_programs_are_taken_from_the_given_directory() {
    let program = |command: &str| {
        plugin(&format!(
            r#"{{"name":"a","command":["{command}"],"output":"text"}}"#
        ))
        .program
    };

    assert_eq!(program("bin/title"), Path::new("/etc/site/bin/title"));
    assert_eq!(program("./title"), Path::new("/etc/site/title"));
    assert_eq!(program("/opt/title"), Path::new("/opt/title"));
    assert_eq!(program("pdfinfo"), Path::new("pdfinfo"));
}

#[test]
fn the_fingerprint_changes_with_the_rule() {
    let json = r#"{"name":"a","command":["./x","{file}"],"output":"key-value"}"#;
    let original = plugin(json).fingerprint();

    assert_eq!(plugin(json).fingerprint(), original);
    assert_eq!(original.len(), 64);
    for changed in [
        r#"{"name":"b","command":["./x","{file}"],"output":"key-value"}"#,
        r#"{"name":"a","command":["./x","{url}"],"output":"key-value"}"#,
        r#"{"name":"a","command":["./x","{file}"],"output":"text"}"#,
        r#"{"name":"a","command":["./x","{file}"],"output":"key-value","separator":":"}"#,
        r#"{"name":"a","command":["./x","{file}"],"output":"key-value","map":{"k":"dc:title"}}"#,
        r#"{"name":"a","command":["./x","{file}"],"output":"key-value","timeout_seconds":11}"#,
    ] {
        assert_ne!(plugin(changed).fingerprint(), original, "{changed}");
    }
    let moved = Plugin::compile(rule(json), Path::new("/elsewhere")).unwrap();
    assert_ne!(moved.fingerprint(), original);
}

#[test]
fn the_file_and_its_url_reach_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a b; $(id).txt");
    std::fs::write(&file, "Ti\u{1}tle\n").unwrap();
    let plugin = scripted("cat \"$1\"; echo \"$2\"", "text", &[("text", "dc:title")]);

    let outcome = plugin.run(&file, "http://example.org/a%20b.txt", None);

    let text = "Ti\u{fffd}tle\nhttp://example.org/a%20b.txt".to_owned();
    assert_eq!(
        outcome,
        PluginOutcome::Output(PluginOutput::Text(text.clone()))
    );
    assert_eq!(outcome.dublin_core(&plugin), [("title", text)]);
}

#[test]
fn keys_are_mapped_to_dublin_core_in_the_order_printed() {
    let map = [("Author", "dc:creator"), ("Title", "dc:title")];
    let plugin = scripted(
        "printf 'Title=T\\nPages=3\\nAuthor=A\\nAuthor=B\\n'",
        "key-value",
        &map,
    );

    let outcome = plugin.run(Path::new("/"), "", None);

    let expected = [("title", "T"), ("creator", "A"), ("creator", "B")];
    assert_eq!(
        outcome.dublin_core(&plugin),
        expected.map(|(element, value)| (element, value.to_owned()))
    );
    let PluginOutcome::Output(PluginOutput::KeyValue(pairs)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(pairs.len(), 4);
}

#[test]
fn xml_is_written_anew_or_refused() {
    let good = scripted(
        "echo '<?xml version=\"1.0\"?><m xmlns=\"urn:m\">é</m>'",
        "xml",
        &[],
    );
    let bad = scripted("echo '<m>&nbsp;</m>'", "xml", &[]);

    let outcome = good.run(Path::new("/"), "", None);
    let refused = bad.run(Path::new("/"), "", None);

    let xml = "<m xmlns=\"urn:m\">é</m>".to_owned();
    assert_eq!(outcome, PluginOutcome::Output(PluginOutput::Xml(xml)));
    assert!(outcome.dublin_core(&good).is_empty());
    assert_eq!(
        reason(refused),
        "printed XML that cannot be used: the entity `&nbsp;` is not declared"
    );
}

#[test]
fn failures_are_outcomes() {
    let failing = scripted("echo broken >&2; exit 1", "text", &[("text", "dc:title")]);
    let missing = plugin(r#"{"name":"a","command":["./missing"],"output":"text"}"#);

    let failed = failing.run(Path::new("/"), "", None);

    assert!(failed.dublin_core(&failing).is_empty());
    assert_eq!(reason(failed), "ended with exit status 1: broken");
    let not_started = reason(missing.run(Path::new("/"), "", None));
    assert!(
        not_started.starts_with("cannot start `/etc/site/missing`"),
        "{not_started}"
    );
    // No argument can hold a NUL.
    let nul = scripted("true", "text", &[]).run(Path::new("/"), "a\0b", None);
    assert!(reason(nul).starts_with("cannot start `sh`"));
}

#[test]
fn empty_text_gives_no_element() {
    let plugin = scripted("echo", "text", &[("text", "dc:title")]);

    let outcome = plugin.run(Path::new("/"), "", None);

    assert_eq!(
        outcome,
        PluginOutcome::Output(PluginOutput::Text(String::new()))
    );
    assert!(outcome.dublin_core(&plugin).is_empty());
}

#[test]
fn outcomes_can_be_stored_and_read_back() {
    let pairs = vec![("k".to_owned(), "v".to_owned())];
    for outcome in [
        PluginOutcome::Output(PluginOutput::Xml("<m/>".to_owned())),
        PluginOutcome::Output(PluginOutput::Text("t".to_owned())),
        PluginOutcome::Output(PluginOutput::KeyValue(pairs)),
        PluginOutcome::Failed {
            reason: "r".to_owned(),
            told: "t".to_owned(),
        },
    ] {
        let stored = serde_json::to_string(&outcome).unwrap();
        let read: PluginOutcome = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, outcome);
    }
}
