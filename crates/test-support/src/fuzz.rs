//! Fuzz targets: a check that must hold for any bytes, tried on seeds and on damaged copies of them.
//!
//! Under `cargo nextest` a target runs for two seconds. `make fuzz TARGET=…` gives the same check to libFuzzer, which
//! starts from the same seeds and keeps the inputs that reach new code.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use bolero;
use bolero::TypeGenerator;

/// How long one target runs among the other tests.
pub const TEST_TIME: Duration = Duration::from_secs(2);
/// A damaged copy is cut here, so that repeated stretches do not slow the target down.
const LONGEST: usize = 1 << 20;

/// Runs a check on every seed, then on damaged seeds; under a fuzzer, on the fuzzer's own inputs.
///
/// `$seeds` is an expression of type `Vec<Vec<u8>>`, `$check` a closure that takes `&[u8]` and panics if a property
/// does not hold. With `GARNER_FUZZ_SEEDS=DIR` in the environment the seeds are written to `DIR` instead.
#[macro_export]
macro_rules! fuzz {
    ($seeds:expr, $check:expr) => {{
        let seeds: Vec<Vec<u8>> = $seeds;
        let check: fn(&[u8]) = $check;
        if !$crate::fuzz::export(&seeds) {
            #[cfg(fuzzing)]
            $crate::fuzz::bolero::check!().for_each(|bytes: &[u8]| check(bytes));
            #[cfg(not(fuzzing))]
            {
                for seed in &seeds {
                    check(seed);
                }
                $crate::fuzz::bolero::check!()
                    .with_type::<$crate::fuzz::Damage>()
                    .with_test_time($crate::fuzz::TEST_TIME)
                    .with_shrink_time($crate::fuzz::TEST_TIME)
                    .for_each(|damage| check(&damage.of(&seeds)));
            }
        }
    }};
}

/// Which seed is damaged, and how.
#[derive(Debug, Clone, TypeGenerator)]
pub struct Damage {
    seed: u16,
    #[generator(bolero::produce::<Vec<Edit>>().with().len(0usize..6))]
    edits: Vec<Edit>,
}

/// One change. Places and lengths are taken modulo the length of the bytes.
#[derive(Debug, Clone, TypeGenerator)]
enum Edit {
    Flip { at: u32, bit: u8 },
    Set { at: u32, byte: u8 },
    Insert { at: u32, bytes: [u8; 4] },
    Cut { at: u32, length: u16 },
    End { at: u32 },
    Zero { at: u32, length: u16 },
    Repeat { at: u32, length: u16, times: u8 },
    Splice { at: u32, other: u16, from: u32 },
}

impl Damage {
    /// The damaged seed.
    pub fn of(&self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let seed = |number: u16| seeds.get(usize::from(number) % seeds.len().max(1));
        let mut bytes = seed(self.seed).cloned().unwrap_or_default();
        for edit in &self.edits {
            edit.apply(&mut bytes, &|number| {
                seed(number).map_or(&[], Vec::as_slice)
            });
            bytes.truncate(LONGEST);
        }
        bytes
    }
}

impl Edit {
    fn apply<'s>(&self, bytes: &mut Vec<u8>, seed: &dyn Fn(u16) -> &'s [u8]) {
        let place = |at: u32| at as usize % (bytes.len() + 1);
        let stretch = |at: u32, length: u16| {
            let start = place(at);
            start..bytes.len().min(start + usize::from(length))
        };
        match *self {
            Self::Flip { at, bit } => {
                let at = place(at);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            Self::Set { at, byte } => {
                let at = place(at);
                if let Some(old) = bytes.get_mut(at) {
                    *old = byte;
                }
            }
            Self::Insert { at, bytes: new } => {
                let at = place(at);
                bytes.splice(at..at, new);
            }
            Self::Cut { at, length } => {
                let range = stretch(at, length);
                bytes.drain(range);
            }
            Self::End { at } => bytes.truncate(place(at)),
            Self::Zero { at, length } => {
                let range = stretch(at, length);
                bytes[range].fill(0);
            }
            Self::Repeat { at, length, times } => {
                let range = stretch(at, length);
                let copies = bytes[range.clone()].repeat(usize::from(times));
                bytes.splice(range.start..range.start, copies);
            }
            Self::Splice { at, other, from } => {
                let other = seed(other);
                let from = from as usize % (other.len() + 1);
                let at = place(at);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
}

/// Writes the seeds into the directory that `GARNER_FUZZ_SEEDS` names; whether there is one.
pub fn export(seeds: &[Vec<u8>]) -> bool {
    let Some(directory) = std::env::var_os("GARNER_FUZZ_SEEDS") else {
        return false;
    };
    let directory = PathBuf::from(directory);
    fs::create_dir_all(&directory).unwrap();
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(directory.join(format!("seed-{number}")), seed).unwrap();
    }
    true
}

/// The sample files below `folder` of `../shared/samples` that are at most `longest` bytes long; none where the samples
/// are missing.
pub fn samples(folder: &str, longest: u64) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let Ok(entries) = fs::read_dir(root.join(folder)) else {
        eprintln!("the samples of {folder} are not there; only the built-in seeds are tried");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let is_short = |file: &&PathBuf| fs::metadata(file).is_ok_and(|data| data.len() <= longest);
    let short = files.iter().filter(is_short);
    short.map(|file| fs::read(file).unwrap()).collect()
}
