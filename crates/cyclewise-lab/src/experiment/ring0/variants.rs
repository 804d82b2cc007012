//! The set-up of an experiment of ring 0: provenance first, then what the instructions do, then rows where they have a cost.

use super::checks;
use super::slope::{Counts, GuestSlope};
use crate::error::{Error, Result};
use crate::experiment::{Mode, Options, index, left_out, pairs};
use crate::machine::guest;
use crate::runner::{Control, Kinds, MissingVariant, Sampler, Setup, Shape, timer};
use cyclewise_guest::batch::Bench;
use cyclewise_guest::payload::Payload;
use cyclewise_guest::provenance::Provenance;
use cyclewise_guest::semantics::{Family, Features};
use cyclewise_guest::vm::{Guest, Kvm};
use std::rc::Rc;
use std::time::Duration;

/// The longest that a guest may run: a batch takes microseconds on a CPU, and a case milliseconds under an emulator.
const LIMIT: Duration = Duration::from_secs(2);

/// Time for the rounds of a quick run: with the set-up the table is there within five seconds.
const QUICK: Duration = Duration::from_millis(3_500);

/// The comparisons of a family, and its control.
pub(super) fn compared(family: Family) -> (&'static [(&'static str, &'static str)], &'static str) {
    match family {
        Family::Popf => (&POPF, "popf-clear"),
        Family::Percpu => (&PERCPU, "gs-load"),
        Family::LockPrefix => (&LOCK_PREFIX, "lock-inc64"),
        Family::Rdtsc => (&RDTSC, "rdtsc"),
    }
}

const POPF: [(&str, &str); 8] = [
    ("push-pop", "popf-clear"),
    ("popf-clear", "popf-set popf-toggle rep-popf-clear"),
    ("popf-toggle", "cli-sti"),
    (
        "save-cli-popf",
        "save-cli-test-sti save-cli-rep-popf nested-save-cli-popf",
    ),
    ("nested-save-cli-popf", "nested-save-cli-test"),
    ("iret-frame", "iret"),
    ("iret", "int-iret"),
    ("pending-sti", "pending-popf"),
];

const PERCPU: [(&str, &str); 11] = [
    ("absolute-load", "gs-load"),
    ("table-load", "gs-load"),
    ("gs-load", "fs-load"),
    ("table-inc", "gs-inc"),
    ("gs-around-null", "gs-around-tls fs-around-null"),
    ("gs-around-tls", "gs-around-same fs-around-tls"),
    ("int80", "int80-gs sysenter"),
    ("int80-gs", "int80-gs-null"),
    ("sysenter", "sysenter-gs"),
    ("wrmsr-gs-base", "wrgsbase"),
    ("syscall-sysret", "syscall-swapgs-sysret"),
];

const LOCK_PREFIX: [(&str, &str); 5] = [
    ("ds-xadd32", "lock-xadd32"),
    ("ds-xadd64", "lock-xadd64"),
    ("ds-inc64", "lock-inc64"),
    ("ds-cmpxchg64", "lock-cmpxchg64"),
    ("plain-inc64", "ds-inc64"),
];

const RDTSC: [(&str, &str); 3] = [
    ("rdtsc", "lfence-rdtsc mfence-rdtsc lfence-rdtsc-lfence"),
    ("lfence-rdtsc", "rdtscp mov-cr3-rdtsc invlpg-rdtsc iret-rdtsc"),
    ("lfence-rdtsc-lfence", "lfence-rdtsc-dependent-load"),
];

/// Rows whose copies wait for the one before: read-modify-writes of one word, and serializing instructions.
const KINDS: Kinds = Kinds::new(
    "gs-inc table-inc gs-inc-64 lock-xadd32 lock-xadd64 lock-inc64 lock-cmpxchg64",
    "push-pop absolute-load gs-load fs-load rdtsc",
);

/// Prepares a family.
///
/// # Errors
/// Where no guest runs; and where an emulator runs it and nobody asked for this experiment.
pub(super) fn setup(family: Family, options: &Options) -> Result<Setup> {
    let mut kvm = Kvm::new(LIMIT).map_err(guest::error)?;
    let provenance = Provenance::of_kvm(&mut kvm).map_err(guest::error)?;
    if !provenance.kind.is_hardware() && !options.named {
        return Err(Error::unsupported(format!(
            "/dev/kvm is {}, so ring 0 has no costs here; run it where KVM has VMX or SVM, or name the experiment to check what the \
             instructions do",
            provenance.kind
        )));
    }
    let features = Features::ask(&mut kvm).map_err(guest::error)?;
    let guest = checks::run(&mut kvm, &features, &provenance, family)?;
    let mut setup = Setup {
        notes: notes(family),
        kinds: KINDS,
        most_time: (options.mode == Mode::Quick).then_some(QUICK),
        ..Setup::default()
    };
    if provenance.kind.is_hardware() {
        add_rows(&mut setup, family, &features, timer::shortest_batch(timer::noise()))?;
    }
    setup.shape = Shape::Guest(guest);
    Ok(setup)
}

/// The rows, what they are compared with, and the control. The shortest loop of each lasts `shortest` ticks.
pub(super) fn add_rows(setup: &mut Setup, family: Family, features: &Features, shortest: f64) -> Result<()> {
    let (samplers, missing) = samplers(family, features, shortest, &mut setup.notes)?;
    let (compare, control) = compared(family);
    setup.compare = pairs(&samplers, compare);
    setup.control = Control::Repeat(index(&samplers, control).unwrap_or(0));
    setup.samplers = samplers;
    setup.missing = missing;
    Ok(())
}

type Samplers = (Vec<Box<dyn Sampler>>, Vec<MissingVariant>);

/// A row for each payload that the CPU has the instructions for.
fn samplers(family: Family, features: &Features, shortest: f64, notes: &mut Vec<String>) -> Result<Samplers> {
    let counts = Rc::new(Counts::default());
    let (mut samplers, mut missing): Samplers = (Vec::new(), Vec::new());
    for (seed, payload) in (1..).zip(family.payloads()) {
        if let Some(name) = features.lacks(payload) {
            left_out(
                notes,
                &mut missing,
                &[payload.name],
                format!("the guest's CPU lacks {name}"),
            );
            continue;
        }
        match sampler(payload, shortest, seed, &counts) {
            Ok(row) => samplers.push(row),
            Err(error) => missing.push(MissingVariant {
                name: payload.name.to_string(),
                why: error.message,
                possible: true,
            }),
        }
    }
    Ok((samplers, missing))
}

fn sampler(payload: &'static Payload, shortest: f64, seed: u64, counts: &Rc<Counts>) -> Result<Box<dyn Sampler>> {
    let guest = Guest::new(payload.apic, LIMIT).map_err(guest::error)?;
    let bench = Bench::new(guest, payload).map_err(guest::error)?;
    Ok(Box::new(GuestSlope::new(bench, shortest, seed, Rc::clone(counts))?))
}

fn notes(family: Family) -> Vec<String> {
    let common = "the code runs in a guest of /dev/kvm with both time stamps inside, one entry a batch; a batch with an exit that the \
                  row does not make is repeated";
    let own = match family {
        Family::Popf => {
            "POPF_IF is a model of what the source proposes, by an emulator in the guest: its cases say what it means, and it has \
             no cost; rep-popf is F3 9D, which CPUs run as POPF"
        }
        Family::Percpu => {
            "rows without a number are of 32-bit mode, those with -64 and those of base registers and SYSCALL of 64-bit mode; around \
             is push, mov and pop of the segment register, as at an entry to the kernel and its exit"
        }
        Family::LockPrefix => "the bodies of lock-prefix, in ring 0",
        Family::Rdtsc => {
            "cpuid-rdtsc, wrmsr-apic and hlt-timer leave the guest on most machines: their metric is exits per operation"
        }
    };
    vec![common.to_string(), own.to_string()]
}
