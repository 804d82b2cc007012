//! What was counted in a run, before anything is known about it but addresses and code bytes.
//!
//! A *site* is one instruction that is a locked read-modify-write (LOCK or implicit XCHG on x86-64; an LSE atomic or a
//! store-exclusive on AArch64) or a fence, at one place of one executed file, or of generated code.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Counts of one run: of the program and its children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    pub method: Method,
    pub arch: Arch,
    /// Each process image, in the order in which they began; an exec begins another one.
    pub processes: Vec<Process>,
    /// What was not counted, and why, a line each.
    pub missing: Vec<String>,
}

/// The instruction set of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    X86_64,
    Aarch64,
}

/// A way of counting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Method {
    /// Exact, by an emulator.
    Emulator {
        /// What it says of its version.
        version: String,
    },
    /// Sampled, by an event of the PMU: counts are estimates.
    Counter {
        event: String,
        /// Locked instructions a sample.
        period: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// The number in the process's own namespace.
    pub pid: u32,
    /// The process that forked it, if that was counted too.
    pub parent: Option<u32>,
    /// The executed file.
    pub program: PathBuf,
    /// Its arguments, without the program.
    pub arguments: Vec<String>,
    /// Each thread that executed anything, in the order in which they began; the first one is the main thread.
    pub threads: Vec<Thread>,
    /// Executed files, and where they were mapped. Sites name them by their index.
    pub mappings: Vec<Mapping>,
    /// Every site that was translated, or sampled.
    pub sites: Vec<Site>,
    /// The lines of memory that locked instructions used most, the most used one first; none where that is not known.
    #[serde(default)]
    pub lines: Vec<MemoryLine>,
    /// How it ended, as far as the counts tell.
    pub end: End,
}

/// How a process image ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// It called exit, or returned from main.
    Exited,
    /// It executed another program, which is the next image of the same process.
    Executed,
    /// It was ended from outside or by a signal, or it runs on: these are the counts until then.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    pub tid: u32,
    /// Its name (`comm`), when its first counts were made.
    pub name: String,
    /// Instructions it executed; a repeated string instruction is one.
    pub instructions: u64,
    /// System calls it made, by number.
    pub system_calls: Vec<SystemCall>,
}

/// A system call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCall {
    /// Its number, by the tables of the program's architecture.
    pub number: u32,
    /// How often it was made.
    pub calls: u64,
    /// Locked instructions that the thread executed since the system call before, in sum over the calls.
    pub locked_before: u64,
}

/// An executable mapping of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    pub path: PathBuf,
    /// The first address, as the program saw it.
    pub start: u64,
    /// The address after the last.
    pub end: u64,
    /// Where in the file the first byte is.
    pub offset: u64,
}

/// One site of one process image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The address, as the program saw it.
    pub address: u64,
    /// The mapping it lies in; none for generated code.
    pub mapping: Option<u32>,
    /// Code from the start of the basic block to the instruction.
    pub before: Vec<u8>,
    /// Code from the instruction on: to the end of the block at least, and some bytes more where they could be read.
    pub code: Vec<u8>,
    /// Executions by thread: an index into `threads`, and a number. An AArch64 exclusive loop counts its store-exclusives.
    pub executed: Vec<(u32, u64)>,
    /// Executions by the distance to the locked instruction (no fence) before it on the same thread, in instructions: fewer than 8, 16, 32, 64,
    /// 128, 256, 512, and all others. Zeros where it is not known.
    pub distances: [u64; 8],
    /// Executions before the process had a second thread for the first time.
    pub before_threads: u64,
    /// Whether its words were used by more than one thread.
    pub words: Words,
    /// From where it was executed, the most frequent first; not all of its executions, and none where calls were not followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<CallPath>,
}

/// Executions of a site from one row of callers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPath {
    /// Where each call comes back to, the innermost first.
    pub callers: Vec<CodeAddress>,
    pub executed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CodeAddress {
    /// As the program saw it.
    pub address: u64,
    /// The mapping it lies in; none for generated code.
    pub mapping: Option<u32>,
}

/// A cache line's worth of memory, and its words that locked instructions used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLine {
    /// Its first address, as the program saw it.
    pub address: u64,
    /// The words, the lowest one first.
    pub words: Vec<LineWord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineWord {
    /// Bytes from the line's start.
    pub offset: u8,
    /// Executions of locked instructions on it.
    pub executed: u64,
    /// Threads that executed them; 64 where there may have been more.
    pub threads: u32,
    /// Executions soon after another thread's on the same word.
    pub soon_same: u64,
    /// Executions soon after another thread's on another word of the line.
    pub soon_beside: u64,
    /// The address of the site that used it last.
    pub site: u64,
}

impl MemoryLine {
    /// Executions on all its words.
    pub fn executed(&self) -> u64 {
        saturating_sum(self.words.iter().map(|word| word.executed))
    }
}

/// Executions of a site by how its words were used, by locked instructions, during the words' whole life.
///
/// A word's life ends where a count in it falls to zero and the memory is used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// On words that one thread used. Another may have made the word, or have looked at it at the end.
    pub private: u64,
    /// On words that several threads used.
    pub shared: u64,
    /// On words of which that is not known.
    pub unknown: u64,
}

impl Counts {
    /// Whether the programs served clients that are not among them: they took more connections than they made. A server that polls asks
    /// twice for each connection, so those that were made count twice.
    pub fn has_outside_clients(&self) -> bool {
        let [accept, accept4, connect] = match self.arch {
            Arch::X86_64 => [43, 288, 42],
            Arch::Aarch64 => [202, 242, 203],
        };
        let threads = self.processes.iter().flat_map(|p| &p.threads);
        let calls: Vec<&SystemCall> = threads.flat_map(|t| &t.system_calls).collect();
        let made =
            |numbers: &[u32]| saturating_sum(calls.iter().filter(|c| numbers.contains(&c.number)).map(|c| c.calls));
        made(&[accept, accept4]) > made(&[connect]).saturating_mul(2)
    }
}

impl Site {
    /// Executions by all threads. Files of counts may be damaged, so that no sum of theirs may overflow.
    pub fn total(&self) -> u64 {
        saturating_sum(self.executed.iter().map(|(_, n)| *n))
    }
}

/// A sum that stays at the largest number.
pub(crate) fn saturating_sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}
