//! Extraction: the import without a catalog. One source gives one Parquet file, and nothing but the source, the options
//! and the program decide on what is in it.
//!
//! Files get their names when they are whole, what has a name stays, and the entry that says that a result is complete
//! comes last. So a repeat, and two that extract the same at once, do no harm.

mod columns;
pub(super) mod entry;
pub(super) mod place;
pub(super) mod row;
mod segment;
pub(super) mod table;

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use anyhow::{Context, bail};
use catalog::{ImportCounters, ImportState, ImportWarning};
use crawl::Source;
use data_encoding::HEXLOWER;
use harvester::Stop;
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::{Collection, Durability};

use self::entry::{Entry, FORMAT, Facts, ResultName, Segment, sha256};
use self::place::{ResultPlace, SOURCES};
use self::row::{NOTE, Row};
use self::segment::SegmentWriter;
use self::table::{TableReader, TableWriter};
use super::events::ImportEvent;
use super::flow::{Flow, Kept};
use super::group::Group;
use super::judging::{Ticket, Verdict};
use super::order::{ImportOrder, Parameters};
use super::sources::Sources;
use super::sources::stored::StoredSource;
use super::spool::{Spool, Spooled};
use super::uncatalogued::seen::Seen;
use super::{Imported, examiner, judging, rules};
use crate::{Failure, load_model};

/// A place that sources are extracted to, with the same options.
pub struct Extraction {
    order: ImportOrder,
    place: ResultPlace,
    options: Parameters,
    model: Option<String>,
    /// Whether the bytes of documents are extracted.
    bytes: bool,
    /// The digest of all that decides beside the source.
    digest: String,
}

/// A source that was extracted.
#[derive(Debug, Clone, Serialize)]
pub struct Extracted {
    /// The source.
    pub file: String,
    /// How an import of it would have ended.
    pub state: ImportState,
    /// Why it is not complete.
    pub reason: Option<String>,
    /// Whether the result was there already.
    pub reused: bool,
    /// The SHA-256 of the source.
    pub source: String,
    /// The entry of the result, below the place of results.
    pub entry: String,
    /// The Parquet file.
    pub table: String,
    /// The WARC file with the bytes of documents.
    pub bytes: Option<String>,
    /// The rows of the Parquet file.
    pub rows: u64,
    /// The counters of an import of this source alone.
    #[serde(flatten)]
    pub counters: ImportCounters,
    /// How long it took.
    pub seconds: f64,
}

/// The archives that are meant by paths: those below a directory one by one.
pub fn archives_at(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let metadata = std::fs::metadata(path);
    let metadata = metadata.with_context(|| format!("`{}` cannot be read", path.display()))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let sources = crawl::open(path, &crawl::Limits::default())
        .map_err(|error| Failure::new(Failure::NOT_AN_ARCHIVE, error.to_string()))?;
    let mut files = Vec::new();
    for source in sources {
        let name = source.name();
        let file = match Path::new(&name).exists() {
            true => PathBuf::from(name),
            // A member of a WACZ.
            false => PathBuf::from(name.split_once('!').map_or(&*name, |(file, _)| file)),
        };
        if files.last() != Some(&file) {
            files.push(file);
        }
    }
    if files.is_empty() {
        let message = format!("there are no archives in `{}`", path.display());
        bail!(Failure::new(Failure::NOT_AN_ARCHIVE, message));
    }
    Ok(files)
}

impl Extraction {
    /// Opens the place that results go to: a directory, or s3://BUCKET/PREFIX.
    pub fn open(order: ImportOrder, output: &str, bytes: bool) -> anyhow::Result<Self> {
        let options = order.parameters()?;
        let model = match order.texts.content_filter {
            true => {
                let model = load_model(order.texts.model.as_deref())?;
                Some(model.version().to_owned())
            }
            false => None,
        };
        let all = (FORMAT, program(), &options, bytes);
        Ok(Self {
            place: ResultPlace::create(output)?,
            digest: sha256(&serde_json::to_vec(&all)?),
            options,
            model,
            bytes,
            order,
        })
    }

    /// Extracts the source at a path, unless its result is there. `shown` is where it was found.
    pub fn extract(
        &self,
        path: &Path,
        shown: &Path,
        stop: &Stop,
        tell: &(dyn Fn(ImportEvent<'_>) + Sync),
    ) -> anyhow::Result<Extracted> {
        let began = Instant::now();
        let seen = Stamp::of(path)?;
        let source = seen.digest(path)?;
        let name = ResultName::new(&source, &self.digest);
        if let Some(entry) = self.complete(&name)? {
            return Ok(extracted(shown, &name, &entry.facts, true, began));
        }
        let order = ImportOrder {
            paths: vec![path.to_owned()],
            ..self.order.clone()
        };
        let table = self.place.new_file()?;
        let (imported, parts, still_written) =
            self.read(&order, path, stop, tell, table.as_file().try_clone()?)?;
        if imported.state == ImportState::Cancelled {
            bail!("stopped; nothing of `{}` was kept", path.display());
        }
        if still_written {
            bail!(
                "`{}` is still being written; extract it when it is complete",
                path.display()
            );
        }
        if Stamp::of(path)? != seen {
            bail!(
                "`{}` changed while it was read; extract it again",
                path.display()
            );
        }
        let bytes = self.publish_bytes(&name, parts.segment)?;
        let facts = Facts {
            format: FORMAT,
            program: program().to_owned(),
            source,
            source_size: seen.size,
            options: self.options.clone(),
            model: self.model.clone(),
            rows: parts.table.count(),
            read: parts.read,
            counters: parts.counters,
            bytes,
        };
        parts.table.finish(serde_json::to_string(&facts)?)?;
        self.place.put(&name.table(), table)?;
        let entry = self.publish_entry(&name, shown, &seen)?;
        Ok(Extracted {
            state: imported.state,
            reason: imported.reason,
            ..extracted(shown, &name, &entry.facts, false, began)
        })
    }

    /// The results with these options that are complete.
    pub fn complete_results(&self) -> anyhow::Result<Vec<Extracted>> {
        let mut results = Vec::new();
        for file in self.place.names(SOURCES)? {
            let name = ResultName::of_entry(&file).filter(|name| name.has(&self.digest));
            let Some(name) = name else { continue };
            if let Some(entry) = self.complete(&name)? {
                let path = Path::new(&entry.path);
                results.push(extracted(path, &name, &entry.facts, true, Instant::now()));
            }
        }
        Ok(results)
    }

    /// The entry of a result that is complete.
    fn complete(&self, name: &ResultName) -> anyhow::Result<Option<Entry>> {
        let path = name.entry();
        match self.place.read(&path)? {
            Some(bytes) => Ok(Some(Entry::parse(&bytes, &self.place.shown(&path))?)),
            None => Ok(None),
        }
    }

    /// Reads a source into a table.
    fn read(
        &self,
        order: &ImportOrder,
        path: &Path,
        stop: &Stop,
        tell: &(dyn Fn(ImportEvent<'_>) + Sync),
        table: File,
    ) -> anyhow::Result<(Imported, Writing, bool)> {
        let began = Instant::now();
        let limits = order.limits();
        let sources = Sources::open(order, &limits)?;
        if sources
            .all
            .iter()
            .any(|source| matches!(source, Source::Log(_)))
        {
            bail!(
                "`{}` is no archive; garner import imports mirrors, logs and data directories",
                path.display()
            );
        }
        let needs_bytes = self.bytes || order.texts.is_wanted();
        let spool = needs_bytes.then(|| self.place.spool()).transpose()?;
        let collection = match &spool {
            Some(spool) => Some(Collection::open(spool.path(), Durability::None)?),
            None => None,
        };
        let spool = Spool::new(collection.as_ref(), stop);
        let judging = judging(order, &spool, None)?;
        judging
            .iter()
            .for_each(|judging| judging.judge().tell_missing(tell));
        let examiner = examiner(order, rules(order)?, &spool, judging.as_ref());
        let flow = Flow {
            order,
            sources: &sources,
            examiner: &examiner,
            judging: judging.as_ref(),
            is_resumed: false,
            stop,
            limits,
            tell,
            undated: Some(UNDATED),
            left: None,
            settles: false,
        };
        let segment = match self.bytes {
            true => Some(SegmentWriter::new(self.place.new_file()?)),
            false => None,
        };
        let mut writing = Writing {
            table: TableWriter::new(BufWriter::with_capacity(128 << 10, table))?,
            segment,
            path: path.display().to_string(),
            read: ImportCounters::default(),
            counters: ImportCounters::default(),
            seen: Seen::default(),
        };
        let read = flow.run(&[], &mut |group| writing.keep(group), &|| {})?;
        let still_written = !read.still_written.is_empty();
        let imported = Imported::without_catalog(writing.counters, None, &read, began);
        Ok((imported, writing, still_written))
    }

    /// Publishes the segment with its index, if there is anything in it.
    fn publish_bytes(
        &self,
        name: &ResultName,
        segment: Option<SegmentWriter>,
    ) -> anyhow::Result<Option<Segment>> {
        let Some(segment) = segment else {
            return Ok(None);
        };
        let (file, records, mut lines) = segment.finish().context("document bytes")?;
        let (sha256, size) = digest(file.as_file())?;
        let segment = Segment {
            sha256,
            size,
            records,
        };
        let path = name.bytes(&segment);
        let mut index = self.place.new_file()?;
        let filename = path.rsplit('/').next().unwrap_or_default();
        for line in &mut lines {
            line.filename = filename.to_owned();
            io::Write::write_all(&mut index, line.to_line().as_bytes())?;
        }
        self.place.put(&path, file)?;
        let index_path = path.strip_suffix(".warc.gz").unwrap_or(&path);
        self.place.put(&format!("{index_path}.cdxj"), index)?;
        Ok(Some(segment))
    }

    /// Publishes the entry, with the facts of the table that has the name: another may have put it there first.
    fn publish_entry(&self, name: &ResultName, path: &Path, seen: &Stamp) -> anyhow::Result<Entry> {
        let table = name.table();
        let shown = self.place.shown(&table);
        let file = self.place.fetch(&table)?;
        let file = file.with_context(|| format!("`{shown}` was removed while it was written"))?;
        let (sha256, size) = digest(&file)?;
        let reader = TableReader::open(file, Path::new(&shown))?;
        let facts = reader.facts().unwrap_or_default();
        let facts: Facts = serde_json::from_str(facts)
            .with_context(|| format!("`{shown}` is damaged; remove it"))?;
        let entry = Entry {
            facts,
            sha256,
            size,
            path: match StoredSource::is_meant(path) {
                true => path.to_string_lossy().into_owned(),
                false => std::path::absolute(path)?.to_string_lossy().into_owned(),
            },
            written: seen.written,
        };
        let mut file = self.place.new_file()?;
        io::Write::write_all(&mut file, &serde_json::to_vec_pretty(&entry)?)?;
        self.place.put(&name.entry(), file)?;
        Ok(entry)
    }
}

/// The files written for a source.
struct Writing {
    table: TableWriter<BufWriter<File>>,
    segment: Option<SegmentWriter>,
    /// The source, as messages name it.
    path: String,
    read: ImportCounters,
    counters: ImportCounters,
    seen: Seen,
}

impl Writing {
    /// Writes a group whose documents may still be judged.
    fn keep(&mut self, mut group: Group) -> anyhow::Result<Kept> {
        self.read += group.counters;
        // Usual ones are most of a crawl, and only counted here.
        let unusual = group.warnings.iter();
        for warning in unusual.filter(|warning| !warning.is_usual()) {
            let note = self.note(warning);
            self.table.push(note)?;
        }
        for (capture, content) in group.rows.iter().zip(&mut group.contents) {
            let mut row = Row::of(capture, UNDATED);
            (row.archive, row.record_offset) = self.place_in(&capture.source);
            if let Some(content) = content {
                row.last_modified.clone_from(&content.met.last_modified);
                let mut held = std::mem::replace(&mut content.held, Spooled::Nothing);
                if let Some(ticket) = content.ticket.take() {
                    let mut judged = ticket.wait();
                    match judged.verdict {
                        Verdict::Stopped => bail!("stopped"),
                        Verdict::Fatal(error) => return Err(error),
                        _ => {}
                    }
                    row.decide(&judged.verdict);
                    row.reason = row.reason.map(|reason| self.without_path(&reason));
                    if let Some(judgement) = &judged.row {
                        row.judge(judgement);
                    }
                    held = std::mem::replace(&mut judged.held, Spooled::Nothing);
                    row.text = judged.text.take().map(|text| text_of(&text)).transpose()?;
                    content.ticket = Some(Ticket::ready(judged));
                }
                if let Some(segment) = &mut self.segment {
                    let offset = segment
                        .add(capture, &held)
                        .with_context(|| format!("the bytes of {}", capture.url))?;
                    row.bytes_offset = offset.and_then(|offset| offset.try_into().ok());
                }
            }
            self.table.push(row)?;
        }
        let Some(group) = group.resolve()? else {
            bail!("stopped");
        };
        self.counters += group.counters;
        for row in &group.rows {
            let outcome = self.seen.see(row);
            self.counters.count(row, outcome);
        }
        Ok((Vec::new(), self.counters))
    }

    /// A line of the report. The path of the source stays out: the same bytes give the same rows wherever they lie.
    fn note(&self, warning: &ImportWarning) -> Row {
        let archive = warning.file.strip_prefix(&self.path);
        let archive = archive.and_then(|rest| rest.strip_prefix('!'));
        let offset = warning.offset.and_then(|offset| offset.try_into().ok());
        Row {
            row: Some(NOTE.to_owned()),
            reason: Some(self.without_path(&warning.reason)),
            counter: Some(warning.kind.clone()).filter(|kind| !kind.is_empty()),
            archive: archive.map(str::to_owned),
            record_offset: offset,
            ..Row::default()
        }
    }

    fn without_path(&self, text: &str) -> String {
        text.replace(&self.path, SOURCE)
    }

    /// The archive in a WACZ and the offset that the source of a capture names.
    fn place_in(&self, source: &str) -> (Option<String>, Option<i64>) {
        let rest = source.strip_prefix(&self.path).unwrap_or(source);
        let Some((file, offset)) = rest.rsplit_once(" at offset ") else {
            return (None, None);
        };
        (
            file.strip_prefix('!').map(str::to_owned),
            offset.parse().ok(),
        )
    }
}

/// The stamp by which a change of a file is noticed.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    written: i64,
    nanoseconds: u32,
}

impl Stamp {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let unread = || format!("`{}` cannot be read", path.display());
        let metadata = std::fs::metadata(path).with_context(unread)?;
        if !metadata.is_file() {
            bail!("`{}` is no file", path.display());
        }
        let modified = metadata.modified().with_context(unread)?;
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            size: metadata.len(),
            written: i64::try_from(since.as_secs()).unwrap_or_default(),
            nanoseconds: since.subsec_nanos(),
        })
    }

    fn digest(&self, path: &Path) -> anyhow::Result<String> {
        let file = File::open(path).and_then(|file| digest(&file));
        let (digest, size) =
            file.with_context(|| format!("`{}` cannot be read", path.display()))?;
        if size != self.size {
            bail!(
                "`{}` changed while it was read; extract it again",
                path.display()
            );
        }
        Ok(digest)
    }
}

/// The SHA-256 of a file, and its size.
pub(super) fn digest(mut file: &File) -> io::Result<(String, u64)> {
    file.rewind()?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut size = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                sha256.update(&buffer[..length]);
                size += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    file.rewind()?;
    Ok((HEXLOWER.encode(&sha256.finalize()), size))
}

fn text_of(text: &Spooled) -> anyhow::Result<String> {
    let mut read = String::new();
    segment::reader(text)
        .and_then(|mut reader| reader.read_to_string(&mut read))
        .context("a text cannot be read")?;
    Ok(read)
}

fn extracted(
    path: &Path,
    name: &ResultName,
    facts: &Facts,
    reused: bool,
    began: Instant,
) -> Extracted {
    let (state, reason) = Imported::state_of(&facts.counters);
    Extracted {
        file: path.display().to_string(),
        state,
        reason,
        reused,
        source: facts.source.clone(),
        entry: name.entry(),
        table: name.table(),
        bytes: facts.bytes.as_ref().map(|segment| name.bytes(segment)),
        rows: facts.rows,
        counters: facts.counters,
        seconds: began.elapsed().as_secs_f64(),
    }
}

fn program() -> &'static str {
    concat!("garner ", env!("CARGO_PKG_VERSION"))
}

/// Stands for the path of the source in messages.
pub(super) const SOURCE: &str = "{source}";
/// The date of captures that have none: no crawl was then.
const UNDATED: i64 = i64::MIN / 2;
