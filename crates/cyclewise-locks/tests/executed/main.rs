//! Profiles of real files: compiled here, with debug information in every place where it may be, without, changed, and mangled.

mod compiled;
mod debug;
mod mangled;
mod profile;
