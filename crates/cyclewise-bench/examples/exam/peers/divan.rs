//! divan: both functions in one run.

#![allow(dead_code, reason = "each program uses a part")]

mod bodies;

use bodies::Pair;
use divan::Bencher;

fn main() {
    divan::main();
}

#[divan::bench]
fn base(bencher: Bencher) {
    match Pair::asked().expect("the exam says which work") {
        Pair::Short([mut base, _]) => bencher.bench_local(move || base.call()),
        Pair::Long([mut base, _]) => bencher.bench_local(move || base.call()),
    }
}

#[divan::bench]
fn changed(bencher: Bencher) {
    match Pair::asked().expect("the exam says which work") {
        Pair::Short([_, mut changed]) => bencher.bench_local(move || changed.call()),
        Pair::Long([_, mut changed]) => bencher.bench_local(move || changed.call()),
    }
}
