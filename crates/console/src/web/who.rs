//! The requester: the account of a session or of a token, and the role that a handler asks for.
//!
//! A handler's first argument is [`Viewer`], [`Operator`] or [`Admin`]. [`crate::routes`] takes no other for what is not
//! open to everybody, so that a handler without a role does not compile.

use axum::extract::{FromRequestParts, Request};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderName, ORIGIN, REFERER};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use catalog::{Account, Role};
use operations::secret;
use operations::{Actor, Channel};

use crate::cookies::{self, Name};
use crate::parts::table::with_way_back;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// The parts of a visit that every page shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visit {
    /// The path of the request: the navigation marks where one is.
    pub(crate) path: String,
    /// `light`, `dark`, or as the system has it.
    pub(crate) theme: Theme,
    /// The message of the previous page.
    pub(crate) flash: Option<String>,
    /// The path and the query of the request: where actions of the page return to.
    pub(crate) here: String,
    /// The list that an action was begun from, and returns to.
    pub(crate) back: Option<String>,
    /// The page of ours with a link to this one that was followed.
    pub(crate) left: Option<String>,
    /// Whether the script asks, to bring a part of a page up to date.
    pub(crate) is_live: bool,
}

/// Somebody who is logged in, or a program with a token.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) account: Account,
    /// The permitted role: that of the account, or less for a token.
    pub(crate) role: Role,
    /// Whether it is a program with a token, and nobody who logged in.
    pub(crate) by_token: bool,
    pub(crate) path: String,
    pub(crate) theme: Theme,
    pub(crate) flash: Option<String>,
    /// The path and the query of the request: where actions of the page return to.
    pub(crate) here: String,
    /// The list that an action was begun from, and returns to.
    pub(crate) back: Option<String>,
    /// The page of ours with a link to this one that was followed.
    pub(crate) left: Option<String>,
    /// Whether the script asks, to bring a part of a page up to date.
    pub(crate) is_live: bool,
}

/// Light, dark, or as the system has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

/// Facts about a request, kept in its extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asking {
    pub(crate) visit: Visit,
    pub(crate) account: Option<(Account, Role)>,
    pub(crate) by_token: bool,
}

/// Somebody who may look.
#[derive(Debug)]
pub(crate) struct Viewer(pub(crate) Who);

/// Somebody who may steer.
#[derive(Debug)]
pub(crate) struct Operator(pub(crate) Who);

/// Somebody who may decide who else may.
#[derive(Debug)]
pub(crate) struct Admin(pub(crate) Who);

/// An argument of a handler that asks for a role.
pub(crate) trait Guard {
    /// The role that is needed.
    const ROLE: Role;
}

impl Guard for Viewer {
    const ROLE: Role = Role::Viewer;
}

impl Guard for Operator {
    const ROLE: Role = Role::Operator;
}

impl Guard for Admin {
    const ROLE: Role = Role::Admin;
}

impl Who {
    /// On whose behalf operations work.
    pub(crate) fn actor(&self) -> Actor {
        let channel = match self.by_token {
            true => Channel::Token,
            false => Channel::Session,
        };
        Actor::account(&self.account, self.role, channel)
    }

    /// Whether links to what operators do make sense.
    pub(crate) fn can_operate(&self) -> bool {
        self.role >= Role::Operator
    }

    /// The address `to`, which returns to the list that was left for this page.
    pub(crate) fn with_way_back(&self, to: &str) -> String {
        match &self.back {
            Some(back) => with_way_back(to, back),
            None => to.to_owned(),
        }
    }

    /// The list that was left for this page, or else `place`.
    pub(crate) fn back_or<'a>(&'a self, place: &'a str) -> &'a str {
        self.back.as_deref().unwrap_or(place)
    }

    /// The list at `place` with the filters, the order and the page that it was left with for this page.
    pub(crate) fn list<'a>(&'a self, place: &'a str) -> &'a str {
        let left = self.left.as_deref().unwrap_or_default();
        let path = left.split('?').next().unwrap_or_default();
        // A run is in several lists.
        let lists: &[&str] = match place {
            "/runs" => &[
                "/runs",
                "/runs/queued",
                "/runs/failed",
                "/runs/all",
                "/imports",
            ],
            _ => &[place],
        };
        if lists.contains(&path) { left } else { place }
    }

    /// Whether a link of the navigation leads to where one is.
    pub(crate) fn is_in(&self, place: &str) -> bool {
        let rest = self.path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('/') && place != "/"))
    }
}

impl Theme {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Whether it is the one of this name.
    pub(crate) fn is(self, name: &str) -> bool {
        self.name() == name
    }

    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

impl Asking {
    /// Looks a request over: the token or the session that came with it.
    pub(crate) async fn identify(
        state: &ConsoleState,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Self, Problem> {
        let cookie = |name| state.cookies().read(headers, name);
        let visit = Visit {
            path: uri.path().to_owned(),
            theme: cookie(Name::Theme).map(Theme::parse).unwrap_or_default(),
            flash: cookie(Name::Flash).and_then(cookies::decode),
            here: uri
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            back: back_in(uri),
            left: left_for(headers),
            is_live: headers.contains_key(LIVE),
        };
        let catalog = state.catalog();
        let token = bearer(headers).filter(|_| is_api(uri));
        let account = match (token, cookie(Name::Session)) {
            (Some(token), _) => catalog.token(&secret::digest(token)).await?,
            (None, Some(session)) => {
                let (digest, idle) = (secret::digest(session), state.config().session_idle());
                // A page that is left open asks by itself; nobody need be there.
                let account = match headers.contains_key(LIVE) {
                    true => catalog.peek_session(&digest, idle).await?,
                    false => catalog.session(&digest, idle).await?,
                };
                account.map(|account| {
                    let role = account.role;
                    (account, role)
                })
            }
            (None, None) => None,
        };
        Ok(Self {
            visit,
            account,
            by_token: token.is_some(),
        })
    }

    /// The one who asks, if it is known.
    pub(crate) fn who(&self) -> Option<Who> {
        let (account, role) = self.account.clone()?;
        let Visit {
            path,
            theme,
            flash,
            here,
            back,
            left,
            is_live,
        } = self.visit.clone();
        Some(Who {
            account,
            role,
            by_token: self.by_token,
            path,
            theme,
            flash,
            here,
            back,
            left,
            is_live,
        })
    }
}

/// Takes from a call with a token what only browsers send. A token is nothing that a browser adds by itself, so such a
/// call cannot be forged by another site, and it is no matter of a session either.
pub(crate) fn strip_browser_headers(request: &mut Request) {
    if !is_api(request.uri()) || bearer(request.headers()).is_none() {
        return;
    }
    for name in [COOKIE, ORIGIN, HeaderName::from_static("sec-fetch-site")] {
        request.headers_mut().remove(name);
    }
}

/// Whether a request is for programs, and so are its errors.
pub(crate) fn is_api(uri: &Uri) -> bool {
    uri.path().starts_with("/api/")
}

/// Where to go on after the login: only a page that can be asked for again.
pub(crate) fn way_back(method: &Method, uri: &Uri) -> Option<String> {
    let place = uri.path_and_query()?.as_str();
    (method == Method::GET && place != "/").then(|| place.to_owned())
}

/// The list that an action was begun from: the parameter `back` of its address.
fn back_in(uri: &Uri) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Back {
        back: String,
    }
    let query = axum::extract::Query::<Back>::try_from_uri(uri).ok()?;
    let back = query.0.back;
    (local_path(Some(&back)) == back).then_some(back)
}

/// The page of ours with the link that was followed, as the browser says.
fn left_for(headers: &HeaderMap) -> Option<String> {
    let referer: Uri = headers.get(REFERER)?.to_str().ok()?.parse().ok()?;
    let host = headers.get(HOST)?.to_str().ok()?;
    let place = referer.path_and_query()?.as_str();
    let is_ours = referer.authority()?.as_str().eq_ignore_ascii_case(host);
    (is_ours && local_path(Some(place)) == place).then(|| place.to_owned())
}

/// A path of our own, and never the address of another site.
pub(crate) fn local_path(next: Option<&str>) -> &str {
    let next = next.unwrap_or("/");
    let mut characters = next.chars();
    let starts_well =
        characters.next() == Some('/') && characters.next().is_none_or(|second| second != '/');
    let is_plain = next.chars().all(|c| c.is_ascii_graphic() && c != '\\');
    match starts_well && is_plain {
        true => next,
        false => "/",
    }
}

pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn admit(parts: &Parts, needed: Role) -> Result<Who, Problem> {
    let asking = parts.extensions.get::<Asking>();
    let who = asking
        .and_then(Asking::who)
        .ok_or_else(Problem::anonymous)?;
    match who.role >= needed {
        true => Ok(who),
        false => Err(Problem::forbidden(needed, who.role)),
    }
}

macro_rules! admits {
    ($($guard:ident),*) => {$(
        impl FromRequestParts<ConsoleState> for $guard {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &ConsoleState) -> Result<Self, Problem> {
                admit(parts, Self::ROLE).map(Self)
            }
        }
    )*};
}

admits!(Viewer, Operator, Admin);

impl FromRequestParts<ConsoleState> for Visit {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &ConsoleState,
    ) -> Result<Self, Self::Rejection> {
        let asking = parts.extensions.get::<Asking>();
        Ok(asking
            .map(|asking| asking.visit.clone())
            .unwrap_or_default())
    }
}

/// Marks what the script asks for to bring a page up to date.
pub(crate) const LIVE: &str = "x-garner-live";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_never_leads_elsewhere() {
        for good in ["/", "/jobs?state=failed&x=%2F", "/repositories/7#sets"] {
            assert_eq!(local_path(Some(good)), good);
        }
        for bad in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "/a\r\nb",
            "/\t/evil.example",
            "evil",
            "",
        ] {
            assert_eq!(local_path(Some(bad)), "/", "{bad:?}");
        }
        assert_eq!(local_path(None), "/");
    }

    #[test]
    fn only_what_was_asked_for_by_get_is_asked_for_again() {
        let uri = Uri::from_static("/jobs?state=failed");
        let back = way_back(&Method::GET, &uri);
        assert_eq!(back.as_deref(), Some("/jobs?state=failed"));
        assert_eq!(way_back(&Method::POST, &uri), None);
    }

    #[test]
    fn only_a_page_of_the_same_host_is_one_that_was_left() {
        let left = |referer: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, "console.example:8080".parse().unwrap());
            headers.insert(REFERER, referer.parse().unwrap());
            left_for(&headers)
        };

        let list = left("http://console.example:8080/documents?host=a.example&page=7");

        assert_eq!(list.as_deref(), Some("/documents?host=a.example&page=7"));
        for elsewhere in [
            "http://evil.example/documents?host=a.example",
            "http://console.example:8080//evil.example/",
            "about:blank",
            "/documents",
        ] {
            assert_eq!(left(elsewhere), None, "{elsewhere}");
        }
    }
}
