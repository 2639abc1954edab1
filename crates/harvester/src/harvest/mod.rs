//! A harvest that can be interrupted at any moment and loses nothing that can be had.

mod bisect;
mod circle;
mod listed;
mod loops;
mod page;
mod patch;
mod plan;
mod recent;
mod refusal;
mod run;
mod single;
mod state;
mod step;
mod tally;
mod until;
mod window;

pub use plan::{Method, Plan};
pub use run::Harvest;
pub use state::ResumeState;
pub use step::{Outcome, PageEnd, Step};
