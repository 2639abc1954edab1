//! A harvest that can be interrupted at any moment and loses nothing that can be had.

mod plan;
mod recent;
mod run;
mod single;
mod state;
mod window;

pub use plan::{Method, Plan};
pub use run::{Harvest, Outcome, PageEnd, Step};
pub use state::ResumeState;
