//! From a record in MPEG-21 DIDL to the files it speaks of: their bytes, or where to get them, with the headers, the
//! times and the digests that were recorded along.
//!
//! Understood are our own `oai_didl` and what EPrints, LANL and their relatives write. Nothing is fetched here.
//!
//! ```
//! use harvester::unpack;
//!
//! let record = br#"<record xmlns="http://www.openarchives.org/OAI/2.0/"><metadata>
//! <DIDL xmlns="urn:mpeg:mpeg21:2002:02-DIDL-NS"><Item><Component>
//!   <Resource mimeType="text/plain" encoding="base64">aGVsbG8=</Resource>
//!   <Resource mimeType="text/plain" ref="http://www.example.org/hello.txt"/>
//! </Component></Item></DIDL></metadata></record>"#;
//!
//! let resources = unpack::resources(record)?;
//! let mut bytes = Vec::new();
//! resources[0].copy_to(&mut bytes, 1_000_000)?;
//! assert_eq!(resources[0].url, "http://www.example.org/hello.txt");
//! assert_eq!(bytes, b"hello");
//! # Ok::<_, unpack::Error>(())
//! ```

mod attach;
mod base64;
mod digest;
mod error;
mod read;
mod resource;
mod spool;
mod value;
mod without_values;

pub use self::attach::attach;
pub use self::digest::{Algorithm, Checked, Digest};
pub use self::error::Error;
pub use self::read::resources;
pub use self::resource::{HttpHeader, Resource};
pub(crate) use self::spool::Spooling;
pub use self::spool::{Handle, PlaceError, Spool, Spooled, SpooledBody, SpooledValue};
pub use self::value::{Inline, Value};
pub use self::without_values::without_values;
