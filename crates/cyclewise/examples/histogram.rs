//! `percpu::Histogram`: how long requests take, recorded where they are served, and read for a collector.

use cyclewise::percpu::{Gauge, Histogram};

static TOOK: Histogram = Histogram::new();
static OPEN: Gauge = Gauge::new(0);

/// A request that takes `us` microseconds.
fn serve(us: u32) {
    OPEN.inc();
    TOOK.record(f64::from(us) * 1e-6);
    OPEN.dec();
}

fn main() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (1..=1000).for_each(serve));
        }
    });
    let taken = TOOK.snapshot();
    assert_eq!((taken.count(), OPEN.get()), (4000, 0));
    let [median, p99] = [0.5, 0.99].map(|q| taken.quantile(q).expect("there are values"));
    assert!(median.lower < 500e-6 && 500e-6 <= median.upper);
    println!(
        "half took at most {:.0} us, 99 % at most {:.0} us",
        median.upper * 1e6,
        p99.upper * 1e6
    );
    print!("{}", taken.open_metrics("request_seconds", &[], -14..=-9));
}
