//! `POST /theme`: light, dark, or as the system has it. The script does the same without a reload.

use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Redirect};
use serde::Deserialize;

use crate::cookies::Name;
use crate::extract::Form;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Theme, local_path};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    theme: String,
    next: Option<String>,
}

pub(crate) async fn change(
    State(state): State<ConsoleState>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let theme = Theme::parse(&parameters.theme).name();
    let mut response = Redirect::to(local_path(parameters.next.as_deref())).into_response();
    if let Some(cookie) = state.cookies().set(Name::Theme, theme, A_YEAR) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

const A_YEAR: u64 = 365 * 24 * 60 * 60;
