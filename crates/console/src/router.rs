//! Every route there is, grouped by who may use it. Which role a route needs is the first argument of its handler.

use crate::routes::Routes;
use crate::{assets, pages};

/// The route table.
pub(crate) fn routes() -> Routes {
    let mut routes = Routes::new();
    let r = &mut routes;

    // Everybody
    r.open_get("/assets/{name}", assets::show);
    r.open_get("/login", pages::login::show);
    r.open_post("/login", pages::login::enter);
    r.open_get("/setup/{token}", pages::setup::show);
    r.open_post("/setup/{token}", pages::setup::create);
    r.open_post("/theme", pages::theme::change);

    // Viewers
    r.get("/", pages::dashboard::show);
    r.post("/logout", pages::logout::leave);

    r.fallback(pages::missing::show);
    routes
}
