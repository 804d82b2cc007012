//! rpds's collections by the pointer that they count with: what LOCK costs them, and what they gain while it is elided.
//!
//! ```sh
//! cargo bench --package cyclewise-integrations --bench rpds                     # all, six minutes
//! cargo bench --package cyclewise-integrations --bench rpds -- --rounds 5 clone # names that contain a word
//! cargo bench --package cyclewise-integrations --bench rpds -- --samples FILE   # and each sample, a line each
//! ```
//!
//! Each round times every kind of pointer on one workload, in an order that turns from round to round. A figure is the median over rounds of
//! the ratio of std's time to this kind's in the same round, with the 95 % interval that the ranks of the sorted ratios give
//! (the sign test's). The process has one thread throughout: single mode is on where it can be.
//!
//! # Workloads
//! Those of rpds's own benchmarks (`benches/rpds_hash_trie_map_sync.rs` and its neighbours), with 100 000 entries: each version
//! is made of the one before, which is dropped. `clone-insert` keeps the map and makes a version of it for each key.
#![expect(unsafe_code, reason = "enable_single! is a promise of the program")]

use archery::{ArcK as StdKind, ArcTK, RcK, SharedPointerKind};
use cyclewise::error::Refusal;
use cyclewise::patch;
use cyclewise::refs::ArcK as OurKind;
use rpds::{HashTrieMap, List, RedBlackTreeMap, Vector};
use std::hash::RandomState;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ENTRIES: usize = 100_000;

/// A workload for each kind: prepares, and returns how long the part that is measured took.
struct Workload {
    name: &'static str,
    kinds: [fn(&RandomState) -> Duration; 5],
}

/// The kinds of pointer. Ours is there twice: with LOCK as a process with threads has it, and as this one has it.
const KINDS: [&str; 5] = ["std Arc", "ArcK", "ArcK with LOCK", "triomphe Arc", "Rc"];
/// Ours with LOCK.
const LOCKED: usize = 2;

macro_rules! workloads {
    ($($name:literal: $function:ident;)*) => {
        &[$(Workload {
            name: $name,
            kinds: [$function::<StdKind>, $function::<OurKind>, $function::<OurKind>, $function::<ArcTK>, $function::<RcK>],
        }),*]
    };
}

const WORKLOADS: &[Workload] = workloads! {
    "clone-insert": clone_insert;
    "map-insert": map_insert;
    "map-remove": map_remove;
    "tree-insert": tree_insert;
    "vector-push": vector_push;
    "list-push": list_push;
};

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    drop(black_box(work()));
    start.elapsed()
}

fn full_map<P: SharedPointerKind>(state: &RandomState) -> HashTrieMap<usize, isize, P> {
    let mut map = HashTrieMap::new_with_hasher_and_ptr_kind(state.clone());
    (0..ENTRIES).for_each(|n| map.insert_mut(n, -(n as isize)));
    map
}

fn clone_insert<P: SharedPointerKind>(state: &RandomState) -> Duration {
    let map = full_map::<P>(state);
    timed(|| {
        for n in 0..ENTRIES {
            let version = map.clone();
            black_box(version.insert(n, n as isize));
        }
    })
}

fn map_insert<P: SharedPointerKind>(state: &RandomState) -> Duration {
    timed(|| {
        let mut map = HashTrieMap::<_, _, P>::new_with_hasher_and_ptr_kind(state.clone());
        for n in 0..ENTRIES {
            map = map.insert(n, -(n as isize));
        }
        map
    })
}

fn map_remove<P: SharedPointerKind>(state: &RandomState) -> Duration {
    let mut map = full_map::<P>(state);
    timed(|| {
        for n in 0..ENTRIES {
            map = map.remove(&n);
        }
        map
    })
}

fn tree_insert<P: SharedPointerKind>(_: &RandomState) -> Duration {
    timed(|| {
        let mut map = RedBlackTreeMap::<_, _, P>::new_with_ptr_kind();
        for n in 0..ENTRIES {
            map = map.insert(n, -(n as isize));
        }
        map
    })
}

fn vector_push<P: SharedPointerKind>(_: &RandomState) -> Duration {
    timed(|| {
        let mut vector = Vector::<_, P>::new_with_ptr_kind();
        for n in 0..ENTRIES {
            vector = vector.push_back(n);
        }
        vector
    })
}

fn list_push<P: SharedPointerKind>(_: &RandomState) -> Duration {
    timed(|| {
        let mut list = List::<_, P>::new_with_ptr_kind();
        for n in 0..ENTRIES {
            list = list.push_front(n);
        }
        list
    })
}

/// The median of `values`, and its 95 % interval by ranks; the interval is the extremes where there are fewer than 6.
fn median(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let middle = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
    // The largest rank below which fewer than 2.5 % of binomial(count, 1/2) lie.
    let (mut rank, mut below, mut term) = (0, 0.0, 0.5f64.powi(count as i32));
    while below + term <= 0.025 {
        below += term;
        term *= (count - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    let low = rank.saturating_sub(1);
    (middle, values[low], values[count - 1 - low])
}

/// Measures a workload and prints its figures; appends its samples to `lines`.
fn measure(workload: &Workload, rounds: usize, lines: &mut String) -> Result<(), Refusal> {
    let state = RandomState::new();
    let mut times = KINDS.map(|_| Vec::with_capacity(rounds));
    // The first round allocates what the others reuse, and does not count.
    for round in 0..=rounds {
        for turn in 0..KINDS.len() {
            let kind = (turn + round) % KINDS.len();
            if kind == LOCKED {
                patch::lock()?;
            } else {
                patch::reelide()?;
            }
            let time = workload.kinds[kind](&state).as_secs_f64();
            if round > 0 {
                times[kind].push(time);
                let each = time * 1e9 / ENTRIES as f64;
                lines.push_str(&format!("{}\t{round}\t{}\t{each:.2}\n", workload.name, KINDS[kind]));
            }
        }
    }
    for (kind, name) in KINDS.iter().enumerate() {
        let (time, ..) = median(times[kind].clone());
        let ratios = times[0].iter().zip(&times[kind]).map(|(std, this)| std / this);
        let (ratio, low, high) = median(ratios.collect());
        let each = time * 1e9 / ENTRIES as f64;
        println!(
            "{:13} {name:14} {each:8.1} ns   {ratio:5.3} times as fast ({low:.3} to {high:.3})",
            workload.name
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut rounds = 21;
    let mut samples = None;
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match &*argument {
            // What cargo passes.
            "--bench" => {}
            "--rounds" => match arguments.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0) {
                Some(n) => rounds = n,
                None => {
                    eprintln!("rpds: --rounds takes a number from 1 on");
                    return ExitCode::from(2);
                }
            },
            "--samples" => match arguments.next() {
                Some(file) => samples = Some(file),
                None => {
                    eprintln!("rpds: --samples takes a file's name");
                    return ExitCode::from(2);
                }
            },
            option if option.starts_with('-') => {
                eprintln!(
                    "rpds: no option {option}; it takes --rounds N, --samples FILE and words of the workloads' names"
                );
                return ExitCode::from(2);
            }
            _ => words.push(argument),
        }
    }
    let wanted = |workload: &&Workload| words.is_empty() || words.iter().any(|word| workload.name.contains(word));
    // SAFETY: this program creates no thread, has no memory that it shares with another process, and exchanges no atomics with the
    // kernel.
    let elided = unsafe { cyclewise::enable_single!() };
    let state = patch::state();
    println!(
        "LOCK is elided at {} of {} sites; {rounds} rounds of {ENTRIES} entries",
        state.elided, state.sites
    );
    let mut lines = String::from("workload\tround\tkind\tns per entry\n");
    let mut chosen = WORKLOADS.iter().filter(wanted);
    let measured = elided.and_then(|()| chosen.try_for_each(|workload| measure(workload, rounds, &mut lines)));
    if let Some(file) = samples
        && let Err(error) = std::fs::write(&file, lines)
    {
        eprintln!("rpds: {file}: {error}");
        return ExitCode::from(1);
    }
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("rpds: LOCK cannot be elided here: {refusal}");
            ExitCode::from(3)
        }
    }
}
