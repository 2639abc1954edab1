//! The programs that read documents, and how they are confined.

use process::Confiner;
use text::{Extractor, Program};

use super::Checked;
use crate::extract_options;

/// The programs that read documents, and how they are confined. To find out starts some of them.
#[derive(Debug, Clone, Default)]
pub struct SystemProbe {
    /// All of them, installed or not.
    pub programs: Vec<Program>,
    /// The languages in which scans are recognised; none where tesseract is missing.
    pub languages: Option<Vec<String>>,
    /// Whether the script of a page can be told, by which languages are chosen.
    pub tells_scripts: bool,
    /// The protections that this system lacks, in words; none where all hold.
    pub lacks: Vec<String>,
}

impl SystemProbe {
    /// Looks at the programs that garner calls, and at how they are confined.
    pub fn take(confiner: Confiner) -> Self {
        let extractor = Extractor::new(extract_options(confiner, 1, &[]));
        let languages = extractor.languages().ok();
        Self {
            programs: extractor.programs(),
            tells_scripts: languages.is_some() && extractor.tells_scripts(),
            languages,
            lacks: extractor.lacks(),
        }
    }

    /// The same as findings with their remedies.
    pub fn checks(&self) -> Vec<Checked> {
        let mut checked = self.check_programs();
        checked.extend(self.check_languages());
        checked.extend(self.check_confinement());
        checked
    }

    fn check_programs(&self) -> Vec<Checked> {
        let missing = self
            .programs
            .iter()
            .filter(|program| program.path.is_none());
        let missing = missing.map(|program| {
            let said = format!("`{}` is not installed: {}", program.name, program.without);
            Checked::warning("programs", said, format!("apt install {}", program.package))
        });
        let missing: Vec<_> = missing.collect();
        match missing.is_empty() {
            true => vec![Checked::ok(
                "programs",
                "all programs that read documents are installed",
            )],
            false => missing,
        }
    }

    /// Without tesseract there is nothing to say.
    fn check_languages(&self) -> Option<Checked> {
        let languages = self.languages.as_ref()?;
        let names = languages.join(", ");
        Some(match (languages.is_empty(), self.tells_scripts) {
            (true, _) => Checked::warning(
                "languages",
                "tesseract has no language, so no text is recognised in images",
                "apt install tesseract-ocr-eng, or set TESSDATA_PREFIX to the directory of its data",
            ),
            (_, false) => Checked::warning(
                "languages",
                format!("scans are recognised in {names}, but the script of a page cannot be told"),
                "apt install tesseract-ocr-osd",
            ),
            _ => Checked::ok("languages", format!("scans are recognised in {names}")),
        })
    }

    fn check_confinement(&self) -> Vec<Checked> {
        if self.lacks.is_empty() {
            let said = "programs that read documents run confined";
            return vec![Checked::ok("confinement", said)];
        }
        let lacks = self.lacks.iter().map(|lack| {
            Checked::warning(
                "confinement",
                format!("programs that read documents are confined less than they should be: {lack}"),
                "use Linux 6.7 or newer, and a user of its own; in a container see docs/guides/operate.md",
            )
        });
        lacks.collect()
    }
}
