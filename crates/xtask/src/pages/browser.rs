//! Headless Chromium, driven by the DevTools protocol through a pipe: requests and answers are JSON, each ended by a zero byte.
//!
//! It has the fonts that it is given and no others, so that a line breaks where it does on other machines. It does not judge
//! what it shows.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::view::View;
use crate::ci::watch;

/// Programs that are Chromium, as systems call it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The longest answer takes a second, and many more on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// The end of its errors, which says what went wrong.
const LINES_SHOWN: usize = 12;
/// Chromium reads requests from descriptor 3 and writes answers to descriptor 4.
const WITH_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;
/// Without a sandbox, which root and containers have not: it shows pages of ours. And it asks for nothing from anywhere.
const ARGUMENTS: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    // Memory of containers is often too small there.
    "--disable-dev-shm-usage",
];
const BLANK: &str = "about:blank";
/// Ends when the page and its letters are there.
const LOADED: &str = "new Promise((done) => (document.readyState === 'complete' ? done() : addEventListener('load', done)))\
                      .then(() => document.fonts.ready).then(() => true)";

/// The first program in `PATH` that is Chromium.
pub(super) fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places = NAMES.iter().flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    places.into_iter().find(|program| program.is_file())
}

/// A Chromium with one tab. It ends with all its processes when it is dropped.
pub(super) struct Browser {
    process: Child,
    requests: ChildStdin,
    answers: Receiver<Vec<u8>>,
    last_id: u64,
    /// The tab, once there is one.
    session: Option<String>,
    limit: Duration,
    /// Its profile and what it prints.
    directory: TempDir,
}

impl Browser {
    /// `fonts` is a configuration of fontconfig.
    pub(super) fn start(program: &Path, fonts: &Path) -> Result<Self> {
        let mut browser = Self::spawn(program, fonts, LIMIT)?;
        let tab = browser.call("Target.createTarget", &json!({ "url": BLANK }))?;
        let target = json!({ "targetId": tab["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &target)?;
        browser.session = Some(text_of(&attached, "sessionId")?.to_owned());
        Ok(browser)
    }

    fn spawn(program: &Path, fonts: &Path, limit: Duration) -> Result<Self> {
        let directory =
            tempfile::Builder::new().prefix("pages-").tempdir().context("cannot make a profile")?;
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPES]).arg(program).args(ARGUMENTS);
        command.arg(format!("--user-data-dir={}", directory.path().display()));
        command.env("FONTCONFIG_FILE", fonts).env("TMPDIR", directory.path());
        // Pages show times of the reader's zone, in words of the browser's language.
        command.env("TZ", "UTC").env("LANGUAGE", "en_US");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(errors_in(&directory))?);
        let mut process = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let (requests, output) =
            process.stdin.take().zip(process.stdout.take()).context("there is no pipe")?;
        Ok(Self { process, requests, answers: messages(output), last_id: 0, session: None, limit, directory })
    }

    /// Opens a page and waits until it is there.
    pub(super) fn show(&mut self, page: &Path, view: &View) -> Result<()> {
        let size =
            json!({ "width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": false });
        // Else the page before is laid out again.
        self.call("Page.navigate", &json!({ "url": BLANK }))?;
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let scheme = json!({ "name": "prefers-color-scheme", "value": view.scheme() });
        self.call("Emulation.setEmulatedMedia", &json!({ "media": view.medium(), "features": [scheme] }))?;
        let opened = self.call("Page.navigate", &json!({ "url": url(page) }))?;
        ensure!(opened["errorText"].is_null(), "cannot open {}: {}", page.display(), opened["errorText"]);
        self.evaluate::<bool>(LOADED).map(drop)
    }

    /// The window as PNG.
    pub(super) fn picture(&mut self) -> Result<Vec<u8>> {
        self.file("Page.captureScreenshot", &json!({ "format": "png" }))
    }

    /// The page on paper as PDF.
    pub(super) fn printed(&mut self) -> Result<Vec<u8>> {
        self.file("Page.printToPDF", &json!({ "preferCSSPageSize": true }))
    }

    /// What an expression of JavaScript comes to in the page. It may be a promise.
    pub(super) fn evaluate<T: DeserializeOwned>(&mut self, expression: &str) -> Result<T> {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &parameters)?;
        let thrown = &answer["exceptionDetails"];
        ensure!(thrown.is_null(), "a script failed in the page: {thrown}");
        serde_json::from_value(answer["result"]["value"].take()).context("cannot read what a script returned")
    }

    /// What a script returns: a function, which gets an argument, and a semicolon.
    pub(super) fn run<T: DeserializeOwned>(&mut self, script: &str, argument: &Value) -> Result<T> {
        let function = script.trim_end().trim_end_matches(';');
        self.evaluate(&format!("({function})({argument})"))
    }

    fn file(&mut self, method: &str, parameters: &Value) -> Result<Vec<u8>> {
        let answer = self.call(method, parameters)?;
        STANDARD
            .decode(text_of(&answer, "data")?)
            .with_context(|| format!("cannot read the file of {method}"))
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last_id += 1;
        let mut request = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let written = self.requests.write_all(format!("{request}\0").as_bytes());
        let silent = || anyhow!("Chromium did not answer {method}\n{}", self.errors());
        written.map_err(|_| silent())?;
        let deadline = Instant::now() + self.limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.answers.recv_timeout(left).map_err(|_| silent())?;
            let mut answer: Value = serde_json::from_slice(&message).context("cannot read an answer")?;
            // Events have no number.
            if answer["id"] != self.last_id {
                continue;
            }
            let error = &answer["error"];
            ensure!(error.is_null(), "Chromium refused {method}: {error}");
            return Ok(answer["result"].take());
        }
    }

    fn errors(&self) -> String {
        let text = std::fs::read(errors_in(&self.directory)).unwrap_or_default();
        end_of(&String::from_utf8_lossy(&text))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It fails only if there is no such process any more.
        let _ = watch::end_all(&mut self.process);
    }
}

fn errors_in(directory: &TempDir) -> PathBuf {
    directory.path().join("errors.txt")
}

/// Each message as it comes, without its zero byte. They end when Chromium does.
fn messages(output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, messages) = mpsc::channel();
    std::thread::spawn(move || {
        for message in BufReader::new(output).split(0).map_while(Result::ok) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}

fn text_of<'a>(answer: &'a Value, key: &str) -> Result<&'a str> {
    answer[key].as_str().with_context(|| format!("an answer of Chromium lacks `{key}`"))
}

/// The address of a file. Signs that mean something in addresses stand as numbers.
fn url(path: &Path) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    format!(
        "file://{}",
        path.as_os_str().as_encoded_bytes().iter().map(|byte| letter(*byte)).collect::<String>()
    )
}

fn end_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// What a script of the shell in place of Chromium answers to a request.
    fn answered(script: &str, limit: Duration) -> Result<Value> {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("chromium");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut browser = Browser::spawn(&program, Path::new("/nowhere"), limit).unwrap();
        browser.call("Page.enable", &json!({}))
    }

    #[test]
    fn an_answer_is_told_from_events_and_from_a_refusal() {
        let answer =
            answered(r#"printf '{"method":"event"}\0{"id":1,"result":{"a":"b"}}\0' >&4; cat <&3 >&2"#, LIMIT);
        assert_eq!(answer.unwrap(), json!({ "a": "b" }));
        let refused =
            answered(r#"printf '{"id":1,"error":{"message":"no such method"}}\0' >&4; cat <&3 >&2"#, LIMIT);
        assert!(refused.unwrap_err().to_string().contains("refused Page.enable: {\"message\":\"no such"));
    }

    #[test]
    fn a_crash_is_told_with_what_was_printed() {
        let crashed = answered("head -c 1 <&3; echo 'no room on /dev/shm' >&2; kill -SEGV $$", LIMIT);
        let crashed = crashed.unwrap_err().to_string();
        assert_eq!(crashed, "Chromium did not answer Page.enable\nno room on /dev/shm");
    }

    #[test]
    fn a_hang_is_ended_with_all_that_was_started() {
        let begin = Instant::now();
        let hung = answered("echo stuck >&2; sleep 600 & wait", Duration::from_millis(300)).unwrap_err();
        assert!(hung.to_string().starts_with("Chromium did not answer"), "{hung}");
        assert!(begin.elapsed() < LIMIT);
    }

    #[test]
    fn signs_of_addresses_are_escaped_in_paths() {
        assert_eq!(url(Path::new("/srv/a b/50%#1.html")), "file:///srv/a%20b/50%25%231.html");
    }

    #[test]
    fn the_end_of_a_long_output_is_shown() {
        let text: String = (1..=20).map(|line| format!("{line}\n")).collect();
        assert!(end_of(&text).starts_with("9\n") && end_of(&text).ends_with("\n20"));
    }
}
