//! Passwords from people who type, without showing them, and from scripts.

use std::io::{self, BufRead, IsTerminal};

use anyhow::{Context, bail};
use operations::accounts::NewPassword;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// A new password: typed twice on a terminal, else the first line of stdin.
pub(super) fn new_password() -> anyhow::Result<NewPassword> {
    let is_typed = io::stdin().is_terminal();
    let password = match is_typed {
        true => hidden("new password: ")?,
        false => line().context("no password came from stdin")?,
    };
    let again = is_typed.then(|| hidden("repeat password: ")).transpose()?;
    Ok(NewPassword { password, again })
}

/// Asks for a line that is not shown.
fn hidden(question: &str) -> anyhow::Result<String> {
    eprint!("{question}");
    let shown = tcgetattr(io::stdin()).context("the terminal cannot be asked")?;
    let mut quiet = shown.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    quiet.local_modes.insert(LocalModes::ECHONL);
    tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
    let answer = line();
    // Whatever came of it, what is typed next is to be seen again.
    tcsetattr(io::stdin(), OptionalActions::Now, &shown)?;
    answer.context("no password was typed")
}

fn line() -> anyhow::Result<String> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        bail!("it ends before there is one");
    }
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}
