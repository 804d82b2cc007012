//! Counts from made samples and totals.

use super::*;
use crate::sampling::session::{Names, Role};
use crate::sampling::tests::stand_in;
use cyclewise_bench::machine::lock_event::SampleMeaning;
use cyclewise_bench::sys::perf_record::{Count, Record, Sample, Stamped, Task};
use cyclewise_bench::sys::perf_sampling::Total;

fn total(value: u64, enabled_ns: u64, running_ns: u64) -> Total {
    Total {
        value,
        enabled_ns,
        running_ns,
    }
}

/// A process of generated code with `samples` of each thread, the instructions of ended threads, and its totals.
fn made(samples: &[(u32, u64)], ended: &[(u32, u64)]) -> Tally {
    let names: Names = [(40, Role::Sampled(0)), (41, Role::Instructions)].into();
    let mut tally = Tally::new(names);
    let task = |tid| Task { pid: 7, tid };
    let mut records = vec![Record::Named {
        task: task(7),
        name: "prog".to_owned(),
        executed: true,
    }];
    for &(tid, ip) in samples {
        if tid != 7 {
            records.push(Record::Forked {
                task: task(tid),
                parent: task(7),
            });
        }
        records.push(Record::Sample(Sample {
            event: 40,
            task: task(tid),
            ip,
            exact: true,
            user: true,
            period: 100,
            ..Sample::default()
        }));
    }
    for &(tid, value) in ended {
        records.push(Record::Count(Count {
            event: 41,
            task: task(tid),
            value,
            ..Count::default()
        }));
    }
    for (record, time_ns) in records.into_iter().zip(1..) {
        tally.take(Stamped { time_ns, record }, &|_| Vec::new());
    }
    tally
}

fn totals(instructions: Total, locked: Option<Total>) -> Totals {
    Totals {
        instructions,
        locked: vec![locked],
        on_cpu_ns: 20,
        unread: 0,
    }
}

#[test]
fn sites_share_the_counted_total() {
    let tally = made(&[(7, 0x10), (7, 0x10), (8, 0x10), (8, 0x20)], &[(8, 500)]);
    let all = totals(total(2000, 10, 10), Some(total(1000, 10, 10)));
    let counts = counts(tally, &all, &[stand_in()], Arch::X86_64);
    let process = &counts.processes[0];
    let sites: Vec<_> = process.sites.iter().map(|s| (s.address, s.executed.clone())).collect();
    assert_eq!(sites, [(0x10, vec![(0, 500), (1, 250)]), (0x20, vec![(1, 250)])]);
    // Two samples were taken before the thread began.
    assert_eq!(process.sites[0].before_threads, 500);
    assert_eq!(process.sites[0].words.unknown, 750);
    // The one that ended is counted, and the other has what is left.
    let instructions: Vec<_> = process.threads.iter().map(|t| t.instructions).collect();
    assert_eq!(instructions, [1500, 500]);
    assert!(
        counts.missing.iter().any(|l| l.contains("generated code")),
        "{:?}",
        counts.missing
    );
    assert!(
        !counts
            .missing
            .iter()
            .any(|l| l.contains("scaled") || l.contains("estimated"))
    );
    assert!(matches!(counts.method, Method::Counter { period: 100, .. }));
}

#[test]
fn a_counter_that_was_shared_is_scaled_and_said() {
    let tally = made(&[(7, 0x10)], &[]);
    // Instructions had a counter half of the time, locked ones a quarter.
    let all = totals(total(1000, 20, 10), Some(total(100, 20, 5)));
    let counts = counts(tally, &all, &[stand_in()], Arch::X86_64);
    assert_eq!(counts.processes[0].threads[0].instructions, 2000);
    assert_eq!(counts.processes[0].sites[0].total(), 400);
    assert!(
        counts.missing.iter().any(|l| l.starts_with("50 % of the time")),
        "{:?}",
        counts.missing
    );
}

#[test]
fn without_a_count_of_all_samples_are_an_estimate_and_it_is_said() {
    let mut event = stand_in();
    event.kind = SampleMeaning::Ops;
    let counts = counts(
        made(&[(7, 0x10)], &[]),
        &totals(total(9, 1, 1), None),
        &[event],
        Arch::X86_64,
    );
    assert_eq!(counts.processes[0].sites[0].total(), 100);
    assert!(
        counts.missing.iter().any(|l| l.contains("estimated from samples")),
        "{:?}",
        counts.missing
    );
}

#[test]
fn a_late_sample_without_a_function_is_left_out_and_said() {
    let names: Names = [(40, Role::Sampled(0))].into();
    let mut tally = Tally::new(names);
    let task = Task { pid: 7, tid: 7 };
    let named = Record::Named {
        task,
        name: "prog".to_owned(),
        executed: true,
    };
    let late = Record::Sample(Sample {
        event: 40,
        task,
        ip: 0x10,
        user: true,
        period: 1,
        ..Sample::default()
    });
    for record in [named, late] {
        tally.take(Stamped { time_ns: 1, record }, &|_| Vec::new());
    }
    let counts = counts(
        tally,
        &totals(total(9, 1, 1), Some(total(5, 1, 1))),
        &[stand_in()],
        Arch::X86_64,
    );
    assert_eq!(counts.processes[0].sites, []);
    assert!(
        counts.missing[0].starts_with("100.0 % of the samples"),
        "{:?}",
        counts.missing
    );
}

#[test]
fn a_replaced_file_is_not_read() {
    let path = std::env::current_exe().unwrap();
    let mut maker = Maker {
        arch: crate::sampling::arch(),
        factors: vec![1.0],
        files: HashMap::new(),
        unfound: Unfound::default(),
    };
    let mut mapped = Mapped {
        path: path.to_string_lossy().into_owned(),
        build_id: CodeFile::open(&path, maker.arch, &Limits::default()).unwrap().build_id,
        ..Mapped::default()
    };
    assert!(maker.file(&mapped).is_some());
    // The twin.
    mapped.build_id = Some(vec![1, 2, 3]);
    maker.files.clear();
    assert!(maker.file(&mapped).is_none());
    assert!(
        maker.unfound.files.iter().any(|l| l.contains("replaced")),
        "{:?}",
        maker.unfound.files
    );
    mapped.path = "/does/not/exist".to_owned();
    assert!(maker.file(&mapped).is_none());
}
