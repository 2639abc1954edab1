//! Whether everybody can use a page: axe-core in light and dark, and the width of a phone.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Browser;

/// The flaws of the page that a browser is at, in words that begin with `name`. `picture` says where its pictures go.
pub fn flaws(browser: &Browser, name: &str, picture: impl Fn(&str) -> PathBuf) -> Vec<String> {
    let file = name.trim_matches('/').replace(['/', ' ', '{', '}'], "-");
    let file = format!("page-{}", if file.is_empty() { "dashboard" } else { &file });
    browser.set_dark(false);
    browser.run(&axe(), &[]);
    let mut wrong = violations(browser, &json!({ "type": "tag", "values": TAGS }));
    browser.picture(&picture(&file));
    browser.set_dark(true);
    let contrast = json!({ "type": "rule", "values": ["color-contrast"] });
    let dark = violations(browser, &contrast).into_iter();
    wrong.extend(dark.map(|wrong| format!("in the dark: {wrong}")));
    browser.set_dark(false);
    browser.set_width(PHONE);
    let widest = browser.run(WIDEST, &[]);
    if widest[0].as_u64().unwrap() > u64::from(PHONE) {
        wrong.push(format!("wider than a phone: {widest}"));
    }
    browser.picture(&picture(&format!("{file}-phone")));
    browser.set_width(0);
    wrong
        .into_iter()
        .map(|wrong| format!("{name}: {wrong}"))
        .collect()
}

fn violations(browser: &Browser, rules: &Value) -> Vec<String> {
    let script = "const done = arguments[arguments.length - 1]; \
        axe.run(document, { runOnly: arguments[0], resultTypes: ['violations'] }).then( \
            (got) => done(got.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | ').slice(0, 600)}`)), \
            (error) => done([`axe failed: ${error}`]))";
    let found = browser.run_on(script, std::slice::from_ref(rules));
    let found = found.as_array().unwrap().iter();
    found.map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// The rules by which pages are checked.
fn axe() -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.axe");
    let versions = std::fs::read_dir(place).expect("run scripts/setup test");
    let newest = versions.map(|version| version.unwrap().path()).max();
    std::fs::read_to_string(newest.unwrap().join("axe_playwright_python/axe.min.js")).unwrap()
}

const PHONE: u32 = 390;
const TAGS: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];
/// How wide the page is, and what sticks out of it.
const WIDEST: &str = "const wide = (one) => one.getBoundingClientRect().right > innerWidth + 1; \
    const page = document.documentElement.scrollWidth; \
    return [page, page > innerWidth ? [...document.querySelectorAll('body *')].filter(wide).slice(0, 5).map((one) => one.outerHTML.slice(0, 150)) : []]";
