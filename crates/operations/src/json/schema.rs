//! Words of the catalog in the description of the API.

use catalog::{Role, RulesKind};
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

pub(crate) fn role() -> Object {
    words(Role::ALL.map(Role::name))
}

pub(crate) fn rules_kind() -> Object {
    words([RulesKind::Filter, RulesKind::Mapping].map(RulesKind::name))
}

/// A text that is one of `words`.
fn words<const N: usize>(words: [&'static str; N]) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(words))
        .build()
}
