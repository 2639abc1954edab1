//! Asking a repository about itself, and the reasons for people who do not know the protocol.

use flows::SelfDescription;
use harvester::{Client, ErrorKind, Incompatibility, Misbehaviour};

use crate::{Code, Refusal};

/// Asks the repository at `base_url` about itself; this blocks. For somebody who waits, `brief` leaves the sets to the
/// next harvest if the client is stopped while they are listed.
pub fn ask(client: &Client, base_url: &str, brief: bool) -> Result<SelfDescription, Refusal> {
    if base_url.trim().is_empty() {
        let reason = "Type in where the repository answers.";
        return Err(Refusal::new(Code::NoRepository, reason).at("base_url"));
    }
    let asked = client
        .repository(base_url.trim())
        .map_err(anyhow::Error::from)
        .and_then(|repository| match brief {
            true => flows::introduce_briefly(&repository),
            false => flows::introduce(&repository),
        });
    asked.map_err(|error| refuse(&error))
}

/// The refusal for a base URL that leads to no repository.
pub fn refuse(error: &anyhow::Error) -> Refusal {
    Refusal::new(Code::NoRepository, reason(error)).at("base_url")
}

/// The cause, and what to try next.
fn reason(error: &anyhow::Error) -> String {
    let known = error.downcast_ref::<harvester::Error>();
    let Some(known) = known else {
        return flows::message(error);
    };
    match known.kind() {
        ErrorKind::RepositoryMisbehaved(misbehaviour) => misbehaved(misbehaviour),
        ErrorKind::RepositoryIncompatible(incompatibility) => incompatible(incompatibility),
        ErrorKind::Transport(reason) => format!(
            "It cannot be reached: {reason}. Check the address for typing errors, or try again later."
        ),
        ErrorKind::Busy(reason) => {
            format!("It asks to come back later: {reason}. Try again in a while.")
        }
        ErrorKind::AskedToWait { .. } => sentence(&known.kind().to_string()),
        ErrorKind::Usage(reason) => sentence(reason),
        ErrorKind::Stopped => TOO_SLOW.to_owned(),
    }
}

fn misbehaved(misbehaviour: &Misbehaviour) -> String {
    match misbehaviour {
        Misbehaviour::WebPage => {
            format!("There is a web page at this address, not a repository. {ASK}")
        }
        Misbehaviour::NotXml(_) | Misbehaviour::DocumentType => {
            format!(
                "Something answers at this address, but it is not a repository: {misbehaviour}. {ASK}"
            )
        }
        Misbehaviour::NotOaiPmh(root) => format!(
            "Something answers with XML at this address, but it speaks another language than OAI-PMH: its document is `{root}`. {ASK}"
        ),
        Misbehaviour::TooLong { limit, .. } => format!(
            "The answer does not come to an end: it was given up after {limit} bytes. This is hardly a repository. {ASK}"
        ),
        other => format!(
            "A repository may be there, but its answer is broken: {other}. Tell the people who run it."
        ),
    }
}

fn incompatible(incompatibility: &Incompatibility) -> String {
    match incompatibility {
        Incompatibility::HttpStatus(status @ (404 | 410)) => {
            format!("There is nothing at this address (the server says {status}). {ASK}")
        }
        Incompatibility::HttpStatus(status @ (401 | 403)) => format!(
            "The server does not let us in (it says {status}). Ask its people whether harvesting is allowed."
        ),
        Incompatibility::HttpStatus(status @ 500..) => format!(
            "The server has a failure of its own (it says {status}). Try again later, or tell its people."
        ),
        Incompatibility::ProtocolVersion(version) => format!(
            "It is a repository, but it speaks version {version} of OAI-PMH. Only 2.0 can be harvested."
        ),
        other => sentence(&format!("it does not do what a repository does: {other}")),
    }
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string());
    let text = first.unwrap_or_default() + characters.as_str();
    match text.ends_with(['.', '!', '?']) {
        true => text,
        false => text + ".",
    }
}

const ASK: &str = "Look for its “OAI-PMH base URL”; it often ends in /oai or /oai2.";
/// The reason if no answer comes while somebody waits.
pub const TOO_SLOW: &str =
    "It did not answer within 30 seconds. It may be overloaded; try again later.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_to_know_the_protocol() {
        let reason_of = |kind| reason(&harvester::Error::new(kind).into());
        let page = reason_of(ErrorKind::RepositoryMisbehaved(Misbehaviour::WebPage));
        assert!(page.contains("web page"), "{page}");
        let nothing = Incompatibility::HttpStatus(404);
        let nothing = reason_of(ErrorKind::RepositoryIncompatible(nothing));
        assert!(nothing.contains("nothing at this address"), "{nothing}");
        let usage = reason_of(ErrorKind::Usage("`x` is not a base URL".to_owned()));
        assert_eq!(usage, "`x` is not a base URL.");
        assert_eq!(reason_of(ErrorKind::Stopped), TOO_SLOW);
    }
}
