//! Plug-ins: confined by the helper, and the warning where there is none.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use test_support::{Mpm, mod_oai};

use super::client::Client;
use super::site::Site;

/// Tries to harm the file that it is run on; prints the tries that succeeded.
const HOSTILE: &str = "#!/bin/sh
f=$1
d=$(dirname \"$f\")
cat \"$f\"
(: > \"$f\") 2>/dev/null && echo truncated
(: > \"$d/beside\") 2>/dev/null && echo made
chmod 777 \"$f\" 2>/dev/null && echo chmod
mv \"$f\" \"$d/moved\" 2>/dev/null && echo moved
rm -f \"$f\" 2>/dev/null && echo removed
ls \"$d\" 2>/dev/null
exit 0
";

/// A site whose files everybody may change, with a hostile plug-in and the helper of this build.
fn site() -> Site {
    let site = Site::empty(Mpm::Event);
    site.fixture.write("a.txt", "one\n");
    let program = site.fixture.write_beside("hostile", HOSTILE);
    let allow_all = || fs::Permissions::from_mode(0o777);
    let executable = || fs::Permissions::from_mode(0o755);
    fs::set_permissions(&program, executable()).unwrap();
    let built = mod_oai().with_file_name("garner-confine");
    let built = match built.exists() {
        true => built,
        false => built.parent().unwrap().with_file_name("garner-confine"),
    };
    let helper = site.fixture.beside("garner-confine");
    fs::copy(&built, &helper).expect("`cargo build --bin garner-confine` builds it");
    fs::set_permissions(&helper, executable()).unwrap();
    // Nothing but the confinement keeps the plug-in from it.
    for place in [site.fixture.site(), site.fixture.path("a.txt")] {
        fs::set_permissions(place, allow_all()).unwrap();
    }
    site
}

#[test]
fn a_hostile_plug_in_can_change_nothing() {
    let mut site = site();
    let helper = site.fixture.beside("garner-confine");
    let program = site.fixture.beside("hostile");
    site.oai(&format!(
        "OaiConfiner {}\nOaiPlugin hostile output=text {} {{file}}",
        helper.display(),
        program.display()
    ));
    let file = site.fixture.path("a.txt");
    let seen = || {
        let metadata = fs::metadata(&file).unwrap();
        let content = fs::read(&file).unwrap();
        (
            metadata.ino(),
            metadata.mode(),
            metadata.ctime_nsec(),
            content,
        )
    };
    // `httpd` makes the files look old, which changes them, so it comes first.
    let httpd = site.httpd().start();
    let before = seen();

    let client = Client::anonymous(&httpd);
    let answer = client.record(&client.url("/a.txt"), "oai_didl");

    let log = httpd.error_log();
    let text = answer.text("text");
    assert_eq!(text.as_deref(), Some("one"), "{}\n{log}", answer.xml);
    assert!(!log.contains("not confined"), "{log}");
    assert_eq!(seen(), before);
    assert_eq!(fs::read_dir(site.fixture.site()).unwrap().count(), 1);
}

#[test]
fn the_start_warns_where_nothing_confines_plug_ins() {
    let mut site = site();
    let program = site.fixture.beside("hostile");
    site.oai(&format!(
        "OaiConfiner /nowhere/garner-confine\nOaiPlugin hostile output=text {} {{file}}",
        program.display()
    ));

    let httpd = site.httpd().start();

    let log = httpd.error_log();
    let warning = "plug-ins are not confined: `/nowhere/garner-confine`";
    assert!(log.contains(warning), "{log}");
}

#[test]
fn a_plug_in_says_which_sets_of_ones_own_a_file_is_in() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.fixture.write("a.txt", "topics:physics\n");
        site.fixture.write("b.txt", "topics:none\n");
        site.fixture.write("c.html", "topics:physics\n");
        site.oai(
            "OaiFreshness 0\nOaiPlugin topics type=text/plain output=text /bin/cat {file}\n\
             OaiSet topics:physics Physics plugin=topics /c.*",
        );
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let of_set = |deleted: bool| {
            let pages = client.pages("ListIdentifiers", "metadataPrefix=oai_dc&set=topics");
            let headers = pages.iter().flat_map(|page| page.headers());
            let headers = headers.filter(|header| header.deleted == deleted);
            let mut found: Vec<_> = headers.map(|header| header.identifier).collect();
            found.sort();
            found
        };

        assert_eq!(of_set(false), [client.url("/a.txt"), client.url("/c.html")]);
        fs::remove_file(site.fixture.path("a.txt")).unwrap();
        test_support::wait_until("the deletion is told in the set", || {
            of_set(true) == [client.url("/a.txt")]
        });
    }
}

#[test]
fn a_set_of_a_plug_in_that_is_not_there_stops_the_start() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiSet topics Topics plugin=none");

    let (right, said) = site.httpd().config_test();

    assert!(!right, "{said}");
    assert!(said.contains("there is no plug-in `none`"), "{said}");
}
