//! The model that judges documents: the one that is built in, a file, or the rule of the original importer.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use document::classify::{CDI_2012, Classifier};

/// Loads a model by its name: a file that `garner classifier train` made, or `cdi-2012`; none is the built-in one.
pub fn load_model(name: Option<&str>) -> anyhow::Result<Cow<'static, Classifier>> {
    match name {
        None => Ok(Cow::Borrowed(Classifier::built_in())),
        Some(CDI_2012) => Ok(Cow::Owned(Classifier::cdi_2012())),
        Some(path) => Ok(Cow::Owned(read(Path::new(path))?)),
    }
}

fn read(path: &Path) -> anyhow::Result<Classifier> {
    let name = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot read the model {name}"))?;
    let read = file.take(LARGEST).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read the model {name}"))?;
    Classifier::read(&bytes).with_context(|| name.to_string())
}

/// Models have a few megabytes; nothing larger is one.
const LARGEST: u64 = 64 * 1024 * 1024;
