//! What a program pays for atomics: counts its locked instructions, classifies each of them, and forecasts what the program
//! would gain without them.
//!
//! A way of counting ([`emulator`], or [`sampling`] by a PMU) makes [`counts::Counts`]: addresses and numbers.
//! [`profile::Profile`] joins them with the files that were executed: functions, lines, classes. [`forecast`] joins that with
//! what instructions cost on this machine.
#![allow(missing_docs, reason = "where a name says what it is")]
#![deny(unsafe_code)]

pub mod class;
pub mod command;
pub mod counts;
pub mod decode;
pub mod emulator;
pub mod error;
pub mod export;
pub mod forecast;
pub mod image;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
pub mod profile;
pub mod record;
pub mod sampling;
mod sys;
