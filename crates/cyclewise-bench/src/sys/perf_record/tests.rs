//! Records from made bytes, good and bad.

use super::*;
use proptest::prelude::*;

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
