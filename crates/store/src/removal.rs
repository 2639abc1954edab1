//! Removes files that were replaced, on a thread of its own: some file systems tell the disk of every block that is free
//! again, and wait for it.

use std::sync::mpsc::{self, SyncSender};
use std::thread::{Builder, JoinHandle};

use crate::new_file::Leftover;

/// Takes what was replaced. When this is dropped, all of it is gone.
#[derive(Debug)]
pub(crate) struct Removal {
    /// There until it is dropped, and if the thread could be begun.
    thread: Option<(SyncSender<Leftover>, JoinHandle<()>)>,
}

impl Removal {
    pub(crate) fn begin() -> Self {
        let (give, replaced) = mpsc::sync_channel(MOST);
        let work = move || replaced.into_iter().for_each(drop);
        let begun = Builder::new().name("removal".to_owned()).spawn(work);
        Self {
            thread: begun.ok().map(|thread| (give, thread)),
        }
    }

    /// Takes a file, at once unless too many wait.
    pub(crate) fn take(&self, replaced: Leftover) {
        // A file that the thread does not take is dropped here, which removes it too.
        if let Some((give, _)) = &self.thread {
            let _ = give.send(replaced);
        }
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        if let Some((give, thread)) = self.thread.take() {
            drop(give);
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

/// The number of files that may wait to be removed.
const MOST: usize = 2000;

#[cfg(test)]
mod tests {
    use crate::directory::Durability;
    use crate::{Mirror, temporary};

    #[test]
    fn what_was_replaced_is_gone_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let mirror = Mirror::open(folder.path(), None, Durability::None).unwrap();
        for round in 0..3 {
            for number in 0..100 {
                let url = format!("http://a.example/{number}");
                let bytes = format!("{number} in round {round}");
                mirror.write(&url, bytes.as_bytes(), None).unwrap();
            }
        }
        assert!(folder.path().join(temporary::NAME).exists());

        drop(mirror);

        assert!(!folder.path().join(temporary::NAME).exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 100);
        let last = std::fs::read_to_string(folder.path().join("99")).unwrap();
        assert_eq!(last, "99 in round 2");
    }
}
