//! Enums of the catalog as JSON has them.

/// Declares an enum with the variants of one of the catalog, and converts both ways. `word` is the variant in JSON: its
/// name in snake case.
macro_rules! mirrored {
    ($(#[$about:meta])* $name:ident = $catalog:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All there are.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The value with this word in JSON.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == word)
            }
        }

        impl From<catalog::$catalog> for $name {
            fn from(value: catalog::$catalog) -> Self {
                match value {
                    $(catalog::$catalog::$variant => Self::$variant,)+
                }
            }
        }

        impl From<$name> for catalog::$catalog {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$variant => Self::$variant,)+
                }
            }
        }
    };
}
pub(crate) use mirrored;

#[cfg(test)]
mod tests {
    use crate::documents::DocumentState;
    use crate::harvests::HarvestState;
    use crate::imports::ImportState;
    use crate::records::Validation;

    macro_rules! words_match {
        ($($name:ident),+) => {$(
            for value in $name::ALL {
                let json = serde_json::to_value(value).unwrap();
                assert_eq!(json, value.name());
                assert_eq!($name::parse(value.name()), Some(*value));
            }
        )+};
    }

    #[test]
    fn names_are_the_words_of_the_json() {
        words_match!(HarvestState, ImportState, DocumentState, Validation);
        assert_eq!(HarvestState::parse("other"), None);
    }
}
