//! Text of a code page that was shown as Latin-1, recognised by the letters of languages and undone.

use std::collections::HashSet;
use std::sync::LazyLock;

use encoding_rs::{
    Encoding, ISO_8859_5, KOI8_R, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253,
    WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, X_MAC_CYRILLIC,
};

/// The text with its letters, and the name of the code page; `None` if no other code page makes more sense.
pub(super) fn decoded(text: &str) -> Option<(&'static str, String)> {
    let sample = &text[..text.floor_char_boundary(SAMPLE)];
    let high = sample.chars().filter(|c| !c.is_ascii() && is_part(*c));
    if high.take(FEWEST).count() < FEWEST {
        return None;
    }
    let counts = Counts::of(sample);
    if let Some(text) = utf8(text, sample) {
        return Some(("UTF-8", text));
    }
    // Western languages have few accents; of another script nearly all letters are above ASCII.
    let is_other_script = counts.in_high_words * 4 > counts.letters || counts.in_high_words > 400;
    let found = is_other_script.then(|| by_letters(sample));
    if let Some((name, encoding)) = found.flatten() {
        return Some((name, convert(text, encoding)));
    }
    let (name, encoding) = by_words(sample)?;
    Some((name, convert_all(text, encoding)))
}

struct Counts {
    letters: usize,
    in_high_words: usize,
}

impl Counts {
    fn of(sample: &str) -> Self {
        let mut counts = Self {
            letters: 0,
            in_high_words: 0,
        };
        for (word, is_high) in words(sample) {
            // Rows of dots and dashes are no words.
            for c in word.chars().filter(|c| c.is_alphabetic()) {
                counts.letters += 1;
                let is_high = is_high && byte(c).is_some_and(|byte| byte >= 0x80);
                counts.in_high_words += usize::from(is_high);
            }
        }
        counts
    }
}

/// Bytes of UTF-8 taken one by one: "Ã©" for "é".
fn utf8(text: &str, sample: &str) -> Option<String> {
    let (mut whole, mut others) = (0_usize, 0_usize);
    visit_runs(sample, |run| match run {
        Run::Other(c) => others += usize::from(u32::from(c) > 0x2fff),
        Run::Bytes(bytes) => {
            for chunk in bytes.utf8_chunks() {
                whole += chunk.valid().chars().count();
                others += chunk.invalid().iter().filter(|byte| **byte >= 0xc0).count();
            }
        }
    });
    if whole < 5 || whole < 4 * others {
        return None;
    }
    let mut decoded = String::with_capacity(text.len());
    visit_runs(text, |run| match run {
        Run::Other(c) => decoded.push(c),
        Run::Bytes(bytes) => {
            for chunk in bytes.utf8_chunks() {
                decoded.push_str(chunk.valid());
                decoded.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
            }
        }
    });
    Some(decoded)
}

/// A part of a text that may be shown bytes.
enum Run<'a> {
    /// Bytes above ASCII that follow each other.
    Bytes(&'a [u8]),
    /// A character that is none.
    Other(char),
}

fn visit_runs(text: &str, mut call: impl FnMut(Run<'_>)) {
    let mut bytes = Vec::new();
    for character in text.chars() {
        if let Some(byte) = byte(character).filter(|byte| *byte >= 0x80) {
            bytes.push(byte);
            continue;
        }
        if !bytes.is_empty() {
            call(Run::Bytes(&bytes));
            bytes.clear();
        }
        call(Run::Other(character));
    }
    if !bytes.is_empty() {
        call(Run::Bytes(&bytes));
    }
}

/// Scripts whose letters have places of their own: how often each letter occurs tells which code page it is.
fn by_letters(sample: &str) -> Option<(&'static str, &'static Encoding)> {
    let mut best: Option<(f64, &'static str, &'static Encoding)> = None;
    for (name, encoding, alphabet) in ALPHABETS {
        let score = alphabet.score(&convert(sample, encoding));
        if score > LIKELY && best.is_none_or(|(known, ..)| score > known) {
            best = Some((score, name, encoding));
        }
    }
    // A text that reads well as it is stays, whatever else it could be.
    let as_it_is = WESTERN.score(sample);
    best.filter(|(score, ..)| *score > as_it_is)
        .map(|(_, name, encoding)| (name, encoding))
}

/// Languages of Latin letters: their commonest words appear once the right code page is taken.
fn by_words(sample: &str) -> Option<(&'static str, &'static Encoding)> {
    let mut best: Option<(usize, &'static str, &'static Encoding)> = None;
    for (name, encoding, words) in &*WORD_SETS {
        let known = |text: &str| {
            let of = text
                .split(|c: char| !c.is_alphabetic())
                .filter(|word| !word.is_ascii());
            of.filter(|word| words.contains(word)).count()
        };
        let text = convert_all(sample, encoding);
        let (now, then) = (known(sample), known(&text));
        if then >= 5 && then > 4 * now && best.is_none_or(|(most, ..)| then > most) {
            best = Some((then, *name, *encoding));
        }
    }
    best.map(|(_, name, encoding)| (name, encoding))
}

/// How often letters occur in an alphabet, in the order of the commonest.
struct Alphabet {
    /// Each letter as often as in a hundred, commonest first.
    letters: &'static str,
    shares: &'static [f64],
}

impl Alphabet {
    /// How far a text looks like this alphabet: about 1 if it is.
    fn score(&self, text: &str) -> f64 {
        let (mut all, mut sum, mut wrong) = (0_usize, 0.0, 0_usize);
        let mut met = vec![false; self.shares.len()];
        let mut before = ' ';
        for character in text.chars() {
            if character.is_ascii() {
                before = character;
                continue;
            }
            all += 1;
            // A capital behind a small letter is seldom right.
            wrong += usize::from(character.is_uppercase() && before.is_lowercase());
            before = character;
            let lower = character.to_lowercase().next().unwrap_or(character);
            let place = self.letters.chars().position(|letter| letter == lower);
            if let Some(met) = place.and_then(|place| met.get_mut(place)) {
                *met = true;
            }
            sum += place
                .and_then(|place| self.shares.get(place))
                .copied()
                .unwrap_or_default();
        }
        // The same few letters again and again are no language.
        if met.iter().filter(|met| **met).count() < FEWEST {
            return 0.0;
        }
        let expected: f64 = self.shares.iter().map(|share| share * share).sum::<f64>()
            / self.shares.iter().sum::<f64>();
        sum / all as f64 / expected - 2.0 * wrong as f64 / all as f64
    }
}

/// Decodes the words that consist mostly of letters above ASCII.
fn convert(text: &str, encoding: &'static Encoding) -> String {
    let mut converted = String::with_capacity(text.len() * 2);
    for (word, is_high) in words(text) {
        match is_high {
            true => decode(word, encoding, &mut converted),
            false => converted.push_str(word),
        }
    }
    converted
}

/// Decodes every character above ASCII.
fn convert_all(text: &str, encoding: &'static Encoding) -> String {
    let mut converted = String::with_capacity(text.len() * 2);
    decode(text, encoding, &mut converted);
    converted
}

fn decode(text: &str, encoding: &'static Encoding, to: &mut String) {
    let mut bytes = Vec::new();
    let flush = |bytes: &mut Vec<u8>, to: &mut String| {
        to.push_str(&encoding.decode_without_bom_handling(bytes).0);
        bytes.clear();
    };
    for character in text.chars() {
        match byte(character) {
            Some(byte) => bytes.push(byte),
            None => {
                flush(&mut bytes, to);
                to.push(character);
            }
        }
    }
    flush(&mut bytes, to);
}

/// Runs of letters and the rest between them, with whether at least half of the letters are above ASCII.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let in_word = is_part(first);
        let end = rest.find(|c| is_part(c) != in_word).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let letters = word.chars().count();
        let high = word
            .chars()
            .filter(|c| byte(*c).is_some_and(|byte| byte >= 0x80))
            .count();
        Some((word, in_word && high * 2 >= letters))
    })
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphabetic()
        || (!c.is_ascii()
            && byte(c).is_some()
            && c != '\u{a0}'
            && !matches!(c, '“' | '”' | '‘' | '’' | '–' | '—' | '•' | '…'))
}

/// The byte that was shown as this character.
fn byte(c: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(u32::from(c)) {
        return Some(byte);
    }
    if !('\u{152}'..='\u{2122}').contains(&c) {
        return None;
    }
    let place = HIGH_1252.chars().position(|known| known == c)?;
    u8::try_from(0x80 + place).ok()
}

/// The characters from 0x80 to 0x9f of windows-1252; control characters where there are none.
const HIGH_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

const RUSSIAN: Alphabet = Alphabet {
    letters: "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    shares: &[
        10.97, 8.45, 8.01, 7.35, 6.7, 6.26, 5.47, 4.73, 4.54, 4.4, 3.49, 3.21, 2.98, 2.81, 2.62,
        2.01, 1.9, 1.74, 1.7, 1.65, 1.59, 1.44, 1.21, 0.97, 0.94, 0.73, 0.64, 0.48, 0.36, 0.32,
        0.26, 0.04, 0.04,
    ],
};
const GREEK: Alphabet = Alphabet {
    letters: "αοιετσνηρπκμλςυδγχωάθφβίέόξήύώζψ",
    shares: &[
        9.5, 8.0, 7.4, 7.0, 7.8, 5.0, 6.3, 4.6, 4.3, 4.2, 4.0, 3.4, 2.9, 3.6, 3.3, 1.7, 1.7, 1.1,
        1.5, 2.2, 1.1, 0.8, 0.6, 2.3, 1.7, 2.0, 0.4, 1.5, 0.7, 1.2, 0.3, 0.2,
    ],
};
const HEBREW: Alphabet = Alphabet {
    letters: "יוהלאתרבמשנדעקםחפטצגכסןזץךף",
    shares: &[
        11.1, 10.4, 10.9, 7.4, 6.3, 5.0, 5.6, 4.7, 4.6, 4.4, 3.0, 2.6, 3.2, 2.1, 3.0, 2.5, 1.7,
        1.2, 1.2, 1.3, 2.7, 1.5, 2.0, 1.3, 0.2, 0.7, 0.2,
    ],
};
const ARABIC: Alphabet = Alphabet {
    letters: "اليمونرتبةعدسفهكقأحجشطصخضذئثىزغظءآؤ",
    shares: &[
        13.5, 12.0, 7.8, 6.5, 6.2, 5.9, 4.9, 4.8, 3.7, 3.2, 3.4, 3.1, 2.9, 2.8, 3.0, 2.1, 2.1, 2.0,
        1.9, 1.4, 1.2, 1.1, 1.0, 0.9, 0.6, 0.7, 0.4, 0.7, 0.5, 0.7, 0.5, 0.3, 0.3, 0.1, 0.1,
    ],
};
const WESTERN: Alphabet = Alphabet {
    letters: "éãçáíóêàèôúâõüäöñß",
    shares: &[
        25.0, 10.0, 10.0, 9.0, 8.0, 8.0, 6.0, 6.0, 5.0, 2.0, 3.0, 2.0, 2.0, 8.0, 8.0, 5.0, 5.0, 2.0,
    ],
};

const ALPHABETS: [(&str, &Encoding, &Alphabet); 7] = [
    ("windows-1251", WINDOWS_1251, &RUSSIAN),
    ("koi8-r", KOI8_R, &RUSSIAN),
    ("x-mac-cyrillic", X_MAC_CYRILLIC, &RUSSIAN),
    ("iso-8859-5", ISO_8859_5, &RUSSIAN),
    ("windows-1253", WINDOWS_1253, &GREEK),
    ("windows-1255", WINDOWS_1255, &HEBREW),
    ("windows-1256", WINDOWS_1256, &ARABIC),
];

/// [`WORDS`], to look up.
static WORD_SETS: LazyLock<Vec<(&str, &Encoding, HashSet<&str>)>> = LazyLock::new(|| {
    let sets = WORDS.into_iter();
    let sets = sets.map(|(name, encoding, words)| {
        // Words that both code pages show alike tell nothing: "için" is right either way.
        let tells = |word: &&str| {
            WINDOWS_1252
                .decode_without_bom_handling(&encoding.encode(word).0)
                .0
                != **word
        };
        (name, encoding, words.split(' ').filter(tells).collect())
    });
    sets.collect()
});

/// The commonest words of languages with letters that windows-1252 does not have; words without one are passed over.
const WORDS: [(&str, &Encoding, &str); 2] = [
    (
        "windows-1250",
        WINDOWS_1250,
        "się że są być także które który więc jeśli może będzie został można między czę\u{15b}ci wartość jeżeli funkcję \
         že při která který které jeho též může tedy však těchto měření výsledky případě více než když ještě říká její \
         před přes během několik větší především počet příkaz příklad použití dvě podobně například čísla \
         však môže ktoré ktorý ďalej medzi viac čo časť byť mať veľmi použiť súčasť ďalšie ľudí \
         če več način časa različne drugače pač \
         či što že može više između također češće koji će šta već takođe među način \
         hőmérséklet ő idő nagyobb később és első közötti lehetőség erő megfelelő működés következő ű elő időben \
         și să că în țară până după fără această funcție soluție decât ţi şi aceştia această există",
    ),
    (
        "windows-1254",
        WINDOWS_1254,
        "için değil olduğu olduğunu çalışma çalışmada çalışmanın şekilde bağlı sağlamak değer değeri değişken başka \
         işlem işlemi ılı karşı aynı nasıl arasında sayısı kadarı yapılan kullanılan tarafından ilgili aşağıdaki yılında \
         sonucı bazı şu olarak dışında doğru eğitim araştırma öğrenci öğretmen araştırmanın eğitimi",
    ),
];

const SAMPLE: usize = 30_000;
const FEWEST: usize = 10;
const LIKELY: f64 = 0.72;

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, encoding: &'static Encoding) -> String {
        let bytes = encoding.encode(text).0;
        WINDOWS_1252
            .decode_without_bom_handling(&bytes)
            .0
            .into_owned()
    }

    #[test]
    fn code_pages_are_told_by_their_letters() {
        let russian = "О некоторых свойствах решений дифференциальных уравнений второго порядка, и в частности с ядром";
        let greek =
            "Στην παρούσα εργασία μελετάμε τη συμπεριφορά των λύσεων και την εφαρμογή της μεθόδου";
        let hebrew = "במאמר זה אנו מציגים שיטה חדשה לניתוח נתונים שנאספו במדינות רבות";
        let arabic = "يهدف هذا البحث إلى دراسة العلاقة بين المتغيرات في المؤسسات التعليمية";
        for (text, encoding, name) in [
            (russian, WINDOWS_1251, "windows-1251"),
            (russian, KOI8_R, "koi8-r"),
            (russian, X_MAC_CYRILLIC, "x-mac-cyrillic"),
            (greek, WINDOWS_1253, "windows-1253"),
            (hebrew, WINDOWS_1255, "windows-1255"),
            (arabic, WINDOWS_1256, "windows-1256"),
        ] {
            assert_eq!(
                decoded(&broken(text, encoding)),
                Some((name, text.to_owned()))
            );
        }
    }

    #[test]
    fn code_pages_of_latin_letters_are_told_by_their_words() {
        let polish = "Okazuje się, że wyniki są zgodne, a metoda może być także użyta, więc można ją stosować, jeśli się chce";
        let turkish = "Bu çalışmada yöntem için değişken değeri aynı şekilde olduğu için değil, bağlı olduğu için başka";
        assert_eq!(
            decoded(&broken(polish, WINDOWS_1250)),
            Some(("windows-1250", polish.to_owned()))
        );
        assert_eq!(
            decoded(&broken(turkish, WINDOWS_1254)),
            Some(("windows-1254", turkish.to_owned()))
        );
    }

    #[test]
    fn bytes_of_utf8_are_joined() {
        let text = "Été à l’école: précédé, où, façade, œuvre, déjà, même, très";
        let broken = broken_utf8(text);
        assert_eq!(decoded(&broken), Some(("UTF-8", text.to_owned())));
    }

    #[test]
    fn words_that_both_code_pages_show_alike_do_not_hide_the_damage() {
        let czech = "Také výsledky, které byly měřeny při těchto podmínkách, lze tedy použít: případě větší, několik, před, přes, také, výsledky";
        let turkish = "Bu yöntem için değer, bunun için değişken, onun için değil, için aynı şekilde, için olduğu";
        for (text, encoding, name) in [
            (czech, WINDOWS_1250, "windows-1250"),
            (turkish, WINDOWS_1254, "windows-1254"),
        ] {
            assert_eq!(
                decoded(&broken(text, encoding)),
                Some((name, text.to_owned()))
            );
        }
    }

    #[test]
    fn signs_and_other_scripts_in_bytes_of_utf8_are_joined_too() {
        for text in [
            "§ 1 Name, § 2 Sitz, § 3 Zweck, § 4 Beiträge, « guillemets », 20 °C",
            "本文提出了一种方法，实验结果表明该方法有效。",
            "이 논문에서는 새로운 방법을 제안하고 실험으로 확인하였다",
        ] {
            let broken: String = text.bytes().map(char::from).collect();
            assert_eq!(decoded(&broken), Some(("UTF-8", text.to_owned())));
        }
    }

    fn broken_utf8(text: &str) -> String {
        WINDOWS_1252
            .decode_without_bom_handling(text.as_bytes())
            .0
            .into_owned()
    }

    #[test]
    fn western_languages_stay() {
        for text in [
            "Les élèves ont été très étonnés à l'idée d'être notés après la deuxième leçon, même si ça a été dit déjà",
            "Não é possível que as funções sejam também usadas; são então avaliações, decisões e informações à parte",
            "Größe, Höhe, Länge, Fläche; äöü für über müssen können möglich während",
            "Çok güzel: için, değil, olduğu, çalışma, şekilde, bağlı",
            "Őrült időben is működő, később erősebb",
        ] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
