//! Names that are left out, wherever it is said.

use test_support::Mpm;

use super::client::Client;
use super::site::Site;

/// The paths of all that is offered, in order.
fn offered(client: &Client) -> Vec<String> {
    let root = client.url("");
    let mut paths = client.identifiers();
    for path in &mut paths {
        path.drain(..root.len());
    }
    paths.sort();
    paths
}

#[test]
fn what_a_directory_leaves_out_is_left_out_although_its_own_url_leads_elsewhere() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.module("rewrite");
        site.conf("RedirectMatch 302 ^/redirected/$ /plain.txt");
        site.conf("RewriteEngine On\nRewriteRule ^/rewritten/$ /sub/ [PT]");
        site.htaccess("redirected", "IndexIgnore *.hid inner");
        site.htaccess("rewritten", "OaiSkip *.skip");
        // The directives of the place that the URL leads to hold for its own files only.
        site.htaccess("sub", "OaiSkip .?* *.own");
        for path in [
            "plain.txt",
            "redirected/a.txt",
            "redirected/a.hid",
            "redirected/inner/a.txt",
            "redirected/other/a.txt",
            "redirected/other/a.hid",
            "redirected/.git/config",
            "redirected/.hidden",
            "rewritten/a.txt",
            "rewritten/a.own",
            "rewritten/a.skip",
            "rewritten/deep/a.txt",
            "rewritten/deep/a.skip",
            "sub/a.own",
            "sub/a.skip",
        ] {
            site.file(path, 200);
        }
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        assert_eq!(client.get("/redirected/").status, 302);
        assert_eq!(client.get("/redirected/a.hid").status, 200);

        let expected = [
            "/plain.txt",
            "/redirected/a.txt",
            "/redirected/other/a.txt",
            "/rewritten/a.own",
            "/rewritten/a.txt",
            "/rewritten/deep/a.txt",
            "/sub/a.skip",
        ];
        assert_eq!(offered(&client), expected);
    }
}

#[test]
fn files_may_be_left_out_by_a_section_for_files() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.conf("<Files \"x*\">\nOaiSkip *\n</Files>");
        site.htaccess("d", "<Files \"*.old\">\nOaiSkip *\n</Files>");
        for path in [
            "a.old", "a.txt", "x.txt", "d/a.old", "d/a.txt", "d/x.txt", "x/a.txt",
        ] {
            site.file(path, 200);
        }
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let expected = ["/a.old", "/a.txt", "/d/a.txt", "/x/a.txt"];
        assert_eq!(offered(&client), expected);
    }
}
