//! How much of the text is prose, and in which languages: lists, tables and slides have few small words.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::hash::{self, Hash};
use super::super::reading::{Reading, WordKind};
use super::super::vocabulary::Spread;
use super::{Sheet, part};

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let mut small = [0_usize; LANGUAGES.len()];
    for word in &reading.words {
        let Some(languages) = SMALL_WORDS.get(&word.hash) else {
            continue;
        };
        for (index, count) in small.iter_mut().enumerate() {
            *count += usize::from(languages & (1 << index) != 0);
        }
    }
    let all = reading
        .words
        .iter()
        .filter(|word| word.kind != WordKind::Number)
        .count();
    let most = small.iter().copied().max().unwrap_or_default();
    let ideographs = reading
        .words
        .iter()
        .filter(|word| word.kind == WordKind::Ideograph)
        .count();
    let letters = reading.words.iter().filter(|word| {
        matches!(
            word.kind,
            WordKind::Lower | WordKind::Title | WordKind::Mixed
        )
    });
    let plain = letters.filter(|word| reading.word(word).is_ascii()).count();
    sheet.share(
        "language.small_words",
        "share of small words such as articles and prepositions",
        part(most, all),
    );
    sheet.share(
        "language.english",
        "share of small words of English",
        part(small[0], all),
    );
    let best = small.iter().position(|count| *count == most);
    sheet.flag(
        "language.other",
        "another language than English",
        most * 20 > all && best != Some(0),
    );
    let starts_with = |range: std::ops::RangeInclusive<char>| {
        let words = reading.words.iter();
        words
            .filter(|word| reading.word(word).starts_with(|c: char| range.contains(&c)))
            .count()
    };
    sheet.share(
        "language.cyrillic",
        "share of words in Cyrillic letters",
        part(starts_with('\u{400}'..='\u{52f}'), reading.words.len()),
    );
    sheet.share(
        "language.right_to_left",
        "share of words in Arabic or Hebrew letters",
        part(starts_with('\u{590}'..='\u{6ff}'), reading.words.len()),
    );
    sheet.share(
        "language.ideographs",
        "share of Chinese and Japanese characters",
        part(ideographs, reading.words.len()),
    );
    sheet.share(
        "language.latin",
        "share of words in plain Latin letters",
        part(plain, all),
    );
    sentences(reading, sheet);
}

/// Long sentences are a mark of papers, of laws too.
fn sentences(reading: &Reading, sheet: &mut Sheet) {
    let (mut ends, mut long, mut since) = (0_usize, 0_usize, 0_usize);
    for line in &reading.lines {
        let words = reading.line_words(line);
        // A line of its own breaks a sentence that has no end.
        if line.after_gap && since > 0 && words.first().is_some_and(|word| word.kind.begins_upper())
        {
            since = 0;
        }
        for word in words {
            since += 1;
            if matches!(word.next, '.' | '?' | '!' | '。')
                && word.length > 1
                && word.kind != WordKind::Number
            {
                ends += usize::from(since >= 4);
                long += usize::from(since >= 18);
                since = 0;
            }
        }
    }
    sheet.rate(
        "language.sentences",
        "whole sentences in a thousand words",
        ends as f32,
    );
    sheet.rate(
        "language.long_sentences",
        "long sentences in a thousand words",
        long as f32,
    );
}

static SMALL_WORDS: LazyLock<HashMap<Hash, u32, Spread>> = LazyLock::new(|| {
    let mut words: HashMap<Hash, u32, Spread> = HashMap::default();
    for (index, language) in LANGUAGES.iter().enumerate() {
        for word in language.split(' ') {
            *words.entry(hash::of_word(word)).or_default() |= 1 << index;
        }
    }
    words
});

/// The commonest small words. English is the first.
const LANGUAGES: [&str; 18] = [
    "the of and to in a is that for as with by on are be this from which it at an or was were not these their has have can we its but between than also been such our they more",
    "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis durch",
    "le la les de des et à un une du en que est pour qui dans ce il sur pas plus par au avec ne se sont ou cette son aux ces été comme nous être leur mais entre",
    "el la los las de y en que un una del se por con para es como su al lo más o este no son entre sus pero ha ser sobre",
    "o a os as de e em que um uma do da se por com para é como no na ao dos das mais ou não são entre seu sua foi",
    "il la i le di e che un una in del della per con è non si da dei nel al sono come più o ma alla delle questo",
    "de het een van en in is dat op te met voor zijn er aan niet die om ook als bij naar uit door over worden tot deze",
    "och i att en det som på är av för med till den har de inte om ett var men og er at til ikke fra eller ved kan",
    "i w z na do się że nie to jest o jak za od po oraz przez dla są a v se je s k za pro",
    "и в на с по что не для из к от как это при а его или также о до между у я мы за під та що",
    "ve bir bu için ile olarak da de olan çok daha gibi en ne kadar sonra olduğu",
    "yang dan di dengan untuk pada dari ini dalam adalah tidak akan atau oleh sebagai dapat karena itu juga tersebut",
    "và của là các trong được có cho với một không những này để khi từ đã theo về trên",
    "ja on ei että se oli ovat mutta kun myös tai sen joka kuin niin mukaan voidaan",
    "a az és hogy nem is egy ez volt van azt mint csak meg de vagy között alapján",
    "și în de la cu care este pe din sau mai sunt nu pentru prin ale fost",
    "και το να του η της με που την από για είναι στο τα των ο οι στην ότι δεν",
    "و در به از که این را با است برای آن من على إلى في أن هذا التي عن",
];
