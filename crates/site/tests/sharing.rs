//! A site whose index several processes have open, through the crate's public face.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::fs::{self, File};
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use site::{Error, Sharing, Site, SiteConfig};
use tempfile::TempDir;

struct Place {
    root: TempDir,
    data: TempDir,
}

impl Place {
    fn new(files: &[&str]) -> Self {
        let (root, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = Self { root, data };
        files.iter().for_each(|name| place.write(name));
        place
    }

    fn write(&self, name: &str) {
        fs::write(self.root.path().join(name), name).unwrap();
        // A scan leaves what changed a moment ago to the next one.
        thread::sleep(Duration::from_millis(50));
    }

    fn open(&self, sharing: Sharing) -> Result<Site, Error> {
        let url = "http://localhost/";
        let (root, data): (&Path, &Path) = (self.root.path(), self.data.path());
        let mut config = SiteConfig::new(root, data, url, "http://localhost/modoai");
        config.sharing = sharing;
        Site::open(config, None, false, &|_| {})
    }

    fn share(&self, generation: i64) -> Site {
        self.open(Sharing::Shared { generation }).unwrap()
    }
}

#[test]
fn a_shared_index_is_loaded_once_and_then_taken_as_it_is() {
    let place = Place::new(&["a.txt", "b.txt"]);
    let first = place.share(1);
    assert_eq!(first.totals().unwrap(), (2, 0));

    place.write("c.txt");
    let second = place.share(1);

    assert_eq!(second.totals().unwrap(), (2, 0));
    assert_eq!(first.token_secret(), second.token_secret());
    assert!(matches!(
        place.open(Sharing::Alone),
        Err(Error::InUse { .. })
    ));
    first.close().unwrap();
    drop((first, second));
    let alone = place.open(Sharing::Alone).unwrap();
    assert_eq!(alone.totals().unwrap(), (3, 0));
}

#[test]
fn a_newer_configuration_supersedes_an_older_one() {
    let place = Place::new(&["a.txt"]);
    let old = place.share(1);
    assert!(!old.is_superseded());

    let new = place.share(2);
    let requester = site::Requester::anonymous([127, 0, 0, 1].into());
    old.view(requester).unwrap();

    assert!(old.is_superseded());
    assert!(!new.is_superseded());
}

#[test]
fn an_index_that_is_damaged_under_several_is_made_good_by_one() {
    let place = Place::new(&["a.txt", "b.txt"]);
    let (one, other) = (place.share(1), place.share(1));
    let secret = one.token_secret().to_vec();
    let index = place.data.path().join("index.sqlite");
    // Not closed: that would drop the locks that SQLite has in this process.
    let file = ManuallyDrop::new(File::options().write(true).open(index).unwrap());
    file.write_all_at(&[0xee; 4096], 0).unwrap();

    one.rebuild_index().unwrap();

    assert_eq!(one.totals().unwrap(), (2, 0));
    other.rebuild_index().unwrap();
    assert_eq!(other.totals().unwrap(), (2, 0));
    drop((one, other));
    assert_eq!(place.share(1).token_secret(), secret);
}
