//! Every route there is, grouped by subject. Which role a route needs is the first argument of its handler.

use crate::routes::{Routes, operation};
use crate::{
    alerts, assets, dashboard, documents, feed, help, history, imports, jobs, lists, pages,
    parents, people, records, repositories, retrievals, rules, runs, schedules, search, sites,
    system,
};

/// The route table.
pub(crate) fn routes() -> Routes {
    let mut routes = Routes::new();
    let r = &mut routes;

    // Routes before the login.
    r.open_get("/assets/{name}", assets::show);
    r.open_get("/login", people::login::show);
    r.open_post("/login", people::login::enter);
    r.open_get("/setup/{token}", people::setup::show);
    r.open_post("/setup/{token}", people::setup::create);
    r.open_get("/password/{token}", people::link::show);
    r.open_post("/password/{token}", people::link::save);
    r.open_post("/theme", pages::theme::change);

    // Dashboard.
    r.get("/", dashboard::show);
    r.get("/dashboard/live", dashboard::live);
    r.get("/dashboard/charts", dashboard::charts);
    r.post("/first-steps/hide", dashboard::hide_first_steps);
    operation!(r, dashboard::api::overview);
    operation!(r, dashboard::api::alerts);
    operation!(r, dashboard::api::totals);
    operation!(r, dashboard::api::activity);
    operation!(r, dashboard::api::collection);

    // One search over everything.
    r.get("/search", search::show);
    operation!(r, search::everywhere);

    // Help.
    r.get("/help", help::start);
    r.get("/help/{*page}", help::show);

    // Sites.
    r.get("/sites", sites::list::list);
    r.get("/sites/{id}", sites::show::show);
    r.get("/sites/{id}/hidden", sites::hidden::show);
    r.post("/sites/{id}/check", sites::check::run);
    operation!(r, sites::api::list);
    operation!(r, sites::api::show);
    operation!(r, sites::api::clients);
    operation!(r, sites::api::hidden);
    operation!(r, sites::api::explain);
    operation!(r, sites::api::check);

    // The catalog as a repository.
    r.get("/aggregator", sites::aggregator::show);
    operation!(r, sites::aggregator::api::show);

    // Alerts, and webhooks after harvests.
    r.get("/alerts", alerts::page::show);
    r.post("/alerts", alerts::page::save_rule);
    r.post("/alerts/remove", alerts::page::remove_rule);
    r.post("/hooks", alerts::page::save_hook);
    r.post("/hooks/remove", alerts::page::remove_hook);
    operation!(r, alerts::api::rules);
    operation!(r, alerts::api::save_rule);
    operation!(r, alerts::api::remove_rule);
    operation!(r, alerts::api::webhooks);
    operation!(r, alerts::api::save_webhook);
    operation!(r, alerts::api::remove_webhook);

    // Repositories.
    r.get("/repositories", repositories::list::list);
    r.post("/repositories", repositories::add::create);
    r.post("/repositories/bulk", repositories::list::bulk);
    r.get("/repositories/new", repositories::add::form);
    r.post("/repositories/new", repositories::add::preview);
    r.get("/repositories/tags", repositories::tags::form);
    r.post("/repositories/tags", repositories::tags::save);
    r.get("/repositories/{id}", repositories::show::show);
    r.get("/repositories/{id}/live", repositories::show::live);
    r.post(
        "/repositories/{id}/identify",
        repositories::actions::refresh,
    );
    r.post("/repositories/{id}/harvest", repositories::actions::harvest);
    r.get("/repositories/{id}/edit", repositories::edit::form);
    r.post("/repositories/{id}/edit", repositories::edit::save);
    r.get("/repositories/{id}/remove", repositories::remove::confirm);
    r.post("/repositories/{id}/remove", repositories::remove::remove);
    r.get("/repositories/{id}/sets", repositories::set_list::list);
    operation!(r, repositories::api::list);
    operation!(r, repositories::api::show);
    operation!(r, repositories::api::identify);
    operation!(r, repositories::api::check);
    operation!(r, repositories::api::add);
    operation!(r, repositories::api::refresh);
    operation!(r, repositories::api::change);
    operation!(r, repositories::api::remove);
    operation!(r, repositories::api::move_records);
    operation!(r, repositories::api::list_tags);
    operation!(r, repositories::api::change_tags);
    operation!(r, repositories::api::formats);
    operation!(r, repositories::api::sets);
    operation!(r, repositories::api::show_quiet);
    operation!(r, repositories::api::begin_quiet);
    operation!(r, repositories::api::renew_quiet);
    operation!(r, repositories::api::end_quiet);

    // Runs: everything that was done, is done or is to be done.
    r.get("/runs", runs::list::active);
    r.get("/runs/queued", runs::list::queued);
    r.get("/runs/failed", runs::list::failed);
    r.get("/runs/failed/live", runs::list::failed_live);
    r.get("/runs/all", runs::list::all);
    r.post("/runs/bulk", runs::list::bulk);
    r.post("/runs/retry", runs::actions::retry_failed);
    r.post("/runs/acknowledge", runs::actions::acknowledge);
    r.get("/runs/remove", runs::remove::confirm);
    r.post("/runs/remove", runs::remove::remove);
    r.get("/runs/compare", runs::compare::show);
    r.get("/runs/{id}", runs::show::show);
    r.get("/runs/{id}/live", runs::show::live);
    r.get("/runs/{id}/report", runs::show::report);
    r.get("/runs/{id}/run.json", runs::downloads::run);
    r.get("/runs/{id}/log.jsonl", runs::downloads::log);
    r.get("/runs/{id}/problems.jsonl", runs::downloads::problems);
    r.post("/runs/{id}/stop", runs::actions::stop);
    r.post("/runs/{id}/retry", runs::actions::retry);
    r.post("/runs/{id}/again", runs::actions::again);
    operation!(r, runs::api::list);
    operation!(r, runs::api::failures);
    operation!(r, runs::api::retry_failed);
    operation!(r, runs::api::acknowledge);
    operation!(r, runs::remove::remove_one);
    operation!(r, runs::api::show);
    operation!(r, runs::api::log);
    operation!(r, runs::api::problems);
    operation!(r, runs::api::stop);
    operation!(r, runs::api::retry);
    operation!(r, runs::api::again);

    // Jobs.
    r.get("/jobs", runs::redirects::jobs);
    r.get("/jobs/ended", runs::redirects::ended);
    r.get("/jobs/{id}", runs::redirects::job);
    operation!(r, jobs::api::list);
    operation!(r, jobs::api::show);
    operation!(r, jobs::api::log);
    operation!(r, jobs::api::add);
    operation!(r, jobs::api::cancel);
    operation!(r, jobs::api::retry);

    // Schedules.
    r.get("/schedules", schedules::list::list);
    r.post("/schedules", schedules::add::create);
    r.post("/schedules/bulk", schedules::list::bulk);
    r.get("/schedules/new", schedules::add::form);
    r.get("/schedules/import", schedules::import::form);
    r.post("/schedules/import", schedules::import::create);
    r.get("/schedules/preview", schedules::preview::show);
    r.get("/schedules/{id}", schedules::show::show);
    r.post("/schedules/{id}", schedules::edit::save);
    r.post("/schedules/{id}/import", schedules::import::save);
    r.get("/schedules/{id}/edit", schedules::edit::form);
    r.post("/schedules/{id}/pause", schedules::steer::pause);
    r.post("/schedules/{id}/resume", schedules::steer::resume);
    r.post("/schedules/{id}/run", schedules::steer::run);
    r.get("/schedules/{id}/remove", schedules::steer::confirm_removal);
    r.post("/schedules/{id}/remove", schedules::steer::remove);
    operation!(r, schedules::api::list);
    operation!(r, schedules::api::add);
    operation!(r, schedules::api::runs);
    operation!(r, schedules::api::show);
    operation!(r, schedules::api::replace);
    operation!(r, schedules::api::change);
    operation!(r, schedules::api::remove);
    operation!(r, schedules::api::pause);
    operation!(r, schedules::api::resume);
    operation!(r, schedules::api::run);

    // Filters and mappings.
    r.get("/rules", rules::list::list);
    r.post("/rules", rules::add::create);
    r.get("/rules/new", rules::add::form);
    r.get("/rules/{id}", rules::edit::show);
    r.post("/rules/{id}", rules::edit::save);
    r.get("/rules/{id}/remove", rules::remove::confirm);
    r.post("/rules/{id}/remove", rules::remove::remove);
    operation!(r, rules::api::list);
    operation!(r, rules::api::add);
    operation!(r, rules::api::try_out);
    operation!(r, rules::api::show);
    operation!(r, rules::api::change);
    operation!(r, rules::api::remove);

    // History.
    r.get("/history", runs::redirects::history);
    r.get("/history.csv", history::csv::download);
    r.get("/history/compare", runs::compare::by_harvests);
    r.get("/history/remove", history::remove::confirm);
    r.post("/history/remove", history::remove::remove);
    r.get("/history/{id}", runs::redirects::harvest);
    operation!(r, history::api::list);
    operation!(r, history::api::csv);
    operation!(r, history::api::compare);
    operation!(r, history::api::remove_old);
    operation!(r, history::api::show);
    operation!(r, history::api::remove);
    operation!(r, history::api::warnings);

    // Records.
    r.get("/records", records::list::list);
    r.get("/records/{id}", records::show::show);
    r.get("/records/{id}/xml", records::xml::download);
    r.get("/records/{id}/source", records::xml::source);
    operation!(r, records::api::list);
    operation!(r, records::api::export);
    operation!(r, records::api::cat);
    operation!(r, records::api::show);
    operation!(r, records::api::xml);

    // Imports, and the collection that they fill.
    r.get("/imports", runs::list::imports);
    r.post("/imports", imports::add::create);
    r.get("/imports/new", imports::add::form);
    r.get("/imports/browse", imports::browse::show);
    r.post("/imports/templates/remove", imports::add::remove_template);
    r.get("/imports/{id}", runs::redirects::import);
    operation!(r, imports::api::list);
    operation!(r, imports::api::add);
    operation!(r, imports::api::dry_run);
    operation!(r, imports::api::sources);
    operation!(r, imports::api::templates);
    operation!(r, imports::api::template);
    operation!(r, imports::api::save_template);
    operation!(r, imports::api::remove_template);
    operation!(r, imports::api::show);
    operation!(r, imports::api::skipped);
    operation!(r, imports::api::report);
    operation!(r, imports::api::remove_old);
    operation!(r, imports::api::remove);
    r.get("/documents", documents::list::list);
    r.post("/documents/bulk", documents::list::bulk);
    r.get("/documents/clean", documents::clean::form);
    r.post("/documents/clean", documents::clean::clean);
    r.post("/documents/clean/preview", documents::clean::preview);
    r.get("/documents/trash", documents::removal::trash);
    r.post("/documents/trash/bulk", documents::removal::restore);
    r.get("/documents/{id}", documents::show::show);
    r.get("/documents/{id}/remove", documents::removal::form);
    r.post("/documents/{id}/remove", documents::removal::remove);
    r.get("/documents/{id}/file", documents::file::file);
    r.get("/documents/{id}/text", documents::file::text);
    r.post("/documents/{id}/state", documents::show::change_state);
    r.post("/documents/{id}/correction", documents::correct::change);
    operation!(r, documents::api::list);
    operation!(r, documents::api::set_state);
    operation!(r, documents::api::correct);
    r.get("/documents/search", documents::search::show);
    r.get("/documents/statistics", documents::statistics::show);
    r.get("/documents/{id}/view", documents::file::view);
    r.get("/documents/review", documents::review::show);
    r.post("/documents/review", documents::review::decide);
    operation!(r, documents::review_api::list);
    operation!(r, documents::review_api::show);
    operation!(r, documents::review_api::decide);
    operation!(r, documents::api::search);
    operation!(r, documents::api::facets);
    operation!(r, documents::api::show);
    operation!(r, documents::api::near_duplicates);
    operation!(r, documents::api::file);
    operation!(r, documents::api::text);
    r.get("/retrieve", retrievals::form::show);
    r.post("/retrieve", retrievals::form::send);
    r.get("/jobs/{id}/file", retrievals::api::download);
    operation!(r, feed::api::changes);
    operation!(r, feed::api::solr);
    operation!(r, retrievals::api::add);
    operation!(r, retrievals::api::count);
    operation!(r, retrievals::api::saved_all);
    operation!(r, retrievals::api::saved);
    operation!(r, retrievals::api::save);
    operation!(r, retrievals::api::remove_saved);
    operation!(r, retrievals::api::file);
    operation!(r, documents::api::remove);
    operation!(r, documents::api::trash);
    operation!(r, documents::api::restore);
    operation!(r, documents::api::preview_clean);
    operation!(r, documents::api::clean);

    // The pages that link to documents.
    r.get("/parents", parents::list::list);
    r.get("/parents/clean", parents::clean::form);
    r.post("/parents/clean", parents::clean::clean);
    r.get("/parents/whitelist.txt", parents::list::whitelist_text);
    r.get("/parents/whitelist.csv", parents::list::whitelist_csv);
    operation!(r, parents::api::list);
    operation!(r, parents::api::revised);
    operation!(r, parents::api::show);
    operation!(r, parents::api::clean);
    operation!(r, parents::api::make);
    operation!(r, parents::api::cite);

    // Blacklists and whitelists.
    r.get("/lists", lists::list::list);
    r.post("/lists", lists::edit::create);
    r.get("/lists/new", lists::edit::new);
    r.get("/lists/{id}", lists::edit::show);
    r.post("/lists/{id}", lists::edit::save);
    r.get("/lists/{id}/comparison", lists::edit::compare);
    r.get("/lists/{id}/remove", lists::edit::confirm_removal);
    r.post("/lists/{id}/remove", lists::edit::remove);
    operation!(r, lists::api::list);
    operation!(r, lists::api::add);
    operation!(r, lists::api::show);
    operation!(r, lists::api::text);
    operation!(r, lists::api::change);
    operation!(r, lists::api::remove);
    operation!(r, lists::api::compare);

    // One's own account.
    r.post("/logout", people::logout::leave);
    r.get("/me", people::me::show);
    r.post("/me/password", people::me::change_password);
    r.post("/me/time-zone", people::me::change_time_zone);
    r.post("/me/email", people::me::change_email);
    r.post("/me/sessions", people::me::end_sessions);
    r.get("/tokens", people::tokens::list);
    r.post("/tokens", people::tokens::add);
    r.post("/tokens/bulk", people::tokens::bulk);
    r.get("/tokens/{id}/remove", people::tokens::confirm_removal);
    r.post("/tokens/{id}/remove", people::tokens::remove);
    operation!(r, people::api::show_me);
    operation!(r, people::api::change_me);
    operation!(r, people::api::list_tokens);
    operation!(r, people::api::add_token);
    operation!(r, people::api::remove_token);

    // All accounts, and what people did.
    r.get("/accounts", people::accounts::list);
    r.post("/accounts", people::accounts::add);
    r.get("/accounts/{id}", people::account::show);
    r.post("/accounts/{id}", people::account::change);
    r.post("/accounts/{id}/password", people::account::change_password);
    r.post("/accounts/{id}/link", people::account::make_link);
    r.post("/accounts/{id}/mail", people::account::mail_link);
    r.post("/accounts/{id}/email", people::account::change_email);
    r.get("/accounts/{id}/remove", people::account::confirm_removal);
    r.post("/accounts/{id}/remove", people::account::remove);
    r.get("/audit", people::audit::list);
    operation!(r, people::api::list_accounts);
    operation!(r, people::api::show_account);
    operation!(r, people::api::add_account);
    operation!(r, people::api::change_account);
    operation!(r, people::api::set_password);
    operation!(r, people::api::make_link);
    operation!(r, people::api::mail_link);
    operation!(r, people::api::set_email);
    operation!(r, people::api::remove_account);
    operation!(r, people::api::list_audit);

    // The installation.
    r.get("/system", system::page::show);
    r.get("/system/live", system::page::live);
    r.post("/system/check", system::page::check);
    operation!(r, system::api::show);
    operation!(r, system::api::check);

    // The API itself.
    r.get("/api", pages::api::show);
    r.open_get("/api/v1/openapi.json", pages::api::description);

    r.fallback(pages::missing::show);
    routes
}
