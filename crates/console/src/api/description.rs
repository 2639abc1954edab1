//! Makes the description of the API (OpenAPI 3.1) of its operations, and compares it with the file that the program has.
//! `scripts/openapi` writes the file.

use axum::handler::Handler;
use axum::routing::MethodRouter;
use catalog::Role;
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, Info, OpenApi, OpenApiBuilder, Ref, RefOr, ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::ROLE;
use crate::routes::{Guarded, Routes};
use crate::state::ConsoleState;

/// The reason of the failure.
#[derive(Debug, Serialize, ToSchema)]
struct Failure {
    error: FailureDetails,
}

/// A failure: a code for programs and a sentence for people.
#[derive(Debug, Serialize, ToSchema)]
struct FailureDetails {
    /// For example `not_found`, `invalid`, `forbidden`, `conflict`, `changed`, `busy`, `unavailable`.
    code: String,
    /// The culprit and the remedy.
    message: String,
}

/// The description of the operations so far.
pub(crate) struct Description(OpenApiRouter<ConsoleState>);

impl Description {
    pub(crate) fn new() -> Self {
        Self(OpenApiRouter::with_openapi(empty()))
    }

    /// Adds an operation. Its handler says which role it needs.
    pub(crate) fn add<H, T>(
        &mut self,
        (schemas, mut paths, _): UtoipaMethodRouter<ConsoleState>,
        _handler: H,
    ) where
        H: Handler<T, ConsoleState>,
        T: Guarded + 'static,
    {
        for item in paths.paths.values_mut() {
            for operation in operations(item) {
                describe(operation, T::ROLE);
            }
        }
        let routes = std::mem::take(&mut self.0);
        self.0 = routes.routes((schemas, paths, MethodRouter::new()));
    }
}

/// The description without operations.
fn empty() -> OpenApi {
    let mut info = Info::new("garner", env!("CARGO_PKG_VERSION"));
    info.description = Some(INTRODUCTION.to_owned());
    let mut extensions = Extensions::default();
    extensions.insert("x-json-version".to_owned(), json!(operations::JSON_VERSION));
    info.extensions = Some(extensions);
    let mut components = Components::new();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components.add_security_scheme(SCHEME, bearer);
    for (name, schema) in [
        ("Failure", Failure::schema()),
        ("FailureDetails", FailureDetails::schema()),
    ] {
        components.schemas.insert(name.to_owned(), schema);
    }
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .build()
}

/// Adds to an operation what all have in common: the role, the token, the errors.
fn describe(operation: &mut Operation, role: Role) {
    let needed = format!("Needs the role {} or more.", role.name());
    let description = operation.description.take();
    operation.description = Some(match description {
        Some(description) => format!("{description}\n\n{needed}"),
        None => needed,
    });
    let extensions = operation.extensions.get_or_insert_with(Extensions::default);
    extensions.insert(ROLE.to_owned(), json!(role.name()));
    operation.security = Some(vec![SecurityRequirement::new(SCHEME, Vec::<String>::new())]);
    for (status, words) in [
        ("401", "nobody is logged in, or the token is invalid"),
        ("403", "the role does not allow it"),
        ("default", "other errors"),
    ] {
        let failure = Ref::from_schema_name("Failure");
        let content = ContentBuilder::new().schema(Some(failure)).build();
        let response = ResponseBuilder::new()
            .description(words)
            .content("application/json", content)
            .build();
        let responses = &mut operation.responses.responses;
        responses
            .entry(status.to_owned())
            .or_insert(RefOr::T(response));
    }
}

/// The operations at a path.
fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
    ]
    .into_iter()
    .flatten()
}

const SCHEME: &str = "token";
const INTRODUCTION: &str = "Everything that the console of garner does. Send a token as `Authorization: Bearer …`; the console creates tokens. Dates are RFC 3339 in UTC. Lists have `items`, and `next` for the parameter `before` or `offset` of the next page. Errors are `{\"error\": {\"code\": …, \"message\": …}}`.";

#[test]
fn the_file_describes_the_operations_as_they_are() {
    let Routes { description, .. } = crate::router::routes();
    let (_, description) = description.0.split_for_parts();
    // By way of a value, whose keys are sorted.
    let made = lines(&serde_json::to_value(&description).unwrap(), 3) + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/openapi.json");
    if std::env::var_os("WRITE_OPENAPI").is_some() {
        std::fs::write(file, &made).unwrap();
    }

    let is_same = std::fs::read_to_string(file).unwrap() == made;

    assert!(
        is_same,
        "{file} is of other operations; scripts/openapi writes it anew"
    );
}

/// JSON with a line for each schema and each operation, so that changes of it can be read and it is half as long as usual.
fn lines(value: &serde_json::Value, depth: usize) -> String {
    let Some(object) = value.as_object().filter(|_| depth > 0) else {
        return value.to_string();
    };
    let entries = object
        .iter()
        .map(|(key, value)| format!("{}: {}", json!(key), lines(value, depth - 1)));
    format!("{{\n{}\n}}", entries.collect::<Vec<_>>().join(",\n"))
}
