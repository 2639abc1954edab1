//! Memory that is used again for one page after the other: to get it from the system anew costs more than to fill it.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers that nobody uses at the moment. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffers {
    spare: Arc<Mutex<Vec<String>>>,
}

/// A text that gives its memory back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    home: Buffers,
}

impl Buffers {
    /// An empty text.
    pub(crate) fn take(&self) -> Buffer {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        Buffer {
            text: spare.pop().unwrap_or_default(),
            home: self.clone(),
        }
    }

    fn put(&self, mut text: String) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE && (1..=LARGEST_SPARE).contains(&text.capacity()) {
            text.clear();
            spare.push(text);
        }
    }
}

impl Deref for Buffer {
    type Target = String;

    fn deref(&self) -> &String {
        &self.text
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut String {
        &mut self.text
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.home.put(std::mem::take(&mut self.text));
    }
}

/// A page needs two.
const MOST_SPARE: usize = 4;
/// Memory that grew for the sake of one record is given back to the system.
const LARGEST_SPARE: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_empty_and_within_limits() {
        let buffers = Buffers::default();
        let all: Vec<Buffer> = (0..=MOST_SPARE)
            .map(|_| {
                let mut buffer = buffers.take();
                buffer.push_str("text");
                buffer
            })
            .collect();
        let mut large = buffers.take();
        large.reserve(LARGEST_SPARE + 1);

        drop(large);
        drop(all);

        assert_eq!(buffers.spare.lock().unwrap().len(), MOST_SPARE);
        let again = buffers.take();
        assert!(again.is_empty() && again.capacity() > 0);
    }
}
