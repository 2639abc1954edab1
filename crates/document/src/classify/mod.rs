//! Tells academic papers from other documents by their text, and says which kind of document it is.
#![allow(missing_docs, dead_code)]

mod features;
mod hash;
mod reading;
mod vocabulary;

pub fn dump(text: &str, pages: Option<usize>) -> Vec<f32> {
    let reading = reading::Reading::new(text, pages);
    features::measure(&reading).values
}
pub fn names() -> Vec<String> {
    features::all().iter().map(|f| f.name.clone()).collect()
}
/// words: for exploring
pub fn word_hashes(text: &str) -> Vec<u64> {
    reading::Reading::new(text, None).words.iter().map(|w| w.hash).collect()
}
