//! Profiles of real files: compiled here, with debug information in every place where it may be, without, changed, and mangled.

mod compiled;
mod debug;
#[path = "../common/long.rs"]
mod long;
mod mangled;
mod profile;
