//! How text is extracted.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use process::{Confiner, Limits};

/// How text is extracted.
#[derive(Debug, Clone)]
pub struct ExtractOptions {
    /// How programs are confined.
    pub confiner: Confiner,
    /// Where programs are looked for: directories with colons between them.
    pub path: OsString,
    /// Where temporary files are made.
    pub temporary: PathBuf,
    /// How many documents are worked on at a time.
    pub parallel: usize,
    /// Only the first so many pages, where there are pages; none: all of them.
    pub pages: Option<u32>,
    /// Whether Office documents are read.
    pub office: bool,
    /// How long one document may take.
    pub wall: Duration,
    /// The limits of each program.
    pub limits: Limits,
    /// How long a text may be; the rest of it is cut off.
    pub text_bytes: usize,
    /// How long a document may be when it is unpacked.
    pub unpacked_bytes: u64,
    /// How text is recognised in images.
    pub ocr: OcrOptions,
    /// Once this is set, programs are ended at once, and what was not read by then has taken too long.
    pub stop: Arc<AtomicBool>,
}

/// How text is recognised in images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrOptions {
    /// Languages by the names of tesseract, such as `eng`; none: those of the script of the first page.
    pub languages: Vec<String>,
    /// Where tesseract has its languages; none: where it was installed.
    pub data: Option<PathBuf>,
    /// How many documents are recognised at a time.
    pub parallel: usize,
    /// How long one document may take.
    pub wall: Duration,
    /// How long one page may take.
    pub page_wall: Duration,
    /// The most pages of a document, also if all are asked for.
    pub pages: u32,
}

impl ExtractOptions {
    /// The usual ones.
    pub fn new(confiner: Confiner) -> Self {
        Self {
            confiner,
            path: std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into()),
            temporary: std::env::temp_dir(),
            parallel: std::thread::available_parallelism().map_or(1, usize::from),
            pages: None,
            office: false,
            wall: Duration::from_secs(60),
            limits: Limits::default(),
            text_bytes: 20 * 1024 * 1024,
            unpacked_bytes: 256 * 1024 * 1024,
            ocr: OcrOptions::default(),
            stop: Arc::default(),
        }
    }
}

impl Default for OcrOptions {
    fn default() -> Self {
        Self {
            languages: Vec::new(),
            data: std::env::var_os("TESSDATA_PREFIX")
                .filter(|value| !value.is_empty())
                .map(PathBuf::from),
            parallel: 1,
            wall: Duration::from_secs(30 * 60),
            page_wall: Duration::from_secs(60),
            pages: 500,
        }
    }
}

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
