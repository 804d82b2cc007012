//! Counts by the emulator: exact ones, what a run may be told and what it may meet, and the files that it writes.

mod aarch64;
mod callers;
#[path = "../common/mod.rs"]
mod common;
mod departures;
mod exact;
mod failures;
mod processes;
mod reader;
mod words;
