//! The file that holds the counts of one process image, as the plugin writes it and the command reads it.
//!
//! The plugin maps the file and counts in it, so that the counts outlive a process that is killed. Records are found by
//! offsets from the file's start; 0 is none. Lists are prepended to, so their order says nothing: records have indexes.
//!
//! # Invariants
//! 1. Every field is a word that may be read while it is written, and every pattern of bits is a value of it.
//! 2. A record is complete before an offset to it is stored.
//! 3. Nothing shrinks or moves but tables of words, which are replaced by larger ones.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The first eight bytes: the name and the version of the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"cwlocks3");
/// The first eight bytes of the control file.
pub const CONTROL_MAGIC: u64 = u64::from_le_bytes(*b"cwlockc2");
/// The control file in the run's folder.
pub const CONTROL: &str = "control";
/// Bytes of lines about what was not counted: a program that starts others in a loop has nothing new to tell.
pub const NOTES: usize = 64 << 10;
/// The plugin's file in the run's folder.
pub const PLUGIN: &str = "plugin.so";

/// The name of the file of one image.
pub fn image_name(number: u32) -> String {
    format!("image-{number:07}")
}

/// What the images of one run share.
#[repr(C)]
pub struct Control {
    /// [`CONTROL_MAGIC`].
    pub magic: AtomicU64,
    /// How many images may be counted.
    pub limit: AtomicU32,
    /// How many images asked to be: numbers are given out by it.
    pub images: AtomicU32,
    /// How many images were refused by the limit.
    pub refused: AtomicU32,
    /// 1 once the plugin was installed, whatever came of it.
    pub started: AtomicU32,
    /// The error number for which the first image could not be counted.
    pub first_error: AtomicU32,
    /// The error number for which a later image could not be counted at all, and how many.
    pub later_error: AtomicU32,
    /// See above.
    pub later_errors: AtomicU32,
    /// Opcode classes that the plugin leaves out, for the tests' twin: 0 leaves out nothing.
    pub leave_out: AtomicU32,
    /// How many emulators have been executed for programs and have not begun: they need the folder.
    pub starting: AtomicU32,
    /// 1 once the run is over: no image begins any more.
    pub closed: AtomicU32,
    /// Whether calls are followed.
    pub callers: AtomicU32,
    /// Unused.
    pub zero: AtomicU32,
    /// How many bytes of `notes` have been taken.
    pub notes_len: AtomicU64,
    /// Lines, each ending in a newline. They are here since a process may see no other file of the folder.
    pub notes: [AtomicU8; NOTES],
}

/// `Header::end`: it runs, or was ended from outside.
pub const END_UNKNOWN: u32 = 0;
/// `Header::end`: it exited.
pub const END_EXITED: u32 = 1;
/// `Header::end`: it executed another program.
pub const END_EXECUTED: u32 = 2;

/// `Header::arch`.
pub const ARCH_X86_64: u32 = 1;
/// `Header::arch`.
pub const ARCH_AARCH64: u32 = 2;

/// At the file's start.
#[repr(C)]
pub struct Header {
    /// [`MAGIC`], stored last.
    pub magic: AtomicU64,
    /// `ARCH_...`
    pub arch: AtomicU32,
    /// The process.
    pub pid: AtomicU32,
    /// The process that forked it, or 0.
    pub parent: AtomicU32,
    /// `END_...`
    pub end: AtomicU32,
    /// The error number for which the file could not grow, or 0: what was counted from then on is lost.
    pub lost: AtomicU32,
    /// 1 once the process has asked for a second thread: then `Site::before_threads` has been written.
    pub second_thread: AtomicU32,
    /// Sites that were one too many.
    pub sites_refused: AtomicU64,
    /// Threads that were one too many.
    pub threads_refused: AtomicU64,
    /// The first `Text`: the program and its arguments, each followed by a zero byte.
    pub command: AtomicU64,
    /// The list of `Thread`.
    pub threads: AtomicU64,
    /// The list of `Mapping`.
    pub mappings: AtomicU64,
    /// The list of `Site`.
    pub sites: AtomicU64,
    /// The list of `SiteBlock`.
    pub blocks: AtomicU64,
    /// The list of `WordTable`.
    pub words: AtomicU64,
    /// The list of `Path`.
    pub paths: AtomicU64,
}

/// Return addresses of a `Path`: those of wrappers, and three levels above.
pub const CALLERS: usize = 6;

/// Executions of a site by one thread at a time, from one row of callers.
#[repr(C)]
pub struct Path {
    /// The next of the list.
    pub next: AtomicU64,
    /// The site.
    pub site: AtomicU32,
    /// Unused.
    pub zero: AtomicU32,
    /// How often.
    pub executed: AtomicU64,
    /// The innermost first; one whose address is 0 is none.
    pub callers: [Caller; CALLERS],
}

/// Where a call comes back to.
#[repr(C)]
pub struct Caller {
    /// Where, as the program sees it.
    pub address: AtomicU64,
    /// In which mapping, or [`NO_MAPPING`].
    pub mapping: AtomicU32,
    /// Unused.
    pub zero: AtomicU32,
}

/// Bytes of a `Text`: a path is shorter, arguments are cut off.
pub const TEXT: usize = 4096;

/// Bytes.
#[repr(C)]
pub struct Text {
    /// How many of `bytes`.
    pub len: AtomicU64,
    /// The bytes.
    pub bytes: [AtomicU8; TEXT],
}

/// A file that was mapped where a site is.
#[repr(C)]
pub struct Mapping {
    /// The next of the list.
    pub next: AtomicU64,
    /// Which it is.
    pub index: AtomicU32,
    /// Unused.
    pub zero: AtomicU32,
    /// The first address, as the program sees it.
    pub start: AtomicU64,
    /// The address after the last.
    pub end: AtomicU64,
    /// Where `start` is in the file.
    pub offset: AtomicU64,
    /// The path.
    pub path: Text,
}

/// `Site::mapping` of code that lies in no file.
pub const NO_MAPPING: u32 = u32::MAX;
/// Bytes of a block that are kept before a site.
pub const BEFORE: usize = 128;
/// Bytes that are kept from a site on.
pub const CODE: usize = 160;

/// A site.
#[repr(C)]
pub struct Site {
    /// The next of the list.
    pub next: AtomicU64,
    /// Which it is.
    pub index: AtomicU32,
    /// In which mapping, or [`NO_MAPPING`].
    pub mapping: AtomicU32,
    /// Where.
    pub address: AtomicU64,
    /// Executions before the second thread.
    pub before_threads: AtomicU64,
    /// How many of `before`.
    pub before_len: AtomicU32,
    /// How many of `code`.
    pub code_len: AtomicU32,
    /// Code before it.
    pub before: [AtomicU8; BEFORE],
    /// Code from it on.
    pub code: [AtomicU8; CODE],
}

/// A thread.
#[repr(C)]
pub struct Thread {
    /// The next of the list.
    pub next: AtomicU64,
    /// Which it is.
    pub index: AtomicU32,
    /// Its number.
    pub tid: AtomicU32,
    /// Its name, up to the first zero.
    pub name: [AtomicU8; 16],
    /// Instructions.
    pub instructions: AtomicU64,
    /// The list of `CountBlock`.
    pub counts: AtomicU64,
    /// The list of `CallBlock`.
    pub calls: AtomicU64,
}

/// Sites of a `CountBlock`.
pub const COUNTS: usize = 64;

/// Executions of some sites by one thread.
#[repr(C)]
pub struct CountBlock {
    /// The next of the list.
    pub next: AtomicU64,
    /// The first site.
    pub first: AtomicU64,
    /// Executions of `first` and those after it.
    pub counts: [AtomicU64; COUNTS],
}

/// Kinds of system call in a `CallBlock`.
pub const CALLS: usize = 10;

/// System calls of one thread.
#[repr(C)]
pub struct CallBlock {
    /// The next of the list.
    pub next: AtomicU64,
    /// Each; one with no calls is free.
    pub calls: [Call; CALLS],
}

/// One kind of system call.
#[repr(C)]
pub struct Call {
    /// The number.
    pub number: AtomicU64,
    /// How often.
    pub calls: AtomicU64,
    /// Locked instructions since the call before, in sum.
    pub locked: AtomicU64,
}

/// Sites of a `SiteBlock`.
pub const TALLIES: usize = 16;

/// What is counted of some sites by one thread at a time: threads that follow each other share it.
#[repr(C)]
pub struct SiteBlock {
    /// The next of the list.
    pub next: AtomicU64,
    /// The first site.
    pub first: AtomicU64,
    /// `first` and those after it.
    pub tallies: [Tally; TALLIES],
}

/// Of one site.
#[repr(C)]
pub struct Tally {
    /// By the distance to the locked instruction before.
    pub distances: [AtomicU64; 8],
    /// On words that one thread used.
    pub private: AtomicU64,
    /// On words that more used.
    pub shared: AtomicU64,
}

/// A table of words, of those whose life has not ended. `capacity` times [`Word`] follow it.
#[repr(C)]
pub struct WordTable {
    /// The next of the list.
    pub next: AtomicU64,
    /// How many words it has room for.
    pub capacity: AtomicU32,
    /// 1 once a larger one has replaced it.
    pub replaced: AtomicU32,
}

/// Sites that a word knows while one thread only has used it.
pub const WORD_SITES: usize = 16;

/// A word.
#[repr(C)]
pub struct Word {
    /// Where; 0 where the entry is free.
    pub address: AtomicU64,
    /// The index of the thread that used it first.
    pub thread: AtomicU32,
    /// `WORD_...`
    pub state: AtomicU32,
    /// The index of the second thread that used it, valid where `by_second` is not 0.
    pub second: AtomicU32,
    /// Executions of the second thread, as long as the word is not shared.
    pub by_second: AtomicU32,
    /// Executions at the address, through all lives.
    pub executed: AtomicU64,
    /// Threads that used the address, a bit each: that of the thread's index, of 64.
    pub threads: AtomicU64,
    /// Uses soon after another thread used the same word.
    pub soon_same: AtomicU64,
    /// Uses soon after another thread used another word of the same line.
    pub soon_beside: AtomicU64,
    /// The site that used it last.
    pub last_site: AtomicU32,
    /// Unused.
    pub zero: AtomicU32,
    /// Sites and their executions on it. Those that are used come first.
    pub sites: [WordSite; WORD_SITES],
}

/// Executions of one site on a word.
#[repr(C)]
pub struct WordSite {
    /// The site; valid where the count is not 0.
    pub site: AtomicU32,
    /// How many; more than fit are of words not known.
    pub count: AtomicU32,
}

/// `Word::state`: threads share it.
pub const WORD_SHARED: u32 = 1;
/// `Word::state`: a count in it has come to zero.
pub const WORD_ZERO: u32 = 2;
/// `Word::state`: its second thread used it last.
pub const WORD_SECOND: u32 = 4;
/// `Word::state`: how often it went from one thread to the other, in this unit.
pub const WORD_PASSED: u32 = 8;
/// A word that was passed so often may still be one thread's: another made it, or looked at it at the end.
pub const PASSES: u32 = 2;
/// Such a word is one thread's where that thread has so many times the executions of the other.
pub const MOSTLY: u64 = 16;

/// Whether threads share a word that was passed at most [`PASSES`] times, by all its executions and those of its second thread.
pub fn is_shared(all: u64, by_second: u64) -> bool {
    let (second, first) = (by_second.min(all), all.saturating_sub(by_second));
    first.min(second).saturating_mul(MOSTLY) > first.max(second)
}

/// Bytes of a cache line, on all machines of both architectures that programs are written for.
pub const LINE: u64 = 64;
/// Uses by two threads within so many nanoseconds of the emulator are soon after each other: a microsecond or two of a program that is not
/// counted.
pub const SOON_NS: u64 = 50_000;
