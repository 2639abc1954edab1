//! Why an operation was refused, for people and for programs.

use catalog::Role;
use flows::Mistake;

/// Why an operation was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct Refusal {
    /// The kind of refusal, for programs.
    pub code: Code,
    /// At least one mistake, the first one found first.
    pub mistakes: Vec<Mistake>,
}

/// The kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A parameter is wrong.
    Invalid,
    /// There is no such thing.
    NotFound,
    /// It was there, but its file is lost.
    Gone,
    /// The role does not allow it.
    Forbidden,
    /// It does not go with what is there now.
    Conflict,
    /// Somebody else changed it since it was looked at.
    Changed,
    /// Somebody else works on it.
    Busy,
    /// The answer takes too long to find.
    TooLong,
    /// Too many long lists are being read at once.
    TooManyLists,
    /// Too much is done at once; the same goes well a little later.
    Overloaded,
    /// The base URL leads to no repository.
    NoRepository,
    /// The mail server took no message.
    MailFailed,
    /// A repository is removed, but not all of its files are.
    FilesLeft,
    /// The catalog does not answer.
    Unavailable,
    /// A failure of garner or of the machine.
    Internal,
}

impl Code {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Gone => "gone",
            Self::Forbidden => "forbidden",
            Self::Conflict => "conflict",
            Self::Changed => "changed",
            Self::Busy => "busy",
            Self::TooLong => "too_long",
            Self::TooManyLists => "too_many_lists",
            Self::Overloaded => "busy",
            Self::NoRepository => "no_repository",
            Self::MailFailed => "mail_failed",
            Self::FilesLeft => "files_left",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

impl Refusal {
    /// A refusal that concerns no single parameter.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            code,
            mistakes: vec![Mistake {
                field: None,
                reason,
            }],
        }
    }

    /// A wrong parameter.
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            code: Code::Invalid,
            mistakes: vec![Mistake {
                field: Some(field),
                reason,
            }],
        }
    }

    /// There is no such thing; `reason` names it.
    pub fn not_found(reason: impl Into<String>) -> Self {
        Self::new(Code::NotFound, reason)
    }

    /// It does not go with what is there now.
    pub fn conflict(reason: impl Into<String>) -> Self {
        Self::new(Code::Conflict, reason)
    }

    /// The role `own` does not allow what needs the role `needed`.
    pub fn forbidden(needed: Role, own: Role) -> Self {
        let (needed, own) = (needed.name(), own.name());
        Self::new(
            Code::Forbidden,
            format!("this needs the role {needed}, yours is {own}; an admin can change that"),
        )
    }

    /// The refusal as a mistake in the field `field` of a form, for a page that shows it there.
    pub fn invalid_at(self, field: &'static str) -> Self {
        Self::invalid(field, self.reasons())
    }

    /// The refusal as one of the parameter `field`.
    pub fn at(mut self, field: &'static str) -> Self {
        for mistake in &mut self.mistakes {
            mistake.field = Some(field);
        }
        self
    }

    /// All wrong parameters at once; nothing is refused if there are none.
    pub fn unless_empty(mistakes: Vec<Mistake>) -> Result<(), Self> {
        match mistakes.is_empty() {
            true => Ok(()),
            false => Err(Self {
                code: Code::Invalid,
                mistakes,
            }),
        }
    }

    /// Whether it only says that a parameter is wrong.
    pub fn is_mistake(&self) -> bool {
        self.code == Code::Invalid
    }

    /// The reasons of all mistakes in one line, for a person who sees the fields.
    pub fn reasons(&self) -> String {
        let reasons: Vec<_> = self
            .mistakes
            .iter()
            .map(|mistake| &*mistake.reason)
            .collect();
        reasons.join("; ")
    }

    /// All mistakes in one line, each with its field.
    pub fn message(&self) -> String {
        let lines: Vec<_> = self.mistakes.iter().map(ToString::to_string).collect();
        lines.join("; ")
    }
}

impl From<Mistake> for Refusal {
    fn from(mistake: Mistake) -> Self {
        Self {
            code: Code::Invalid,
            mistakes: vec![mistake],
        }
    }
}

impl From<catalog::Error> for Refusal {
    fn from(error: catalog::Error) -> Self {
        use catalog::Error;
        let code = match &error {
            Error::Busy { .. } => Code::Busy,
            Error::Changed { .. } => Code::Changed,
            Error::TooLong => Code::TooLong,
            Error::TooManyLists => Code::TooManyLists,
            Error::UnknownRepository { .. }
            | Error::UnknownSchedule { .. }
            | Error::UnknownJob { .. }
            | Error::UnknownRules { .. }
            | Error::UnknownList { .. }
            | Error::UnknownAccount { .. } => Code::NotFound,
            Error::Database { .. } | Error::Newer { .. } | Error::NotACatalog { .. } => {
                Code::Unavailable
            }
            _ => Code::Conflict,
        };
        Self::new(code, error.to_string())
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(refusal) => refusal,
            Err(error) => match error.downcast::<catalog::Error>() {
                Ok(error) => error.into(),
                Err(error) if flows::is_store_away(&error) => {
                    Self::new(Code::Unavailable, flows::message(&error))
                }
                Err(error) => Self::new(Code::Internal, flows::message(&error)),
            },
        }
    }
}

/// The code of any error, for programs: that of the refusal, or of the failure beneath it.
pub fn error_code(error: &anyhow::Error) -> &'static str {
    match error.downcast_ref::<Refusal>() {
        Some(refusal) => refusal.code.name(),
        None => flows::failure_code(error),
    }
}
