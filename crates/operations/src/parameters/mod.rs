//! Patches: the parameters of harvests and imports as flags, TOML tables, API bodies and forms give them.
//!
//! A parameter is a field of the order, a field of the patch, a name in its `apply`, and a line of the template.

mod fields;
mod harvest;
mod import;
mod list;
mod parameter;
mod secrets;
mod setting;

pub use self::fields::{FieldValue, fields_of, read_fields};
pub use self::harvest::HarvestPatch;
pub use self::import::{ImportPatch, Versions};
pub use self::parameter::Parameter;
pub use self::secrets::{Certificates, Secret};
pub use self::setting::Setting;

/// Puts each named field that `patch` gives into `order`; a field that is given empty gets its value in `default`.
macro_rules! apply {
    ($patch:expr, $order:expr, $default:expr; $($field:ident),* $(,)?) => {
        $($crate::parameters::setting::Given::put(&$patch.$field, &mut $order.$field, &$default.$field);)*
    };
}
pub(crate) use apply;
