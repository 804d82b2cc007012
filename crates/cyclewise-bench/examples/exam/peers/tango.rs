//! tango: a build for each share of more work, as before and after a change of a program, of which two are compared.

#![allow(dead_code, reason = "each program uses a part")]

mod bodies;

use bodies::{BODIES, Work};
use tango_bench::{IntoBenchmarks, benchmark_fn, tango_benchmarks};

fn measure() -> impl IntoBenchmarks {
    let percent = env!("CYCLEWISE_EXAM_PERCENT").parse().expect("percents");
    BODIES.map(|(name, steps)| match steps {
        2 => benchmark_fn(name, move |b| {
            let mut work = Work::<true>::new(steps, percent);
            b.iter(move || work.call())
        }),
        _ => benchmark_fn(name, move |b| {
            let mut work = Work::<false>::new(steps, percent);
            b.iter(move || work.call())
        }),
    })
}

// This has a `main`; `tango_main`, which the README adds, is empty and deprecated.
tango_benchmarks!(measure());
