//! The deeds of programs that the system does not let them be kept from.

use landlock::ABI;

/// The parts of confinement that this system does not offer, with the reason.
#[derive(Debug)]
pub(super) struct Lacks {
    /// Why system calls cannot be forbidden.
    pub(super) calls: Option<String>,
    /// Why there is a network all the same then.
    pub(super) network: Option<String>,
    /// Why files are not kept away.
    pub(super) files: Option<String>,
    /// Why programs are root's, as garner is.
    pub(super) user: Option<String>,
    /// The version of Landlock that holds.
    pub(super) landlock: ABI,
}

impl Default for Lacks {
    fn default() -> Self {
        Self {
            calls: None,
            network: None,
            files: None,
            user: None,
            landlock: ABI::Unsupported,
        }
    }
}

impl Lacks {
    /// The consequences, a line for each reason. None where all is well: the rights that older versions of Landlock do not
    /// know are needed by forbidden system calls alone.
    pub(super) fn told(&self) -> Vec<String> {
        let user = self.user.as_ref().map(|why| {
            format!(
                "they run as root, without its powers but with its files: the user cannot be changed ({why}); \
                 run garner as a user of its own"
            )
        });
        let files = self.files.as_ref().map(|why| {
            let deeds = match self.calls {
                Some(_) => "read, change and remove all files that their user may",
                None => {
                    "read all files that their user may, and Ghostscript could overwrite those that he may write"
                }
            };
            format!("they could {deeds}: Landlock is not available ({why})")
        });
        let network = self.network.as_ref().map(|why| {
            let whole = match self.landlock >= ABI::V4 {
                true => "send datagrams into the network",
                false => "reach the network",
            };
            format!("they could {whole}: name spaces cannot be made ({why})")
        });
        let lines = [self.open_calls(), network, files, user];
        lines.into_iter().flatten().collect()
    }

    fn open_calls(&self) -> Option<String> {
        let why = self.calls.as_ref()?;
        let mut deeds = vec![
            "leave other processes behind if they are root's",
            "change modes, owners, attributes and times of their user's files",
            "leave shared memory, message queues and keys behind",
            "make name spaces",
            "fill the disk",
        ];
        if self.landlock < ABI::V3 {
            deeds.push("truncate their user's files");
        }
        if self.landlock < ABI::V5 {
            deeds.push("change the settings of devices");
        }
        if self.landlock < ABI::V6 {
            deeds.push("end their user's other processes");
        }
        let deeds = deeds.join(", ");
        Some(format!(
            "they could {deeds}: system calls cannot be forbidden ({why})"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_calls_are_forbidden_older_versions_of_landlock_leave_nothing_open() {
        for landlock in [ABI::V1, ABI::V2, ABI::V4, ABI::V6] {
            let lacks = Lacks {
                landlock,
                ..Lacks::default()
            };
            assert_eq!(lacks.told(), [""; 0]);
        }
    }

    #[test]
    fn where_they_are_not_what_each_version_leaves_open_is_told() {
        let told = |landlock| {
            let lacks = Lacks {
                calls: Some("no seccomp".to_owned()),
                landlock,
                ..Lacks::default()
            };
            lacks.told().concat()
        };
        // Debian 12, Ubuntu 24.04 and Debian 13.
        for (landlock, truncates, kills) in [
            (ABI::V2, true, true),
            (ABI::V4, false, true),
            (ABI::V6, false, false),
        ] {
            let told = told(landlock);
            assert_eq!(told.contains("truncate"), truncates, "{told}");
            assert_eq!(told.contains("end their user's"), kills, "{told}");
            assert!(
                told.contains("no seccomp") && told.contains("modes"),
                "{told}"
            );
        }
    }

    #[test]
    fn without_landlock_files_are_said_to_be_open_to_writing_too() {
        let mut lacks = Lacks {
            files: Some("this kernel has none".to_owned()),
            ..Lacks::default()
        };
        let told = lacks.told().concat();
        assert!(
            told.contains("read all files") && told.contains("overwrite"),
            "{told}"
        );
        lacks.calls = Some("no seccomp".to_owned());
        let told = lacks.told().concat();
        assert!(told.contains("change and remove"), "{told}");
    }
}
