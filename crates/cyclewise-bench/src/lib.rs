//! Benchmarks that say which function is faster, and "undecided" where that cannot be told.
//!
//! In `Cargo.toml`, with the program below as `benches/mine.rs`:
//!
//! ```toml
//! [dev-dependencies]
//! cyclewise-bench = { path = "../cyclewise/crates/cyclewise-bench" } # not on crates.io yet
//!
//! [[bench]]
//! name = "mine"
//! harness = false
//!
//! # Else cargo hands the options of `cargo bench -- --quick` to the library's own tests, too, which refuse them.
//! [lib]
//! bench = false
//! ```
//!
//! ```no_run
//! use cyclewise_bench::{Suite, black_box};
//!
//! fn main() {
//!     cyclewise_bench::main(|s: &mut Suite| {
//!         let data: Vec<u64> = (0..1024).collect();
//!         s.group("sum")
//!             .bench("iter", || black_box(&data).iter().sum::<u64>())
//!             .bench("loop", || { let mut t = 0; for x in black_box(&data) { t += x } t });
//!         s.group("sort").elements(1024)
//!             .bench_with("unstable", || data.clone(), |mut v| { v.sort_unstable(); v })
//!             .bench_with("stable", || data.clone(), |mut v| { v.sort(); v });
//!         s.group("counter").threads([1, 2])
//!             .bench_shared("std", std::sync::atomic::AtomicU64::new(0), |c| { c.fetch_add(1, std::sync::atomic::Ordering::Relaxed); });
//!     });
//! }
//! ```
//!
//! `cargo bench` prints a sentence for each group and then the tables, and compares with the last run; `cargo bench -- sum` measures what has `sum` in its name;
//! `cargo bench --bench mine -- --against main` compares each function with that of a revision, in turns;
//! `cargo test --benches` runs each body once; `cargo bench -- --help` lists the rest. `--json` writes a record, which the command
//! `cyclewise` compares with others, draws, and finds outliers in.
//!
//! A group's functions are compared with its first. They are sampled in rounds, each function once a round, in random order, so
//! that what disturbs one disturbs all. A short call is a slope over unrolled calls, so that stamps and loop cancel; a long one is
//! timed alone. Beside each batch a probe tells whether something else shares the core. Samples during which the thread was
//! preempted or moved, or the hypervisor took its CPU, are rejected. The time is divided over five processes (`--runs`), because each lays out
//! its memory anew, which alone moves some functions by percents: the program starts itself again, so what it does before its
//! groups is done five times.
//!
//! # Writing a body that measures what you mean
//!
//! - **Inputs.** Hide what the compiler knows: `black_box(&data)`, not `&data`, or a constant input is computed when compiled.
//!   An input that a call uses up is made by [`Group::bench_with`], outside of the timed region.
//! - **Results.** Return them. A result is opaque to the compiler, so its work stays, and is dropped outside of the timed region.
//!   A result that is neither returned nor given to [`black_box`] is dead code: a row of 0 ns is most often this.
//! - **Cold and warm.** Calls follow each other, so caches and branch predictors are warm: a figure is that of a hot loop. For cold
//!   data let the input be as large as the cache, or make it anew by [`Group::bench_with`]: its memory was then just written.
//!   Inputs of a batch, up to 1024, exist at once.
//! - **State.** A body is called millions of times. What it changes (a vector that grows, a map that fills) changes its cost: then
//!   the row is "not linear", or drifts. Make the state an input.
//! - **Threads.** A body runs pinned to one CPU, and threads that it starts stay there, unless calls block or take milliseconds. Functions
//!   that threads call at once are [`Group::bench_shared`].
//! - **Parameters.** [`Group::over`] gives each function each size, and the exponent of its growth from four sizes on. For anything
//!   that is no size, `for` and a name for each group do.
//! - **Allocations.** With `#[global_allocator] static A: cyclewise_bench::Allocations = cyclewise_bench::Allocations;` the table
//!   has the allocations and bytes of an operation, and a body that allocates without end is ended by a limit.
//!
//! - **What no function is.** Code in assembly, threads that hand something over, a figure that is no time: [`Suite::experiment`] takes
//!   rows that sample themselves ([`runner::Sampler`]) and the pairs that are compared. The lab's experiments are written so.
//!
//! # What a verdict means
//!
//! | verdict | it says | believe it |
//! |---|---|---|
//! | faster, slower | the median of the paired differences is beyond 0.5 %, its interval excludes no difference after Holm's correction over all comparisons of the run, and it is beyond the noise floor of a function against itself, and every process agrees | for this program as it is built: another build lays out its code anew, which no number of processes shows; so `--against` claims nothing below 1 % |
//! | same | the interval lies within the margin in brackets | as far as the margin goes |
//! | undecided | the interval includes no difference and is wider than a margin | that nothing is known: give it `--time` or a quieter machine |
//! | depends on the neighbour | the sign differs while something else shares the core and while nothing does | both figures, each where it applies |
//! | undecided (not linear: …) | twice the calls do not take twice the time, so a call has a range of costs, by the loop around it, and the functions differ one way in loops of one length and another way in others | look at the state that calls share, or make a call longer |
//! | no verdict: not linear | as above, and the loops of the two functions have no common lengths | make their calls about as long |
//! | no verdict: no measurable cost | the first function takes less than can be told from nothing | look for dead code |
//!
//! # The instrument
//!
//! The command `cyclewise` measures by [`Suite::experiment`] and by the modules, which have no promise of stability. Dependencies point
//! down: [`suite`] stands on [`runner`], which measures with [`arch`], [`sys`] and [`machine`], judges with [`stats`] and fills a
//! [`record`]; [`answer`] and [`export`] put a record in words and formats.

#![deny(unsafe_code)]
#![allow(
    missing_docs,
    reason = "in the modules, where a name says what it is; the front page is `suite`'s"
)]

#[macro_use]
pub extern crate cyclewise_stats as stats;
#[cfg(any(test, feature = "testing"))]
#[macro_use]
mod testing;

pub mod answer;
pub mod arch;
pub mod compare;
pub mod error;
pub mod export;
pub mod files;
pub mod machine;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
pub mod number;
pub mod record;
pub mod runner;
pub mod suite;
pub mod sys;

pub use std::hint::black_box;
pub use suite::{Group, Over, Suite, main};
pub use sys::allocations::Allocations;
