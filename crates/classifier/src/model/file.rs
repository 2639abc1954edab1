//! A model as a file: one line of JSON, then the weights of words in binary. Files of others may hold anything: what
//! is no model is refused, and what is taken answers with numbers.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::super::vocabulary::Vocabulary;
use super::super::{Error, features, words};
use super::{Head, Model, Weighed};

const FORMAT: &str = "garner classifier 2";
/// How the format begins in every version.
const FAMILY: &str = "garner classifier ";
/// Weights that were learnt are far smaller.
const LARGEST: f32 = 1e6;

impl Model {
    /// Puts a model together and gives it its version.
    pub(crate) fn new(mut head: Head, words: Vec<f32>) -> Result<Self, Error> {
        head.format = FORMAT.to_owned();
        head.word_buckets = words.len();
        head.word_weights = words.iter().filter(|weight| **weight != 0.0).count();
        let mut model = Self {
            vocabulary: Vocabulary::extended(&head.vocabulary)?,
            head,
            words,
            version: String::new(),
        };
        model.version = version(&model.to_bytes()?);
        Ok(model)
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let end = memchr::memchr(b'\n', bytes);
        let end = end.ok_or_else(|| wrong("its first line has no end"))?;
        // The format first: the rest of another version may look quite different.
        let named: Named =
            serde_json::from_slice(&bytes[..end]).map_err(|error| wrong(&error.to_string()))?;
        if named.format != FORMAT && named.format.starts_with(FAMILY) {
            return Err(Error::OtherVersion(named.format));
        }
        if named.format != FORMAT {
            return Err(wrong(&format!("its format is `{}`", named.format)));
        }
        let head: Head =
            serde_json::from_slice(&bytes[..end]).map_err(|error| wrong(&error.to_string()))?;
        check_features(&head.features)?;
        if !head.is_sound() {
            return Err(wrong("a weight is no number"));
        }
        let words = read_words(&head, &bytes[end + 1..])?;
        let vocabulary = Vocabulary::extended(&head.vocabulary);
        Ok(Self {
            vocabulary: vocabulary.map_err(|error| wrong(&error.to_string()))?,
            version: version(bytes),
            head,
            words,
        })
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = serde_json::to_vec(&self.head).map_err(std::io::Error::from)?;
        bytes.push(b'\n');
        for (bucket, weight) in self.words.iter().enumerate() {
            if *weight != 0.0 {
                bytes.extend_from_slice(&(bucket as u32).to_le_bytes());
                bytes.extend_from_slice(&weight.to_le_bytes());
            }
        }
        Ok(bytes)
    }
}

/// The name of the format alone.
#[derive(Debug, Deserialize)]
struct Named {
    format: String,
}

impl Head {
    /// Whether every answer will be a number.
    fn is_sound(&self) -> bool {
        let one = |number: &f32| number.abs() <= LARGEST;
        let feature = |feature: &Weighed| {
            let numbers = [feature.mean, feature.weight];
            // Spreads of what never differs are huge.
            let spread = feature.spread > 0.0 && feature.spread <= 1e12;
            spread && numbers.iter().chain(&feature.kinds).all(one)
        };
        let others = [
            self.bias,
            self.word_scale,
            self.calibration.slope,
            self.calibration.offset,
        ];
        others.iter().chain(&self.kind_biases).all(one) && self.features.iter().all(feature)
    }
}

fn check_features(found: &[Weighed]) -> Result<(), Error> {
    let known = features::all();
    for (index, feature) in found.iter().enumerate() {
        let is_known = known
            .get(index)
            .is_some_and(|known| known.name == feature.name);
        if !is_known {
            return Err(Error::OtherFeatures(feature.name.clone()));
        }
    }
    match found.len() == known.len() {
        true => Ok(()),
        false => Err(wrong("it does not know all features")),
    }
}

fn read_words(head: &Head, bytes: &[u8]) -> Result<Vec<f32>, Error> {
    let is_whole = bytes.len() == head.word_weights.saturating_mul(8);
    if head.word_buckets != words::BUCKETS || !is_whole {
        return Err(wrong("its weights of words are not whole"));
    }
    let mut words = vec![0.0; head.word_buckets];
    for entry in bytes.chunks_exact(8) {
        let [a, b, c, d, e, f, g, h] = *entry else {
            continue;
        };
        let bucket = u32::from_le_bytes([a, b, c, d]) as usize;
        let weight = f32::from_le_bytes([e, f, g, h]);
        let place = words.get_mut(bucket);
        let place = place.ok_or_else(|| wrong("a weight belongs to no word"))?;
        if weight.is_nan() || weight.abs() > LARGEST {
            return Err(wrong("a weight is no number"));
        }
        *place = weight;
    }
    Ok(words)
}

fn version(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes)[..6])
}

fn wrong(reason: &str) -> Error {
    Error::NoModel(reason.to_owned())
}
