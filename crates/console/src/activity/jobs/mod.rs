//! Jobs: the API, and a job in the lists of other pages. The page of a job is that of its run.

pub(crate) mod api;
mod line;

pub(crate) use self::line::JobLine;
