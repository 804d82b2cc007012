//! criterion: one function, first that without more work for the baseline, and then that with more.

#![allow(dead_code, reason = "each program uses a part")]

mod bodies;

use bodies::{Pair, Work};
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(c: &mut Criterion) {
    match Pair::asked().expect("the exam says which work") {
        Pair::Short(pair) => one_of(c, pair),
        Pair::Long(pair) => one_of(c, pair),
    }
}

fn one_of<const IS_SHORT: bool>(c: &mut Criterion, [base, changed]: [Work<IS_SHORT>; 2]) {
    // The exam's own variable: which of the two this run is of.
    let is_changed = std::env::var_os("CYCLEWISE_EXAM_CHANGED").is_some();
    let mut work = if is_changed { changed } else { base };
    c.bench_function("work", |b| b.iter(|| work.call()));
}

criterion_group!(benches, measure);
criterion_main!(benches);
