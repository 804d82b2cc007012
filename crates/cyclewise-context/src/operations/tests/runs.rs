//! Every loop runs and ends, and surroundings that go on do so.

use crate::Matrix;
use crate::arch::Chain;
use crate::cell::{COPIES, Cell, Loop, alone};
use crate::surroundings::{CacheSizes, Surroundings};
use std::cell::Cell as Shared;
use std::rc::Rc;

/// A stamp that counts its calls.
fn stamp() -> u64 {
    thread_local!(static CALLS: Shared<u64> = const { Shared::new(0) });
    CALLS.with(|calls| calls.replace(calls.get() + 1))
}

#[test]
fn every_operation_runs_in_all_surroundings() {
    let mut matrix = Matrix::new(CacheSizes::default());
    for column in &mut matrix.columns {
        let [once, again] = &mut column.alone;
        assert_eq!((once.batch(3, stamp), again.batch(3, stamp)), (1, 1), "{}", column.name);
        assert_eq!(once.code(), again.code(), "the control is the same code");
        assert!(column.short.chars().count() <= 5, "{}", column.short);
    }
    for operation in &mut matrix.operations {
        assert_eq!(operation.loops.len(), matrix.columns.len());
        for (at, cell) in operation.loops.iter_mut().enumerate() {
            assert_eq!(
                cell.batch(3, stamp),
                1,
                "{} {at}: one stamp before and one after",
                operation.name
            );
        }
    }
}

#[test]
fn names_are_unique() {
    let matrix = Matrix::new(CacheSizes::default());
    let mut names: Vec<&str> = matrix.operations.iter().map(|o| o.name).collect();
    names.extend(matrix.columns.iter().map(|c| c.name));
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn an_operation_is_called_once_after_each_repetition() {
    let calls: &'static Shared<u64> = Box::leak(Box::new(Shared::new(0)));
    for mut cell in Surroundings::new(CacheSizes::default()).around(move || calls.set(calls.get() + 1)) {
        calls.set(0);
        cell.batch(5, stamp);
        assert_eq!(calls.get(), 5 * u64::from(COPIES));
    }
}

#[test]
fn a_chain_is_one_cycle_through_all_nodes() {
    for nodes in [2usize, 8, 1000] {
        let chain = Chain::new(nodes, 64);
        let mut at = chain.start();
        let first = at.address();
        let mut seen = std::collections::BTreeSet::from([first]);
        for _ in 1..nodes {
            at.follow::<1>();
            assert!(seen.insert(at.address()), "{nodes}: back too early");
        }
        at.follow::<1>();
        assert_eq!(at.address(), first);
        at.evict(nodes as u64);
        assert_eq!(at.address(), first, "an eviction changes nothing");
    }
}

#[test]
fn a_chase_goes_on_where_it_stopped() {
    use crate::cell::Surrounding;
    use crate::surroundings::L2Miss;
    let chain = Chain::new(100, 128);
    let chase = Rc::new(L2Miss::new(chain));
    let mut cell = Cell {
        surrounding: Rc::clone(&chase),
        operation: alone,
    };
    cell.batch(1, stamp);
    let mut expected = chain.start();
    for _ in 0..COPIES {
        expected.follow::<1>();
    }
    assert_eq!(chase.begin(95).address(), expected.address());
    // Round the end: 8 and 95 of 100.
    expected.follow::<95>();
    assert_eq!(chase.begin(1).address(), expected.address());
}

#[test]
fn the_chase_is_larger_than_the_cache_that_it_must_miss() {
    let lines = |l2: Option<u64>, l3: Option<u64>| CacheSizes { l2, l3 }.lines() * 64;
    assert_eq!(
        lines(Some(512 << 10), Some(32 << 20)),
        2 << 20,
        "four times the second level"
    );
    assert_eq!(
        lines(Some(1 << 20), Some(6 << 20)),
        3 << 20,
        "at most half of the third"
    );
    assert_eq!(
        lines(Some(1 << 20), Some(1 << 20)),
        (1 << 20) + (1 << 18),
        "but larger than the second"
    );
    assert_eq!(lines(None, None), 8 << 20);
    assert_eq!(lines(Some(1 << 30), None), 32 << 20, "within bounds");
    assert_eq!(lines(Some(0), Some(0)), 1024 * 64);
}

#[test]
fn what_is_not_known_about_caches_is_said() {
    let told = |l2: Option<u64>, l3: Option<u64>| CacheSizes { l2, l3 }.describe();
    assert!(told(Some(1 << 20), Some(32 << 20)).contains("the L2 has 1.0 MiB"));
    assert!(told(None, None).contains("cannot be read, 2.0 MiB assumed"));
    assert!(told(None, None).contains("not known"));
    assert!(told(Some(1 << 20), Some(1 << 20)).contains("the L3 is smaller"));
}
