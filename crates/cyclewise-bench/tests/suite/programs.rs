//! The benchmark programs that the tests run.

use cyclewise_bench::error::Error;
use cyclewise_bench::record::Unit;
use cyclewise_bench::runner::{Bench, Control, Guards, Heading, Sample, Sampler, Setup};
use cyclewise_bench::{Suite, black_box};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

/// What the program `slow` tells once it has measured some rounds.
pub(crate) const BEGUN: &str = "some rounds are measured";

pub(crate) fn find(name: &str) -> fn(&mut Suite) {
    match name {
        "good" => good,
        "over" => over,
        "panics" => panics,
        "slow" => slow,
        "endless" => endless,
        "hungry" => hungry,
        "experiments" => experiments,
        "bad-maker" => |s| {
            s.group("maker")
                .bench_with("bad", || -> u64 { panic!("no input") }, |n| n + 1)
                .bench_with("good", || 1u64, |n| n + 1);
        },
        "outside" => |s| {
            one(s, "first");
            panic!("between groups");
        },
        // Each process would print it, and the second one dies.
        "crashes" => |s| {
            println!("the program's own line");
            one(s, "first");
            if std::env::var("CYCLEWISE_PART").is_ok_and(|part| part.starts_with("1 ")) {
                std::process::abort();
            }
        },
        "work" => |s| work(s, 20, "only-here"),
        "half-the-work" => |s| work(s, 10, "only-there"),
        "dies" => |s| {
            let is_second = std::env::var("CYCLEWISE_PART").is_ok_and(|part| part.starts_with("1 "));
            s.group("work").bench("same", || {
                if is_second {
                    std::process::abort();
                }
                black_box(1)
            });
        },
        "other-order" => |s| {
            one(s, "second");
            one(s, "first");
        },
        "two-groups" => |s| {
            one(s, "first");
            one(s, "second");
        },
        "nothing" => |s| {
            s.group("nothing").bench("empty", || ()).bench("also-empty", || ());
        },
        "twice" => |s| {
            one(s, "a");
            one(s, "a");
            s.group("b")
                .bench("x", || black_box(1u64))
                .bench("x", || black_box(2u64));
        },
        "zero-threads" => |s| {
            s.group("zero")
                .threads([1, 0])
                .bench_shared("std", AtomicU64::new(0), add);
        },
        "unlike" => |s| {
            let two = s.group("unlike").bench("alone", || black_box(1u64));
            two.bench_shared("shared", AtomicU64::new(0), add);
            one(s, "");
            s.group("empty");
        },
        other => panic!("there is no program {other}"),
    }
}

fn one(s: &mut Suite, group: &str) {
    s.group(group).bench("good", || black_box(1u64) + 1);
}

/// Two rows that every program has, of which one does so much, and a row of its own.
fn work(s: &mut Suite, much: u64, own: &str) {
    let sum = |n: u64| (0..n).map(black_box).sum::<u64>();
    s.group("work")
        .bench("same", || sum(10))
        .bench("changed", || sum(much))
        .bench(own, || sum(10));
}

fn add(n: &AtomicU64) -> u64 {
    n.fetch_add(1, Relaxed)
}

fn good(s: &mut Suite) {
    let data: Vec<u64> = (0..16).collect();
    let sum = || black_box(&data).iter().sum::<u64>();
    s.group("sum")
        .elements(16)
        .bench("iter", sum)
        .bench("four-times", || sum() + sum() + sum() + sum());
    s.group("vec")
        .bench("one", || vec![1u64; 4])
        .bench_with("none", || vec![1u64; 4], |v| v);
    s.group("counter")
        .threads([1, 2])
        .bench_shared("std", AtomicU64::new(0), add);
    s.group("long").bench("sleep", || sleep(Duration::from_millis(4)));
}

fn over(s: &mut Suite) {
    s.group("sizes")
        .over([8, 32, 128, 512, 2048])
        .bench("sum", |n| (0..n as u64).map(black_box).sum::<u64>())
        .bench_with("of-vec", |n| vec![1u64; n], |v| v.iter().map(black_box).sum::<u64>());
}

fn panics(s: &mut Suite) {
    s.group("some")
        .bench("good", || black_box(1u64) + 1)
        .bench("bad", || -> u64 { panic!("not today") })
        .bench("also-good", || black_box(2u64) + 1);
    one(s, "other");
}

/// Rows that sample themselves, of which one panics, and an experiment that no machine can run.
fn experiments(s: &mut Suite) {
    struct Panics;
    impl Sampler for Panics {
        fn name(&self) -> &str {
            "bad"
        }
        fn sample(&mut self) -> Result<Sample, Error> {
            panic!("no sample")
        }
    }
    let heading = |name| Heading {
        name,
        question: "Is more work slower?",
        source: "a test",
        unit: Unit::TicksPerOp,
        guards: Guards::ThisThread,
    };
    s.experiment(heading("own"), || {
        let mut bench = Bench::new();
        let mut row = |name, n: u64| {
            bench.calls(name, move || {
                black_box((0..n).map(black_box).sum::<u64>());
            })
        };
        Ok(Setup {
            samplers: vec![row("unused", 1), row("more", 40), row("less", 10), Box::new(Panics)],
            compare: vec![(1, 2), (2, 0)],
            control: Control::Repeat(2),
            ..Setup::default()
        })
    });
    s.experiment(heading("lacks"), || {
        Err(Error::unsupported("needs a CPU of another kind"))
    });
    one(s, "group");
}

fn slow(s: &mut Suite) {
    let calls = Cell::new(0);
    s.group("slow").bench("a", || black_box(1u64) + 1).bench("b", || {
        // Two lengths, so that no number of rounds is precise enough before the signal.
        sleep(Duration::from_millis(4 + 8 * (calls.get() % 2)));
        calls.set(calls.get() + 1);
        if calls.get() == 10 {
            eprintln!("{BEGUN}");
            while !cyclewise_bench::sys::interrupt::asked() {
                sleep(Duration::from_millis(1));
            }
        }
    });
    one(s, "later");
}

fn endless(s: &mut Suite) {
    one(s, "first");
    s.group("second").bench("endless", || {
        loop {
            sleep(Duration::from_secs(1));
        }
    });
}

fn hungry(s: &mut Suite) {
    one(s, "first");
    s.group("second").bench("hungry", || {
        let mut all = Vec::new();
        loop {
            all.push(vec![1u8; 1 << 16]);
            black_box(&all);
        }
    });
}
