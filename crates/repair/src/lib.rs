#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod accents;
mod code_page;
mod forms;
mod front;
mod hyphens;
mod ligatures;
mod order;
mod rubbish;
mod spaced;

use std::borrow::Cow;

pub use front::{FrontMatter, front_matter, is_stamp};
pub use hyphens::join_hyphenated;
pub use rubbish::is_rubbish;

/// The repairs of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repairs {
    code_page: Option<&'static str>,
    ligatures: bool,
    accents: bool,
    forms: bool,
    spaced: bool,
    order: bool,
}

impl Repairs {
    /// The repairs in words; empty if the text was well.
    pub fn names(&self) -> Vec<String> {
        let flags = [
            (self.ligatures, "ligatures"),
            (self.forms, "forms of letters"),
            (self.accents, "accents beside letters"),
            (self.spaced, "spaces between letters"),
            (self.order, "reversed lines"),
        ];
        let code_page = self.code_page.map(|name| format!("code page {name}"));
        let done = flags.into_iter().filter(|(done, _)| *done);
        let others = done.map(|(_, name)| name.to_owned());
        code_page.into_iter().chain(others).collect()
    }

    /// Whether anything was repaired.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Repairs a text. Lines and pages stay where they are. A second call changes nothing more.
pub fn repair(text: &str) -> (Cow<'_, str>, Repairs) {
    let mut repairs = Repairs::default();
    let mut text = Cow::Borrowed(text);
    if !text.is_ascii() {
        if let Some((name, decoded)) = code_page::decoded(&text) {
            repairs.code_page = Some(name);
            text = Cow::Owned(decoded);
        }
        repairs.forms = apply(&mut text, forms::plain);
        repairs.accents = apply(&mut text, accents::joined);
        repairs.order = apply(&mut text, order::restored);
    }
    repairs.ligatures = apply(&mut text, ligatures::restored);
    repairs.spaced = apply(&mut text, spaced::closed);
    (text, repairs)
}

fn apply(text: &mut Cow<'_, str>, repair: impl Fn(&str) -> Option<String>) -> bool {
    let repaired = repair(text).filter(|repaired| repaired != text.as_ref());
    match repaired {
        Some(repaired) => {
            *text = Cow::Owned(repaired);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_well_is_not_touched() {
        for text in [
            "We study lichens on granite.\n\nReferences\n[1] A. Müller, “Über Flechten”, 2004.\x0c",
            "Исследование свойств функции расстояния при кластеризации временных рядов",
            "Çalışmada kullanılan yöntem aşağıda açıklanmıştır. Şekil 1",
            "本文提出了一种方法，实验结果表明该方法有效。",
            "يهدف هذا البحث إلى دراسة العلاقة بين المتغيرات",
            "A = { x | x² + y² ≤ 1 }, ∑ aᵢ → ∞, 𝑥 ∈ ℝ",
        ] {
            let (repaired, repairs) = repair(text);
            assert_eq!(repaired, text);
            assert!(repairs.is_empty(), "{repairs:?}");
        }
    }

    #[test]
    fn a_second_repair_changes_nothing_more() {
        for text in [
            "Èññëåäîâàòü ñâîéñòâà ôóíêöèè è îöåíèòü ïàðàìåòðû ìîäåëè ïî âûáîðêå",
            "M¨uller and ﬁrst e\x1bects, a b s t r a c t of the work",
            "Z\u{301}\u{302}\u{303}a\u{315}l\u{489}go "
                .repeat(50)
                .as_str(),
            "\0\x01\x1b\x1c\u{fffd}\u{e000}",
        ] {
            let (once, _) = repair(text);
            assert_eq!(repair(&once).0, once);
        }
    }
}
