//! The work on one document: its deadline, and the programs that are run for it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::engine::{Engine, InstalledEngine, Missing, Program};
use super::scratch::{self, Scratch};
use super::{ExtractOptions, Extracted, Extractor, Limit, Outcome};
use process::{End, Ended, Limits, Output, Task};

pub(super) struct Work<'a> {
    extractor: &'a Extractor,
    deadline: Instant,
}

/// A program's call.
pub(super) struct Call<'a> {
    pub(super) arguments: Vec<OsString>,
    pub(super) input: Option<File>,
    pub(super) output: Output,
    pub(super) directory: Option<&'a Path>,
}

/// The bytes of a document, which can be read more than once.
pub(super) struct Input {
    file: File,
    pub(super) length: u64,
}

impl<'a> Work<'a> {
    pub(super) fn begin(extractor: &'a Extractor, wall: Duration) -> Self {
        Self {
            extractor,
            deadline: Instant::now() + wall,
        }
    }

    pub(super) fn options(&self) -> &'a ExtractOptions {
        &self.extractor.options
    }

    /// Whether a program is installed.
    pub(super) fn has(&self, engine: Engine) -> bool {
        self.extractor.engines.find(engine).is_ok()
    }

    /// Runs a program to its end, at the latest until the time for the document is over.
    pub(super) fn run(&self, engine: Engine, call: Call<'_>) -> Result<Ended, Extracted> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.run_for(engine, call, left)
    }

    /// Runs a program for so long at most.
    pub(super) fn run_for(
        &self,
        engine: Engine,
        call: Call<'_>,
        wall: Duration,
    ) -> Result<Ended, Extracted> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Extracted::without_text(
                Outcome::Limit(Limit::Time),
                TOO_LONG,
            ));
        }
        let found =
            self.extractor.engines.find(engine).map_err(|missing| {
                Extracted::without_text(Outcome::EngineMissing, missing.told())
            })?;
        let ended = self.task(&found, call, wall.min(left), &self.options().limits);
        let ended = ended.map_err(|error| {
            let why = format!("`{}` cannot be run: {error}", engine.program());
            Extracted::without_text(Outcome::Failed, why)
        })?;
        match ended.end {
            End::NotFound => {
                self.extractor.engines.forget(engine);
                let why = format!("`{}` is not where it was", engine.program());
                Err(Extracted::without_text(Outcome::EngineMissing, why))
            }
            End::NotBegun => Err(Extracted::without_text(
                Outcome::Failed,
                first_line(&ended.complaints),
            )),
            _ => Ok(ended),
        }
    }

    /// A directory for a program to write in.
    pub(super) fn scratch(&self) -> io::Result<Scratch> {
        let place = &self.options().temporary;
        self.extractor.swept.call_once(|| scratch::sweep(place));
        Scratch::make(place)
    }

    /// A program, whether it is installed, and its version.
    pub(super) fn program(&self, engine: Engine) -> Program {
        let Missing {
            program,
            package,
            purpose,
            ..
        } = engine.missing();
        let found = self.extractor.engines.find(engine).ok();
        let version = found.as_ref().map(|_| self.version(engine));
        let version = version.and_then(|told| Some(told.split_once(' ')?.1.to_owned()));
        Program {
            name: program,
            path: found.map(|found| match engine {
                Engine::Reader => "built in".into(),
                _ => found.path,
            }),
            version,
            package,
            without: purpose,
        }
    }

    /// A program's name and version.
    pub(super) fn version(&self, engine: Engine) -> String {
        self.extractor.engines.version(engine, || {
            let found = self.extractor.engines.find(engine).ok()?;
            let call = Call {
                arguments: vec![engine.version_option().into()],
                input: None,
                output: Output::Kept(VERSION_BYTES),
                directory: None,
            };
            let ended = self
                .task(&found, call, VERSION_WALL, &Limits::default())
                .ok()?;
            let printed = String::from_utf8_lossy(&ended.printed).into_owned();
            // Poppler's programs tell it on standard error.
            Some(printed + &ended.complaints)
        })
    }

    fn task(
        &self,
        found: &InstalledEngine,
        call: Call<'_>,
        wall: Duration,
        limits: &Limits,
    ) -> io::Result<Ended> {
        let mut environment = Vec::new();
        // Beside a program that is not the system's lie the libraries that it needs.
        let mut readable: Vec<PathBuf> = found
            .path
            .parent()
            .map(Path::to_owned)
            .into_iter()
            .collect();
        if found.engine == Engine::Tesseract {
            // One thread each: there are as many processes as were asked for.
            environment.push(("OMP_THREAD_LIMIT", "1".into()));
            let data = self.options().ocr.data.iter();
            environment.extend(data.clone().map(|data| ("TESSDATA_PREFIX", data.into())));
            readable.extend(data.cloned());
        }
        if call.directory.is_some() {
            // It is where they begin. The way there may be closed to them.
            environment.extend(["TMPDIR", "TEMP"].map(|name| (name, ".".into())));
        }
        self.options().confiner.run(Task {
            program: &found.path,
            arguments: call.arguments,
            environment,
            input: call.input,
            output: call.output,
            directory: call.directory,
            readable,
            wall,
            limits: limits.clone(),
            stop: Some(&self.options().stop),
        })
    }
}

impl Input {
    /// Opens a file. A pipe or a device is none: they might never end.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let without_waiting = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(without_waiting)
            .open(path)?;
        Self::of(file)
    }

    pub(super) fn of(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        Ok(Self {
            file,
            length: metadata.len(),
        })
    }

    /// The bytes from their beginning; one reader at a time.
    pub(super) fn bytes(&self) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }
}

/// The failure of a program that met a limit or crashed; `None` if it ended by itself.
pub(super) fn cut_short(engine: Engine, ended: &Ended) -> Option<Extracted> {
    let program = engine.program();
    let (outcome, note) = match ended.end {
        End::TimeOver => (Outcome::Limit(Limit::Time), TOO_LONG.to_owned()),
        End::TooMuchPrinted => (
            Outcome::Limit(Limit::Size),
            format!("`{program}` printed too much"),
        ),
        End::TooMuchWritten => (
            Outcome::Limit(Limit::Size),
            format!("`{program}` wrote more than it may"),
        ),
        _ if is_short_of_memory(ended) => (
            Outcome::Limit(Limit::Memory),
            format!("`{program}` needed more memory than it may have"),
        ),
        End::Signal(SIGXCPU) => (
            Outcome::Limit(Limit::Processor),
            format!("`{program}` took more processor time than it may"),
        ),
        End::Signal(SIGXFSZ) => (
            Outcome::Limit(Limit::Size),
            format!("`{program}` wrote a longer file than it may"),
        ),
        End::Signal(signal) => (
            Outcome::Failed,
            format!("`{program}` was ended by signal {signal}"),
        ),
        End::Code(_) | End::NotFound | End::NotBegun => return None,
    };
    Some(Extracted::without_text(outcome, note))
}

fn is_short_of_memory(ended: &Ended) -> bool {
    let said = [
        "out of memory",
        "bad_alloc",
        "cannot allocate memory",
        "vmerror",
    ];
    let complaints = ended.complaints.to_ascii_lowercase();
    ended.end != End::Code(0) && said.iter().any(|words| complaints.contains(words))
}

/// The first line of what a program complained of, for people.
pub(super) fn first_line(complaints: &str) -> String {
    let line = complaints
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let printable = line.unwrap_or_default().chars().filter(|c| !c.is_control());
    printable.take(LINE_CHARS).collect()
}

/// Why a program ended without what it was to do: its first complaint, or else its code.
pub(super) fn said(engine: Engine, ended: &Ended) -> String {
    match (first_line(&ended.complaints), ended.end) {
        (line, End::Code(code)) if line.is_empty() => {
            format!(
                "`{}` ended with code {code} and said nothing",
                engine.program()
            )
        }
        (line, _) => line,
    }
}

/// Arguments in the form that programs are given them.
pub(super) fn arguments<const N: usize>(arguments: [&str; N]) -> Vec<OsString> {
    arguments.map(OsString::from).into()
}

const TOO_LONG: &str = "it took longer than it may";
const SIGXCPU: i32 = rustix::process::Signal::XCPU.as_raw();
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();
const VERSION_WALL: Duration = Duration::from_secs(10);
const VERSION_BYTES: usize = 4096;
const LINE_CHARS: usize = 200;
