//! The parts of a request as handlers take them. They are axum's, but what is wrong with them is a [`Problem`].

use axum::extract::rejection::{FormRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// A form that was sent.
#[derive(Debug)]
pub(crate) struct Form<T>(pub(crate) T);

/// A JSON document that was sent.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// The query of the URL.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

/// The variable parts of the path. A part that does not fit names nothing that is there.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Form<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let form = axum::Form::<T>::from_request(request, state).await;
        let axum::Form(form) =
            form.map_err(|error: FormRejection| unreadable(error.status(), error.body_text()))?;
        Ok(Self(form))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let json = axum::Json::<T>::from_request(request, state).await;
        let axum::Json(json) =
            json.map_err(|error: JsonRejection| unreadable(error.status(), error.body_text()))?;
        Ok(Self(json))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let axum::extract::Query(query) =
            query.map_err(|error: QueryRejection| unreadable(error.status(), error.body_text()))?;
        Ok(Self(query))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let axum::extract::Path(path) = path
            .map_err(|_: PathRejection| Problem::not_found("there is no page at this address"))?;
        Ok(Self(path))
    }
}

fn unreadable(status: StatusCode, message: String) -> Problem {
    let code = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        _ => "unreadable",
    };
    Problem::new(status, code, message)
}
