//! Are patched instructions correct on this machine? No update is lost while LOCK is elided and restored, and all threads
//! see a key's flip.
//!
//! Each check takes its subject as a parameter, so that its test can pass one that breaks the promise.
//!
//! # Safety
//! Confined mode requires that no thread's affinity is set meanwhile (changes from outside are detected), that no
//! process shares this one's memory, and that children come from fork(3) alone. The process does nothing but verify:
//! its threads set no affinity, and it creates no process.
#![expect(unsafe_code, reason = "confined mode, under its contract")]

mod key;

use super::{Check, SCHEMA, Verification, is_over, no_thread};
use crate::error::{Error, Result};
use crate::runner::Progress;
use cyclewise::atomic::AtomicU64;
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, confined, state};
use std::io;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{self, AtomicBool};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// Additions of a thread between two reads of the clock.
const ADDITIONS: u64 = 10_000;

/// Time in confined mode and time outside it, so that threads run in both.
const REST: Duration = Duration::from_micros(200);

/// Verifies within about `time`, in quarters.
///
/// # Errors
/// Exit 3 if LOCK cannot be elided here, which leaves nothing to verify, or if no thread can be created.
pub(crate) fn verify(progress: &dyn Progress, time: Duration) -> Result<Verification> {
    patch::reelide().map_err(refused)?;
    patch::lock().map_err(refused)?;
    let share = time / 4;
    let step = |done: f64, what: &str| progress.step(done, &format!("verify patch: {what}"));
    step(0.0, "single mode");
    let single = single(share)?;
    step(0.25, "confined mode");
    let (mut times, mut broken) = (0, 0);
    let (wrong, all) = flipped(&AtomicU64::new(0), share, || {
        let outcome = confine_and_leave()?;
        times += u64::from(outcome != Outcome::Later);
        broken += u64::from(outcome == Outcome::Broken);
        Ok(())
    })?;
    let mut confined = sum(
        "no-addition-is-lost-confined",
        "no addition is lost while threads are confined to one CPU without LOCK, nor after they leave it with LOCK",
        wrong,
        all,
        wrong == 0 && times > 0,
    );
    confined.seen += &format!(", confined {times} times");
    step(0.5, "additions without LOCK on every CPU");
    let (wrong, all) = flipped(&Unlocked(atomic::AtomicU64::new(0)), share, || Ok(()))?;
    let twin = sum(
        "the-race-bites",
        "the same additions as a load and a store lose some, so that the checks above can fail",
        wrong,
        all,
        wrong > 0,
    );
    step(0.75, "static keys");
    Ok(Verification {
        schema: SCHEMA,
        what: "patch",
        checks: vec![
            single,
            confined,
            kept(times, broken),
            twin,
            key::flips(&key::Patched, threads(), share)?,
        ],
        notes: vec![format!("{} threads", threads())],
    })
}

fn refused(refusal: Refusal) -> Error {
    Error::unsupported(format!("verify patch: LOCK cannot be elided: {refusal}"))
}

/// One thread for each CPU, and at least two, for a race.
fn threads() -> usize {
    thread::available_parallelism().map_or(2, |n| n.get().max(2))
}

fn sum(name: &'static str, promise: &'static str, wrong: u64, all: u64, holds: bool) -> Check {
    Check {
        name,
        promise,
        seen: format!("{wrong} lost of {all} additions"),
        tries: all as usize,
        events: wrong as usize,
        holds: Some(holds),
    }
}

/// LOCK is elided while there is one thread, and restored before a second runs.
fn single(time: Duration) -> Result<Check> {
    let begun = Instant::now();
    let (total, unlocked) = (AtomicU64::new(0), atomic::AtomicU64::new(0));
    let (mut all, mut kept) = (0, 0);
    while all == 0 || !is_over(begun, time) {
        patch::reelide().map_err(refused)?;
        kept += u64::from(state().mode != Mode::Single || !reads_back(Prefix::Elided));
        add(&total);
        thread::scope(|scope| {
            let spawn = |_| {
                let work = || {
                    unlocked.fetch_add(u64::from(state().mode == Mode::Single), SeqCst);
                    add(&total);
                };
                Builder::new().spawn_scoped(scope, work)
            };
            let started: io::Result<Vec<_>> = (0..threads()).map(spawn).collect();
            kept += u64::from(!reads_back(Prefix::Lock));
            // Joined, because the scope does not wait until its threads have ended, and one that runs is a refusal.
            for thread in started? {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            Ok(())
        })
        .map_err(|e| no_thread("patch", &e))?;
        all += ADDITIONS * (1 + threads() as u64);
    }
    patch::lock().map_err(refused)?;
    let (lost, unlocked) = (all.abs_diff(total.into_inner()), unlocked.into_inner());
    let wrong = lost + unlocked + kept;
    Ok(Check {
        name: "lock-is-back-for-a-second-thread",
        promise: "LOCK is elided while there is one thread, restored before another runs, and no update is lost",
        seen: format!(
            "{lost} of {all} additions lost; {unlocked} threads ran without LOCK; sites did not read back {kept} times"
        ),
        tries: all as usize,
        events: wrong as usize,
        holds: Some(wrong == 0),
    })
}

/// Whether every site has this prefix. Something else may write to the text: a uprobe, a debugger.
fn reads_back(prefix: Prefix) -> bool {
    patch::sites().all(|site| site.prefix() == prefix)
}

/// Something that threads add to.
trait Sum: Sync {
    fn add_one(&self);
    fn get(&self) -> u64;
}

impl Sum for AtomicU64 {
    fn add_one(&self) {
        self.fetch_add(1, cyclewise::atomic::Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.load(cyclewise::atomic::Ordering::Relaxed)
    }
}

/// The twin: an addition without LOCK, which loses updates on two CPUs, or if it is preempted on one.
struct Unlocked(atomic::AtomicU64);

impl Sum for Unlocked {
    fn add_one(&self) {
        let found = self.0.load(Relaxed);
        // Takes nearly all of the time, so that on one CPU most preemptions fall between load and store. It also keeps
        // the compiler from merging the two into one instruction.
        std::hint::spin_loop();
        self.0.store(found + 1, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

fn add(total: &impl Sum) {
    (0..ADDITIONS).for_each(|_| total.add_one());
}

/// Threads add for `time` while `flip` is called repeatedly. Returns the missing additions, and all of them.
fn flipped(total: &impl Sum, time: Duration, mut flip: impl FnMut() -> Result<()>) -> Result<(u64, u64)> {
    let (begun, over) = (Instant::now(), AtomicBool::new(false));
    thread::scope(|scope| {
        let work = || {
            let mut added = 0;
            while added == 0 || !over.load(SeqCst) {
                add(total);
                added += ADDITIONS;
            }
            added
        };
        let spawn = |_| Builder::new().spawn_scoped(scope, work);
        let started: io::Result<Vec<_>> = (0..threads()).map(spawn).collect();
        let mut flips = Ok(());
        while started.is_ok() && !is_over(begun, time) && flips.is_ok() {
            flips = flip();
            thread::sleep(REST);
        }
        over.store(true, SeqCst);
        let all = started
            .map_err(|e| no_thread("patch", &e))?
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let all: u64 = all.sum();
        flips.map(|()| (all.abs_diff(total.get()), all))
    })
}

/// How a period in confined mode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It was not entered: a thread was starting or ending.
    Later,
    /// Every thread was confined to the end.
    Kept,
    /// A thread's affinity was changed.
    Broken,
}

fn confine_and_leave() -> Result<Outcome> {
    // SAFETY: this process sets no affinity and creates no process (see the module's Safety section); changes from
    // outside are detected and reported; without hooks in force, `enter` refuses.
    let guard = unsafe { confined::enter(None) };
    let guard = match guard {
        Ok(guard) => guard,
        Err(Refusal::Creating | Refusal::OtherThreads { .. }) => return Ok(Outcome::Later),
        // Another process sets affinities; LOCK was not elided.
        Err(Refusal::AffinityNotKept { .. }) => return Ok(Outcome::Broken),
        Err(refusal) => return Err(refused(refusal)),
    };
    thread::sleep(REST);
    after_leaving(guard.leave().map_err(|stuck| stuck.refusal))
}

fn after_leaving(left: std::result::Result<(), Refusal>) -> Result<Outcome> {
    match left {
        Ok(()) => Ok(Outcome::Kept),
        Err(Refusal::LetOut { .. }) => Ok(Outcome::Broken),
        Err(refusal) => Err(refused(refusal)),
    }
}

/// Whether another program changed the affinity of this program's threads.
fn kept(times: u64, broken: u64) -> Check {
    Check {
        name: "threads-stay-confined",
        promise: "until confined mode ends, no thread's affinity is changed, by taskset or a cpuset",
        seen: format!("an affinity changed {broken} of {times} times"),
        tries: times as usize,
        events: broken as usize,
        holds: Some(broken == 0 && times > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    #[test]
    fn additions_with_lock_are_exact_and_those_without_are_seen_to_be_lost() {
        let time = Duration::from_millis(50);
        assert_eq!(flipped(&AtomicU64::new(0), time, || Ok(())).unwrap().0, 0);
        // On a single CPU, an addition is lost only if a thread is preempted in the middle of one.
        let lost = (0..600).any(|_| {
            let (lost, all) = flipped(&Unlocked(atomic::AtomicU64::new(0)), time, || Ok(())).unwrap();
            assert!(all >= ADDITIONS);
            lost > 0
        });
        assert!(lost);
    }

    #[test]
    fn a_thread_that_was_let_out_is_a_broken_promise_and_other_refusals_end_it() {
        let broken = after_leaving(Err(Refusal::LetOut { thread: 1 })).unwrap();
        assert_eq!(
            (broken, after_leaving(Ok(())).unwrap()),
            (Outcome::Broken, Outcome::Kept)
        );
        assert!(after_leaving(Err(Refusal::WrongMode)).is_err());
        assert!(kept(3, 0).holds == Some(true) && kept(3, 1).holds == Some(false));
        assert!(kept(0, 0).holds == Some(false), "nothing was tried");
    }

    #[test]
    fn a_refusal_ends_it_with_its_reason() {
        let hour = Duration::from_secs(3600);
        let error = flipped(&AtomicU64::new(0), hour, || Err(refused(Refusal::NotEnabled))).unwrap_err();
        assert_eq!(error.status, Status::Unsupported);
        assert_says!(error.message, "LOCK cannot be elided");
    }
}
