//! The trait of a repository that the provider can answer for.

use std::io::Write;

use oai::xml::Writer;
use oai::{Datestamp, Position, RecordHeader, Set, SetSpec, format::MetadataFormat};

use crate::Error;
use crate::resource_sync::Most;

/// An item in a list.
pub trait Listed {
    /// Its header, the same in every format.
    fn header(&self) -> &RecordHeader;

    /// Its number, which orders items of one datestamp and never changes.
    fn id(&self) -> i64;

    /// Where a list stands behind this item.
    fn position(&self) -> Position {
        Position {
            datestamp: self.header().datestamp,
            id: self.id(),
        }
    }
}

/// Which items a list goes over; both bounds are inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Only this set, with all below it.
    pub set: Option<SetSpec>,
    /// Not older than this.
    pub from: Datestamp,
    /// Not newer than this.
    pub until: Datestamp,
    /// The format of the list, also of one of headers: a view may have another datestamp for each format of an item.
    pub metadata_prefix: String,
}

/// How much of a list is wanted at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion<'a> {
    /// Maximum number of items.
    pub at_most: usize,
    /// The format in which their metadata will be written; none if headers are all that is wanted.
    pub metadata_prefix: Option<&'a str>,
    /// Items whose metadata fills so many bytes are enough.
    pub bytes: u64,
}

/// Some items of a list, and how the list goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemBatch<I> {
    /// The items, ordered by (datestamp, id).
    pub items: Vec<I>,
    /// Where the list goes on: behind the last item that was looked at, given or not. None if there was none.
    pub behind: Option<Position>,
    /// Whether nothing is left behind it.
    pub exhausted: bool,
    /// How many items somebody else had to be asked about.
    pub lookups: u64,
}

/// Whether the record of an item can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obtained {
    /// It can.
    Ready,
    /// There is no item: its resource is not served now.
    Gone,
    /// Not now: too much is going on.
    Busy,
}

/// The result of a GET of an item's URL, as far as it is known without a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    /// Its URL.
    pub url: String,
    /// The time that a GET gives as `Last-Modified`.
    pub modified: Option<Datestamp>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its length in bytes.
    pub length: Option<u64>,
    /// Its digests in hexadecimal, each with its algorithm as ResourceSync names it: `md5`, `sha-1`, `sha-256`.
    pub digests: Vec<(&'static str, String)>,
    /// Whether the item appeared at its datestamp; else it was there before.
    pub is_new: bool,
}

/// The view of one requester on a repository at one moment.
pub trait View {
    /// An item with whatever the repository needs to write its records.
    type Item: Listed;

    /// The moment: no item of this view is newer.
    fn response_date(&self) -> Datestamp;

    /// A guaranteed lower limit of all datestamps.
    fn earliest_datestamp(&self) -> Result<Datestamp, Error>;

    /// The formats that items can be had in.
    fn metadata_formats(&self) -> Vec<MetadataFormat>;

    /// The sets that hold something this requester may see, parents before children.
    fn sets(&self) -> Result<Vec<Set>, Error>;

    /// The item of an identifier, if the lists of this view have it too.
    fn item(&self, identifier: &str) -> Result<Option<Self::Item>, Error>;

    /// The item of an identifier as it is listed in a format; none if it is not there, or not in that format.
    fn item_in(
        &self,
        identifier: &str,
        metadata_prefix: &str,
    ) -> Result<Option<Self::Item>, Error> {
        let _ = metadata_prefix;
        self.item(identifier)
    }

    /// How many items of a range have a format, if that can be told exactly.
    fn count(&self, range: &Range, metadata_prefix: &str) -> Result<Option<u64>, Error>;

    /// Some items of a range behind a position. Fewer than may be, even none, do not mean that there are no more: a
    /// view that must ask somebody else looks at no more than it was asked for and gives what may be seen.
    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<Self::Item>, Error>;

    /// Whether an item can be had in one of the formats.
    fn has_format(&self, item: &Self::Item, metadata_prefix: &str) -> bool {
        let _ = (item, metadata_prefix);
        true
    }

    /// Whether [`View::obtain`] runs a program for the record.
    fn runs_program(&self, item: &Self::Item, metadata_prefix: &str) -> bool {
        let _ = (item, metadata_prefix);
        false
    }

    /// Fetches what a record needs, before anything of it is written.
    fn obtain(&self, item: &Self::Item, metadata_prefix: &str) -> Result<Obtained, Error> {
        let _ = (item, metadata_prefix);
        Ok(Obtained::Ready)
    }

    /// About how many bytes [`View::write_metadata`] will write.
    fn metadata_size(&self, item: &Self::Item, metadata_prefix: &str) -> u64;

    /// Is told, before an item is written, which items come next if so many bytes are left for them: a view that takes
    /// long over a record may begin with some of them while this one is being sent.
    fn prepare(&self, item: &Self::Item, coming: &[Self::Item], metadata_prefix: &str, bytes: u64) {
        let _ = (item, coming, metadata_prefix, bytes);
    }

    /// Writes the metadata of an item that is not deleted, in one of the formats.
    fn write_metadata<W: Write>(
        &self,
        item: &Self::Item,
        metadata_prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), Error>;

    /// The resource of an item, if it has a URL that a GET answers; of a deleted item only the URL counts.
    fn resource(&self, item: &Self::Item) -> Result<Option<Resource>, Error> {
        let _ = item;
        Ok(None)
    }

    /// The time from which on every change is told. What is older was there when the repository began.
    fn changes_since(&self) -> Result<Datestamp, Error> {
        self.earliest_datestamp()
    }

    /// Some items of a range behind a position, in whatever format, for lists of resources.
    fn list_resources(
        &self,
        range: &Range,
        after: Option<Position>,
        at_most: usize,
    ) -> Result<ItemBatch<Self::Item>, Error> {
        let portion = Portion {
            at_most,
            metadata_prefix: None,
            bytes: u64::MAX,
        };
        self.list(range, after, portion)
    }

    /// Where the resources of a range have to be cut, so that each part holds no more than `most`. None if only a walk
    /// over the items tells.
    fn cuts(
        &self,
        range: &Range,
        with_deleted: bool,
        most: Most,
    ) -> Result<Option<Vec<Position>>, Error> {
        let _ = (range, with_deleted, most);
        Ok(None)
    }

    /// Writes the part of a record behind its header: the metadata, and what is said about it.
    fn write_body<W: Write>(
        &self,
        item: &Self::Item,
        metadata_prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), Error> {
        xml.start("metadata", &[])?;
        self.write_metadata(item, metadata_prefix, xml)?;
        xml.end("metadata")?;
        self.write_about(item, xml)
    }

    /// Writes the `about` containers of a record.
    fn write_about<W: Write>(&self, item: &Self::Item, xml: &mut Writer<W>) -> Result<(), Error> {
        let _ = (item, xml);
        Ok(())
    }
}
