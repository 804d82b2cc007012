//! Records from made bytes, good and bad.

use super::*;
use crate::sys::perf_ibs;
use proptest::prelude::*;

/// Makes records as the kernel writes them.
pub(crate) mod made {
    use super::*;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let size = (HEADER + body.len()) as u16;
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&misc.to_ne_bytes());
        bytes.extend_from_slice(&size.to_ne_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    fn halves(halves: &[u32]) -> Vec<u8> {
        halves.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((text.len() + 1).next_multiple_of(8), 0);
        bytes
    }

    fn with_trailer(mut body: Vec<u8>, task: Task, time_ns: u64) -> Vec<u8> {
        body.extend(halves(&[task.pid, task.tid]));
        body.extend(words(&[time_ns, 1, 99]));
        body
    }

    /// The bytes of `stamped`.
    pub(crate) fn bytes(stamped: &Stamped) -> Vec<u8> {
        let time = stamped.time_ns;
        match &stamped.record {
            Record::Sample(s) => {
                let mut body = words(&[s.event, s.ip]);
                body.extend(halves(&[s.task.pid, s.task.tid]));
                body.extend(words(&[time, s.data, 1, s.period]));
                if let Some(op) = s.ibs {
                    let raw = perf_ibs::raw(op);
                    body.extend(halves(&[raw.len() as u32]));
                    body.extend(raw);
                }
                let misc = if s.user { MISC_USER } else { 1 } | if s.exact { MISC_EXACT_IP } else { 0 };
                record(9, misc, &body)
            }
            Record::Mapped(m) => {
                let mut body = halves(&[m.task.pid, m.task.tid]);
                body.extend(words(&[m.start, m.length, m.offset]));
                let mut identity = [0u8; 24];
                let mut misc = MISC_USER;
                if let Some(id) = &m.build_id {
                    misc |= MISC_BUILD_ID;
                    identity[0] = id.len() as u8;
                    identity[4..4 + id.len()].copy_from_slice(id);
                }
                body.extend(identity);
                body.extend(halves(&[5, 2]));
                body.extend(text(&m.path));
                record(10, misc, &with_trailer(body, m.task, time))
            }
            Record::Named { task, name, executed } => {
                let mut body = halves(&[task.pid, task.tid]);
                body.extend(text(name));
                let misc = if *executed { MISC_COMM_EXEC } else { 0 };
                record(3, misc, &with_trailer(body, *task, time))
            }
            Record::Forked { task, parent } => {
                let mut body = halves(&[task.pid, parent.pid, task.tid, parent.tid]);
                body.extend(words(&[time]));
                record(7, 0, &with_trailer(body, *parent, time))
            }
            Record::Exited(task) => {
                let mut body = halves(&[task.pid, 1, task.tid, 1]);
                body.extend(words(&[time]));
                record(4, 0, &with_trailer(body, *task, time))
            }
            Record::Lost(count) => record(2, 0, &with_trailer(words(&[99, *count]), Task::default(), time)),
            Record::Throttled => record(5, 0, &with_trailer(words(&[time, 99, 99]), Task::default(), time)),
            Record::Count(c) => {
                let mut body = halves(&[c.task.pid, c.task.tid]);
                body.extend(words(&[c.value, c.enabled_ns, c.running_ns, c.event]));
                record(8, 0, &with_trailer(body, c.task, time))
            }
            Record::Other => record(14, 0, &with_trailer(Vec::new(), Task::default(), time)),
            Record::Malformed => record(9, 0, &[0; 8]),
        }
    }
}

fn seeds() -> Vec<Stamped> {
    let task = Task { pid: 7, tid: 8 };
    let sample = Sample {
        event: 99,
        task,
        ip: 0x40_1234,
        exact: true,
        user: true,
        data: 0x7fff_0000,
        period: 1009,
        ibs: None,
    };
    let mapped = Mapped {
        task,
        start: 0x40_0000,
        length: 0x3000,
        offset: 0x1000,
        path: "/usr/bin/true".to_owned(),
        build_id: Some(vec![1, 2, 3, 4]),
    };
    let records = [
        Record::Sample(sample),
        Record::Sample(Sample {
            exact: false,
            user: false,
            ibs: Some(IbsOp {
                rip: Some(0x40_1230),
                locked: true,
            }),
            ..sample
        }),
        Record::Mapped(mapped.clone()),
        Record::Mapped(Mapped {
            path: String::new(),
            build_id: None,
            ..mapped
        }),
        Record::Named {
            task,
            name: "a name".to_owned(),
            executed: true,
        },
        Record::Named {
            task,
            name: String::new(),
            executed: false,
        },
        Record::Forked {
            task,
            parent: Task { pid: 1, tid: 2 },
        },
        Record::Exited(task),
        Record::Lost(12),
        Record::Throttled,
        Record::Count(Count {
            event: 98,
            task,
            value: 1 << 40,
            enabled_ns: 5,
            running_ns: 4,
        }),
        Record::Other,
    ];
    records
        .into_iter()
        .zip(100..)
        .map(|(record, time_ns)| Stamped { time_ns, record })
        .collect()
}

#[test]
fn every_kind_is_read_as_it_was_written() {
    let bytes: Vec<u8> = seeds().iter().flat_map(made::bytes).collect();
    assert_eq!(parse(&bytes), seeds());
}

#[test]
fn a_record_cut_short_is_malformed_and_nothing_else() {
    for seed in seeds() {
        let whole = made::bytes(&seed);
        for length in 1..whole.len() {
            // The header says more than there is.
            let cut = parse(&whole[..length]);
            assert_eq!(cut.last().unwrap().record, Record::Malformed, "{seed:?} {length}");
        }
        // The header agrees, and the body is short: no field is taken from the record behind.
        for length in (HEADER..whole.len().min(HEADER + TRAILER)).step_by(8) {
            let mut short = whole[..length].to_vec();
            short[6..8].copy_from_slice(&(length as u16).to_ne_bytes());
            short.extend(made::bytes(&seed));
            let read = parse(&short);
            assert_eq!(read.len(), 2, "{seed:?} {length}");
            assert_eq!(read[0].record, Record::Malformed, "{seed:?} {length}");
            assert_eq!(read[1], seed, "{seed:?} {length}");
        }
    }
}

#[test]
fn data_that_is_mapped_without_the_right_to_execute_is_left_out() {
    let mut bytes = made::bytes(&seeds()[2]);
    let protection = HEADER + 8 + 24 + 24;
    bytes[protection] = 3;
    assert_eq!(parse(&bytes)[0].record, Record::Other);
}

#[test]
fn names_cannot_control_a_terminal() {
    let record = Record::Named {
        task: Task::default(),
        name: "\u{1b}[2J".to_owned(),
        executed: false,
    };
    let read = parse(&made::bytes(&Stamped { time_ns: 1, record }));
    assert!(
        matches!(&read[0].record, Record::Named { name, .. } if name == " [2J"),
        "{read:?}"
    );
}

#[test]
fn a_size_of_zero_ends_the_reading() {
    assert_eq!(parse(&[0; 64]).len(), 1);
}

proptest! {
    /// Invariant 1: no bytes make it panic or run on.
    #[test]
    fn any_bytes_are_read_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(parse(&bytes).len() <= bytes.len() / HEADER + 1);
    }

    /// The same, with headers that are likely.
    #[test]
    fn damaged_records_are_read_to_an_end(place in 0usize..2000, value: u8, kind in 0u32..20) {
        let mut bytes: Vec<u8> = seeds().iter().flat_map(made::bytes).collect();
        let place = place % bytes.len();
        bytes[place] = value;
        bytes[0..4].copy_from_slice(&kind.to_ne_bytes());
        prop_assert!(parse(&bytes).len() <= bytes.len() / HEADER + 1);
    }
}
