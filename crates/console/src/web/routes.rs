//! Takes handlers, and sees to it that each has a role.
//!
//! The role is the first argument of the handler. What has none is only taken by `open_get` and `open_post`, which are
//! for what comes before the login.

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use catalog::Role;
use utoipa::openapi::HttpMethod;
use utoipa_axum::PathItemExt as _;

#[cfg(test)]
use crate::api::Description;
use crate::state::ConsoleState;
use crate::who::Guard;

/// The routes so far.
pub(crate) struct Routes {
    router: Router<ConsoleState>,
    table: Vec<Route>,
    /// Tests make the description of the API; the program has it as a file, because what makes it is 2 MB of code.
    #[cfg(test)]
    pub(crate) description: Description,
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
    ($routes:ident, $($handler:ident)::+) => {{
        let path = utoipa_axum::routes!(@path [path()] of $($handler)::+);
        let methods = utoipa_axum::routes!(@path [methods()] of $($handler)::+);
        $routes.operation(&path, &methods, $($handler)::+);
        #[cfg(test)]
        $routes.description.add(utoipa_axum::routes!($($handler)::+), $($handler)::+);
    }};
}
pub(crate) use operation;

impl Routes {
    pub(crate) fn new() -> Self {
        Self {
            router: Router::new(),
            table: Vec::new(),
            #[cfg(test)]
            description: Description::new(),
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
    pub(crate) fn operation<H, T>(&mut self, path: &str, methods: &[HttpMethod], handler: H)
    where
        H: Handler<T, ConsoleState>,
        T: Guarded + 'static,
    {
        for method in methods {
            let (role, filter) = (Some(T::ROLE), method.to_method_filter());
            self.add(name(method), path, role, on(filter, handler.clone()));
        }
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

    /// The router, and who may use what.
    pub(crate) fn into_parts(self) -> (Router<ConsoleState>, Vec<Route>) {
        (self.router, self.table)
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

fn name(method: &HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
        HttpMethod::Head => Method::HEAD,
        HttpMethod::Options => Method::OPTIONS,
        HttpMethod::Trace => Method::TRACE,
    }
}
