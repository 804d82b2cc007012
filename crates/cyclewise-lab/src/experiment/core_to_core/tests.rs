//! Tests of the choice of pairs, of the flag's round trip, and of lost additions.

use super::*;
use crate::error::Status;
use crate::record::Experiment;
use crate::record::core_to_core::{Distance, Matrix, is_pair, spans};
use crate::sys::affinity;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

fn pair(distance: Distance, a: u32, b: u32) -> Pair {
    Pair { cpus: [a, b], distance }
}

#[test]
fn a_pair_s_name_is_read_back() {
    for distance in Distance::ALL {
        let pair = pair(distance, 3, 112);
        assert_eq!(Pair::parse(&pair.name()), Some(pair));
    }
    for other in ["fetch-add-t2", "cas-loop-t4", "socket-1", "nowhere-0-1", "socket-0-x"] {
        assert!(!is_pair(other), "{other}");
    }
}

#[test]
fn of_many_pairs_some_of_each_distance_are_chosen() {
    let mut all: Vec<Pair> = (0..100).map(|b| pair(Distance::Remote, 0, b + 1)).collect();
    all.push(pair(Distance::Sibling, 1, 2));
    all.extend((0..5).map(|b| pair(Distance::Cluster, 2, b + 3)));
    let chosen = pairs::chosen(&all, 20);
    let count = |distance| chosen.iter().filter(|p| p.distance == distance).count();
    assert_eq!(chosen.len(), 20);
    assert_eq!(
        [Distance::Sibling, Distance::Cluster, Distance::Remote].map(count),
        [1, 5, 14]
    );
    let mut once = chosen.clone();
    once.dedup();
    assert_eq!(once, chosen, "each once");
    assert!(chosen.iter().any(|p| p.cpus[1] > 90), "spread to the far end");
    assert_eq!(pairs::chosen(&all, 106), all);
}

#[test]
fn thread_counts_are_the_published_ones_and_all() {
    assert_eq!(counts(2), [1, 2]);
    assert_eq!(counts(4), [1, 2, 3, 4]);
    assert_eq!(counts(224), [1, 2, 3, 4, 8, 16, 32, 64, 128, 224]);
}

#[test]
fn on_one_cpu_it_is_refused_with_what_to_do() {
    let first = affinity::allowed().unwrap()[0];
    // In its own thread, so that others keep their CPUs.
    let refused = std::thread::spawn(move || {
        affinity::confine(&[first]).unwrap();
        setup(&Options::default()).err().unwrap()
    });
    let error = refused.join().unwrap();
    assert_eq!(error.status, Status::Unsupported);
    assert!(
        error.message.contains(&format!("only CPU {first}")),
        "{}",
        error.message
    );
    assert!(error.message.contains("taskset"), "{}", error.message);
}

#[test]
fn a_flag_comes_back() {
    let [a, b] = [0, 1].map(|i| affinity::allowed().unwrap().get(i).copied());
    let (Some(a), Some(b)) = (a, b) else {
        eprintln!("skipped: one CPU may be used");
        return;
    };
    for home in [a, b] {
        let ns = ping::one_way_ns([a, b], home, 90).unwrap();
        assert!(ns > 0.0 && ns.is_finite(), "{ns}");
    }
    let refused = ping::one_way_ns([a, b], 1023, 90).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EINVAL), "the home is a CPU too");
}

#[test]
fn a_cpu_that_cannot_be_used_is_named_on_either_side() {
    let good = affinity::allowed().unwrap()[0];
    for cpus in [[good, 1023], [1023, good]] {
        let mut row = ping::PingPong::new(pair(Distance::Socket, cpus[0], cpus[1]), 90);
        let error = row.sample().unwrap_err();
        assert_eq!(error.status, Status::Unsupported);
        assert!(error.message.contains("CPU 1023"), "{}", error.message);
    }
}

#[test]
fn additions_are_counted_and_lost_ones_are_found() {
    for mut row in [
        counter::add("fetch-add-t3".to_owned(), &Crowd::brief(3)),
        counter::cas("cas-loop-t3".to_owned(), &Crowd::brief(3)),
    ] {
        let sample = row.sample().unwrap();
        assert!(sample.value > 0.0 && sample.metrics[0].2 >= 0.0, "{sample:?}");
    }
    let forgets = |word: &AtomicU64| {
        // Every other addition is made.
        if word.fetch_xor(1 << 63, Relaxed) >> 63 == 0 {
            word.fetch_add(1, Relaxed);
        }
    };
    let mut row = counter::row("forgets".to_owned(), &Crowd::brief(1), forgets);
    let error = row.sample().unwrap_err();
    assert_eq!(error.status, Status::CheckFailed);
    assert!(error.message.contains("lost"), "{}", error.message);
}

/// At most as many threads as CPUs: waiters that never sleep take time slices.
fn crowd() -> Crowd {
    let mut crowd = Crowd::brief(2);
    crowd.threads = crowd.cpus.len().min(2);
    crowd
}

#[test]
fn every_lock_keeps_every_count_and_has_its_row() {
    let crowd = crowd();
    let mut rows = lock_row::rows(&crowd);
    let names: Vec<&str> = rows.iter().map(|row| row.name()).collect();
    let expected = lock_row::NAMES.map(|name| format!("{name}-t{}", crowd.threads));
    assert_eq!(names, expected);
    for row in &mut rows {
        let sample = row.sample().unwrap();
        assert!(sample.value > 0.0 && sample.value.is_finite(), "{sample:?}");
    }
}

/// Runs every section but one of each thread.
struct Forgets(std::sync::atomic::AtomicU32);

impl locks::Lock for Forgets {
    fn new(_: usize) -> Self {
        Self(std::sync::atomic::AtomicU32::new(0))
    }

    fn section(&self, _: usize, section: impl FnOnce()) {
        if self.0.fetch_add(1, Relaxed) > 0 {
            section();
        }
    }
}

#[test]
fn a_lock_that_loses_a_count_is_found() {
    let mut crowd = crowd();
    crowd.threads = 1;
    let error = lock_row::row::<Forgets>("forgets".to_owned(), &crowd)
        .sample()
        .unwrap_err();
    assert_eq!(error.status, Status::CheckFailed);
    assert!(error.message.contains("let two threads in"), "{}", error.message);
}

#[test]
fn what_the_fit_needs_is_among_the_rows() {
    let cpus = affinity::allowed().unwrap();
    if cpus.len() < 2 {
        eprintln!("skipped: one CPU may be used");
        return;
    }
    let setup = setup(&Options::default()).unwrap();
    let has = |name: &str| setup.samplers.iter().any(|row| row.name() == name);
    let all = cpus.len();
    let waits = crate::arch::wait::BODIES.map(|body| body.name);
    assert!(waits.iter().all(|name| has(name)), "{waits:?}");
    for row in [
        "cycle",
        "fetch-add",
        "cas-loop",
        "lock-ttas",
        "lock-ttas-pause",
        "lock-ticket",
        "lock-mcs",
    ] {
        assert!(has(&format!("{row}-t1")) && has(&format!("{row}-t{all}")), "{row}");
    }
    assert_eq!(has("ll-sc-t2"), cfg!(target_arch = "aarch64"));
    assert!(
        setup.notes.iter().any(|note| note.contains("one core cycle")),
        "{:?}",
        setup.notes
    );
}

#[test]
fn a_cycle_and_a_waiting_instruction_take_some_time() {
    let cycle = cycle::Cycle::new(&crowd()).sample().unwrap().value;
    assert!(cycle > 0.0 && cycle.is_finite(), "{cycle}");
    for mut row in waits::rows() {
        let sample = row.sample().unwrap();
        assert!(sample.value.is_finite(), "{}: {sample:?}", row.name());
        assert!(sample.batches.is_none(), "batches are in ticks");
    }
}

#[test]
fn a_pair_of_a_socket_is_measured_with_its_line_at_home_and_away() {
    let place = |cpu, socket| CpuTopology::made(cpu, cpu, cpu, socket);
    let two: Vec<CpuTopology> = (0..4).map(|cpu| place(cpu, cpu / 2)).collect();
    let all = pairs::all(&two);
    let names: Vec<String> = home::chosen(&two, &all).iter().map(home::Homed::name).collect();
    assert_eq!(names, ["socket-0-1-home-0", "socket-0-1-home-2"]);
    assert!(names.iter().all(|name| !is_pair(name)), "no cell of the matrix");
    let one: Vec<CpuTopology> = (0..4).map(|cpu| place(cpu, 0)).collect();
    assert_eq!(home::chosen(&one, &pairs::all(&one)), []);
}

#[test]
fn a_matrix_is_the_same_both_ways() {
    let mut e: Experiment = serde_json::from_str(
        r#"{"name":"core-to-core","question":"?","source":"","unit":"ns/op","variants":[],"comparisons":[],"notes":[]}"#,
    )
    .unwrap();
    assert_eq!((Matrix::of_experiment(&e), spans(&e)), (None, Vec::new()));
    for (name, median) in [
        ("sibling-0-4", 10.0),
        ("socket-0-2", 50.0),
        ("socket-2-4", 70.0),
        ("fetch-add-t1", 5.0),
    ] {
        let text = format!(
            r#"{{"name":"{name}","n":1,"rejected":0,"mean":1.0,"sd":0.0,"median":{median},"min":1.0,"ci95":[1.0,1.0],"code_bytes":null,"samples":[1.0]}}"#
        );
        e.variants.push(serde_json::from_str(&text).unwrap());
    }
    let matrix = Matrix::of_experiment(&e).unwrap();
    assert_eq!(matrix.cpus, [0, 2, 4]);
    assert_eq!(
        (matrix.ns(0, 1), matrix.ns(1, 0), matrix.ns(0, 0)),
        (Some(50.0), Some(50.0), None)
    );
    let spans = spans(&e);
    assert_eq!(spans.len(), 2);
    assert_eq!((spans[1].pairs, spans[1].median, spans[1].min), (2, 60.0, 50.0));
}
