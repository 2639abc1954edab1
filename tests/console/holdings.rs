//! Harvests and records: found, compared, downloaded, read.

use test_support::{Misbehaving, Script};

use super::{Console, account, picture};
use crate::managed::Managed;

#[test]
fn harvests_are_compared_and_downloaded_and_their_records_found() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    account(&managed, "vic", "viewer");
    let base_url = repository.base_url();
    managed.garner(&["harvest", &base_url, "--quiet"]);
    managed.garner(&["harvest", &base_url, "--quiet", "--full"]);
    let console = Console::start(managed, "");
    let browser = console.browser("vic");

    browser.open(&console.at("/history/2"));
    browser.wait("the old address leads to the run", || {
        browser.path() == "/runs/2"
    });
    browser.press("Compare with run 1");
    browser.wait("they are compared", || browser.path() == "/runs/compare");
    let text = browser.text();
    for words in ["Counts", "Settings that differ", "–27"] {
        assert!(
            text.replace(['-', '\u{2212}'], "–").contains(words),
            "{words} is missing:\n{text}"
        );
    }
    browser.picture(&picture("compare"));

    browser.open(&console.at("/runs/all"));
    let download = "const [done] = [arguments[arguments.length - 1]]; \
        const link = [...document.querySelectorAll('a')].find((one) => one.innerText === 'CSV'); \
        fetch(link.href).then(async (got) => done([got.headers.get('content-disposition'), await got.text()]))";
    let downloaded = browser.run_on(download, &[]);
    let csv = downloaded[1].as_str().unwrap();
    assert!(downloaded[0].as_str().unwrap().contains(".csv"));
    assert!(csv.starts_with("id,kind,state,title,"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    browser.open(&console.at("/runs/all?state=failed"));
    browser.wait_for("No runs match these filters.");

    // Words are found as soon as the manager has read the records.
    let sought = console.at("/records?text=%22record+7%22");
    browser.wait("records can be searched", || {
        browser.open(&sought);
        browser.count("#rows tbody tr") == 1
    });
    browser.press("Records");
    browser.wait_for("30 items");
    browser.fill("Search", "\"record 7\"");
    browser.wait("it is found while one types", || {
        browser.count("#rows tbody tr") == 1
    });
    browser.picture(&picture("search"));
    browser.press("Record 7: café");
    browser.wait_for("Origin");
    assert_eq!(browser.text_of("h1"), "Record 7: café");
    assert!(browser.text_of(".xml").contains("Author, A."));
    browser.press("harvest 1");
    browser.wait_for("Settings");
    let funnel = browser.text_of(".funnel");
    assert!(funnel.contains("27 new records"), "{funnel}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
