//! Where the dynamic linker lists link units: those that one copy of the crate has adopted, and what they tell each other.

pub(in crate::patch) mod adoption;
pub(in crate::patch) mod answer;
pub(in crate::patch) mod registry;
mod states;
pub(in crate::patch) mod table;

pub(in crate::patch) use adoption::examine;
#[allow(unused_imports, reason = "only x86-64 has text to write")]
pub(in crate::patch) use registry::{keep_text, text_around};
