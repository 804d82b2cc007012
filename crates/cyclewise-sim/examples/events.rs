//! Measures how many events per second the engine processes on one core:
//! `cargo run --release -p cyclewise-sim --example events`.
//!
//! Arguments select workloads whose names contain one of them. Each row is one simulation, timed by the wall clock.

use cyclewise_sim::machine::{Arbiter, Cap, Hold};
use cyclewise_sim::{Job, Length, Machine, Relax, Topology, Workload, simulate};
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let topology = Topology {
        sockets: 2,
        clusters_per_socket: 1,
        cores_per_cluster: 28,
        threads_per_core: 4,
    };
    let mut fifo = Machine::plain(topology);
    fifo.cost.jitter = 0.1;
    let mut nearest = fifo.clone();
    nearest.line.arbiter = Arbiter::Nearest { cap: Cap::Count(32) };
    nearest.line.hold = Hold::Fixed { cycles: 40 };
    println!(
        "{:<28} {:>8} {:>7} {:>10} {:>9} {:>9} {:>8} {:>6} {:>7} {:>9}",
        "workload", "arbiter", "threads", "events", "ns/op", "retries", "p99 us", "jain", "fallback", "Mevents/s"
    );
    let (mut events, mut seconds) = (0, 0.0);
    for &workload in Workload::ALL {
        if !words.is_empty() && !words.iter().any(|word| workload.name().contains(word)) {
            continue;
        }
        for (name, machine) in [("fifo", &fifo), ("nearest", &nearest)] {
            for threads in [1, 28, 224] {
                let job = Job {
                    retry_limit: Some(100),
                    relax: Relax::None,
                    length: Length::Operations {
                        warm_up: 1_000,
                        measured: 10_000,
                    },
                    ..Job::new(workload, threads)
                };
                let start = Instant::now();
                let outcome = simulate(machine, &job);
                let elapsed = start.elapsed().as_secs_f64();
                match outcome {
                    Ok(outcome) => {
                        #[expect(clippy::cast_precision_loss, reason = "for the eye")]
                        let rate = outcome.events as f64 / elapsed / 1e6;
                        println!(
                            "{:<28} {name:>8} {threads:>7} {:>10} {:>9.1} {:>9.2} {:>8.1} {:>6.3} {:>7.3} {rate:>9.1}",
                            workload.name(),
                            outcome.events,
                            outcome.ns_per_op,
                            outcome.retries_per_success,
                            outcome.latency.p99_ns / 1e3,
                            outcome.jain,
                            outcome.fallback_share,
                        );
                        events += outcome.events;
                        seconds += elapsed;
                    }
                    Err(error) => println!("{:<28} {name:>8} {threads:>7} {error}", workload.name()),
                }
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "for the eye")]
    let rate = events as f64 / seconds / 1e6;
    println!("{events} events in {seconds:.2} s: {rate:.1} million per second");
}
