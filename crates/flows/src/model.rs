//! The model that judges documents: the one that is built in, a file, or the rule of the original importer.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Context;
use classifier::{CDI_2012, Classifier};
use crawl::Roots;

/// Loads a model by its name: a file that `garner classifier train` made, or `cdi-2012`; none is the built-in one.
pub fn load_model(name: Option<&str>) -> anyhow::Result<Cow<'static, Classifier>> {
    load_model_in(name, &Roots::default())
}

/// The same, from a file that lies in one of the `roots`.
pub(crate) fn load_model_in(
    name: Option<&str>,
    roots: &Roots,
) -> anyhow::Result<Cow<'static, Classifier>> {
    match name {
        None => Ok(Cow::Borrowed(Classifier::built_in())),
        Some(CDI_2012) => Ok(Cow::Owned(Classifier::cdi_2012())),
        Some(path) => Ok(Cow::Owned(read(Path::new(path), roots)?)),
    }
}

fn read(path: &Path, roots: &Roots) -> anyhow::Result<Classifier> {
    let name = path.display();
    let read = roots.read(path);
    let bytes = read.with_context(|| format!("cannot read the model {name}"))?;
    Classifier::read(&bytes).with_context(|| name.to_string())
}
