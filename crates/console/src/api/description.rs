//! The description of the API (OpenAPI 3.1).

use axum::http::Method;
use catalog::Role;
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, Info, OpenApi, OpenApiBuilder, Ref, RefOr, ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema};

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

/// The description without operations.
pub(crate) fn description() -> OpenApi {
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
pub(crate) fn describe(operation: &mut Operation, role: Role) {
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

/// An operation for people to read.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) role: String,
    pub(crate) summary: String,
}

/// All operations, by their paths.
pub(crate) fn operations_of(openapi: &OpenApi) -> Vec<Described> {
    let mut all = Vec::new();
    for (path, item) in &openapi.paths.paths {
        for (method, operation) in [
            (Method::GET, &item.get),
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::PATCH, &item.patch),
            (Method::DELETE, &item.delete),
        ] {
            let Some(operation) = operation else { continue };
            let role = operation.extensions.as_ref();
            let role = role.and_then(|extensions| extensions.get(ROLE));
            let role = role.and_then(|role| role.as_str()).unwrap_or_default();
            all.push(Described {
                method,
                path: path.clone(),
                role: role.to_owned(),
                summary: operation.summary.clone().unwrap_or_default(),
            });
        }
    }
    all
}

const SCHEME: &str = "token";
const ROLE: &str = "x-role";
const INTRODUCTION: &str = "Everything that the console of garner does. Send a token as `Authorization: Bearer …`; the console creates tokens. Dates are RFC 3339 in UTC. Lists have `items`, and `next` for the parameter `before` or `offset` of the next page. Errors are `{\"error\": {\"code\": …, \"message\": …}}`.";
