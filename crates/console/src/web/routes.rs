//! Takes handlers, and sees to it that each has a role.
//!
//! The role is the first argument of the handler. What has none is only taken by `open_get` and `open_post`, which are
//! for what comes before the login.

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use catalog::Role;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::api;
use crate::state::ConsoleState;
use crate::who::Guard;

/// The routes so far.
pub(crate) struct Routes {
    router: OpenApiRouter<ConsoleState>,
    table: Vec<Route>,
}

/// A route, and who may use it.
#[derive(Debug, Clone)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with its variable parts in braces.
    pub path: String,
    /// The role that is needed; `None` is open to everybody.
    pub role: Option<Role>,
}

/// The arguments of a handler that begin with a role.
pub(crate) trait Guarded {
    /// The role that is needed.
    const ROLE: Role;
}

macro_rules! guarded {
    ($(($($argument:ident),*)),* $(,)?) => {$(
        impl<M, R: Guard, $($argument),*> Guarded for (M, R, $($argument,)*) {
            const ROLE: Role = R::ROLE;
        }
    )*};
}

guarded!(
    (),
    (A),
    (A, B),
    (A, B, C),
    (A, B, C, D),
    (A, B, C, D, E),
    (A, B, C, D, E, F)
);

/// Adds an operation of the API, which says itself by which method and where it is.
macro_rules! operation {
    ($routes:ident, $($handler:ident)::+) => {
        $routes.operation(utoipa_axum::routes!($($handler)::+), $($handler)::+)
    };
}
pub(crate) use operation;

impl Routes {
    pub(crate) fn new() -> Self {
        Self {
            router: OpenApiRouter::with_openapi(api::description()),
            table: Vec::new(),
        }
    }

    /// A page.
    pub(crate) fn get<H, T>(&mut self, path: &'static str, handler: H)
    where
        H: Handler<T, ConsoleState>,
        T: Guarded + 'static,
    {
        self.add(
            Method::GET,
            path,
            Some(T::ROLE),
            on(MethodFilter::GET, handler),
        );
    }

    /// A change.
    pub(crate) fn post<H, T>(&mut self, path: &'static str, handler: H)
    where
        H: Handler<T, ConsoleState>,
        T: Guarded + 'static,
    {
        self.add(
            Method::POST,
            path,
            Some(T::ROLE),
            on(MethodFilter::POST, handler),
        );
    }

    /// A page for everybody.
    pub(crate) fn open_get<H, T>(&mut self, path: &'static str, handler: H)
    where
        H: Handler<T, ConsoleState>,
        T: 'static,
    {
        self.add(Method::GET, path, None, on(MethodFilter::GET, handler));
    }

    /// A change by anybody.
    pub(crate) fn open_post<H, T>(&mut self, path: &'static str, handler: H)
    where
        H: Handler<T, ConsoleState>,
        T: 'static,
    {
        self.add(Method::POST, path, None, on(MethodFilter::POST, handler));
    }

    /// An operation of the API; see the macro of that name.
    pub(crate) fn operation<H, T>(
        &mut self,
        (schemas, mut paths, router): UtoipaMethodRouter<ConsoleState>,
        _handler: H,
    ) where
        H: Handler<T, ConsoleState>,
        T: Guarded + 'static,
    {
        for (path, item) in &mut paths.paths {
            for (method, operation) in operations(item) {
                api::describe(operation, T::ROLE);
                self.note(method, path, Some(T::ROLE));
            }
        }
        let routes = std::mem::take(&mut self.router);
        self.router = routes.routes((schemas, paths, router));
    }

    /// Sets the handler of all other paths.
    pub(crate) fn fallback<H, T>(&mut self, handler: H)
    where
        H: Handler<T, ConsoleState>,
        T: Guarded + 'static,
    {
        let routes = std::mem::take(&mut self.router);
        self.router = routes.fallback(handler);
    }

    /// The router, the description of the API, and who may use what.
    pub(crate) fn into_parts(self) -> (Router<ConsoleState>, OpenApi, Vec<Route>) {
        let (router, openapi) = self.router.split_for_parts();
        (router, openapi, self.table)
    }

    fn add(
        &mut self,
        method: Method,
        path: &str,
        role: Option<Role>,
        router: MethodRouter<ConsoleState>,
    ) {
        self.note(method, path, role);
        let routes = std::mem::take(&mut self.router);
        self.router = routes.route(path, router);
    }

    fn note(&mut self, method: Method, path: &str, role: Option<Role>) {
        self.table.push(Route {
            method,
            path: path.to_owned(),
            role,
        });
    }
}

/// The operations at a path, by their methods.
pub(crate) fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    [
        (Method::GET, &mut item.get),
        (Method::POST, &mut item.post),
        (Method::PUT, &mut item.put),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}
