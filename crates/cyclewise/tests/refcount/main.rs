//! `Refcount` in both widths, beside its twins.

mod aarch64;
mod cases;
mod counters;
mod hook;
mod lkdtm;
mod oracle;
mod threads;
