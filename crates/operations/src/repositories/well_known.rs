//! Public repositories to begin with: a list that is shipped. Their addresses may have changed since.

use serde::Serialize;
use utoipa::ToSchema;

/// A public repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct WellKnown {
    /// Its name.
    pub name: &'static str,
    /// Its base URL, when the list was made.
    pub base_url: &'static str,
    /// The country of those who run it.
    pub country: &'static str,
}

/// The repositories with all of these words in their name, address or country, in any case; all without words.
pub fn well_known(words: &str) -> Vec<WellKnown> {
    let words: Vec<_> = words.split_whitespace().map(str::to_lowercase).collect();
    let has_words = |known: &WellKnown| {
        let text = format!("{} {} {}", known.name, known.base_url, known.country).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    LIST.lines().filter_map(read).filter(has_words).collect()
}

fn read(line: &'static str) -> Option<WellKnown> {
    let mut fields = line.split('\t');
    Some(WellKnown {
        name: fields.next()?,
        base_url: fields.next()?,
        country: fields.next()?,
    })
}

const LIST: &str = include_str!("../../assets/well-known.tsv");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_name_a_base_url_and_a_country_in_each_line() {
        let all = well_known("");
        assert!(all.len() >= 50 && all.len() == LIST.lines().count());
        for known in &all {
            let canonical = harvester::canonical_base_url(known.base_url).unwrap();
            assert_eq!(
                canonical.trim_end_matches('/'),
                known.base_url.trim_end_matches('/')
            );
            assert!(!known.name.is_empty() && !known.country.is_empty());
        }
        let mut urls: Vec<_> = all.iter().map(|known| known.base_url).collect();
        urls.sort_unstable();
        urls.dedup();
        assert_eq!(urls.len(), all.len());
    }

    #[test]
    fn words_narrow_the_list() {
        assert_eq!(well_known("HAL france").len(), 1);
        assert!(well_known("germany").len() > 5);
        assert!(well_known("no such repository").is_empty());
    }
}
