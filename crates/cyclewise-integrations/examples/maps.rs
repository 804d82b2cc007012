//! Versions of rpds's collections by the pointer that they count with, as a program to time from outside.
//!
//! ```sh
//! cargo run --release --package cyclewise-integrations --example maps -- elided 30
//! ```
//! `std` counts with std's Arc, `locked` with ours, and `elided` with ours and without LOCK, since the process has one thread. Each round makes
//! a map, a tree and a vector of 10 000 entries, each version from the one before, and keeps every hundredth. The checksum is the same for all.
#![expect(unsafe_code, reason = "enable_single! is a promise of the program")]

use archery::{ArcK as StdKind, SharedPointerKind};
use cyclewise::refs::ArcK as OurKind;
use rpds::{HashTrieMap, RedBlackTreeMap, Vector};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::process::ExitCode;

/// Entries of each collection.
const ENTRIES: usize = 10_000;

/// How many versions one is kept of.
const KEPT: usize = 100;

/// Has no random keys: two processes do the same work.
type State = BuildHasherDefault<DefaultHasher>;

/// Each version from the one before, and some of them kept; returns the last.
fn last<C: Clone>(first: C, next: impl Fn(&C, usize) -> C) -> C {
    let mut kept = Vec::new();
    let mut version = first;
    for entry in 0..ENTRIES {
        version = next(&version, entry);
        if entry % KEPT == 0 {
            kept.push(version.clone());
        }
    }
    version
}

fn round<P: SharedPointerKind>(number: usize) -> usize {
    let value = |entry: usize| entry.wrapping_mul(31) ^ number;
    let map = HashTrieMap::<usize, usize, P, State>::new_with_hasher_and_ptr_kind(State::default());
    let map = last(map, |map, entry| map.insert(entry, value(entry)));
    let tree = RedBlackTreeMap::<usize, usize, P>::new_with_ptr_kind();
    let tree = last(tree, |tree, entry| tree.insert(entry * 7919 % ENTRIES, value(entry)));
    let vector = Vector::<usize, P>::new_with_ptr_kind();
    let vector = last(vector, |vector, entry| vector.push_back(value(entry)));
    let sum = |values: &mut dyn Iterator<Item = &usize>| values.fold(0, |sum: usize, v| sum.wrapping_mul(3) ^ v);
    (0..ENTRIES).fold(0, |sum: usize, entry| sum.wrapping_add(map[&entry]))
        ^ sum(&mut tree.values())
        ^ sum(&mut vector.iter())
}

fn rounds<P: SharedPointerKind>(count: usize) -> usize {
    (0..count).fold(0, |sum: usize, number| sum.rotate_left(1) ^ round::<P>(number))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.get(1).map_or(Ok(30), |rounds| rounds.parse());
    let (Some(kind), Ok(count), 1..=2) = (arguments.first(), count, arguments.len()) else {
        eprintln!("usage: maps std|locked|elided [ROUNDS]");
        return ExitCode::from(2);
    };
    let checksum = match kind.as_str() {
        "std" => rounds::<StdKind>(count),
        "locked" => rounds::<OurKind>(count),
        "elided" => {
            // SAFETY: this program creates no thread, has no memory that it shares with another process, and exchanges no atomics with
            // the kernel.
            let elided = unsafe { cyclewise::enable_single!() };
            if let Err(refusal) = elided {
                eprintln!("maps: LOCK cannot be elided here: {refusal}");
                return ExitCode::from(3);
            }
            rounds::<OurKind>(count)
        }
        other => {
            eprintln!("maps: no kind {other:?}; it is std, locked or elided");
            return ExitCode::from(2);
        }
    };
    println!("{count} rounds, checksum {checksum}");
    ExitCode::SUCCESS
}
