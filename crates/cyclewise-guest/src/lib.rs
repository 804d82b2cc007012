//! A guest of two megabytes: the machine code of the lab's ring-0 experiments, and what runs it.
//!
//! A [`payload::Payload`] is a few instructions and what surrounds them. An [`image::Image`] is the memory of a guest that runs
//! them: tables, a runtime that stamps batches, handlers that report faults. A [`vm::Guest`] runs an image on `/dev/kvm`, to
//! measure, and [`batch`] has what is timed; [`qemu`] boots the same image under an emulator, to check what the instructions do. [`semantics`] has what is checked,
//! and [`provenance`] says by several witnesses whether a CPU ran the instructions or an emulator.
#![deny(unsafe_code)]
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

pub mod arch;
pub mod batch;
pub mod error;
pub mod image;
pub mod known;
pub mod layout;
pub mod machine;
pub mod outcome;
pub mod provenance;
pub mod qemu;
pub mod semantics;
mod sys;
pub mod vm;

pub use arch::{case, payload};
