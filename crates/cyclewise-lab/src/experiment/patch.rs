//! `patch`: what changing the program's text costs, and what the hook costs that watches for threads.

use super::elided::{available, left_out, refused};
use super::{Definition, Options};
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::runner::{Control, Guards, Sample, Setup, Subject};
use crate::sys::creation::Creator;
use cyclewise::{patch, static_key};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

pub(super) static DEFINITION: Definition = Definition {
    name: "patch",
    question: "What does it cost to change the program's text, and to watch for the second thread?",
    source: "Linux commit 816afe4ff98e (130 ms to switch a CPU off with LOCK patched back one site at a time, 13 ms without)",
    unit: Unit::NanosPerOp,
    guards: Guards::WholeMachine,
    published: &[],
    setup,
};

/// Changes, or pairs of creation and join, in a sample.
const REPEATS: u32 = 50;

/// A hundred functions with one test of the key each. Each has its own number, so that none is merged with another.
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
    let mut notes = vec![format!("{} sites of LOCK in this program", patch::sites().count())];
    let mut subjects: Vec<Box<dyn Subject>> = Vec::new();
    match available() {
        Ok(()) => {
            #[cfg(target_arch = "x86_64")]
            {
                use crate::arch::field;
                // Keeps the field linked: a program without it would measure its few own sites.
                black_box(field::address());
                notes.push(format!(
                    "of these {} lie on {} pages of their own",
                    field::PAGES * field::SITES_A_PAGE,
                    field::PAGES
                ));
            }
            subjects.push(Box::new(Timed {
                name: "elide-all",
                each: || change(patch::reelide, patch::lock),
            }));
            subjects.push(Box::new(Timed {
                name: "lock-all",
                each: || change_back(patch::reelide, patch::lock),
            }));
        }
        Err(refusal) => notes.push(left_out("elide-all and lock-all", refusal)),
    }
    notes.push(format!(
        "key-flip changes a key with {} tests while two threads run through them",
        TESTS.len()
    ));
    subjects.push(Box::new(KeyFlip));
    let hooked = subjects.len();
    subjects.push(Box::new(Creation {
        name: "thread-hooked",
        creator: Creator::bound(),
    }));
    match Creator::behind() {
        Some(creator) => subjects.push(Box::new(Creation {
            name: "thread-direct",
            creator,
        })),
        None => notes.push("thread-direct left out: dlsym finds no pthread_create behind this program's".to_string()),
    }
    Ok(Setup {
        compare: super::pairs(&subjects, &[("thread-hooked", "thread-direct")]),
        control: Control::Repeat(hooked),
        notes,
        subjects,
    })
}

/// Nanoseconds of the first, with the second undoing it untimed.
fn change<E>(
    there: fn() -> std::result::Result<(), E>,
    back: fn() -> std::result::Result<(), E>,
) -> std::result::Result<f64, E> {
    let begun = Instant::now();
    there()?;
    let spent = begun.elapsed().as_nanos() as f64;
    back()?;
    Ok(spent)
}

/// Nanoseconds of the second, after the first untimed.
fn change_back<E>(
    there: fn() -> std::result::Result<(), E>,
    back: fn() -> std::result::Result<(), E>,
) -> std::result::Result<f64, E> {
    there()?;
    let begun = Instant::now();
    back()?;
    Ok(begun.elapsed().as_nanos() as f64)
}

struct Timed<F> {
    name: &'static str,
    each: F,
}

impl<F: FnMut() -> std::result::Result<f64, cyclewise::error::Refusal>> Subject for Timed<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let mut sum = 0.0;
        for _ in 0..REPEATS {
            sum += (self.each)().map_err(refused)?;
        }
        Ok(Sample::new(sum / f64::from(REPEATS)))
    }
}

struct KeyFlip;

impl Subject for KeyFlip {
    fn name(&self) -> &str {
        "key-flip"
    }

    fn sample(&mut self) -> Result<Sample> {
        let stop = Arc::new(AtomicBool::new(false));
        let runners: Vec<_> = (0..2)
            .map(|_| {
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || {
                    while !stop.load(Relaxed) {
                        TESTS.iter().for_each(|test| {
                            black_box(test());
                        });
                    }
                })
            })
            .collect();
        let begun = Instant::now();
        let flipped = (0..REPEATS).try_for_each(|i| if i % 2 == 0 { KEY.enable() } else { KEY.disable() });
        let spent = begun.elapsed().as_nanos() as f64;
        stop.store(true, Relaxed);
        for runner in runners {
            runner.join().map_err(|_| {
                Error::check("patch: a thread that ran through a key's tests panicked; please report this")
            })?;
        }
        flipped.map_err(refused)?;
        Ok(Sample::new(spent / f64::from(REPEATS)))
    }
}

struct Creation {
    name: &'static str,
    creator: Creator,
}

impl Subject for Creation {
    fn name(&self) -> &str {
        self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let begun = Instant::now();
        for _ in 0..REPEATS {
            self.creator
                .create_and_join()
                .map_err(|e| Error::system("patch: creating a thread", &e, "raise `ulimit -u`"))?;
        }
        Ok(Sample::new(begun.elapsed().as_nanos() as f64 / f64::from(REPEATS)))
    }
}
