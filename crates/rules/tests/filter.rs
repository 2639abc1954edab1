//! Filter files: what they accept, what they refuse, and how they explain themselves.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use rules::filter::Filters;

#[test]
fn any_filter_and_any_node_are_enough_with_any() {
    let filters = filters(
        "any",
        r#"<filter xpath="//dc:subject" regexp="music"/><filter xpath="//dc:subject" regexp="HERITAGE" ignoreCase="true"/>"#,
    );

    assert!(filters.accepts(RECORD).unwrap());
}

#[test]
fn letter_case_counts_unless_it_is_ignored() {
    assert!(!accepts(
        "any",
        r#"<filter xpath="//dc:subject" regexp="HERITAGE"/>"#
    ));
    assert!(accepts(
        "any",
        r#"<filter xpath="//dc:subject" regexp="HERITAGE" ignoreCase="true"/>"#
    ));
}

#[test]
fn every_node_must_match_with_all() {
    assert!(!accepts(
        "all",
        r#"<filter xpath="//dc:subject" regexp="heritage"/>"#
    ));
    assert!(accepts(
        "all",
        r#"<filter xpath="//dc:subject" regexp="e"/>"#
    ));
    assert!(!accepts(
        "all",
        r#"<filter xpath="//dc:subject" regexp="e"/><filter xpath="//dc:type" regexp="text"/>"#
    ));
}

#[test]
fn what_is_not_there_does_not_match_and_inverted_it_does() {
    for matching in ["any", "all"] {
        assert!(!accepts(
            matching,
            r#"<filter xpath="//dc:rights" regexp=""/>"#
        ));
        assert!(accepts(
            matching,
            r#"<filter xpath="//dc:rights" regexp="" invert="true"/>"#
        ));
        assert!(accepts(
            matching,
            r#"<filter xpath="//dc:type" regexp=""/>"#
        ));
        assert!(!accepts(
            matching,
            r#"<filter xpath="//dc:type" regexp="" invert="true"/>"#
        ));
    }
}

#[test]
fn invert_turns_the_outcome_of_all_nodes_round() {
    // Any: none may match. All: at least one must not match.
    assert!(!accepts(
        "any",
        r#"<filter xpath="//dc:subject" regexp="heritage" invert="true"/>"#
    ));
    assert!(accepts(
        "all",
        r#"<filter xpath="//dc:subject" regexp="heritage" invert="true"/>"#
    ));
}

#[test]
fn white_space_around_a_text_is_not_compared() {
    assert!(accepts(
        "any",
        r#"<filter xpath="//dc:type" regexp="^image$"/>"#
    ));
}

#[test]
fn explains_what_was_found_and_why_it_counts() {
    let filters = filters(
        "all",
        r#"<filter xpath="//dc:subject" regexp="heritage"/><filter xpath="//dc:rights" regexp="closed" ignoreCase="true" invert="true"/>"#,
    );

    let explanation = filters.explain(RECORD).unwrap();

    assert_eq!(
        explanation.to_string(),
        "filter 1: //dc:subject ~ /heritage/\n\
         \x20 /r/dc:subject[1] = \"Cultural heritage\" matches\n\
         \x20 /r/dc:subject[2] = \"Letters\" does not match\n\
         \x20 the filter does not hold\n\
         filter 2: //dc:rights ~ /closed/i, inverted\n\
         \x20 no such node, which counts as no match\n\
         \x20 the filter holds\n\
         rejected: 1 of 2 filters hold, needed is all of them\n"
    );
    assert_eq!(explanation.accepted, filters.accepts(RECORD).unwrap());
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    for (file, complaint) in [
        (
            "<filters match='any'>\n <filter xpath='//dc:subject' regexp='x'/></filters>",
            "line 2, column 19: the prefix `dc` is not declared",
        ),
        (
            "<filters match='any'><filter xpath='//a' regexp='('/></filters>",
            "line 1, column 50: the regular expression is not valid: unclosed group",
        ),
        (
            "<filters match='some'/>",
            "line 1, column 17: `match` must be any or all, not `some`",
        ),
        (
            "<filters/>",
            "line 1, column 1: <filters> needs the attribute `match`: any or all",
        ),
        (
            "<filters match='any'/>",
            "line 1, column 1: there is no <filter> in it",
        ),
        (
            "<filters match='any'>\n<filter xpath='//a' regex='x'/></filters>",
            "line 2, column 21: <filter> has no attribute `regex`; it has xpath, regexp, ignoreCase, invert",
        ),
        (
            "<filters match='any'><filter xpath='count(//a)' regexp='1'/></filters>",
            "line 1, column 37: the expression must select nodes",
        ),
        (
            "<filters match='any'><filter xpath='//a[' regexp='1'/></filters>",
            "line 1, column 41: a step of a path is expected",
        ),
        (
            "<filters match='any'><filter xpath='//a' regexp='1' invert='maybe'/></filters>",
            "line 1, column 61: `invert` must be true or false, not `maybe`",
        ),
        (
            "<filters match='any'><filtre/></filters>",
            "line 1, column 22: <filtre> is not known here",
        ),
        (
            "<filters match='any'><selectionNamespaces>xmlns='urn:x'</selectionNamespaces></filters>",
            "line 1, column 22: a namespace needs a prefix here, as in xmlns:dc='…'",
        ),
        (
            "<filters match='any'>",
            "line 1, column 1: the root node was opened but never closed",
        ),
    ] {
        let error = Filters::parse(file.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), complaint, "{file}");
    }
}

#[test]
fn a_file_is_named_in_its_complaint() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("filter.xml");
    std::fs::write(&path, "<filters match='any'/>").unwrap();

    let error = Filters::load(&path).unwrap_err().to_string();

    assert_eq!(
        error,
        format!(
            "{}: line 1, column 1: there is no <filter> in it",
            path.display()
        )
    );
    assert!(Filters::load(&directory.path().join("none.xml")).is_err());
}

#[test]
fn the_example_of_the_reference_works() {
    let page = include_str!("../../../docs/reference/filters.md");
    let example = page
        .split("```xml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();

    let filters = Filters::parse(example.as_bytes()).unwrap();

    assert!(filters.accepts(RECORD).unwrap());
}

fn accepts(matching: &str, inner: &str) -> bool {
    filters(matching, inner).accepts(RECORD).unwrap()
}

fn filters(matching: &str, inner: &str) -> Filters {
    let file = format!(
        "<filters match='{matching}'><selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'\
         </selectionNamespaces>{inner}</filters>"
    );
    Filters::parse(file.as_bytes()).unwrap()
}

const RECORD: &[u8] = br#"<r xmlns:dc="http://purl.org/dc/elements/1.1/">
  <dc:subject>Cultural heritage</dc:subject>
  <dc:subject><![CDATA[Letters]]></dc:subject>
  <dc:type>
    image
  </dc:type>
</r>"#;
