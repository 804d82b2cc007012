//! What is kept of made records.

use super::*;
use crate::sampling::image::is_file;
use cyclewise_bench::sys::perf_record::Mapped;

const EVENT: u64 = 40;

fn tally() -> Tally {
    let names = [(EVENT, Role::Sampled(0)), (41, Role::Instructions)];
    Tally::new(names.into())
}

fn task(pid: u32, tid: u32) -> Task {
    Task { pid, tid }
}

fn executed(pid: u32, name: &str) -> Record {
    Record::Named {
        task: task(pid, pid),
        name: name.to_owned(),
        executed: true,
    }
}

fn mapped(pid: u32, start: u64, path: &str) -> Record {
    Record::Mapped(Mapped {
        task: task(pid, pid),
        start,
        length: 0x1000,
        offset: 0,
        path: path.to_owned(),
        build_id: None,
    })
}

fn sample(pid: u32, tid: u32, ip: u64) -> Record {
    Record::Sample(Sample {
        event: EVENT,
        task: task(pid, tid),
        ip,
        exact: true,
        user: true,
        period: 10,
        ..Sample::default()
    })
}

fn take(tally: &mut Tally, records: impl IntoIterator<Item = Record>) {
    for (record, time_ns) in records.into_iter().zip(tally.last_ns() + 1..) {
        tally.take(Stamped { time_ns, record }, &|pid| vec![format!("of {pid}")]);
    }
}

#[test]
fn an_execution_a_thread_a_fork_and_an_end() {
    let mut t = tally();
    take(
        &mut t,
        [
            executed(7, "prog"),
            mapped(7, 0x1000, "/bin/prog"),
            mapped(7, 0x5000, "/lib/ld.so"),
            sample(7, 7, 0x1008),
            Record::Forked {
                task: task(7, 8),
                parent: task(7, 7),
            },
            sample(7, 8, 0x1008),
            Record::Forked {
                task: task(9, 9),
                parent: task(7, 8),
            },
            sample(9, 9, 0x5004),
            Record::Exited(task(9, 9)),
            executed(7, "other"),
            mapped(7, 0x1000, "/bin/other"),
            sample(7, 7, 0x1000),
        ],
    );
    let [first, child, second] = &t.images[..] else {
        panic!("{} images", t.images.len())
    };
    assert_eq!((first.pid, first.parent, first.end), (7, None, End::Executed));
    assert_eq!(first.program.as_deref(), Some(std::path::Path::new("/bin/prog")));
    assert_eq!(first.arguments, ["of 7"]);
    let place = Place {
        ip: 0x1008,
        exact: true,
        mapping: Some(0),
        event: 0,
    };
    let fallen = &first.places[&place];
    assert_eq!(fallen.by_thread, [(0, 10), (1, 10)].into());
    assert_eq!(fallen.before_threads, 10);
    assert_eq!((child.pid, child.parent, child.end), (9, Some(7), End::Exited));
    // The child has its parent's mappings and its name.
    assert!(child.places.keys().all(|p| p.mapping == Some(1)));
    assert_eq!(child.threads[0].name, "prog");
    assert_eq!((second.parent, second.end), (None, End::Unknown));
    assert_eq!((t.weights[&0], t.sampled[&0], t.samples()), (40, 4, 4));
}

#[test]
fn the_latest_mapping_of_an_address_counts() {
    let mut t = tally();
    take(
        &mut t,
        [
            executed(7, "prog"),
            mapped(7, 0x1000, "/bin/a"),
            mapped(7, 0x1000, "/bin/b"),
            sample(7, 7, 0x1000),
            mapped(7, 0x1000, "//anon"),
            sample(7, 7, 0x1000),
            sample(7, 7, 0x9000),
        ],
    );
    let mut found: Vec<_> = t.images[0].places.keys().map(|p| (p.ip, p.mapping)).collect();
    found.sort_unstable();
    // Generated code where a file was, and an address of nothing.
    assert_eq!(found, [(0x1000, None), (0x1000, Some(1)), (0x9000, None)]);
    for (path, file) in [
        ("/bin/a", true),
        ("[vdso]", false),
        ("/memfd:x (deleted)", false),
        ("", false),
    ] {
        assert_eq!(is_file(path), file, "{path}");
    }
}

#[test]
fn ops_that_are_not_locked_and_the_kernels_are_left_out() {
    use cyclewise_bench::sys::perf_record::made;
    let op = |locked, rip| {
        let ibs = Some(cyclewise_bench::sys::perf_record::IbsOp { rip, locked });
        match sample(7, 7, 0x1010) {
            Record::Sample(s) => Record::Sample(Sample { ibs, exact: false, ..s }),
            other => other,
        }
    };
    let in_kernel = match sample(7, 7, 0xffff_ffff_8000_0000) {
        Record::Sample(s) => Record::Sample(Sample { user: false, ..s }),
        other => other,
    };
    let mut t = tally();
    take(&mut t, [executed(7, "p"), mapped(7, 0x1000, "/bin/p"), in_kernel]);
    for record in [op(false, Some(0x1004)), op(true, Some(0x1004)), op(true, None)] {
        // Through the bytes that the kernel would write.
        let bytes = made::bytes(&Stamped { time_ns: 50, record });
        let read = cyclewise_bench::sys::perf_record::parse(&bytes);
        take(&mut t, read.into_iter().map(|s| s.record));
    }
    let mut found: Vec<_> = t.images[0].places.keys().map(|p| (p.ip, p.exact)).collect();
    found.sort_unstable();
    assert_eq!(found, [(0x1004, true), (0x1010, false)]);
    assert_eq!((t.samples(), t.weights[&0]), (4, 20));
}

#[test]
fn what_is_lost_is_counted() {
    let mut t = tally();
    take(
        &mut t,
        [
            Record::Lost(5),
            Record::Throttled,
            Record::Malformed,
            sample(99, 99, 1),
            Record::Count(Count {
                event: 41,
                task: task(7, 7),
                value: 3,
                ..Count::default()
            }),
            Record::Count(Count {
                event: 41,
                task: task(7, 7),
                value: 4,
                ..Count::default()
            }),
            Record::Count(Count {
                event: 1,
                ..Count::default()
            }),
        ],
    );
    assert_eq!((t.lost, t.throttled, t.malformed, t.homeless), (5, 1, 1, 1));
    // The same thread on two CPUs.
    assert_eq!(t.counts, [((Role::Instructions, task(7, 7)), 7)].into());
}

#[test]
fn a_fork_bomb_ends_at_the_limit() {
    let mut t = tally();
    take(&mut t, [executed(1, "bomb")]);
    let forks = (2..IMAGES as u32 + 50).map(|pid| Record::Forked {
        task: task(pid, pid),
        parent: task(1, 1),
    });
    take(&mut t, forks);
    assert_eq!(t.images.len(), IMAGES);
    assert_eq!(t.images_left_out, 49);
    take(&mut t, [sample(IMAGES as u32 + 20, 1, 1)]);
    assert_eq!(t.homeless, 1);
}

#[test]
fn the_first_process_ends_by_its_status() {
    use std::os::unix::process::ExitStatusExt;
    for (status, end) in [
        (Some(ExitStatus::from_raw(3 << 8)), End::Exited),
        (Some(ExitStatus::from_raw(9)), End::Unknown),
        (None, End::Unknown),
    ] {
        let mut t = tally();
        let mut command = Command::new("prog");
        t.expect(7, Begun::by_command(command.arg("a")));
        take(&mut t, [executed(7, "prog"), Record::Exited(task(7, 7))]);
        t.ended(status);
        assert_eq!(t.images[0].end, end, "{status:?}");
        assert_eq!(t.program_of(&t.images[0]), PathBuf::from("prog"));
    }
}
