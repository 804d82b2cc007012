//! The program of the front page: what `cargo bench -p cyclewise-bench` measures.

use cyclewise_bench::{Suite, black_box};

fn main() {
    cyclewise_bench::main(|s: &mut Suite| {
        let data: Vec<u64> = (0..1024).collect();
        s.group("sum")
            .bench("iter", || black_box(&data).iter().sum::<u64>())
            .bench("loop", || {
                let mut t = 0;
                for x in black_box(&data) {
                    t += x
                }
                t
            });
        s.group("sort")
            .elements(1024)
            .bench_with(
                "unstable",
                || data.clone(),
                |mut v| {
                    v.sort_unstable();
                    v
                },
            )
            .bench_with(
                "stable",
                || data.clone(),
                |mut v| {
                    v.sort();
                    v
                },
            );
        s.group("counter")
            .threads([1, 2])
            .bench_shared("std", std::sync::atomic::AtomicU64::new(0), |c| {
                c.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            });
    });
}
