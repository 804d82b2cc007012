//! Mangles files, and holds their reader to what a reader of strangers' files owes.
//!
//! Tests of several packages include this file by its path, so that none has to be published for it. `CYCLEWISE_FUZZ_SECONDS` is how long
//! each reader is tried, `CYCLEWISE_FUZZ_FILES` on how many files at most, `CYCLEWISE_FUZZ_SEED` (hexadecimal) the seed; the same seed gives
//! the same files in the same order.
//!
//! # Invariants
//! For each file, good or mangled:
//! 1. The reader returns, and does not panic. It has [`Owes::cpu`] of the processor, which is not the clock's time.
//! 2. It holds at most [`Owes::most_bytes`] at a time, whatever lengths the file claims.
//! 3. Why it refuses a file is one line without control characters.
//! 4. After all of them, good files read as at first.
//!
//! # Safety
//! The allocator passes each call on as it is, and counts.
#![allow(unsafe_code, reason = "counts what a reader allocates")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::boxed::Box;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::String;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};
use std::vec::Vec;
// The library is no_std, and its tests include this too.
use std::{eprintln, format, println, thread_local};

/// What a reader owes.
pub(crate) struct Owes {
    /// The most bytes that it may hold at a time for a file of so many bytes.
    pub(crate) most_bytes: fn(usize) -> usize,
    /// The processor's time for one file.
    pub(crate) cpu: Duration,
    /// Whether it is JSON whose numbers alone change, and how many of them a list has: such documents are read, and what is made of them
    /// meets the numbers.
    pub(crate) numbers_only: bool,
}

impl Default for Owes {
    /// 64 bytes for each byte of the file: the widest value of JSON's and TOML's parsers, for the shortest text.
    fn default() -> Self {
        Self {
            most_bytes: |file| (4 << 20) + 64 * file,
            cpu: Duration::from_secs(20),
            numbers_only: false,
        }
    }
}

/// Files that are tried at most where nobody says for how long.
const FEW: u64 = 1500;

/// How long they are tried then, on a machine that is slow.
const SHORT: Duration = Duration::from_millis(300);

/// Tries `read` on mangled copies of `good`.
pub(crate) fn hold<T: PartialEq + Send + 'static>(
    good: &[&[u8]],
    owes: Owes,
    read: impl Fn(&[u8]) -> Result<T, String> + Send + 'static,
) {
    match within(most(), good, owes, read) {
        Ok((files, read)) => println!("{files} files, of which {read} were read"),
        Err(fault) => panic!("{fault}"),
    }
}

/// How many files were tried and how many of them read, or what is wrong with the reader. For readers that owe something: on a slow
/// machine too they get the files that show it.
#[allow(dead_code, reason = "not every package that includes this file has such readers")]
pub(crate) fn tried<T: PartialEq + Send + 'static>(
    good: &[&[u8]],
    owes: Owes,
    read: impl Fn(&[u8]) -> Result<T, String> + Send + 'static,
) -> Result<(u64, u64), String> {
    within((FEW, Duration::MAX), good, owes, read)
}

/// A number of the environment.
fn number(name: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(&std::env::var(name).ok()?, radix).ok()
}

/// How many files are tried at most, and how long.
fn most() -> (u64, Duration) {
    match number("CYCLEWISE_FUZZ_SECONDS", 10) {
        Some(seconds) => (
            number("CYCLEWISE_FUZZ_FILES", 10).unwrap_or(u64::MAX),
            Duration::from_secs(seconds),
        ),
        None => (FEW, SHORT),
    }
}

fn within<T: PartialEq + Send + 'static>(
    (most, time): (u64, Duration),
    good: &[&[u8]],
    owes: Owes,
    read: impl Fn(&[u8]) -> Result<T, String> + Send + 'static,
) -> Result<(u64, u64), String> {
    let seed = number("CYCLEWISE_FUZZ_SEED", 16).unwrap_or(1);
    let good: Vec<Vec<u8>> = good.iter().map(|file| file.to_vec()).collect();
    // The file that is being read, from 0.
    let current = Arc::new(AtomicU64::new(0));
    let counter = current.clone();
    let (send, receive) = std::sync::mpsc::channel();
    let (begun, cpu) = (Instant::now(), owes.cpu);
    no_backtraces_of_readers();
    std::thread::spawn(move || {
        let _ = send.send(Err(std::fs::read_link("/proc/thread-self").ok()));
        let case = |bytes: &[u8]| one(bytes, &owes, &read);
        let all = || {
            let first: Vec<_> = good.iter().map(|file| case(file)).collect::<Result<_, _>>()?;
            let (mut files, mut readable) = (0, 0);
            while files < most && begun.elapsed() < time {
                let bytes = mangled(&good, owes.numbers_only, seed, files);
                let was =
                    case(&bytes).map_err(|fault| format!("seed {seed:x}, file {files}: {fault}: {}", shown(&bytes)))?;
                readable += u64::from(was.is_some());
                files += 1;
                // Relaxed: only its change is looked at.
                counter.store(files, Ordering::Relaxed);
            }
            for (file, first) in good.iter().zip(&first) {
                if case(file)? != *first || first.is_none() {
                    return Err(format!("a good file is not read, or not as at first: {}", shown(file)));
                }
            }
            Ok((files, readable))
        };
        let _ = send.send(Ok(all()));
    });
    let thread = receive.recv().ok().and_then(Result::err).flatten();
    let spent = || -> Option<u64> {
        // User time in the kernel's hundredths of a second: proc_pid_stat(5).
        let stat = std::fs::read_to_string(std::path::Path::new("/proc").join(thread.as_ref()?).join("stat")).ok()?;
        stat.rsplit(')').next()?.split(' ').nth(12)?.parse().ok()
    };
    let (mut at, mut since) = (0, 0);
    loop {
        match receive.recv_timeout(Duration::from_millis(200)) {
            Ok(Ok(result)) => return result,
            Ok(Err(_)) | Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(e) => return Err(format!("the thread that reads is gone: {e}")),
        }
        let (now, spent) = (current.load(Ordering::Relaxed), spent().unwrap_or(0));
        if now != at {
            (at, since) = (now, spent);
        } else if Duration::from_millis(10 * (spent - since)) > cpu {
            return Err(format!("seed {seed:x}, file {at}: the reader does not return"));
        }
    }
}

/// Reads one file: what it is, none where it is refused; or what is wrong with the reader.
pub(crate) fn one<T>(
    bytes: &[u8],
    owes: &Owes,
    read: &impl Fn(&[u8]) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let before = HELD.get();
    MOST.set(before);
    READS.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| read(bytes)));
    READS.set(false);
    let result = result.map_err(|_| "the reader panics")?;
    let held = (MOST.get() - before).cast_unsigned();
    let most = (owes.most_bytes)(bytes.len());
    if held > most {
        return Err(format!("the reader holds {held} bytes, more than {most}"));
    }
    match result {
        Ok(value) => Ok(Some(value)),
        Err(why) if why.is_empty() || why.contains(is_control) => {
            Err(format!("its reason is not one line of text: {why:?}"))
        }
        Err(_) => Ok(None),
    }
}

/// A panic of a reader prints its message alone: with `RUST_BACKTRACE` the lines of a large executable take longer to find than a reader may.
fn no_backtraces_of_readers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if READS.try_with(Cell::get).unwrap_or(false) {
                eprintln!("{panic}");
            } else {
                others(panic);
            }
        }));
    });
}

/// Controls, separators of lines, and what changes the direction of text.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The file as an escaped text, or its start.
fn shown(bytes: &[u8]) -> String {
    let text = bytes[..bytes.len().min(4000)].escape_ascii();
    format!("{} bytes: {text}", bytes.len())
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % (n as u64).max(1)) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A short range in `0..length`.
    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length);
        let size = self.of(&[4, 16, 64, 1024]);
        start..(start + 1 + self.below(size)).min(length)
    }
}

/// Numbers that are too large, too small or none.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "NaN",
    "nan",
    "inf",
    "1e308",
    "-1e308",
    "1e999",
    "5e-324",
    "1e-7",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "-9223372036854775808",
    "1000000000",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
];

/// Numbers of JSON, whose smallest and largest are those of doubles; the first [`WHOLE`] fit 64 bits without a sign.
const JSON: &[&str] = &[
    "0",
    "1",
    "2",
    "1000000000",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "-0.0",
    "-1",
    "-9223372036854775808",
    "99999999999999999999",
    "1e308",
    "-1e308",
    "5e-324",
    "1e-7",
    "0.1000000000000000055511151231257827021181583404541015625",
    "null",
];
const WHOLE: usize = 8;

/// Texts that move a terminal's cursor, end a text, or are none.
const TEXTS: &[&[u8]] = &[
    b"\x1b[2J",
    b"\x1b]0;x\x07",
    b"\\u001b[2J",
    b"\\u202e",
    b"\xe2\x80\xae",
    b"\xc2\x9b2J",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\\ud800",
    b"\r\n",
    b"\n",
    b"\"",
    b"\\",
    b"'''",
    b"\"\"\"",
    b"=",
    b"[[",
    b"#",
    b",",
    b"}",
    b"]",
    b"../../x",
    b" ",
    b"%s",
    b"\xc3\xa9",
];

/// What nests.
const NESTS: &[&[u8]] = &[b"[", b"{\"a\":", b"{a=", b"a.", b"P", b"\x03"];

/// The file with this number.
fn mangled(good: &[Vec<u8>], numbers_only: bool, seed: u64, number: u64) -> Vec<u8> {
    let mut dice = Dice(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number);
    let mut bytes = good[dice.below(good.len())].clone();
    if numbers_only {
        renumber(&mut bytes, &mut dice);
        return bytes;
    }
    for _ in 0..1 + dice.next() % (1 << (dice.next() % 5)) {
        mangle(&mut bytes, good, &mut dice);
    }
    bytes
}

/// Replaces numbers of JSON, and repeats or removes some that a list has.
fn renumber(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let all = numbers(bytes);
    let most = 1 << dice.below(8);
    let mut chosen: Vec<usize> = (0..=dice.below(most)).map(|_| dice.below(all.len())).collect();
    chosen.sort_unstable();
    chosen.dedup();
    // From the last one, so that those before it stay where they are.
    for Range { start, end } in chosen.iter().rev().filter_map(|&n| all.get(n)).cloned() {
        let before = bytes[..start].iter().rfind(|byte| !byte.is_ascii_whitespace());
        let is_of_list = bytes.get(end) == Some(&b',') && before.is_some_and(|byte| b"[,".contains(byte));
        if is_of_list && dice.below(4) == 0 {
            let part = bytes[start..=end].repeat(dice.of(&[0, 2, 300]));
            bytes.splice(start..=end, part);
            continue;
        }
        let is_whole = bytes[start..end].iter().all(u8::is_ascii_digit);
        let count = if is_whole && dice.below(8) != 0 {
            WHOLE
        } else {
            JSON.len()
        };
        bytes.splice(start..end, dice.of(&JSON[..count]).bytes());
    }
}

/// Where numbers are, outside of strings.
fn numbers(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut at, mut is_text) = (Vec::new(), 0, false);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => is_text = !is_text,
            b'\\' if is_text => at += 1,
            b'-' | b'0'..=b'9' if !is_text => {
                let is_part = |b: &&u8| b.is_ascii_digit() || b"+-.eE".contains(b);
                at += bytes[at..].iter().take_while(is_part).count();
                found.push(start..at);
            }
            _ => {}
        }
    }
    found
}

fn mangle(bytes: &mut Vec<u8>, good: &[Vec<u8>], dice: &mut Dice) {
    let length = bytes.len();
    let (at, range) = (dice.below(length + 1), dice.range(length));
    match dice.below(14) {
        0 if at < length => bytes[at] ^= 1 << dice.below(8),
        1 if at < length => bytes[at] = dice.next() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(range)),
        4 => {
            let part = bytes[range].repeat(dice.of(&[1, 1, 1, 2, 300]));
            bytes.splice(at..at, part);
        }
        5 => bytes[range].fill(dice.of(&[0, 0xff, b' '])),
        // A number of 1 to 8 bytes: a length, an offset, an index that lies.
        6..=8 if length > 8 => {
            let width = dice.of(&[1, 2, 4, 8, 8]);
            let at = dice.below(length - 8) / width * width;
            let any = [1 << dice.below(63), dice.below(length)];
            let near = dice.of(&[length, at, any[0], any[1], usize::MAX, usize::MAX / 2]) as u64;
            let value = near.wrapping_add(dice.next() % 3).wrapping_sub(1);
            let value = if dice.below(8) == 0 { value.swap_bytes() } else { value };
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        9 => {
            let other = &good[dice.below(good.len())];
            let part = other[dice.range(other.len())].to_vec();
            bytes.splice(range, part);
        }
        10 => drop(bytes.splice(at..at, dice.of(TEXTS).iter().copied())),
        11 => {
            let times = dice.of(&[2, 100, 200, 20_000]);
            bytes.splice(at..at, dice.of(NESTS).repeat(times));
        }
        12 => {
            // The number at or after `at`.
            let start = at + bytes[at..].iter().position(u8::is_ascii_digit).unwrap_or(0);
            let is_part = |b: &&u8| b.is_ascii_digit() || b"+-.eE".contains(b);
            let end = start + bytes[start..].iter().take_while(is_part).count();
            bytes.splice(start..end, dice.of(NUMBERS).bytes());
        }
        _ => {
            // A line or an element twice, so that keys are there twice.
            let ends = |b: &u8| b"\n,{}[]\0".contains(b);
            let start = bytes[..at].iter().rposition(ends).map_or(0, |i| i + 1);
            let end = bytes[at..].iter().position(ends).map_or(length, |i| at + i + 1);
            let part = bytes[start..end].to_vec();
            bytes.splice(start..start, part);
        }
    }
}

/// The system's allocator, counting what each thread holds and the most it has held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    /// Whether a reader runs on this thread.
    static READS: Cell<bool> = const { Cell::new(false) };
}

fn add(more: usize, less: usize) {
    HELD.set(HELD.get() + more.cast_signed() - less.cast_signed());
    MOST.set(MOST.get().max(HELD.get()));
}

// SAFETY: forwards every call to System.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size(), 0);
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size(), 0);
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(0, layout.size());
        // SAFETY: the caller's contract is System's.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size, layout.size());
        // SAFETY: the caller's contract is System's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
