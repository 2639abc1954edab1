//! Lists of a small repository in memory, cut into small parts.

use oai::format::MetadataFormat;
use oai::xml::Writer;
use oai::{Datestamp, Position, RecordHeader, Set, TokenKey};

use super::{Most, SyncDocument, SyncKind};
use crate::{Error, ItemBatch, Listed, PageLimits, Portion, Provider, Range, Resource, View};

const BASE_URL: &str = "http://a.example/oai";

/// Items in the order of their positions.
struct Memory(Vec<Item>);

#[derive(Debug, Clone)]
struct Item {
    id: i64,
    header: RecordHeader,
    is_new: bool,
}

impl Listed for Item {
    fn header(&self) -> &RecordHeader {
        &self.header
    }

    fn id(&self) -> i64 {
        self.id
    }
}

impl View for Memory {
    type Item = Item;

    fn response_date(&self) -> Datestamp {
        Datestamp::from_seconds(1_000)
    }

    fn earliest_datestamp(&self) -> Result<Datestamp, Error> {
        Ok(Datestamp::from_seconds(0))
    }

    fn changes_since(&self) -> Result<Datestamp, Error> {
        Ok(Datestamp::from_seconds(100))
    }

    fn metadata_formats(&self) -> Vec<MetadataFormat> {
        Vec::new()
    }

    fn sets(&self) -> Result<Vec<Set>, Error> {
        Ok(Vec::new())
    }

    fn item(&self, _: &str) -> Result<Option<Item>, Error> {
        Ok(None)
    }

    fn count(&self, _: &Range, _: &str) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<Item>, Error> {
        let key = |position: Position| (position.datestamp, position.id);
        let in_range = self.0.iter().filter(|item| {
            (range.from..=range.until).contains(&item.header.datestamp)
                && after.is_none_or(|after| key(item.position()) > key(after))
        });
        let items: Vec<_> = in_range.take(portion.at_most.min(2)).cloned().collect();
        Ok(ItemBatch {
            behind: items.last().map(Listed::position),
            exhausted: false,
            lookups: 0,
            items,
        })
    }

    fn metadata_size(&self, _: &Item, _: &str) -> u64 {
        0
    }

    fn write_metadata<W: std::io::Write>(
        &self,
        _: &Item,
        _: &str,
        _: &mut Writer<W>,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn resource(&self, item: &Item) -> Result<Option<Resource>, Error> {
        // One that nobody can GET.
        if item.header.identifier.ends_with("/6") {
            return Ok(None);
        }
        Ok(Some(Resource {
            url: item.header.identifier.clone(),
            modified: Some(Datestamp::from_seconds(item.id)),
            media_type: Some("text/plain".to_owned()),
            length: Some(3),
            digests: vec![("md5", "aa".to_owned()), ("sha-1", "bb".to_owned())],
            is_new: item.is_new,
        }))
    }
}

/// Nine items: the third is deleted, the sixth is no resource, the first two are older than all changes.
fn memory() -> Memory {
    let item = |id: i64| Item {
        id,
        header: RecordHeader {
            identifier: format!("http://a.example/a&b/{id}"),
            datestamp: Datestamp::from_seconds(if id < 3 { id } else { 100 + id / 4 }),
            set_specs: Vec::new(),
            deleted: id == 3,
        },
        is_new: id == 4,
    };
    Memory((1..=9).map(item).collect())
}

fn written(document: &SyncDocument, entries: u64) -> String {
    let provider = Provider {
        base_url: BASE_URL.to_owned(),
        repository_name: String::new(),
        admin_emails: Vec::new(),
        descriptions: Vec::new(),
        compressions: Vec::new(),
        limits: PageLimits::default(),
        token_key: TokenKey::new(b""),
    };
    let most = Most {
        entries,
        ..Most::OF_A_DOCUMENT
    };
    let mut out = Vec::new();
    let directory = "http://a.example/";
    provider
        .synchronize_within(&memory(), document, directory, most, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// The locations in a document.
fn locations(text: &str) -> Vec<String> {
    let locations = text.split("<loc>").skip(1);
    locations
        .map(|rest| rest.split("</loc>").next().unwrap().replace("&amp;", "&"))
        .collect()
}

#[test]
fn a_resource_list_tells_what_a_get_would_give() {
    let list = written(&SyncDocument::whole(SyncKind::ResourceList), 50);

    assert!(list.starts_with(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:rs=\"http://www.openarchives.org/rs/terms/\">\n\
         <rs:ln rel=\"up\" href=\"http://a.example/oai/resourcesync/capabilitylist.xml\"/>\n\
         <rs:md capability=\"resourcelist\" at=\"1970-01-01T00:16:40Z\"/>\n\
         <url><loc>http://a.example/a&amp;b/1</loc><lastmod>1970-01-01T00:00:01Z</lastmod>\
         <rs:md hash=\"md5:aa sha-1:bb\" length=\"3\" type=\"text/plain\"/></url>\n"
    ));
    assert_eq!(locations(&list).len(), 7);
}

#[test]
fn a_change_list_tells_each_change_with_its_time() {
    let list = written(&SyncDocument::whole(SyncKind::ChangeList), 50);

    assert!(list.contains("<rs:md capability=\"changelist\" from=\"1970-01-01T00:01:40Z\"/>"));
    assert!(list.contains(
        "<url><loc>http://a.example/a&amp;b/3</loc>\
         <rs:md change=\"deleted\" datetime=\"1970-01-01T00:01:40Z\"/></url>"
    ));
    assert!(list.contains("<rs:md change=\"created\" datetime=\"1970-01-01T00:01:41Z\" hash="));
    assert_eq!(list.matches("change=\"updated\"").count(), 4);
    assert_eq!(locations(&list).len(), 6);
}

#[test]
fn the_parts_of_a_list_have_every_entry_once() {
    for kind in [
        SyncKind::Sitemap,
        SyncKind::ResourceList,
        SyncKind::ChangeList,
    ] {
        let whole = locations(&written(&SyncDocument::whole(kind), 50));
        for entries in 1..whole.len() as u64 {
            let index = written(&SyncDocument::whole(kind), entries);
            assert!(index.contains("<sitemapindex "), "{index}");
            let mut joined = Vec::new();
            for url in locations(&index) {
                let document = match kind {
                    SyncKind::Sitemap => {
                        SyncDocument::below_site(url.strip_prefix("http://a.example/").unwrap())
                    }
                    _ => SyncDocument::below_repository(
                        url.strip_prefix("http://a.example/oai/").unwrap(),
                    ),
                };
                let part = written(&document.unwrap(), entries);
                assert!(part.contains("<urlset "), "{part}");
                assert!(locations(&part).len() as u64 <= entries);
                assert_eq!(
                    part.contains("rel=\"index\""),
                    kind != SyncKind::Sitemap,
                    "{part}"
                );
                joined.extend(locations(&part));
            }
            assert_eq!(joined, whole, "{kind:?} {entries}");
        }
    }
}

#[test]
fn the_last_part_of_a_change_list_is_open() {
    let index = written(&SyncDocument::whole(SyncKind::ChangeList), 3);
    let periods: Vec<_> = index
        .split("<sitemap>")
        .skip(1)
        .map(|entry| entry.contains("until="))
        .collect();

    assert_eq!(periods, [true, false]);
}

#[test]
fn the_description_leads_to_every_list() {
    let description = written(&SyncDocument::whole(SyncKind::Description), 50);
    let lists = written(&SyncDocument::whole(SyncKind::CapabilityList), 50);

    assert_eq!(
        locations(&description),
        ["http://a.example/oai/resourcesync/capabilitylist.xml"]
    );
    assert_eq!(
        locations(&lists),
        [
            "http://a.example/oai/resourcesync/resourcelist.xml",
            "http://a.example/oai/resourcesync/changelist.xml"
        ]
    );
}
