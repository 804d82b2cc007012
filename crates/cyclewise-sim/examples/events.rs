//! Measures how many events per second the engine processes on one core:
//! `cargo run --release -p cyclewise-sim --example events`.

use cyclewise_sim::machine::{Arbiter, Hold};
use cyclewise_sim::{Job, Length, Machine, Topology, Workload, simulate};
use std::time::Instant;

fn main() {
    let topology = Topology::new(2, 1, 28, 4);
    let mut fifo = Machine::plain(topology);
    fifo.cost.jitter = 0.1;
    let mut nearest = fifo.clone();
    nearest.line.arbiter = Arbiter::Nearest { cap: 32 };
    nearest.line.hold = Hold::Fixed { cycles: 40 };
    let rate = |events: u64, seconds: f64| events as f64 / seconds / 1e6;
    let (mut events, mut seconds) = (0, 0.0);
    for &workload in Workload::ALL {
        for (name, machine) in [("fifo", &fifo), ("nearest", &nearest)] {
            for threads in [1, 28, 224] {
                let job = Job {
                    retry_limit: Some(100),
                    length: Length::operations(1_000, 10_000),
                    ..Job::new(workload, threads)
                };
                let start = Instant::now();
                let outcome = simulate(machine, &job);
                let elapsed = start.elapsed().as_secs_f64();
                match outcome {
                    Ok(outcome) => {
                        let million = rate(outcome.events, elapsed);
                        println!(
                            "{workload:<28} {name:>8} {threads:>4} {:>10} events {million:>6.1} million/s",
                            outcome.events
                        );
                        events += outcome.events;
                        seconds += elapsed;
                    }
                    Err(error) => println!("{workload:<28} {name:>8} {threads:>4} {error}"),
                }
            }
        }
    }
    println!(
        "{events} events in {seconds:.2} s: {:.1} million per second",
        rate(events, seconds)
    );
}
