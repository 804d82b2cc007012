//! `Arc` and `Weak`.

mod arc;
#[path = "../common/bounds.rs"]
mod bounded;
mod bounds;
#[path = "../common/mod.rs"]
mod common;
mod convert;
mod drops;
mod oracle;
mod signals;
mod threads;
