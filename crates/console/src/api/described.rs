//! The description of the API (OpenAPI 3.1), and what people read of it.

use std::sync::LazyLock;

use axum::http::Method;
use serde_json::Value;

use super::ROLE;

/// The description, for programs.
pub(crate) const OPENAPI: &str = include_str!("../../assets/openapi.json");

/// An operation for people to read.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) role: String,
    pub(crate) summary: String,
}

/// All operations, by their paths.
pub(crate) fn described() -> &'static [Described] {
    static ALL: LazyLock<Vec<Described>> = LazyLock::new(|| {
        let description: Value =
            serde_json::from_str(OPENAPI).expect("a test wrote the description");
        let paths = description["paths"].as_object();
        let paths = paths.expect("the description has paths");
        paths
            .iter()
            .flat_map(|(path, item)| at(path, item))
            .collect()
    });
    &ALL
}

fn at(path: &str, item: &Value) -> Vec<Described> {
    let methods = [
        (Method::GET, "get"),
        (Method::POST, "post"),
        (Method::PUT, "put"),
        (Method::PATCH, "patch"),
        (Method::DELETE, "delete"),
    ];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let operations = methods.into_iter().filter_map(|(method, name)| {
        let operation = item.get(name)?;
        Some(Described {
            method,
            path: path.to_owned(),
            role: text(&operation[ROLE]),
            summary: text(&operation["summary"]),
        })
    });
    operations.collect()
}
