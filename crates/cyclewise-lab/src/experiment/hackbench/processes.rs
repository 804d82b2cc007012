//! hackbench with a process for each sender and receiver.
//!
//! # Invariants
//! 1. A child keeps only the ends it uses: its receiver's write end is closed, and the parent closes each read end as
//!    soon as it has forked the receiver. So senders get EPIPE when their receiver dies, and receivers get the end of
//!    file when all their senders have died, last one first: no failure leaves a task waiting.
//! 2. A child stores its count or its failure in shared memory before it exits.
//! 3. A program does one run at a time: children of concurrent runs would inherit each other's channel ends, and both
//!    runs would wait until their limit.
//!
//! # Safety
//! Children run [`receiver`] and [`sender`], which only load, store, read, write, poll and close: no allocation, no
//! lock, no panic, as [`fork`] demands.
#![expect(unsafe_code, reason = "fork")]

use super::plan::{Fault, Outcome, Plan};
use super::protocol::{Gate, receive, send};
use crate::error::{Error, Result};
use crate::sys::channel::Pair;
use crate::sys::process::{Child, Fork, fork};
use crate::sys::shared_atomics::SharedAtomics;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The children's results: word 0 is the first failure, word 1 + n the count of receiver n.
struct Ledger(SharedAtomics<AtomicU64>);

const LOST: u64 = 1 << 32; // a failure without an errno: the channel ended before all messages had come

impl Ledger {
    /// Relaxed: the reader has waited for the child's end, which orders everything before it.
    fn failed(&self, error: &io::Error) -> u8 {
        let code = error.raw_os_error().map_or(LOST, |errno| errno as u64);
        // Only the first counts: the others follow from it.
        let _ = self.0[0].compare_exchange(0, code, Relaxed, Relaxed);
        1
    }

    fn first_failure(&self) -> Option<String> {
        match self.0[0].load(Relaxed) {
            0 => None,
            LOST => Some("a channel ended before all of its messages had come".to_string()),
            errno => Some(io::Error::from_raw_os_error(errno as i32).to_string()),
        }
    }
}

/// Runs `plan` once.
pub(super) fn run(plan: &Plan) -> Result<Outcome> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(()); // Invariant 3
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let name = plan.name();
    let failed = |what: &'static str| {
        move |e: io::Error| {
            let hint = "raise `ulimit -n` and `ulimit -u`, or give fewer --groups";
            Error::system(&format!("{name}: {what}"), &e, hint)
        }
    };
    let gate = Gate::new(plan.channel()).map_err(failed("cannot make a channel"))?;
    let receivers = (plan.groups() * Plan::FDS) as usize;
    let ledger = Ledger(SharedAtomics::zeroed(1 + receivers).map_err(failed("cannot map shared memory"))?);
    let mut children: Vec<Child> = Vec::with_capacity(plan.tasks() as usize);

    for group in 0..plan.groups() {
        let mut outs: Vec<File> = Vec::with_capacity(Plan::FDS as usize);
        for i in 0..Plan::FDS {
            let Pair { read, write } = Pair::new(plan.channel()).map_err(failed("cannot make a channel"))?;
            let index = (group * Plan::FDS + i) as usize;
            // SAFETY: the child's arm runs what this file's header promises.
            match unsafe { fork(plan.limit_s()) }.map_err(failed("cannot fork"))? {
                Fork::Child(me) => {
                    drop(write); // Invariant 1
                    me.exit(receiver(plan, &gate, &ledger, &read, index))
                }
                Fork::Parent(child) => children.push(child),
            }
            outs.push(write);
        }
        for i in 0..Plan::FDS {
            let first = group == 0 && i == 0;
            // SAFETY: the child's arm runs what this file's header promises.
            match unsafe { fork(plan.limit_s()) }.map_err(failed("cannot fork"))? {
                Fork::Child(me) => me.exit(sender(plan, &gate, &ledger, &outs, first)),
                Fork::Parent(child) => children.push(child),
            }
        }
    }

    gate.gather(plan.tasks(), || dead_before_the_start(&mut children))
        .map_err(|e: Early| match e {
            Early::Io(e) => failed("cannot wait for the tasks")(e),
            Early::Dead => failure(plan, &ledger, "a task ended before the start"),
        })?;
    let start = Instant::now();
    gate.open().map_err(failed("cannot wake the tasks"))?;
    let verdict = reap(plan, &ledger, children);
    let elapsed = start.elapsed();
    verdict?;
    Ok(Outcome {
        elapsed,
        received: ledger.0[1..].iter().map(|n| n.load(Relaxed)).sum(),
    })
}

fn receiver(plan: &Plan, gate: &Gate, ledger: &Ledger, input: &File, index: usize) -> u8 {
    let messages = match plan.fault {
        Some(Fault::ReceiverStops(after)) if index == 0 => after,
        _ => plan.share(),
    };
    let passed = gate.pass();
    if plan.fault == Some(Fault::ReceiverSleeps) && index == 0 {
        sleep_for_ever();
    }
    match passed.and_then(|()| receive(input, messages)) {
        Ok(count) => {
            ledger.0[1 + index].store(count, Relaxed); // Relaxed: as Ledger::failed.
            0
        }
        Err(e) => ledger.failed(&e),
    }
}

fn sender(plan: &Plan, gate: &Gate, ledger: &Ledger, outs: &[File], first: bool) -> u8 {
    let loops = match plan.fault {
        Some(Fault::SenderStops) if first => 0,
        _ => plan.loops(),
    };
    match gate.pass().and_then(|()| send(outs, loops)) {
        Ok(()) => 0,
        Err(e) => ledger.failed(&e),
    }
}

fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Why the run did not start.
enum Early {
    Io(io::Error),
    Dead,
}

impl From<io::Error> for Early {
    fn from(e: io::Error) -> Self {
        Early::Io(e)
    }
}

fn dead_before_the_start(children: &mut [Child]) -> std::result::Result<(), Early> {
    for child in children {
        if child.try_wait()?.is_some() {
            return Err(Early::Dead);
        }
    }
    Ok(())
}

/// Waits for all children. If that fails, dropping the rest kills them.
fn reap(plan: &Plan, ledger: &Ledger, children: Vec<Child>) -> Result<()> {
    let mut signalled = None;
    let mut failed = false;
    for child in children {
        let status = child.wait().map_err(|e| {
            let hint = "start this program without ignoring SIGCHLD";
            Error::system("cannot wait for a task", &e, hint)
        })?;
        // The time limit sends SIGALRM to every task, so another signal is more informative.
        signalled = match (signalled, status.signal()) {
            (None | Some(libc::SIGALRM), Some(signal)) => Some(signal),
            (kept, _) => kept,
        };
        failed |= !status.success();
    }
    match signalled {
        Some(libc::SIGALRM) => Err(failure(
            plan,
            ledger,
            &format!("not done after {} s, so it was stopped", plan.limit_s()),
        )),
        Some(signal) => Err(failure(plan, ledger, &format!("a task was killed by signal {signal}"))),
        None if failed => Err(failure(plan, ledger, "a task failed")),
        None => Ok(()),
    }
}

fn failure(plan: &Plan, ledger: &Ledger, what: &str) -> Error {
    let why = ledger.first_failure().map_or(String::new(), |why| format!(" ({why})"));
    Error::unsupported(format!(
        "{}: {what}{why}; try fewer --groups, and see `dmesg` for killed processes",
        plan.name()
    ))
}
