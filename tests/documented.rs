//! The commands of README and the guides, run as they are written by `scripts/guides`, each page in a world of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command_line::{stderr, stdout};

/// Runs the script with these arguments on the program under test.
fn guides(arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("python3");
    command
        .arg(root.join("scripts/guides"))
        .args(["--garner", env!("CARGO_BIN_EXE_garner")])
        .args(arguments);
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
}

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        $(
            #[test]
            fn $name() {
                guides(&[$page]);
            }
        )*

        #[test]
        fn every_guide_is_followed() {
            let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides");
            for entry in fs::read_dir(guides).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let page = format!("docs/guides/{name}");
                assert!([$($page),*].contains(&page.as_str()), "{page} has no test here");
            }
        }
    };
}

pages! {
    the_readme_is_followed: "README.md",
    the_guide_to_aggregating_is_followed: "docs/guides/aggregate.md",
    the_guide_to_apache_is_followed: "docs/guides/apache.md",
    the_guide_to_curating_is_followed: "docs/guides/curate.md",
    the_guide_to_feeding_is_followed: "docs/guides/feed-a-search-engine.md",
    the_guide_to_harvesting_is_followed: "docs/guides/harvest.md",
    the_guide_to_importing_is_followed: "docs/guides/import.md",
    the_guide_to_large_crawls_is_followed: "docs/guides/large-crawls.md",
    the_guide_to_many_machines_is_followed: "docs/guides/many-machines.md",
    the_guide_to_many_repositories_is_followed: "docs/guides/many-repositories.md",
    the_guide_to_migrating_is_followed: "docs/guides/migrate.md",
    the_guide_to_offering_a_site_is_followed: "docs/guides/offer-a-site.md",
    the_guide_to_offering_records_is_followed: "docs/guides/offer-records.md",
    the_guide_to_operating_is_followed: "docs/guides/operate.md",
    the_guide_to_retrieving_is_followed: "docs/guides/retrieve-documents.md",
    the_guide_to_scheduling_is_followed: "docs/guides/schedule.md",
    the_guide_to_searching_is_followed: "docs/guides/search-documents.md",
    the_guide_to_content_management_systems_is_followed: "docs/guides/wordpress.md",
}

#[test]
fn every_command_within_a_text_is_one_that_there_is() {
    guides(&["--known"]);
}
