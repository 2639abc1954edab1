//! The configuration that is in effect, and whether it has mistakes.

use flows::Checked;
use serde::Serialize;
use utoipa::ToSchema;

use super::Check;

/// The settings that were made; all others have their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Configuration {
    /// The files that were read; later ones win.
    pub files: Vec<String>,
    /// The settings.
    pub settings: Vec<ConfiguredSetting>,
    /// Deprecated keys, variables that mean nothing, files that could not be read.
    pub warnings: Vec<String>,
    /// Mistakes with which garner does not start.
    pub errors: Vec<String>,
}

/// A setting that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ConfiguredSetting {
    /// Its key, with the tables that it is in.
    #[schema(example = "jobs.workers")]
    pub key: String,
    /// Its value in TOML, without secrets.
    #[schema(example = "8")]
    pub value: String,
    /// The file, the variable, the credential or the option that it comes from.
    #[schema(example = "/etc/garner/garner.toml")]
    pub origin: String,
}

impl Configuration {
    /// The version of the program, as a finding.
    pub(super) fn version_check(&self) -> Check {
        let (version, kernel) = (env!("CARGO_PKG_VERSION"), kernel());
        Checked::ok("version", format!("garner {version} on Linux {kernel}")).into()
    }

    /// The mistakes in it, as findings.
    pub(super) fn checks(&self) -> Vec<Check> {
        let errors = self.errors.iter().map(|error| {
            let remedy = "mend the key; garner config show lists all settings and their files";
            Checked::problem("configuration", error, remedy)
        });
        let warnings = self.warnings.iter().map(|warning| {
            let remedy = "garner config check names all warnings; docs/reference/configuration.md has all keys";
            Checked::warning("configuration", warning, remedy)
        });
        let mut checks: Vec<Check> = errors.chain(warnings).map(Check::from).collect();
        if checks.is_empty() {
            let fine = Checked::ok("configuration", "the configuration has no mistakes");
            checks.push(fine.into());
        }
        checks
    }
}

/// The version of the kernel.
pub(super) fn kernel() -> String {
    let system = rustix::system::uname();
    system.release().to_string_lossy().into_owned()
}

impl From<Checked> for Check {
    fn from(checked: Checked) -> Self {
        Self {
            check: checked.check.to_owned(),
            state: checked.state.name().to_owned(),
            message: checked.message,
            remedy: checked.remedy,
        }
    }
}
