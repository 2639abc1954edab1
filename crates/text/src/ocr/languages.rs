//! The languages in which tesseract reads: those that are installed, and those that the script of a page asks for.

use std::ffi::OsString;

use crate::engine::Engine;
use crate::work::{Call, Input, Work, cut_short};
use crate::{Extracted, Outcome, dispatch};
use process::{End, Output};

/// The languages that are installed, by the names of tesseract.
pub(crate) fn installed(work: &Work<'_>) -> Result<Vec<String>, Extracted> {
    let call = Call {
        arguments: vec!["--list-langs".into()],
        input: None,
        output: Output::Kept(LIST_BYTES),
        directory: None,
    };
    let ended = work.run_for(Engine::Tesseract, call, work.options().ocr.page_wall)?;
    if let Some(extracted) = cut_short(Engine::Tesseract, &ended) {
        return Err(extracted);
    }
    // Older versions print the list on standard error.
    let printed = String::from_utf8_lossy(&ended.printed).into_owned() + &ended.complaints;
    Ok(names(&printed))
}

/// The languages for a page: those of its script that are installed; `None` where the script cannot be told.
///
/// The error names the package of a script of which nothing is installed.
pub(crate) fn of_page(work: &Work<'_>, image: &Input) -> Result<Option<Vec<String>>, Extracted> {
    let installed = installed(work)?;
    let script = match installed.iter().any(|name| name == ORIENTATION) {
        true => script(work, image)?,
        false => None,
    };
    let Some(script) = script else {
        return Ok(None);
    };
    let found = choose(&script, &installed);
    if !found.is_empty() {
        return Ok(Some(found));
    }
    let wanted = wanted(&script).first().copied().unwrap_or(ENGLISH);
    let note = format!(
        "the page is in the script {script}, of which tesseract has no language; {}",
        package(wanted)
    );
    Err(Extracted::without_text(Outcome::EngineMissing, note))
}

/// How to get a language, in words.
pub(crate) fn package(language: &str) -> String {
    let package = language.to_ascii_lowercase().replace('_', "-");
    format!("`{language}` is in Debian's package tesseract-ocr-{package}")
}

/// The script that tesseract sees; `None` if there is too little to tell.
fn script(work: &Work<'_>, image: &Input) -> Result<Option<String>, Extracted> {
    let arguments = ["stdin", "stdout", "--psm", "0", "-l", ORIENTATION];
    let call = Call {
        arguments: arguments.map(OsString::from).to_vec(),
        input: Some(
            image
                .bytes()
                .map_err(|error| dispatch::unreadable(&error))?,
        ),
        output: Output::Kept(LIST_BYTES),
        directory: None,
    };
    let ended = work.run_for(Engine::Tesseract, call, work.options().ocr.page_wall)?;
    Ok(match ended.end {
        End::Code(0) => script_in(&String::from_utf8_lossy(&ended.printed)),
        _ => None,
    })
}

/// The script that is named, unless tesseract is not sure of it.
fn script_in(printed: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = printed.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
    };
    let confidence: f64 = value("Script confidence")?.parse().ok()?;
    let script = value("Script")?;
    let is_name = script
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    (confidence >= SURE && is_name).then(|| script.to_owned())
}

/// The installed languages of a script, at most a few: each of them takes its time.
fn choose(script: &str, installed: &[String]) -> Vec<String> {
    let of_script = |name: &&String| match script {
        // Latin is the script of all that have no other one.
        "Latin" => {
            let others = SCRIPTS.iter().flat_map(|(_, languages)| *languages);
            !SPECIAL.contains(&name.as_str()) && !others.copied().any(|other| other == *name)
        }
        script => wanted(script).contains(&name.as_str()),
    };
    let mut found: Vec<String> = installed.iter().filter(of_script).cloned().collect();
    let order = wanted(script);
    let place = |name: &String| order.iter().position(|known| known == name);
    found.sort_by_key(|name| (place(name).unwrap_or(usize::MAX), name != ENGLISH));
    found.truncate(MOST);
    // Foreign words and numbers stand in papers of every script.
    if !found.is_empty() && script != "Latin" && installed.iter().any(|name| name == ENGLISH) {
        found.push(ENGLISH.to_owned());
    }
    found
}

/// The languages of a script, the commonest first.
fn wanted(script: &str) -> &'static [&'static str] {
    let found = SCRIPTS.iter().find(|(known, _)| *known == script);
    found.map_or(&[], |(_, languages)| languages)
}

/// The names in a list of languages; its first line says where they lie.
fn names(printed: &str) -> Vec<String> {
    let is_name = |name: &&str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/'))
    };
    let lines = printed.lines().map(str::trim);
    let mut names: Vec<String> = lines.filter(is_name).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// Read where nothing else is known.
pub(crate) const ENGLISH: &str = "eng";
/// The data that tells scripts and orientation; not a language.
pub(crate) const ORIENTATION: &str = "osd";
/// Data of tesseract that are no languages.
const SPECIAL: [&str; 3] = [ORIENTATION, "equ", "snum"];
/// The most languages of a script that are tried together.
const MOST: usize = 3;
/// Below this confidence tesseract guesses.
const SURE: f64 = 1.0;
const LIST_BYTES: usize = 64 * 1024;

/// The names that tesseract has for scripts, and those of their languages.
const SCRIPTS: [(&str, &[&str]); 26] = [
    (
        "Cyrillic",
        &[
            "rus", "ukr", "bel", "bul", "srp", "mkd", "kaz", "kir", "mon", "tgk", "tat", "uzb_cyrl",
        ],
    ),
    ("Arabic", &["ara", "fas", "urd", "pus", "snd", "uig"]),
    (
        "Han",
        &["chi_sim", "chi_tra", "chi_sim_vert", "chi_tra_vert"],
    ),
    ("Japanese", &["jpn", "jpn_vert"]),
    ("Hangul", &["kor", "kor_vert"]),
    ("Korean", &["kor", "kor_vert"]),
    ("Greek", &["ell", "grc"]),
    ("Hebrew", &["heb", "yid"]),
    ("Devanagari", &["hin", "mar", "nep", "san"]),
    ("Bengali", &["ben", "asm"]),
    ("Thai", &["tha"]),
    ("Tamil", &["tam"]),
    ("Telugu", &["tel"]),
    ("Kannada", &["kan"]),
    ("Malayalam", &["mal"]),
    ("Gujarati", &["guj"]),
    ("Gurmukhi", &["pan"]),
    ("Oriya", &["ori"]),
    ("Sinhala", &["sin"]),
    ("Georgian", &["kat", "kat_old"]),
    ("Armenian", &["hye"]),
    ("Ethiopic", &["amh", "tir"]),
    ("Khmer", &["khm"]),
    ("Lao", &["lao"]),
    ("Myanmar", &["mya"]),
    ("Fraktur", &["deu_latf", "frk", "deu_frak"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn languages_are_read_from_the_list_of_tesseract() {
        let printed = "List of available languages in \"/usr/share/tessdata/\" (3):\nosd\neng\nscript/Latin\n";
        assert_eq!(names(printed), ["eng", "osd", "script/Latin"]);
    }

    #[test]
    fn the_script_is_told_where_tesseract_is_sure() {
        let printed = "Page number: 0\nScript: Cyrillic\nScript confidence: 4.17\n";
        assert_eq!(script_in(printed).as_deref(), Some("Cyrillic"));
        assert_eq!(script_in(&printed.replace("4.17", "0.10")), None);
        assert_eq!(script_in("Too few characters. Skipping this page\n"), None);
    }

    #[test]
    fn the_languages_of_a_script_are_those_that_are_installed() {
        let installed = list(&["bul", "deu", "eng", "fra", "osd", "rus"]);
        assert_eq!(choose("Cyrillic", &installed), ["rus", "bul", "eng"]);
        assert_eq!(choose("Latin", &installed), ["eng", "deu", "fra"]);
        assert!(choose("Thai", &installed).is_empty());
        assert_eq!(wanted("Thai"), ["tha"]);
        assert_eq!(
            package("chi_sim"),
            "`chi_sim` is in Debian's package tesseract-ocr-chi-sim"
        );
    }
}
