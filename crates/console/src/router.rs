//! Every route there is, grouped by subject. Which role a route needs is the first argument of its handler.

use crate::routes::{Routes, operation};
use crate::{api, assets, pages};

/// The route table.
pub(crate) fn routes() -> Routes {
    let mut routes = Routes::new();
    let r = &mut routes;

    // What comes before the login.
    r.open_get("/assets/{name}", assets::show);
    r.open_get("/login", pages::login::show);
    r.open_post("/login", pages::login::enter);
    r.open_get("/setup/{token}", pages::setup::show);
    r.open_post("/setup/{token}", pages::setup::create);
    r.open_post("/theme", pages::theme::change);

    // Dashboard.
    r.get("/", pages::dashboard::show);
    r.get("/dashboard/live", pages::dashboard::live);
    r.get("/dashboard/charts", pages::dashboard::charts);
    operation!(r, api::statistics::totals);
    operation!(r, api::statistics::activity);

    // Repositories.
    r.get("/repositories", pages::repositories::list::list);
    r.post("/repositories", pages::repositories::add::create);
    r.get("/repositories/new", pages::repositories::add::form);
    r.post("/repositories/new", pages::repositories::add::preview);
    r.get("/repositories/{id}", pages::repositories::show::show);
    r.get("/repositories/{id}/live", pages::repositories::show::live);
    r.post(
        "/repositories/{id}/identify",
        pages::repositories::actions::identify,
    );
    r.post(
        "/repositories/{id}/harvest",
        pages::repositories::actions::harvest,
    );
    r.get("/repositories/{id}/edit", pages::repositories::edit::form);
    r.post("/repositories/{id}/edit", pages::repositories::edit::save);
    r.get(
        "/repositories/{id}/remove",
        pages::repositories::remove::confirm,
    );
    r.post(
        "/repositories/{id}/remove",
        pages::repositories::remove::remove,
    );
    operation!(r, api::repositories::list);
    operation!(r, api::repositories::show);
    operation!(r, api::repositories::change::identify);
    operation!(r, api::repositories::change::add);
    operation!(r, api::repositories::change::identify_again);
    operation!(r, api::repositories::change::change);
    operation!(r, api::repositories::change::remove);
    operation!(r, api::repositories::parts::formats);
    operation!(r, api::repositories::parts::sets);
    operation!(r, api::repositories::quiet::show);
    operation!(r, api::repositories::quiet::begin);
    operation!(r, api::repositories::quiet::renew);
    operation!(r, api::repositories::quiet::end);

    // Jobs.
    r.get("/jobs", pages::jobs::current::show);
    r.get("/jobs/live", pages::jobs::current::live);
    r.get("/jobs/ended", pages::jobs::ended::list);
    r.get("/jobs/{id}", pages::jobs::show::show);
    r.get("/jobs/{id}/live", pages::jobs::show::live);
    r.post("/jobs/{id}/cancel", pages::jobs::actions::cancel);
    r.post("/jobs/{id}/retry", pages::jobs::actions::retry);
    operation!(r, api::jobs::list);
    operation!(r, api::jobs::show);
    operation!(r, api::jobs::log);
    operation!(r, api::jobs::add);
    operation!(r, api::jobs::cancel);
    operation!(r, api::jobs::retry);

    // Schedules.
    r.get("/schedules", pages::schedules::list::list);
    r.post("/schedules", pages::schedules::add::create);
    r.get("/schedules/new", pages::schedules::add::form);
    r.get("/schedules/import", pages::schedules::import::form);
    r.post("/schedules/import", pages::schedules::import::create);
    r.get("/schedules/preview", pages::schedules::preview::show);
    r.get("/schedules/{id}", pages::schedules::show::show);
    r.post("/schedules/{id}", pages::schedules::edit::save);
    r.post("/schedules/{id}/import", pages::schedules::import::save);
    r.get("/schedules/{id}/edit", pages::schedules::edit::form);
    r.post("/schedules/{id}/pause", pages::schedules::steer::pause);
    r.post("/schedules/{id}/resume", pages::schedules::steer::resume);
    r.post("/schedules/{id}/run", pages::schedules::steer::run);
    r.get(
        "/schedules/{id}/remove",
        pages::schedules::steer::confirm_removal,
    );
    r.post("/schedules/{id}/remove", pages::schedules::steer::remove);
    operation!(r, api::schedules::list);
    operation!(r, api::schedules::add);
    operation!(r, api::schedules::runs);
    operation!(r, api::schedules::show);
    operation!(r, api::schedules::change);
    operation!(r, api::schedules::remove);
    operation!(r, api::schedules::pause);
    operation!(r, api::schedules::resume);
    operation!(r, api::schedules::run);

    // Filters and mappings.
    r.get("/rules", pages::rules::list::list);
    r.post("/rules", pages::rules::add::create);
    r.get("/rules/new", pages::rules::add::form);
    r.get("/rules/{id}", pages::rules::edit::show);
    r.post("/rules/{id}", pages::rules::edit::save);
    r.get("/rules/{id}/remove", pages::rules::remove::confirm);
    r.post("/rules/{id}/remove", pages::rules::remove::remove);
    operation!(r, api::rules::list);
    operation!(r, api::rules::add);
    operation!(r, api::rules::try_out);
    operation!(r, api::rules::show);
    operation!(r, api::rules::change);
    operation!(r, api::rules::remove);

    // History.
    r.get("/history", pages::history::list::list);
    r.get("/history.csv", pages::history::csv::download);
    r.get("/history/compare", pages::history::compare::show);
    r.get("/history/remove", pages::history::remove::confirm);
    r.post("/history/remove", pages::history::remove::remove);
    r.get("/history/{id}", pages::history::show::show);
    operation!(r, api::history::list);
    operation!(r, api::history::csv);
    operation!(r, api::history::compare);
    operation!(r, api::history::remove_old);
    operation!(r, api::history::show);
    operation!(r, api::history::remove);
    operation!(r, api::history::warnings);

    // Records.
    r.get("/records", pages::records::list::list);
    r.get("/records/{id}", pages::records::show::show);
    r.get("/records/{id}/xml", pages::records::xml::download);
    r.get("/records/{id}/source", pages::records::xml::source);
    operation!(r, api::records::list);
    operation!(r, api::records::show);
    operation!(r, api::records::xml);

    // Imports, and the collection that they fill.
    r.get("/imports", pages::imports::list::list);
    r.post("/imports", pages::imports::add::create);
    r.get("/imports/new", pages::imports::add::form);
    r.get("/imports/{id}", pages::imports::show::show);
    operation!(r, api::imports::list);
    operation!(r, api::imports::add);
    operation!(r, api::imports::show);
    operation!(r, api::imports::skipped);
    r.get("/documents", pages::documents::list::list);
    r.get("/documents/{id}", pages::documents::show::show);
    r.get("/documents/{id}/file", pages::documents::file::file);
    r.get("/documents/{id}/text", pages::documents::file::text);
    r.post(
        "/documents/{id}/state",
        pages::documents::show::change_state,
    );
    r.post(
        "/documents/{id}/correction",
        pages::documents::correct::change,
    );
    operation!(r, api::documents::list);
    operation!(r, api::documents::set_state);
    operation!(r, api::documents::correct);
    operation!(r, api::documents::show);
    operation!(r, api::documents::file);
    operation!(r, api::documents::text);

    // One's own account.
    r.post("/logout", pages::logout::leave);
    r.get("/me", pages::me::show);
    r.post("/me/password", pages::me::change_password);
    r.post("/me/sessions", pages::me::end_sessions);
    r.get("/tokens", pages::tokens::list);
    r.post("/tokens", pages::tokens::add);
    r.get("/tokens/{id}/remove", pages::tokens::confirm_removal);
    r.post("/tokens/{id}/remove", pages::tokens::remove);
    operation!(r, api::me::show);
    operation!(r, api::tokens::list);
    operation!(r, api::tokens::add);
    operation!(r, api::tokens::remove);

    // All accounts, and what people did.
    r.get("/accounts", pages::accounts::list);
    r.post("/accounts", pages::accounts::add);
    r.get("/accounts/{id}", pages::account::show);
    r.post("/accounts/{id}", pages::account::change);
    r.post("/accounts/{id}/password", pages::account::change_password);
    r.get("/accounts/{id}/remove", pages::account::confirm_removal);
    r.post("/accounts/{id}/remove", pages::account::remove);
    r.get("/audit", pages::audit::list);
    operation!(r, api::accounts::list);
    operation!(r, api::accounts::show);
    operation!(r, api::accounts::add);
    operation!(r, api::accounts::change);
    operation!(r, api::accounts::set_password);
    operation!(r, api::accounts::remove);
    operation!(r, api::audit::list);

    // The API itself.
    r.get("/api", pages::api::show);
    r.get("/api/v1/openapi.json", pages::api::description);

    r.fallback(pages::missing::show);
    routes
}
