//! Runs other programs on bytes that nobody vouches for: without a shell, without a network, within limits, and never
//! longer than the process that asked for it.
//!
//! Safe Rust cannot set up a process between its birth and the program it becomes, so the
//! program executes itself: [`Confiner`] starts it with a hidden subcommand, [`enter()`] limits its own process, and then
//! becomes the program that was asked for. Nothing of that program has run before the limits hold. Where the small program
//! `garner-confine` lies beside it, that is started instead: it does the same and is there sooner.
//!
//! Limits on memory, processor time, file sizes, open files and processes, no new privileges and the death with the parent
//! are always there. A filter of system calls (seccomp), without which there would be sockets and other processes and a
//! limit on the sum of files could be evaded; a file system in which programs may read what they need and write in their own
//! directory alone (Landlock); and another user where garner is root's, are there where the system allows them;
//! [`Confiner::lacks`] says what programs could do where not.

#![forbid(unsafe_code)]

mod calls;
mod confiner;
mod enter;
mod files;
mod group;
mod helper;
mod lacks;
mod limits;
mod network;
mod pipe;
mod printed;
mod run;
mod stop;
mod user;
mod written;

pub use confiner::Confiner;
pub use enter::{BuiltIn, enter};
pub use limits::Limits;
pub use run::{End, Ended, Output, Task, run_trusted};
pub use stop::Stop;
