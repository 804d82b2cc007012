//! `Arc` and `Weak`.

mod arc;
#[path = "../common/mod.rs"]
mod common;
mod convert;
mod drops;
mod oracle;
mod signals;
mod threads;
