//! Tables of lists.

mod list;

pub(crate) use cyclewise_report::export::table::*;
pub(crate) use list::{experiments, verification};
