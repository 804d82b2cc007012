//! Domains: sections that sleep hold up their own writers alone.

use crate::common::harness::{Check, checks};
use cyclewise::rcu::{self, Domain, Rcu};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_section_holds_up_its_domain_alone,
    sections_of_a_domain_nest_and_overlap,
    a_guard_of_another_domain_is_refused,
    a_domain_that_is_dropped_runs_its_closures,
    what_waits_for_itself_panics,
    in_a_global_section_nothing_waits_for_a_domain,
];

fn a_section_holds_up_its_domain_alone() {
    let [one, other] = [Domain::new(), Domain::new()];
    let (done, ended) = channel();
    thread::scope(|scope| {
        let guard = one.read();
        scope.spawn(|| {
            other.synchronize();
            rcu::synchronize();
            one.synchronize();
            done.send(()).unwrap();
        });
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
        drop(guard);
        ended.recv().unwrap();
    });
}

fn sections_of_a_domain_nest_and_overlap() {
    let domain = Domain::new();
    let (done, ended) = channel();
    thread::scope(|scope| {
        let (first, second) = (domain.read(), domain.read());
        scope.spawn(|| {
            domain.synchronize();
            done.send(()).unwrap();
        });
        drop(first);
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
        // Sections that begin later hold nobody up.
        let later = domain.read();
        drop(second);
        ended.recv().unwrap();
        drop(later);
    });
}

fn a_guard_of_another_domain_is_refused() {
    let [one, other] = [Domain::new(), Domain::new()];
    let value = Rcu::new_in(&one, 5);
    let guard = other.read();
    let load = || *value.load(&guard);
    assert!(catch_unwind(AssertUnwindSafe(load)).is_err());
    assert_eq!(*value.load(&one.read()), 5);
}

static RAN: AtomicU64 = AtomicU64::new(0);

fn a_domain_that_is_dropped_runs_its_closures() {
    let domain = Domain::new();
    for _ in 0..200 {
        domain.defer(|| {
            RAN.fetch_add(1, SeqCst);
        });
    }
    std::mem::forget(domain.read());
    drop(domain);
    assert_eq!(RAN.load(SeqCst), 200);
}

fn what_waits_for_itself_panics() {
    let domain = Domain::default();
    for waits in [Domain::synchronize, Domain::barrier] {
        let guard = domain.read();
        assert!(catch_unwind(AssertUnwindSafe(|| waits(&domain))).is_err());
        drop(guard);
        waits(&domain);
    }
}

/// The reader of the domain ends after the writer's section: if one waited for the other, neither would end.
fn in_a_global_section_nothing_waits_for_a_domain() {
    static DOMAIN: Domain = Domain::new();
    let (begun, has_begun) = channel();
    let (over, is_over) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let _guard = DOMAIN.read();
            begun.send(()).unwrap();
            is_over.recv().unwrap();
        });
        has_begun.recv().unwrap();
        let guard = rcu::read();
        (0..10_000).for_each(|_| DOMAIN.defer(|| ()));
        drop(guard);
        over.send(()).unwrap();
    });
    DOMAIN.barrier();
    assert_eq!(DOMAIN.pending(), 0);
}
