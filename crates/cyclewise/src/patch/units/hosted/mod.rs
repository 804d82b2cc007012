//! Where the dynamic linker lists link units: one copy of the crate coordinates them all.

mod adoption;
mod answer;
pub(in crate::patch) mod coordinator;
pub(in crate::patch) mod operations;
pub(in crate::patch) mod registry;
mod states;

pub(in crate::patch) use adoption::examine;
pub(in crate::patch) use coordinator::register;
pub(in crate::patch) use operations::shared;
#[allow(unused_imports, reason = "only x86-64 has text to write")]
pub(in crate::patch) use registry::{keep_text, text_around};
