//! What people read of a run: each site with its function, line and class, and the sums.

mod build;
mod callers;
mod place;
mod sums;
mod system_calls;

pub use crate::class::Class;
pub use crate::decode::{Form, Mix, Operation};
pub use crate::image::Frame;
pub use build::Options;

use crate::counts::{Arch, MemoryLine, Method, Words, saturating_sum};
use serde::{Deserialize, Serialize};

/// A run's locked instructions, and where they are in the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub method: Method,
    pub arch: Arch,
    /// Instructions executed, by all threads of all processes.
    pub instructions: u64,
    /// Executed sites by form.
    pub executed: Executed,
    /// Each site that was executed, the most often executed first. Sites of several processes at one place of one file are one.
    pub sites: Vec<SiteProfile>,
    pub threads: Vec<ThreadProfile>,
    /// System calls, those with the most locked instructions before them first.
    pub system_calls: Vec<SystemCallProfile>,
    pub processes: Vec<ProcessProfile>,
    /// The lines of memory that locked instructions used most, of all processes, the most used one first.
    #[serde(default)]
    pub lines: Vec<LineProfile>,
    /// Whether a part of what ran was not counted, or not with all that it did.
    #[serde(default)]
    pub partial: bool,
    /// What was not counted or not found out, and why, a line each.
    pub missing: Vec<String>,
}

/// A cache line's worth of one process's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineProfile {
    pub pid: u32,
    /// The line, and its words with the sites that used them last: in each an address in memory.
    pub line: MemoryLine,
    /// Where each word's site is, in the order of the words: its file, and its address there. None where it is not known.
    pub sites: Vec<Option<(String, u64)>>,
}

impl LineProfile {
    /// The words of the line that share it falsely: several threads use the line soon after each other, and not for the same word.
    pub fn is_falsely_shared(&self) -> bool {
        let beside = saturating_sum(self.line.words.iter().map(|word| word.soon_beside));
        // A hundredth: a line that threads pass on now and then costs nothing that is seen.
        beside.saturating_mul(100) >= self.line.executed().max(1)
    }
}

/// Executions by form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// x86-64: read-modify-writes with a LOCK prefix, without fences.
    pub lock: u64,
    /// x86-64: XCHG with memory, which locks without a prefix.
    pub xchg: u64,
    /// AArch64: LSE atomics.
    pub lse: u64,
    /// AArch64: store-exclusives.
    pub exclusive: u64,
    /// Fences: MFENCE, locked read-modify-writes of the stack that change nothing, DMB.
    pub fence: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteProfile {
    /// The file, or `[generated code]`.
    pub module: String,
    /// The address by the file's own program headers; for generated code the address in memory.
    pub address: u64,
    /// The instruction as text.
    pub instruction: String,
    pub form: Form,
    pub operation: Operation,
    /// Bytes of its word.
    pub width: u8,
    pub class: Class,
    /// By which rule, in a few words.
    pub why: String,
    /// The library or runtime and the type it belongs to, by the table of known functions: `std Arc`, `shared_ptr`.
    pub family: Option<String>,
    /// The function it lies in, and those that it was inlined into; the innermost first. Empty where nothing is known.
    pub frames: Vec<Frame>,
    pub executed: u64,
    pub threads: u32,
    /// Executions by how its words were used.
    pub words: Words,
    /// Executions before the process had a second thread for the first time.
    pub before_threads: u64,
    /// Executions by the distance to the locked instruction before; see [`crate::counts::Site::distances`].
    pub distances: [u64; 8],
    /// The instructions around it.
    pub mix: Mix,
    /// From where a lock's, an allocator's or a reference count's function was called, the most frequent first: not all of its executions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
}

/// Executions of a site from one row of callers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The functions, the innermost first; of those that were inlined into each other the line of the innermost that is no library's.
    pub frames: Vec<Frame>,
    pub executed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadProfile {
    pub pid: u32,
    pub tid: u32,
    pub name: String,
    pub instructions: u64,
    /// Locked read-modify-writes; fences apart.
    pub locked: u64,
    pub fences: u64,
}

/// One kind of system call, of all threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCallProfile {
    /// Its name, or `#N`.
    pub name: String,
    /// How often it was made.
    pub calls: u64,
    /// Locked instructions that threads executed on the way to it, since their system call before.
    pub locked_before: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessProfile {
    pub pid: u32,
    /// Its program and arguments.
    pub command: String,
    pub threads: u32,
    pub instructions: u64,
    /// Locked read-modify-writes; fences apart.
    pub locked: u64,
    pub fences: u64,
}
