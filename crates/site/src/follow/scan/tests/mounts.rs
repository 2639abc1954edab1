//! Scans over a site that is made of several directories.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::super::*;
use crate::index::{OpenedIndex, State};
use crate::{Mount, OpenError, Sharing, SiteConfig, Symlinks};

/// Directories to make a site of.
struct Fixture {
    directory: tempfile::TempDir,
    mounts: Vec<Mount>,
}

impl Fixture {
    /// A root with some files.
    fn new(files: &[&str]) -> Self {
        let fixture = Self {
            directory: tempfile::tempdir().unwrap(),
            mounts: Vec::new(),
        };
        fs::create_dir(fixture.place("data")).unwrap();
        fs::create_dir(fixture.place("root")).unwrap();
        fixture.write("root", files);
        fixture
    }

    /// A directory of its own with some files, mounted somewhere.
    fn mount(mut self, at: &str, name: &str, files: &[&str]) -> Self {
        self.write(name, files);
        self.mounts.push(Mount {
            at: path(at),
            path: self.place(name),
        });
        self
    }

    fn write(&self, name: &str, files: &[&str]) {
        for file in files {
            let place = self.place(name).join(file);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, file).unwrap();
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn ground(&self) -> Ground {
        self.ground_with(Symlinks::Every)
    }

    fn ground_with(&self, symlinks: Symlinks) -> Ground {
        self.try_ground(symlinks).unwrap()
    }

    fn try_ground(&self, symlinks: Symlinks) -> Result<Ground, Error> {
        let (root, data) = (self.place("root"), self.place("data"));
        let mut config = SiteConfig::new(&root, &data, "http://a/", "http://a/oai");
        config.mounts = self.mounts.clone();
        config.offer.symlinks = symlinks;
        config.ground()
    }

    fn load(&self, ground: &Ground) -> Box<Index> {
        load(ground, &self.place("data"))
    }
}

fn load(ground: &Ground, data: &Path) -> Box<Index> {
    match Index::open(data, Sharing::Alone).unwrap() {
        OpenedIndex::Fresh(loader) => first_scan(ground, *loader, None, &|_| {}).unwrap(),
        OpenedIndex::Known(_) => unreachable!("the directory is new"),
    }
}

fn path(text: &str) -> SitePath {
    SitePath::new(text).unwrap()
}

/// The files of a walk, in its order.
fn walked(ground: &Ground) -> Vec<String> {
    let files = Walk::new(ground, &SitePath::root()).filter_map(|found| match found {
        WalkEntry::File { path, .. } => Some(path.display().into_owned()),
        _ => None,
    });
    files.collect()
}

fn unknown(ground: &Ground) -> Vec<String> {
    let unknown = Walk::new(ground, &SitePath::root()).filter_map(|found| match found {
        WalkEntry::Unknown(path) => Some(path.display().into_owned()),
        _ => None,
    });
    unknown.collect()
}

fn in_state(index: &Index, state: State) -> Vec<String> {
    let reader = index.reader().unwrap();
    let rows = reader.by_path(&SitePath::root(), None, 5000).unwrap();
    let rows = rows.into_iter().filter(|row| row.state == state);
    rows.map(|row| row.path.display().into_owned()).collect()
}

fn rescan(ground: &Ground, index: &Index) {
    // A file written a moment ago would be left for a later look.
    thread::sleep(Duration::from_millis(30));
    scan_all(ground, index, &|_| {}).unwrap();
}

fn read(ground: &Ground, name: &str) -> String {
    let opened = ground.open_file(&path(name)).unwrap();
    std::io::read_to_string(opened.file).unwrap()
}

#[test]
fn mounts_are_walked_in_the_order_of_paths() {
    let fixture = Fixture::new(&["a-b", "a.txt", "a0", "a/hidden", "b/c", "zz.txt", "zz-y/x"])
        .mount("a", "first", &["b.txt", "b/0", "b/c/hidden", "b/d", "c"])
        .mount("a/b/c", "second", &["x", "y/z"])
        .mount("zz/yy", "third", &["1", "2"])
        .mount("b/single.txt", "file", &[]);
    fs::write(fixture.place("file"), "single").unwrap();
    let ground = fixture.ground();

    let files = walked(&ground);

    let expected = [
        "a-b",
        "a.txt",
        "a/b.txt",
        "a/b/0",
        "a/b/c/x",
        "a/b/c/y/z",
        "a/b/d",
        "a/c",
        "a0",
        "b/c",
        "b/single.txt",
        "zz-y/x",
        "zz.txt",
        "zz/yy/1",
        "zz/yy/2",
    ];
    assert_eq!(files, expected);
    assert!(files.is_sorted());
    assert_eq!(unknown(&ground), Vec::<String>::new());
}

#[test]
fn a_mount_hides_what_is_below_it_also_for_looks_and_reads() {
    let fixture = Fixture::new(&["a/x", "a/only-in-root"]).mount("a", "first", &["x"]);
    fs::write(fixture.place("first/x"), "mounted").unwrap();
    let ground = fixture.ground();

    assert_eq!(read(&ground, "a/x"), "mounted");
    assert!(matches!(
        ground.open_file(&path("a/only-in-root")),
        Err(OpenError::Missing)
    ));
    assert!(matches!(
        ground.look(&path("a/only-in-root")),
        Sighting::LeftOut(Reason::Missing)
    ));
    assert_eq!(
        ground.file_path(&path("a/x")),
        Some(fixture.place("first/x"))
    );
    assert_eq!(ground.file_path(&path("b")), Some(fixture.place("root/b")));
}

#[test]
fn a_mounted_file_is_a_file_and_nothing_is_below_it() {
    let mut fixture = Fixture::new(&["x.txt/y"]).mount("x.txt/deeper", "second", &["z"]);
    fixture.write("elsewhere", &["file"]);
    fixture.mounts.push(Mount {
        at: path("x.txt"),
        path: fixture.place("elsewhere/file"),
    });
    let ground = fixture.ground();

    assert_eq!(walked(&ground), ["x.txt", "x.txt/deeper/z"]);
    assert_eq!(read(&ground, "x.txt"), "file");
    assert!(matches!(ground.look(&path("x.txt")), Sighting::File { .. }));
    assert_eq!(
        ground.file_path(&path("x.txt")),
        Some(fixture.place("elsewhere/file"))
    );
    assert_eq!(ground.file_path(&path("x.txt/y")), None);
    assert!(ground.open_file(&path("x.txt/y")).is_err());
}

#[test]
fn a_file_may_stand_where_mounts_are_further_down() {
    let fixture = Fixture::new(&["zz", "zz-top"]).mount("zz/yy", "first", &["x"]);
    let ground = fixture.ground();
    let index = fixture.load(&ground);

    fs::remove_file(fixture.place("root/zz")).unwrap();
    rescan(&ground, &index);

    assert_eq!(in_state(&index, State::Live), ["zz-top", "zz/yy/x"]);
    assert_eq!(walked(&ground), ["zz-top", "zz/yy/x"]);
}

#[test]
fn levels_that_exist_nowhere_are_directories() {
    let fixture = Fixture::new(&[]).mount("zz/yy/xx", "first", &["x"]);
    let ground = fixture.ground();
    let index = fixture.load(&ground);
    fixture.write("first", &["new"]);
    thread::sleep(Duration::from_millis(30));

    for above in ["zz", "zz/yy"] {
        assert!(matches!(ground.look(&path(above)), Sighting::Directory));
        let opened = ground.open_file(&path(above));
        assert!(matches!(opened, Err(OpenError::Directory(_))));
    }
    let mut scan = Scan::new(&ground, &index, None, Stop::default());
    scan.look(&path("zz")).unwrap();
    scan.apply().unwrap();

    assert_eq!(
        in_state(&index, State::Live),
        ["zz/yy/xx/new", "zz/yy/xx/x"]
    );
}

#[test]
fn a_mount_that_is_away_keeps_its_rows_and_others_are_scanned() {
    let fixture = Fixture::new(&["a-b", "b"])
        .mount("a", "first", &["x", "y/z"])
        .mount("a/y/deep", "second", &["1"])
        .mount("c", "third", &["2"]);
    let ground = fixture.ground();
    let index = fixture.load(&ground);
    let before = in_state(&index, State::Live);

    fs::rename(fixture.place("first"), fixture.place("away")).unwrap();
    fs::remove_file(fixture.place("root/a-b")).unwrap();
    fs::remove_file(fixture.place("third/2")).unwrap();
    fixture.write("second", &["new"]);
    rescan(&ground, &index);

    assert_eq!(unknown(&ground), ["a"]);
    assert_eq!(
        in_state(&index, State::Live),
        ["a/x", "a/y/deep/1", "a/y/deep/new", "a/y/z", "b"]
    );
    assert_eq!(in_state(&index, State::Deleted), ["a-b", "c/2"]);

    fs::rename(fixture.place("away"), fixture.place("first")).unwrap();
    fixture.write("third", &["2"]);
    fixture.write("root", &["a-b"]);
    fs::remove_file(fixture.place("second/new")).unwrap();
    rescan(&ground, &index);
    assert_eq!(in_state(&index, State::Live), before);
}

#[test]
fn a_mounted_file_that_is_away_keeps_its_row() {
    let fixture = Fixture::new(&["b"]).mount("dir", "elsewhere", &["file"]);
    let fixture = Fixture {
        mounts: vec![Mount {
            at: path("a.txt"),
            path: fixture.place("elsewhere/file"),
        }],
        ..fixture
    };
    let ground = fixture.ground();
    let index = fixture.load(&ground);

    fs::remove_file(fixture.place("elsewhere/file")).unwrap();
    rescan(&ground, &index);

    assert_eq!(unknown(&ground), ["a.txt"]);
    assert_eq!(in_state(&index, State::Live), ["a.txt", "b"]);
}

#[test]
fn a_root_that_is_away_keeps_its_rows_and_mounts_are_scanned() {
    let fixture = Fixture::new(&["a", "z"]).mount("m/n", "first", &["x"]);
    let ground = fixture.ground();
    let index = fixture.load(&ground);

    fs::rename(fixture.place("root"), fixture.place("away")).unwrap();
    fs::remove_file(fixture.place("first/x")).unwrap();
    fixture.write("first", &["y"]);
    rescan(&ground, &index);

    assert_eq!(unknown(&ground), [""]);
    assert_eq!(in_state(&index, State::Live), ["a", "m/n/y", "z"]);
}

#[test]
fn only_a_site_of_one_directory_needs_it_to_be_there() {
    let mut fixture = Fixture::new(&[]).mount("m", "first", &["x"]);
    fs::remove_dir(fixture.place("root")).unwrap();

    for symlinks in [Symlinks::Inside, Symlinks::Every] {
        assert_eq!(walked(&fixture.ground_with(symlinks)), ["m/x"]);
    }
    fixture.mounts.clear();
    assert_eq!(walked(&fixture.ground()), Vec::<String>::new());
    assert!(fixture.ground().renew().is_ok());
    assert!(matches!(
        fixture.try_ground(Symlinks::Inside),
        Err(Error::Root { .. })
    ));
}

#[test]
fn a_mount_that_is_no_longer_in_the_list_leaves_tombstones() {
    let fixture = Fixture::new(&["a/below"])
        .mount("a", "first", &["x"])
        .mount("~ann", "second", &["y"]);
    let ground = fixture.ground();
    let index = fixture.load(&ground);
    assert_eq!(in_state(&index, State::Live), ["a/x", "~ann/y"]);

    fixture.write("third", &["z"]);
    ground.set_mounts(vec![
        fixture.mounts[1].clone(),
        Mount {
            at: path("~bob"),
            path: fixture.place("third"),
        },
    ]);
    rescan(&ground, &index);

    assert_eq!(
        in_state(&index, State::Live),
        ["a/below", "~ann/y", "~bob/z"]
    );
    assert_eq!(in_state(&index, State::Deleted), ["a/x"]);
}

#[test]
fn a_first_scan_and_a_later_one_find_the_same() {
    let fixture = Fixture::new(&["a-b", "a.txt", "a/b", "q"])
        .mount("a", "first", &["b.txt", "b/0"])
        .mount("a/b/c", "second", &["x"])
        .mount("zz/yy", "third", &["1"]);
    let ground = fixture.ground();
    let loaded = fixture.load(&ground);

    let empty = Fixture::new(&[]);
    let scanned = empty.load(&empty.ground());
    rescan(&ground, &scanned);
    rescan(&ground, &loaded);

    assert_eq!(in_state(&loaded, State::Live).len(), 7);
    assert_eq!(
        in_state(&loaded, State::Live),
        in_state(&scanned, State::Live)
    );
}

#[test]
fn the_rules_hold_for_mounts_too() {
    let fixture = Fixture::new(&[]).mount(".git/x", "first", &["a"]).mount(
        "open",
        "second",
        &[".hidden", "b~", "page.php", "c"],
    );
    let ground = fixture.ground();

    assert_eq!(walked(&ground), ["open/c"]);
    assert!(matches!(
        ground.look(&path(".git/x/a")),
        Sighting::LeftOut(Reason::Name { .. })
    ));
}

#[test]
fn a_mount_may_show_the_directory_it_lies_in() {
    let mut fixture = Fixture::new(&["x"]);
    fixture.mounts.push(Mount {
        at: path("again"),
        path: fixture.place("root"),
    });

    assert_eq!(walked(&fixture.ground()), ["again/x", "x"]);
}

#[test]
fn where_another_server_decides_every_link_is_an_item() {
    let fixture = Fixture::new(&["d/a.txt", "link-", "e.txt"]);
    fixture.write("outside", &["o", "prog.php"]);
    let root = fixture.place("root");
    symlink("d/a.txt", root.join("a.txt")).unwrap();
    symlink("d", root.join("link")).unwrap();
    symlink(fixture.place("outside"), root.join("out")).unwrap();
    symlink(fixture.place("outside/prog.php"), root.join("prog.txt")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("..", root.join("d/loop")).unwrap();
    let ground = fixture.ground();

    let files = walked(&ground);

    assert!(files.is_sorted());
    assert_eq!(
        files,
        [
            "a.txt",
            "d/a.txt",
            "e.txt",
            "link-",
            "link/a.txt",
            "out/o",
            "prog.txt"
        ]
    );
    for name in &files {
        assert!(matches!(ground.look(&path(name)), Sighting::File { .. }));
        assert_eq!(ground.open_file(&path(name)).unwrap().path, path(name));
    }
    assert!(matches!(ground.look(&path("link")), Sighting::Directory));
    assert_eq!(read(&ground, "out/o"), "o");
    assert!(matches!(
        ground.open_file(&path("d/a.txt/x")),
        Err(OpenError::Missing)
    ));
}

#[test]
fn where_another_server_decides_mode_bits_are_no_reason() {
    let fixture = Fixture::new(&["private"]);
    let place = fixture.place("root/private");
    fs::set_permissions(&place, PermissionsExt::from_mode(0o000)).unwrap();
    let readable = fs::File::open(&place).is_ok();
    let ground = fixture.ground();

    assert_eq!(!walked(&ground).is_empty(), readable);
    assert_eq!(ground.open_file(&path("private")).is_ok(), readable);
}
