//! How many marks of papers, and of other documents, come together: one alone may mislead.

use std::sync::LazyLock;

use super::{Sheet, all};

/// Marks of papers: the feature, and from which number on it counts.
const OF_PAPERS: [(&str, f32); 15] = [
    ("heading.abstract_early", 1.0),
    ("heading.keywords_early", 1.0),
    ("heading.introduction_early", 1.0),
    ("heading.references_late", 1.0),
    ("heading.acknowledgements", 1.0),
    ("heading.conclusion_late", 1.0),
    ("heading.declarations", 1.0),
    ("references.densest", 0.3),
    ("citations.all", 5.0),
    ("authors.marked", 2.0),
    ("authors.affiliations", 1.0),
    ("identifiers.mails_early", 1.0),
    ("phrase.self_paper", 0.2),
    ("phrase.self_study", 3.0),
    ("phrase.support", 0.001),
];

/// Marks of publication.
const OF_PUBLISHING: [(&str, f32); 8] = [
    ("identifiers.doi_early", 1.0),
    ("identifiers.arxiv_early", 1.0),
    ("identifiers.issn", 1.0),
    ("identifiers.license", 1.0),
    ("identifiers.received", 1.0),
    ("identifiers.volume_early", 1.0),
    ("phrase.journal.first", 2.0),
    ("phrase.repository.first", 1.0),
];

/// Marks of argued prose, whatever it is about.
const OF_PROSE: [(&str, f32); 7] = [
    ("layout.prose", 0.5),
    ("layout.full_pages", 0.6),
    ("language.long_sentences", 15.0),
    ("language.small_words", 0.3),
    ("phrase.reasoning", 6.0),
    ("phrase.research", 8.0),
    ("layout.set_text", 0.5),
];

/// Marks of other documents.
const OF_OTHERS: [(&str, f32); 14] = [
    ("layout.sparse_pages", 0.4),
    ("layout.bullets", 0.08),
    ("tables.counters", 3.0),
    ("phrase.you", 4.0),
    ("phrase.self_manual", 1.0),
    ("phrase.self_course", 0.7),
    ("tables.problem", 3.0),
    ("heading.manual", 3.0),
    ("heading.exercises", 2.0),
    ("heading.course", 2.0),
    ("heading.contents_early", 1.0),
    ("tables.leaders", 0.01),
    ("symbols.boxes", 0.5),
    ("phrase.statement", 0.7),
];

pub(super) fn measure(sheet: &mut Sheet) {
    let papers = count(sheet, &PAPERS);
    let publishing = count(sheet, &PUBLISHING);
    let others = count(sheet, &OTHERS);
    let prose = count(sheet, &PROSE);
    sheet.number("marks.prose", "different marks of argued prose", prose);
    sheet.number("marks.papers", "different marks of papers", papers);
    sheet.number(
        "marks.publishing",
        "different marks of publication, such as DOI and volume",
        publishing,
    );
    sheet.number("marks.others", "different marks of other documents", others);
    sheet.number(
        "marks.balance",
        "marks of papers against those of other documents",
        papers + publishing + 0.5 * prose - others,
    );
}

fn count(sheet: &Sheet, marks: &LazyLock<Vec<(usize, f32)>>) -> f32 {
    // While the list of all features is made, there is nothing to count.
    if sheet.features.is_some() {
        return 0.0;
    }
    let is_there =
        |(place, from): &&(usize, f32)| sheet.raw.get(*place).is_some_and(|raw| raw >= from);
    marks.iter().filter(is_there).count() as f32
}

/// Where the features stand.
fn places(marks: &[(&str, f32)]) -> Vec<(usize, f32)> {
    let place = |name: &str| all().iter().position(|feature| feature.name == name);
    let places = marks.iter().map(|(name, from)| Some((place(name)?, *from)));
    places.flatten().collect()
}

static PAPERS: LazyLock<Vec<(usize, f32)>> = LazyLock::new(|| places(&OF_PAPERS));
static PUBLISHING: LazyLock<Vec<(usize, f32)>> = LazyLock::new(|| places(&OF_PUBLISHING));
static PROSE: LazyLock<Vec<(usize, f32)>> = LazyLock::new(|| places(&OF_PROSE));
static OTHERS: LazyLock<Vec<(usize, f32)>> = LazyLock::new(|| places(&OF_OTHERS));
