//! Whether two files have the same bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Compares from the beginning, wherever the files were last read or written.
pub(super) fn is_same(one: &File, other: &File) -> io::Result<bool> {
    let length = one.metadata()?.len();
    if length != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; BLOCK], vec![0; BLOCK]);
    let mut at = 0;
    while at < length {
        let rest = usize::try_from(length - at).map_or(BLOCK, |rest| rest.min(BLOCK));
        let (left, right) = (&mut left[..rest], &mut right[..rest]);
        one.read_exact_at(left, at)?;
        other.read_exact_at(right, at)?;
        if left != right {
            return Ok(false);
        }
        at += rest as u64;
    }
    Ok(true)
}

const BLOCK: usize = 64 << 10;
