//! File systems that other machines write to: inotify tells nothing of what they change.

use std::path::Path;

/// The kind of file system that a path is on, if it is one of a network or mounted on demand.
pub(crate) fn remote_kind(path: &Path) -> Option<&'static str> {
    let told = rustix::fs::statfs(path).ok()?;
    // The width of the number differs between machines.
    kind_of(told.f_type as u64 & 0xffff_ffff)
}

/// The numbers are those of statfs(2).
fn kind_of(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => "SMB",
        0x0187 => "autofs",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9P",
        0x00c3_6400 => "Ceph",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x0116_1970 => "GFS2",
        0x7461_636f => "OCFS2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_a_network_are_known_by_their_numbers() {
        assert_eq!(kind_of(0x6969), Some("NFS"));
        assert_eq!(kind_of(0xff53_4d42), Some("SMB"));
        // ext4, tmpfs, overlay, xfs, btrfs.
        for local in [0xef53, 0x0102_1994, 0x794c_7630, 0x5846_5342, 0x9123_683e] {
            assert_eq!(kind_of(local), None, "{local:x}");
        }
        assert_eq!(remote_kind(Path::new("/proc")), None);
        assert_eq!(remote_kind(Path::new("/nowhere")), None);
    }
}
