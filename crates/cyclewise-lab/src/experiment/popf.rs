//! `popf`: the cost of restoring unchanged flags, of a test and a branch instead, and of userspace's alternatives.

use super::{Definition, Options, Published};
use crate::error::Result;
use crate::record::Unit;
#[cfg(target_arch = "x86_64")]
use crate::runner::Kinds;
use crate::runner::{Guards, Setup};

pub(super) static DEFINITION: Definition = Definition {
    name: "popf",
    question: "Is POPF slow even when the flags it restores do not change?",
    source: "Denys Vlasenko, \"RFC: Petition Intel/AMD to add POPF_IF insn\", August 2016",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

#[cfg(target_arch = "x86_64")]
const COMPARE: [(&str, &str); 7] = [
    ("push-pop", "push-popf pushf-pop"),
    ("push-popf", "push-rep-popf test-branch soft-mask"),
    ("save-popf", "popf-if save-branch soft-mask"),
    ("two-stores", "soft-mask"),
    ("soft-mask", "soft-mask-save"),
    ("sigmask", "soft-mask"),
    ("signal", "signal-held"),
];

/// Copies that save the flags read what the one before has written; the others read registers that do not change.
#[cfg(target_arch = "x86_64")]
const KINDS: Kinds = Kinds::new(
    "save-popf popf-if save-branch",
    "push-pop two-stores push-popf push-rep-popf pushf-pop test-branch",
);

#[cfg(target_arch = "x86_64")]
fn setup(_: &Options) -> Result<Setup> {
    use crate::runner::Bench;
    let mut bench = Bench::new();
    let mut samplers: Vec<_> = crate::arch::popf::BODIES
        .into_iter()
        .map(|body| bench.body(body))
        .collect();
    let mut notes = vec![
        "in user mode POPF does not change the interrupt flag; the kernel's cost of changing it is not measured"
            .to_string(),
        "push-rep-popf and popf-if are F3 9D, the encoding proposed for POPF_IF: this CPU runs it as POPF".to_string(),
        "sigmask is two calls of pthread_sigmask; signal and signal-held are a signal to this thread, its handler included"
            .to_string(),
    ];
    let mut missing = Vec::new();
    masks(&mut bench, &mut samplers, &mut notes, &mut missing);
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, "push-popf", KINDS)
    })
}

/// Userspace's counterparts of the interrupt flag: the kernel's signal mask and the library's soft mask.
#[cfg(target_arch = "x86_64")]
fn masks(
    bench: &mut crate::runner::Bench,
    samplers: &mut Vec<Box<dyn crate::runner::Sampler>>,
    notes: &mut Vec<String>,
    missing: &mut Vec<crate::runner::MissingVariant>,
) {
    use crate::sys::signal::raise;
    use crate::sys::signal_mask::Set;
    use cyclewise::error::Refusal;
    use cyclewise::mask::{self, Signals};
    use std::sync::atomic::AtomicU64;

    /// Incremented by a minimal handler.
    static HANDLED: AtomicU64 = AtomicU64::new(0);
    /// A signal that programs may use freely.
    const SIGNAL: i32 = libc::SIGUSR2;

    samplers.push(bench.calls("soft-mask", || drop(mask::hold())));
    samplers.push(bench.calls("soft-mask-save", || mask::restore(mask::save())));
    let every = Set::every();
    samplers.push(bench.calls("sigmask", move || {
        every.swap().swap();
    }));
    match Signals::on(SIGNAL, &HANDLED) {
        // Installed by an earlier run in this process, with the same handler.
        Ok(()) | Err(Refusal::SignalTaken { .. }) => {
            samplers.push(bench.calls("signal", || raise(SIGNAL)));
            samplers.push(bench.calls("signal-held", || {
                let hold = mask::hold();
                raise(SIGNAL);
                drop(hold);
            }));
        }
        Err(refusal) => super::left_out(notes, missing, &["signal", "signal-held"], refusal),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn setup(_: &Options) -> Result<Setup> {
    Err(crate::error::Error::unsupported(
        "needs x86-64: this architecture has no POPF; `cyclewise list` shows what it can run",
    ))
}

const MACHINE: &str = "Intel, 3.4 GHz (model not named)";

static PUBLISHED: [Published; 4] = published! {
    MACHINE => {
        "push-popf": "push and popf, 4,929,012,093 cycles for 200 million", 24.645, "cycles per iteration, loop included";
        "push-popf": "push and popf", 0.17, "instructions per cycle";
        "push-pop": "push and pop, 209,247,645 cycles for 200 million", 1.046, "cycles per iteration, loop included";
        "push-pop": "push and pop", 3.83, "instructions per cycle";
    }
};
