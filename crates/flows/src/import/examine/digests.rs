//! Digests of an archive that are not those of its bytes: counted, and told one by one or, where none fits, once.

use crawl::{Checked, DigestCheck, Place};

use crate::import::group::Group;

/// The findings about the digests of one archive.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    kinds: [Kind; 2],
}

/// Digests of blocks, or those of payloads.
#[derive(Debug, Default)]
struct Kind {
    /// Whether one fitted.
    has_fitted: bool,
    /// How many did not before one did.
    misfits: u64,
    /// The first of these, which are told if one fits after all.
    held: Vec<(Place, String)>,
}

impl Tally {
    /// Takes how the digests of `record` compare. Returns which of them are those of other bytes.
    pub(crate) fn take(
        &mut self,
        digests: &DigestCheck,
        place: &Place,
        record: &str,
        group: &mut Group,
    ) -> Option<String> {
        let mut misfits = Vec::new();
        let found = [&digests.block, &digests.payload];
        for ((checked, kind), name) in found.iter().zip(&mut self.kinds).zip(KINDS) {
            match checked {
                Checked::Fits => kind.fits(group),
                Checked::Differs(reason) => {
                    kind.differs(place, format!("{record}: {reason}"), group);
                    misfits.push(name);
                }
                Checked::Unchecked | Checked::Unknown => {}
            }
        }
        group.counters.digest_mismatch += u64::from(!misfits.is_empty());
        (!misfits.is_empty()).then(|| misfits.join(", "))
    }

    /// Tells what is left to be told, because no more is read. `is_all` says that the archive was read to its end.
    pub(crate) fn end(&mut self, archive: &Place, is_all: bool, group: &mut Group) {
        for (kind, name) in self.kinds.iter_mut().zip(KINDS) {
            match (is_all, kind.misfits) {
                (true, 2..) => {
                    let count = kind.misfits;
                    kind.held.clear();
                    let reason = format!(
                        "none of the {count} {name} digests that were compared is that of its bytes: the archive was changed, or its writer digests something else"
                    );
                    group.warn(archive, reason);
                }
                _ => {
                    // Records behind the position come again.
                    let position = group.position;
                    kind.held
                        .retain(|(place, _)| is_all || place.offset < position);
                    kind.tell(group);
                }
            }
            kind.misfits = 0;
        }
    }
}

impl Kind {
    fn fits(&mut self, group: &mut Group) {
        if !self.has_fitted {
            self.has_fitted = true;
            self.misfits = 0;
            self.tell(group);
        }
    }

    fn differs(&mut self, place: &Place, reason: String, group: &mut Group) {
        if self.has_fitted {
            return group.warn(place, reason);
        }
        self.misfits += 1;
        // Where so many do not fit, none does.
        if self.held.len() < MOST {
            self.held.push((place.clone(), reason));
        }
    }

    fn tell(&mut self, group: &mut Group) {
        for (place, reason) in self.held.drain(..) {
            group.warn(&place, reason);
        }
    }
}

const KINDS: [&str; 2] = ["block", "payload"];

const MOST: usize = 1000;
