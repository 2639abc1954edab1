//! The programs that read documents: where they are, and which version they have.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Mutex;

use super::reader::PDF_READER;

/// A program that reads documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Pdftotext,
    /// Our own, which is always there.
    Reader,
    Pdfimages,
    Pdftoppm,
    Ghostscript,
    Tesseract,
}

/// A program that is not installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub program: &'static str,
    /// The package of Debian that has it.
    pub package: &'static str,
    /// The work that cannot be done without it.
    pub purpose: &'static str,
    /// Whether only documents that consist of images need it.
    pub is_for_images: bool,
}

/// A program that reads documents, installed or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its path, if it is installed.
    pub path: Option<PathBuf>,
    /// Its version, if it tells it.
    pub version: Option<String>,
    /// The package of Debian that has it.
    pub package: &'static str,
    /// The consequence of its absence.
    pub without: &'static str,
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InstalledEngine {
    pub(super) engine: Engine,
    pub(super) path: PathBuf,
}

/// All programs, and what is known of them.
#[derive(Debug)]
pub(super) struct Engines {
    directories: Vec<PathBuf>,
    known: [Mutex<Known>; Engine::ALL.len()],
}

#[derive(Debug, Default)]
struct Known {
    path: Option<PathBuf>,
    version: Option<String>,
    told: bool,
}

impl Engine {
    pub(super) const ALL: [Self; 6] = [
        Self::Pdftotext,
        Self::Reader,
        Self::Pdfimages,
        Self::Pdftoppm,
        Self::Ghostscript,
        Self::Tesseract,
    ];

    pub(super) fn program(self) -> &'static str {
        self.missing().program
    }

    /// The option by which it tells its version.
    pub(super) fn version_option(self) -> &'static str {
        match self {
            Self::Pdftotext | Self::Pdfimages | Self::Pdftoppm => "-v",
            Self::Reader | Self::Ghostscript | Self::Tesseract => "--version",
        }
    }

    pub(super) fn missing(self) -> Missing {
        let (program, package, purpose) = match self {
            Self::Pdftotext => (
                "pdftotext",
                "poppler-utils",
                "PDF is read by garner itself, which knows less of columns and tables",
            ),
            Self::Reader => (
                PDF_READER.name,
                "garner, built with the feature pdf-reader",
                "PDF is not read",
            ),
            Self::Pdfimages => (
                "pdfimages",
                "poppler-utils",
                "pages without text are drawn to see whether they are images, which takes longer",
            ),
            Self::Pdftoppm => (
                "pdftoppm",
                "poppler-utils",
                "scans are not recognised as such",
            ),
            Self::Ghostscript => ("gs", "ghostscript", "PostScript is not read"),
            Self::Tesseract => (
                "tesseract",
                "tesseract-ocr",
                "no text is recognised in images",
            ),
        };
        Missing {
            program,
            package,
            purpose,
            is_for_images: matches!(self, Self::Pdfimages | Self::Pdftoppm | Self::Tesseract),
        }
    }
}

impl Missing {
    /// The missing part and how to get it, in words.
    pub fn told(&self) -> String {
        let Self {
            program, package, ..
        } = self;
        match *program == PDF_READER.name {
            true => format!("`{program}` is not built in; it is in {package}"),
            false => format!("`{program}` is not installed; it is in Debian's package {package}"),
        }
    }
}

impl Engines {
    pub(super) fn new(path: &OsStr) -> Self {
        let directories = std::env::split_paths(path).filter(|path| path.is_absolute());
        Self {
            directories: directories.collect(),
            known: Default::default(),
        }
    }

    /// Where a program is. One that is missing is looked for again each time, for somebody may install it.
    pub(super) fn find(&self, engine: Engine) -> Result<InstalledEngine, Missing> {
        if engine == Engine::Reader {
            let path = PDF_READER.name.into();
            return match cfg!(feature = "pdf-reader") {
                true => Ok(InstalledEngine { engine, path }),
                false => Err(engine.missing()),
            };
        }
        let mut known = self.known(engine);
        if let Some(path) = &known.path {
            return Ok(InstalledEngine {
                engine,
                path: path.clone(),
            });
        }
        let Some(path) = self.look_for(engine.program()) else {
            let missing = engine.missing();
            if !known.told {
                known.told = true;
                tracing::warn!("{}; until then {}", missing.told(), missing.purpose);
            }
            return Err(missing);
        };
        known.path = Some(path.clone());
        known.told = false;
        Ok(InstalledEngine { engine, path })
    }

    /// Takes notice that a program is not where it was.
    pub(super) fn forget(&self, engine: Engine) {
        *self.known(engine) = Known::default();
    }

    /// The name and the version of a program, which `ask` finds out the first time.
    pub(super) fn version(&self, engine: Engine, ask: impl FnOnce() -> Option<String>) -> String {
        if engine == Engine::Reader {
            return format!("{} {}", PDF_READER.name, env!("CARGO_PKG_VERSION"));
        }
        let asked = self.known(engine).version.clone();
        let version = asked.unwrap_or_else(|| {
            // One that does not tell is not asked again.
            let version = number_in(&ask().unwrap_or_default()).to_owned();
            self.known(engine).version = Some(version.clone());
            version
        });
        let name = match engine {
            Engine::Ghostscript => "ghostscript",
            other => other.program(),
        };
        match version.as_str() {
            "" => name.to_owned(),
            version => format!("{name} {version}"),
        }
    }

    pub(super) fn missing(&self) -> Vec<Missing> {
        let missing = Engine::ALL.map(|engine| self.find(engine).err());
        missing.into_iter().flatten().collect()
    }

    fn look_for(&self, program: &str) -> Option<PathBuf> {
        let mut places = self
            .directories
            .iter()
            .map(|directory| directory.join(program));
        places.find(|place| {
            let metadata = place.metadata();
            metadata.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        })
    }

    fn known(&self, engine: Engine) -> std::sync::MutexGuard<'_, Known> {
        let known = self.known[engine as usize].lock();
        known.unwrap_or_else(|error| error.into_inner())
    }
}

/// The first word with a digit at its beginning, as in "pdftotext version 22.12.0".
fn number_in(printed: &str) -> &str {
    let mut words = printed.split_whitespace();
    let number = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let number = number.unwrap_or_default();
    let end = number.find(|c: char| !(c.is_ascii_alphanumeric() || ".-+~".contains(c)));
    &number[..end.unwrap_or(number.len()).min(MOST_VERSION)]
}

const MOST_VERSION: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        assert_eq!(
            number_in("pdftotext version 22.12.0\nCopyright 2005"),
            "22.12.0"
        );
        assert_eq!(number_in("10.00.0\n"), "10.00.0");
        assert_eq!(number_in("tesseract 5.3.0\n leptonica-1.82.0"), "5.3.0");
        assert_eq!(number_in("no such thing"), "");
    }

    #[test]
    fn a_program_that_is_installed_later_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let engines = Engines::new(folder.path().as_os_str());
        let missing = engines.find(Engine::Pdftotext).unwrap_err();
        assert_eq!(missing.package, "poppler-utils");

        let program = folder.path().join("pdftotext");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        assert!(
            engines.find(Engine::Pdftotext).is_err(),
            "it cannot be executed"
        );
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();

        assert_eq!(engines.find(Engine::Pdftotext).unwrap().path, program);
    }
}
