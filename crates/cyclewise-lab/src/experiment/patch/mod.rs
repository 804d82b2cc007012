//! `patch`: the cost of changing the program's text, and of the hook that watches for new threads.

mod creation;
mod flip;

use super::elided::{self, available, left_out, refused};
use super::{Definition, Options};
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::runner::{Control, Guards, Sample, Sampler, Setup};
use cyclewise::{patch, static_key};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

pub(super) static DEFINITION: Definition = Definition {
    name: "patch",
    question: "What does it cost to patch the program's text, and to detect the start of a second thread?",
    source: "Linux commit 816afe4ff98e (130 ms to switch a CPU off with LOCK patched back one site at a time, 13 ms without)",
    unit: Unit::NanosPerOp,
    guards: Guards::WholeMachine,
    published: &[],
    setup,
};

/// Changes, or creations, in a sample.
const REPEATS: u32 = 50;

const COMPARE: [(&str, &str); 3] = [
    ("pair-locked", "pair-elided"),
    ("refused-direct", "refused-hooked"),
    ("thread-direct", "thread-hooked"),
];

/// A hundred functions with one test of the key each. Each has its own number, so that none are merged.
macro_rules! tests_of {
    ($key:ident: $($tens:literal)*) => { &[$(
        test::<{ 10 * $tens }> as fn() -> u32, test::<{ 10 * $tens + 1 }>, test::<{ 10 * $tens + 2 }>,
        test::<{ 10 * $tens + 3 }>, test::<{ 10 * $tens + 4 }>, test::<{ 10 * $tens + 5 }>, test::<{ 10 * $tens + 6 }>,
        test::<{ 10 * $tens + 7 }>, test::<{ 10 * $tens + 8 }>, test::<{ 10 * $tens + 9 }>
    ),*] };
}

static_key! {
    static KEY: StaticKey = false;
}

#[inline(never)]
fn test<const N: u32>() -> u32 {
    if KEY.is_enabled() {
        black_box(N + 1000)
    } else {
        black_box(N)
    }
}

static TESTS: &[fn() -> u32] = tests_of!(KEY: 0 1 2 3 4 5 6 7 8 9);

fn setup(_: &Options) -> Result<Setup> {
    const PAGE: usize = 4096;
    let pages: BTreeSet<usize> = patch::sites().map(|site| site.address() / PAGE).collect();
    let sites = patch::sites().count();
    let mut notes = vec![format!(
        "{sites} sites of LOCK in this program, on {} pages",
        pages.len()
    )];
    let mut samplers: Vec<Box<dyn Sampler>> = Vec::new();
    let mut missing = Vec::new();
    match available() {
        Ok(()) => {
            #[cfg(target_arch = "x86_64")]
            {
                use crate::arch::patch_sites;
                // Keeps the sites linked: without them the program would measure its own few.
                black_box(patch_sites::address());
                notes.push(format!(
                    "of these, {} lie on {} separate pages",
                    patch_sites::PAGES * patch_sites::SITES_A_PAGE,
                    patch_sites::PAGES
                ));
            }
            samplers.extend(flip::subjects());
        }
        Err(refusal) => {
            notes.push(left_out("elide-all, lock-all and the pairs", refusal));
            missing = elided::missing(&["elide-all", "lock-all", "pair-locked", "pair-elided"], refusal);
        }
    }
    notes.push(format!(
        "key-flip changes a key with {} tests while two threads run through them",
        TESTS.len()
    ));
    samplers.push(Box::new(KeyFlip));
    let control = samplers.len() - 1;
    samplers.extend(creation::subjects(&mut notes, &mut missing));
    Ok(Setup {
        compare: super::pairs(&samplers, &COMPARE),
        control: Control::Repeat(control),
        notes,
        samplers,
        missing,
        ..Setup::default()
    })
}

struct KeyFlip;

impl Sampler for KeyFlip {
    fn name(&self) -> &str {
        "key-flip"
    }

    fn sample(&mut self) -> Result<Sample> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut runners = Vec::new();
        for _ in 0..2 {
            let told = Arc::clone(&stop);
            let run = move || {
                while !told.load(Relaxed) {
                    TESTS.iter().for_each(|test| {
                        black_box(test());
                    });
                }
            };
            let made = std::thread::Builder::new().spawn(run);
            // Ends the first thread if the second cannot be created.
            let made = made.inspect_err(|_| stop.store(true, Relaxed));
            runners.push(made.map_err(|e| Error::system("key-flip: creating a thread", &e, "raise `ulimit -u`"))?);
        }
        let begun = Instant::now();
        let flipped = (0..REPEATS).try_for_each(|i| if i % 2 == 0 { KEY.enable() } else { KEY.disable() });
        let spent = begun.elapsed().as_nanos() as f64;
        stop.store(true, Relaxed);
        for runner in runners {
            runner
                .join()
                .map_err(|_| Error::check("a thread that ran through a key's tests panicked; please report this"))?;
        }
        flipped.map_err(refused)?;
        Ok(Sample::new(spent / f64::from(REPEATS)))
    }
}
