//! Whatever else is asked for. Who is not logged in is not told what is there and what is not.

use crate::problem::{Answer, Problem};
use crate::who::Viewer;

pub(crate) async fn show(Viewer(_): Viewer) -> Answer {
    Err(Problem::not_found("there is no page at this address"))
}
