//! XPath held to libxml2: the answers of `xpath/expressions.tsv` are its own, but for five where it departs from the
//! specification: exponents in numbers, `position()` and `last()` outside of a predicate, and what follows an attribute.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::io::Write;
use std::process::{Command, Stdio};

use rules::xpath::{Namespaces, NodeKind, XPath};

#[test]
fn answers_as_libxml2_does() {
    let document = rules::xml::parse(RECORD.as_bytes(), &Default::default()).unwrap();

    let wrong: Vec<String> = expressions()
        .filter_map(|(expression, expected)| {
            let answer = answer(&document, expression, expected);
            (answer != expected).then(|| format!("{expression}\n  {expected}\n  {answer}"))
        })
        .collect();

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expressions().count() > 200);
}

/// The table again, by the `xmllint` of this machine: how many nodes, or which value.
#[test]
fn the_table_is_what_xmllint_says() {
    if Command::new("xmllint").arg("--version").output().is_err() {
        eprintln!("skipped: there is no xmllint here");
        return;
    }
    let table: Vec<_> = expressions()
        .filter(|(expression, answer)| {
            *answer != "ERR" && !DEPARTURES.contains(expression) && !expression.contains(">")
        })
        .collect();

    let commands: String = table
        .iter()
        .map(|(expression, answer)| match answer.starts_with("SET") {
            true => format!("xpath count({expression})\n"),
            false => format!("xpath string-length(string({expression}))\n"),
        })
        .collect();
    let output = xmllint(&commands);

    let numbers: Vec<&str> = output
        .lines()
        .filter_map(|line| line.split_once("Object is a number : "))
        .map(|(_, number)| number.trim())
        .collect();
    assert_eq!(numbers.len(), table.len(), "{output}");
    for ((expression, answer), number) in table.iter().zip(numbers) {
        let expected = match answer.strip_prefix("SET ") {
            Some(set) => set.split(' ').next().unwrap().to_owned(),
            None => {
                let text = answer.split_once(' ').map_or("", |(_, text)| text);
                // Spaces at the end are not kept in the table.
                match text.starts_with(' ') {
                    true => (text.chars().count() + 1).to_string(),
                    false => text.chars().count().to_string(),
                }
            }
        };
        assert_eq!(number, expected, "{expression}");
    }
}

#[test]
fn an_error_names_its_place() {
    for (expression, at, reason) in [
        ("//dc:title[", 11, "a step of a path is expected"),
        ("//nope:title", 2, "the prefix `nope` is not declared"),
        (
            "//dc:title[matches(., 'x')]",
            11,
            "XPath 1.0 has no function `matches`",
        ),
        ("//dc:title = $x", 13, "there are no variables here"),
        ("count(1)", 6, "the argument of count() must select nodes"),
        ("//dc:title['x", 11, "a quotation mark is not closed"),
    ] {
        let error = XPath::compile(expression, &namespaces()).unwrap_err();
        assert_eq!(
            (error.at, error.reason.as_str()),
            (at, reason),
            "{expression}"
        );
    }
}

#[test]
fn nested_and_long_expressions_are_refused() {
    let nested = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    let negated = format!("{}1", "-".repeat(5000));
    let long = format!("1{}", "+1".repeat(5000));

    for expression in [nested, negated, long] {
        assert!(XPath::compile(&expression, &namespaces()).is_err());
    }
}

#[test]
fn work_is_limited_on_hostile_documents() {
    let xml = format!("<r>{}</r>", "<a>x</a>".repeat(50_000));
    let document = rules::xml::parse(xml.as_bytes(), &Default::default()).unwrap();
    let squared = XPath::compile("//a[count(//a) = 1]", &namespaces()).unwrap();

    assert!(squared.select(&document).is_err());
}

#[test]
fn random_expressions_do_not_panic() {
    let document = rules::xml::parse(RECORD.as_bytes(), &Default::default()).unwrap();
    let pieces = [
        "//",
        "/",
        "dc:subject",
        "*",
        "@",
        "[",
        "]",
        "(",
        ")",
        "1",
        "-",
        "|",
        "and",
        "::",
        "self",
        "position()",
        "'é",
        "'",
        "..",
        ".",
        "text()",
        "=",
        "<",
        "$",
        "é",
        "count",
        ",",
        " ",
        "namespace",
        "following",
    ];
    let mut seed = 7_u64;

    for _ in 0..20_000 {
        let expression: String = (0..next(&mut seed) % 12)
            .map(|_| pieces[next(&mut seed) % pieces.len()])
            .collect();
        if let Ok(xpath) = XPath::compile(&expression, &namespaces()) {
            let _ = xpath.select(&document);
        }
    }
}

fn answer(document: &roxmltree::Document, expression: &str, expected: &str) -> String {
    let Ok(xpath) = XPath::compile(expression, &namespaces()) else {
        return "ERR".into();
    };
    let kind = expected.split(' ').next().unwrap();
    if kind != "SET" {
        let text = xpath.text(document).unwrap();
        return format!("{kind} {text}").trim_end().to_owned();
    }
    let nodes = xpath.select(document).unwrap();
    let mut texts: Vec<String> = nodes
        .iter()
        .map(|node| {
            node.text()
                .split_ascii_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    // The order of namespaces is left open by the specification.
    if nodes.iter().any(|node| node.kind() == NodeKind::Namespace) {
        texts.sort();
    }
    format!("SET {} {}", nodes.len(), texts.join("|"))
        .trim_end()
        .to_owned()
}

fn xmllint(commands: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/xpath/record.xml");
    let mut child = Command::new("xmllint")
        .args(["--nocdata", "--shell", path])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = String::new();
    for (prefix, uri) in PREFIXES {
        input.push_str(&format!("setns {prefix}={uri}\n"));
    }
    input.push_str(commands);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn expressions() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXPRESSIONS
        .lines()
        .map(|line| line.split_once('\t').unwrap())
}

fn namespaces() -> Namespaces {
    let declarations: Vec<String> = PREFIXES
        .iter()
        .map(|(prefix, uri)| format!("xmlns:{prefix}='{uri}'"))
        .collect();
    Namespaces::parse(&declarations.join(" ")).unwrap()
}

fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*seed >> 33) as usize
}

const RECORD: &str = include_str!("xpath/record.xml");
const EXPRESSIONS: &str = include_str!("xpath/expressions.tsv");
const DEPARTURES: [&str; 5] = [
    "number('1e3')",
    "string(123456789012)",
    "position()",
    "last()",
    "count(//@role/following::node())",
];
const PREFIXES: [(&str, &str); 4] = [
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("o", "http://www.openarchives.org/OAI/2.0/"),
    ("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
    ("x", "urn:x"),
];
