//! A real Chromium, steered as a person would: what is pressed and filled in is found by the words that are seen.
//!
//! It is spoken to by the WebDriver protocol, through chromedriver.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{fetch, from_base64};

/// A browser with one window; it is closed when dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    session: String,
    _profile: TempDir,
}

/// The answer of chromedriver, or its error.
type Answered = Result<Value, String>;

impl Browser {
    /// Starts one that nobody has used before.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed by scripts/setup test");
        let port = port(driver.stdout.take().unwrap());
        let mut browser = Self {
            driver,
            session: format!("http://127.0.0.1:{port}/session"),
            _profile: profile,
        };
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            // Browsers are removing it, so nothing may need it.
            "--disable-features=XSLT",
            "--no-first-run",
            "--no-proxy-server",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            "--window-size=1280,900",
            &profile,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let made = browser.ask("POST", "", &wanted).unwrap();
        let id = made["sessionId"].as_str().unwrap();
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    /// Goes to an address and waits until the page is there.
    pub fn open(&self, url: &str) {
        self.ask("POST", "/url", &json!({ "url": url })).unwrap();
    }

    /// Its URL.
    pub fn url(&self) -> String {
        let url = self.ask("GET", "/url", &Value::Null).unwrap();
        url.as_str().unwrap().to_owned()
    }

    /// The path of where it is, without what is asked for there.
    pub fn path(&self) -> String {
        let url = self.url();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        format!("/{}", path.split(['?', '#']).next().unwrap_or_default())
    }

    /// Runs a piece of script in the page and gives what it returns.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.try_run(script, arguments).unwrap()
    }

    /// Runs a piece of script that calls its last argument with what it has found in the end.
    pub fn run_on(&self, script: &str, arguments: &[Value]) -> Value {
        let order = json!({ "script": script, "args": arguments });
        self.ask("POST", "/execute/async", &order).unwrap()
    }

    /// The text that a person reads on the page.
    pub fn text(&self) -> String {
        let text = self.run("return document.body.innerText", &[]);
        text.as_str().unwrap().to_owned()
    }

    /// The text of the first element that a selector finds; empty if there is none.
    pub fn text_of(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.innerText ?? ''";
        let text = self.run(script, &[selector.into()]);
        text.as_str().unwrap().trim().to_owned()
    }

    /// How many elements a selector finds.
    pub fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        self.run(script, &[selector.into()]).as_u64().unwrap()
    }

    /// Waits until a text is read on the page.
    pub fn wait_for(&self, text: &str) {
        self.wait(&format!("`{text}` is read"), || self.text().contains(text));
    }

    /// Waits until something holds.
    pub fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(
                began.elapsed() < LONGEST,
                "waited in vain until {what}; at {}:\n{}",
                self.url(),
                self.text()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses a button or a link by its words, or by how they begin.
    pub fn press(&self, words: &str) {
        let script = format!("{FINDERS} return pressed(arguments[0])");
        self.act(&format!("`{words}` can be pressed"), &script, words, |e| {
            self.ask("POST", &format!("/element/{e}/click"), &json!({}))
        });
    }

    /// Presses the element that a selector finds.
    pub fn press_at(&self, selector: &str) {
        let script = "return document.querySelector(arguments[0])";
        self.act(
            &format!("{selector} can be pressed"),
            script,
            selector,
            |e| self.ask("POST", &format!("/element/{e}/click"), &json!({})),
        );
    }

    /// Whether there is a button or a link with such words.
    pub fn offers(&self, words: &str) -> bool {
        let script = format!("{FINDERS} return pressed(arguments[0]) !== null");
        self.run(&script, &[words.into()]).as_bool().unwrap()
    }

    /// Types into the field with a label, in place of what is there.
    pub fn fill(&self, label: &str, text: &str) {
        let script = format!("{FINDERS} return labelled(arguments[0])");
        self.act(
            &format!("`{label}` can be filled in"),
            &script,
            label,
            |e| {
                self.ask("POST", &format!("/element/{e}/clear"), &json!({}))?;
                self.ask(
                    "POST",
                    &format!("/element/{e}/value"),
                    &json!({ "text": text }),
                )
            },
        );
    }

    /// Chooses from the list with a label, by how an option begins.
    pub fn choose(&self, label: &str, option: &str) {
        let script = format!(
            "{FINDERS} return [...(labelled(arguments[0])?.options ?? [])].find((one) => one.text.startsWith({})) ?? null",
            json!(option)
        );
        self.act(
            &format!("`{option}` can be chosen as `{label}`"),
            &script,
            label,
            |e| self.ask("POST", &format!("/element/{e}/click"), &json!({})),
        );
        // When a person chooses that is an input as well; chromedriver only tells of the change.
        let input = format!(
            "{FINDERS} labelled(arguments[0])?.dispatchEvent(new Event('input', {{ bubbles: true }}))"
        );
        self.run(&input, &[label.into()]);
    }

    /// The value of the field with a label.
    pub fn value(&self, label: &str) -> String {
        let script = format!("{FINDERS} return labelled(arguments[0])?.value ?? ''");
        let value = self.run(&script, &[label.into()]);
        value.as_str().unwrap().to_owned()
    }

    /// Presses a key, such as Tab (`\u{e004}`).
    pub fn key(&self, key: &str) {
        let order = json!({ "actions": [{ "type": "key", "id": "keys", "actions": [
            { "type": "keyDown", "value": key }, { "type": "keyUp", "value": key },
        ] }] });
        self.ask("POST", "/actions", &order).unwrap();
    }

    /// Makes the window so wide; 0 is the usual width.
    pub fn set_width(&self, width: u32) {
        match width {
            0 => self.command("Emulation.clearDeviceMetricsOverride", &json!({})),
            width => self.command(
                "Emulation.setDeviceMetricsOverride",
                &json!({ "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": false }),
            ),
        }
    }

    /// Whether its owner likes pages to be dark.
    pub fn set_dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        let media = json!({ "features": features });
        self.command("Emulation.setEmulatedMedia", &media);
    }

    /// Switches the scripts of pages off.
    pub fn switch_scripts_off(&self) {
        let off = json!({ "value": true });
        self.command("Emulation.setScriptExecutionDisabled", &off);
    }

    /// Forgets all cookies.
    pub fn forget_cookies(&self) {
        self.ask("DELETE", "/cookie", &Value::Null).unwrap();
    }

    /// Keeps a picture of the whole page, or of what is in the window where Chromium finds the page too large.
    pub fn picture(&self, path: &Path) {
        let take = |whole: bool| {
            let what = json!({ "format": "png", "captureBeyondViewport": whole });
            let order = json!({ "cmd": "Page.captureScreenshot", "params": what });
            self.ask("POST", "/goog/cdp/execute", &order)
        };
        let made = take(true).or_else(|refused| match refused.contains("too large") {
            true => take(false),
            false => Err(refused),
        });
        let made = made.unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, from_base64(made["data"].as_str().unwrap())).unwrap();
    }

    /// The browser's complaints since the last call, except for HTTP errors.
    pub fn complaints(&self) -> Vec<String> {
        let order = json!({ "type": "browser" });
        let log = self.ask("POST", "/se/log", &order).unwrap();
        let entries = log.as_array().unwrap().iter();
        let entries = entries.filter(|entry| entry["source"] != "network");
        entries
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Finds an element and does something with it, again and again until it works: parts of pages come and go.
    fn act(&self, what: &str, script: &str, words: &str, act: impl Fn(&str) -> Answered) {
        let mut refused = None;
        let began = Instant::now();
        while began.elapsed() < LONGEST {
            let found = self.try_run(script, &[words.into()]);
            // A person scrolls to what lies under the head of the page.
            if let (Some(_), Ok(found)) = (&refused, &found) {
                let _ = self.try_run(INTO_VIEW, std::slice::from_ref(found));
            }
            let done = found.and_then(|found| match found[ELEMENT].as_str() {
                Some(element) => act(element),
                None => Err("there is none".to_owned()),
            });
            match done {
                Ok(_) => return,
                Err(reason) => refused = Some(reason),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!(
            "waited in vain until {what}: {refused:?}; at {}:\n{}",
            self.url(),
            self.text()
        );
    }

    fn try_run(&self, script: &str, arguments: &[Value]) -> Answered {
        let order = json!({ "script": script, "args": arguments });
        self.ask("POST", "/execute/sync", &order)
    }

    fn command(&self, name: &str, parameters: &Value) {
        let order = json!({ "cmd": name, "params": parameters });
        self.ask("POST", "/goog/cdp/execute", &order).unwrap();
    }

    fn ask(&self, method: &str, path: &str, order: &Value) -> Answered {
        let body = match order {
            Value::Null => String::new(),
            order => order.to_string(),
        };
        let url = format!("{}{path}", self.session);
        let kind = ("Content-Type", "application/json");
        let response = fetch(method, &url, &[kind], body.as_bytes());
        let mut answer: Value = serde_json::from_slice(&response.body).unwrap();
        match response.status {
            200 => Ok(answer["value"].take()),
            _ => Err(format!("{method} {path}: {}", answer["value"])),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // This ends Chromium; chromedriver alone would leave it behind.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = self.ask("DELETE", "", &Value::Null);
        }));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Reads where chromedriver listens; what it says later is read away.
fn port(output: ChildStdout) -> u16 {
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    std::thread::spawn(move || lines.for_each(drop));
    port.expect("chromedriver did not start")
}

/// How elements are named in answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const LONGEST: Duration = Duration::from_secs(30);
/// Scrolls an element to the middle of the window, if there is one.
const INTO_VIEW: &str = "arguments[0]?.scrollIntoView({ block: 'center' })";
/// Finds what a person would.
const FINDERS: &str = r#"
const words = (one) => (one.innerText || one.value || one.getAttribute("aria-label") || "").replace(/\s+/g, " ").trim();
const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
const best = (all, text) => all.find((one) => words(one) === text) ?? all.find((one) => words(one).startsWith(text)) ?? null;
const pressed = (text) => best(seen("main button, main a, main summary"), text) ?? best(seen("button, a, summary"), text);
const labelled = (text) => { const label = best(seen("label"), text); return label && label.control; };
"#;
