//! Mapping files: what they add, where, and what they refuse.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use rules::normalise::Mappings;

#[test]
fn new_elements_stand_behind_what_matched_and_the_rest_is_untouched() {
    let record = "<r xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n  <dc:type  x='1'>JPEG &amp; more</dc:type>\n  <dc:date/>\n</r>";

    let normalised = apply(TYPES, record);

    assert_eq!(
        normalised,
        "<r xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n  <dc:type  x='1'>JPEG &amp; more</dc:type>\n  \
         <dc:type>image</dc:type>\n  <dc:date/>\n</r>"
    );
}

#[test]
fn offsets_of_the_record_are_found_again_after_several_rounds() {
    let chain = file(
        r#"<mapping xpath="//dc:type"><newElement regexp="^a$" name="dc:type"><newValue>b</newValue></newElement>
           <newElement regexp="^b$" name="dc:type"><newValue>c</newValue></newElement></mapping>"#,
    );
    let record = record("<dc:title>x</dc:title><dc:type>a</dc:type><dc:date>1999</dc:date>");
    let mappings = Mappings::parse(chain.as_bytes()).unwrap();
    let normalised = mappings.apply(record.as_bytes()).unwrap();

    for text in ["x</dc:title>", "a</dc:type>", "1999"] {
        let moved = normalised.moved(record.find(text).unwrap());
        assert!(
            normalised.xml[moved..].starts_with(text.as_bytes()),
            "{text}"
        );
    }
}

#[test]
fn several_values_make_several_elements() {
    let normalised = apply(TYPES, &record("<dc:type>book</dc:type>"));

    assert_eq!(
        normalised,
        record(
            "<dc:type>book</dc:type><dc:type>text</dc:type><dc:type>printed &lt;matter&gt;</dc:type>"
        )
    );
}

#[test]
fn what_is_there_is_not_added_again() {
    let once = apply(
        TYPES,
        &record("<dc:type>jpeg</dc:type><dc:type> image </dc:type><dc:type>gif</dc:type>"),
    );
    assert_eq!(
        once,
        record("<dc:type>jpeg</dc:type><dc:type> image </dc:type><dc:type>gif</dc:type>")
    );

    let both = apply(
        TYPES,
        &record("<dc:type>jpeg</dc:type><dc:type>gif</dc:type>"),
    );
    assert_eq!(
        both,
        record("<dc:type>jpeg</dc:type><dc:type>image</dc:type><dc:type>gif</dc:type>")
    );
}

#[test]
fn a_second_run_adds_nothing_even_where_mappings_lead_on() {
    let chain = file(
        r#"<mapping xpath="//dc:type"><newElement regexp="^a$" name="dc:type"><newValue>b</newValue></newElement>
           <newElement regexp="^b$" name="dc:type"><newValue>c</newValue></newElement></mapping>"#,
    );

    let once = apply(&chain, &record("<dc:type>a</dc:type>"));

    assert_eq!(
        once,
        record("<dc:type>a</dc:type><dc:type>b</dc:type><dc:type>c</dc:type>")
    );
    assert_eq!(apply(&chain, &once), once);
}

#[test]
fn a_prefix_that_is_not_in_scope_is_declared() {
    let mappings = file(
        r#"<mapping xpath="//x"><newElement regexp="" name="dc:type"><newValue>t</newValue></newElement>
           <newElement regexp="" name="plain"><newValue>p</newValue></newElement></mapping>"#,
    );

    assert_eq!(
        apply(
            &mappings,
            "<o:r xmlns:o='urn:o' xmlns:dc='urn:other'><x/></o:r>"
        ),
        "<o:r xmlns:o='urn:o' xmlns:dc='urn:other'><x/><dc:type xmlns:dc=\"http://purl.org/dc/elements/1.1/\">t</dc:type>\
         <plain>p</plain></o:r>"
    );
    assert_eq!(
        apply(&mappings, "<r xmlns='urn:r'><x xmlns=''/></r>"),
        "<r xmlns='urn:r'><x xmlns=''/><dc:type xmlns:dc=\"http://purl.org/dc/elements/1.1/\">t</dc:type>\
         <plain xmlns=\"\">p</plain></r>"
    );
}

#[test]
fn attributes_and_texts_stand_for_their_element() {
    for xpath in ["//dc:type/@scheme", "//dc:type/text()"] {
        let mappings = file(&format!(
            r#"<mapping xpath="{xpath}"><newElement regexp="y" name="dc:type"><newValue>t</newValue></newElement></mapping>"#
        ));

        let normalised = apply(&mappings, &record("<dc:type scheme=\"y\">y</dc:type>"));

        assert_eq!(
            normalised,
            record("<dc:type scheme=\"y\">y</dc:type><dc:type>t</dc:type>")
        );
    }
}

#[test]
fn nothing_is_added_beside_the_root() {
    let mappings = file(
        r#"<mapping xpath="/*"><newElement regexp="" name="dc:type"><newValue>t</newValue></newElement></mapping>"#,
    );

    assert_eq!(apply(&mappings, &record("")), record(""));
}

#[test]
fn what_was_added_is_told() {
    let mappings = Mappings::parse(TYPES.as_bytes()).unwrap();
    let record = record("<dc:type>a jpeg</dc:type>");

    let normalised = mappings.apply(record.as_bytes()).unwrap();

    let added = &normalised.added[0];
    assert_eq!(
        (
            added.because_of.as_str(),
            added.name.as_str(),
            added.value.as_str()
        ),
        ("a jpeg", "dc:type", "image")
    );
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    for (file, complaint) in [
        (
            "<normal/>",
            "line 1, column 1: the root element must be <normalize>",
        ),
        (
            "<normalize/>",
            "line 1, column 1: there is no <mapping> in it",
        ),
        (
            "<normalize><mapping/></normalize>",
            "line 1, column 12: <mapping> needs the attribute `xpath`: which nodes are meant",
        ),
        (
            "<normalize><mapping xpath='//a'/></normalize>",
            "line 1, column 12: there is no <newElement> in it",
        ),
        (
            "<normalize><mapping xpath='//a'><newElement regexp='' name='a'/></mapping></normalize>",
            "line 1, column 33: there is no <newValue> in it",
        ),
        (
            "<normalize><mapping xpath='//a'><newElement regexp='' name='q:a'><newValue/></newElement></mapping></normalize>",
            "line 1, column 61: the prefix `q` is not declared",
        ),
        (
            "<normalize><mapping xpath='//a'><newElement regexp='' name='a b'><newValue/></newElement></mapping></normalize>",
            "line 1, column 61: `a b` is not a name",
        ),
        (
            "<normalize><mapping xpath='//a'>text</mapping></normalize>",
            "line 1, column 33: text is not expected here",
        ),
    ] {
        let error = Mappings::parse(file.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), complaint, "{file}");
    }
}

#[test]
fn the_example_of_the_reference_works() {
    let page = include_str!("../../../docs/reference/filters.md");
    let example = page
        .split("```xml\n")
        .nth(2)
        .unwrap()
        .split("```")
        .next()
        .unwrap();

    let normalised = apply(example, &record("<dc:type>JPEG</dc:type>"));

    assert_eq!(
        normalised,
        record("<dc:type>JPEG</dc:type><dc:type>image</dc:type>")
    );
}

fn apply(mappings: &str, record: &str) -> String {
    let mappings = Mappings::parse(mappings.as_bytes()).unwrap();
    let normalised = mappings.apply(record.as_bytes()).unwrap();
    String::from_utf8(normalised.xml.into_owned()).unwrap()
}

fn record(inner: &str) -> String {
    format!("<r xmlns:dc=\"http://purl.org/dc/elements/1.1/\">{inner}</r>")
}

fn file(inner: &str) -> String {
    format!(
        "<normalize><selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>{inner}</normalize>"
    )
}

const TYPES: &str = r#"<mappings>
  <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
  <mapping xpath="//dc:type">
    <newElement regexp="book" ignoreCase="true" name="dc:type">
      <newValue>text</newValue>
      <newValue>printed &lt;matter&gt;</newValue>
    </newElement>
    <newElement regexp="jpe?g|gif" ignoreCase="true" name="dc:type">
      <newValue>image</newValue>
    </newElement>
  </mapping>
</mappings>"#;
