//! Runs other programs on bytes that nobody vouches for: without a shell, without a network, within limits, and never
//! longer than the process that asked for it.
//!
//! What may be set up between the birth of a process and the program it becomes cannot be said in safe Rust, so the
//! program executes itself: [`Confiner`] starts it with a hidden subcommand, [`enter()`] limits its own process, and then
//! becomes the program that was asked for. Nothing of that program has run before the limits hold. Where the small program
//! `garner-confine` lies beside it, that is started instead: it does the same and is there sooner.
//!
//! Limits on memory, processor time, file sizes, open files and processes, no new privileges and the death with the parent
//! are always there. A filter of system calls (seccomp), without which there would be sockets and other processes and a
//! limit on the sum of files could be evaded; a file system in which programs may read what they need and write in their own
//! directory alone (Landlock); and another user where garner is root's, are there where the system allows them;
//! [`Confiner::lacks`] says what programs could do where not.

mod attend;
mod calls;
mod enter;
mod files;
mod helper;
mod lacks;
mod limits;
mod network;
mod pipe;
mod printed;
mod run;
mod user;
mod written;

pub(crate) use enter::PDF_READER;
pub use enter::enter;
pub use limits::Limits;
pub use run::{Confiner, End, Ended, Output, Task};
