//! Sites in an executable and two shared objects, one of C and one of Rust, under load while the mode flips: no update is lost. The
//! twin: one unit is forgotten while it is elided.
//!
//! `CYCLEWISE_FLIPS` sets how often confined mode is entered and left.

use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::dl;
use crate::common::example;
use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::text::poke;
use crate::object::{Object, compile};
use cyclewise::atomic::{AtomicU64, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, confined, state};
use std::ffi::{c_long, c_void};
use std::sync::atomic;
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![
    no_update_is_lost_in_any_unit_while_the_mode_flips,
    twin_a_unit_that_is_forgotten_while_elided_loses_updates,
    objects_come_and_go_while_the_mode_flips,
    keys_of_units_flip_while_the_mode_flips,
];

const THREADS: usize = 3;
const BATCH: u64 = 32;
const TRIES: u32 = 100;
/// How long the mode is kept now and then, so that the load runs in each mode.
const REST: Duration = Duration::from_micros(50);

fn flips() -> u64 {
    rounds("CYCLEWISE_FLIPS", 2_000, 10_000)
}

/// Has thread creation watched, with LOCK in force.
fn watch() {
    crate::modes::enable();
    patch::lock().unwrap();
}

/// `None` where the kernel refuses what the mode needs.
fn enter(cpu: usize) -> Option<confined::Guard> {
    loop {
        // SAFETY: nobody else sets affinities meanwhile, and no atomics are shared with other processes.
        match unsafe { confined::enter(Some(cpu as u32)) } {
            Ok(guard) => return Some(guard),
            // A busy machine may leave a creator waiting for its CPU for seconds.
            Err(Refusal::Unstable) => {}
            Err(Refusal::System { call, .. }) => {
                println!("skipped: {call} is refused here");
                return None;
            }
            Err(refusal) => panic!("{refusal}"),
        }
    }
}

/// A word that each unit counts in, by its own sites.
struct Load {
    stop: atomic::AtomicBool,
    program: AtomicU64,
    of_c: atomic::AtomicI64,
    of_rust: atomic::AtomicU64,
    /// Counted without sites.
    rounds: atomic::AtomicU64,
    c: Object,
    rust: extern "C" fn(*mut u64, u64),
}

impl Load {
    fn new(name: &'static str) -> Self {
        let c = Object::load(&compile(name, &[]), name, libc::RTLD_LOCAL);
        let path = example::build("plugin").join("libplugin.so");
        let plugin = dl::open(&path, libc::RTLD_LOCAL);
        assert!(!plugin.is_null(), "{path:?} cannot be loaded");
        let rust = dl::symbol(plugin, c"plugin_load");
        Self {
            stop: false.into(),
            program: AtomicU64::new(0),
            of_c: 0.into(),
            of_rust: 0.into(),
            rounds: 0.into(),
            c,
            // SAFETY: the function's type in the example.
            rust: unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut u64, u64)>(rust) },
        }
    }

    fn work(&self) {
        while !self.stop.load(atomic::Ordering::Relaxed) {
            for _ in 0..BATCH {
                self.program.inc(Ordering::Relaxed);
            }
            self.c.load_word(self.of_c.as_ptr().cast::<c_long>(), BATCH as c_long);
            (self.rust)(self.of_rust.as_ptr(), BATCH);
            self.rounds.fetch_add(BATCH, atomic::Ordering::Relaxed);
        }
    }

    /// Runs threads, pinned to `cpus` in turn where given, until `beside` returns; how many updates the three words lack.
    fn lost_beside(&self, cpus: Option<&[usize]>, beside: impl FnOnce()) -> [u64; 3] {
        self.stop.store(false, atomic::Ordering::Relaxed);
        let before = self.counts();
        std::thread::scope(|scope| {
            for number in 0..THREADS {
                scope.spawn(move || {
                    if let Some(cpus) = cpus {
                        pin(cpus[number % cpus.len()]);
                    }
                    self.work();
                });
            }
            beside();
            self.stop.store(true, atomic::Ordering::Relaxed);
        });
        let after = self.counts();
        let rounds = after[0] - before[0];
        [1, 2, 3].map(|unit| rounds - (after[unit] - before[unit]))
    }

    fn counts(&self) -> [u64; 4] {
        [
            self.rounds.load(atomic::Ordering::Relaxed),
            self.program.load(Ordering::Relaxed),
            self.of_c.load(atomic::Ordering::Relaxed) as u64,
            self.of_rust.load(atomic::Ordering::Relaxed),
        ]
    }
}

fn no_update_is_lost_in_any_unit_while_the_mode_flips() {
    let (flips, cpus) = (flips(), allowed_cpus());
    if cpus.len() < 2 {
        return println!("skipped: one CPU, so threads never run in parallel");
    }
    watch();
    let load = Load::new("flipped");
    let start = Instant::now();
    let mut done = 0;
    let lost = load.lost_beside(None, || {
        if !run_before_others() {
            println!("SCHED_FIFO is not allowed here");
        }
        while done < flips || load.rounds.load(atomic::Ordering::Relaxed) < flips {
            let Some(guard) = enter(cpus[done as usize % cpus.len()]) else {
                return;
            };
            if done == 0 {
                assert_eq!((state().units, load.c.is_elided()), (2, true));
                assert_eq!(state().unit_elided, state().unit_sites);
            }
            if done.is_multiple_of(16) {
                std::thread::sleep(REST);
            }
            guard.leave().unwrap();
            if done % 16 == 8 {
                std::thread::sleep(REST);
            }
            done += 1;
        }
    });
    let rounds = load.rounds.load(atomic::Ordering::Relaxed);
    println!(
        "{done} flips of three link units in {:.1?}, {rounds} rounds",
        start.elapsed()
    );
    assert_eq!(
        lost, [0; 3],
        "updates lost in the program, the object of C, the object of Rust"
    );
    assert!(load.c.is_locked());
    assert_eq!(
        (state().mode, state().elided, state().unit_elided),
        (Mode::Locked, 0, 0)
    );
}

fn twin_a_unit_that_is_forgotten_while_elided_loses_updates() {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        return println!("skipped: one CPU, so nothing can be lost");
    }
    watch();
    let load = Load::new("forgotten");
    let Some(guard) = enter(cpus[0]) else { return };
    assert!(load.c.is_elided());
    // As its destructor does. But its sites are elided again afterwards, and its code is used.
    load.c.end();
    assert!(load.c.is_locked());
    load.c.each_site(|at| poke(at, &[0x3e]));
    guard.leave().unwrap();
    assert_eq!(state().units, 1);
    assert!(load.c.is_elided(), "nobody restores what is forgotten");
    for _ in 0..TRIES {
        let [program, c, rust] = load.lost_beside(Some(&cpus), || std::thread::sleep(Duration::from_millis(100)));
        assert_eq!((program, rust), (0, 0));
        if c > 0 {
            return println!("{c} updates lost");
        }
    }
    panic!("the harness does not detect lost updates");
}

/// A thread loads and closes objects while another flips: constructors and destructors hold the dynamic linker's lock.
fn objects_come_and_go_while_the_mode_flips() {
    let (flips, cpus) = (flips() / 10, allowed_cpus());
    crate::object::register_by_constructor();
    watch();
    let path = compile("passing", &[]);
    let stop = atomic::AtomicBool::new(false);
    let loaded = std::thread::scope(|scope| {
        let loader = scope.spawn(|| {
            let mut loaded = 0_u64;
            let mut word: c_long = 0;
            while !stop.load(atomic::Ordering::Relaxed) {
                let object = Object::load(&path, "passing", libc::RTLD_LOCAL);
                object.load_word(&raw mut word, 10);
                object.close();
                loaded += 1;
                // A constructor or destructor that waits keeps this from returning.
                if loaded.is_multiple_of(16) {
                    std::thread::scope(|scope| scope.spawn(|| ()).join()).unwrap();
                }
            }
            assert_eq!(word as u64, 10 * loaded);
            loaded
        });
        let mut done = 0;
        // More where a busy machine seldom runs the loader.
        while done < flips {
            let Some(guard) = enter(cpus[done as usize % cpus.len()]) else {
                break;
            };
            if done.is_multiple_of(8) {
                std::thread::sleep(REST);
            }
            guard.leave().unwrap();
            if done % 8 == 4 {
                std::thread::sleep(REST);
            }
            done += 1;
        }
        stop.store(true, atomic::Ordering::Relaxed);
        loader.join().unwrap()
    });
    println!("{loaded} objects were loaded and closed meanwhile");
    assert_eq!((state().mode, state().elided, state().units), (Mode::Locked, 0, 0));
}

/// Keys and LOCK prefixes are on the same pages of a unit's text, and different threads change them.
fn keys_of_units_flip_while_the_mode_flips() {
    let (flips, cpus) = (flips() / 10, allowed_cpus());
    watch();
    let object = Object::load(&compile("both_kinds", &[]), "both_kinds", libc::RTLD_LOCAL);
    let stop = atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flipper = scope.spawn(|| {
            let mut on = false;
            while !stop.load(atomic::Ordering::Relaxed) {
                on = !on;
                object.set_key(on).unwrap();
                assert_eq!(object.is_on(), on);
            }
        });
        for done in 0..flips {
            let Some(guard) = enter(cpus[done as usize % cpus.len()]) else {
                break;
            };
            assert!(object.is_elided());
            guard.leave().unwrap();
            assert!(object.is_locked());
        }
        stop.store(true, atomic::Ordering::Relaxed);
        flipper.join().unwrap();
    });
}
