//! Which names of a server can be names here.

/// Why a name is not taken; nothing if it is.
pub(crate) fn objection(name: &[u8]) -> Option<&'static str> {
    if name.is_empty() || name == b"." || name == b".." {
        return Some("it is no name of a file");
    }
    if name.contains(&b'/') || name.contains(&0) {
        return Some("no file can have such a name");
    }
    if name.iter().any(|byte| byte.is_ascii_control()) {
        return Some("there are control characters in its name");
    }
    if name.len() > LONGEST {
        return Some("its name is too long");
    }
    None
}

/// Linux takes no longer ones.
const LONGEST: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_lead_elsewhere_are_not_taken() {
        let long = vec![b'a'; 256];
        for name in [
            b"".as_slice(),
            b".",
            b"..",
            b"a/b",
            b"/",
            b"a\0",
            b"a\r\nDELE b",
            b"\x1b[2J",
            &long,
        ] {
            assert!(objection(name).is_some(), "{name:?}");
        }
        for name in [
            b"a.pdf".as_slice(),
            b"...",
            b"..a",
            b"a b",
            b"\xff\xfe",
            b"-rf",
            b"\\",
            &long[1..],
        ] {
            assert!(objection(name).is_none(), "{name:?}");
        }
    }
}
