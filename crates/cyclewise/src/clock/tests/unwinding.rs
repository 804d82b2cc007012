//! Sources that panic, each method at each of its calls, and sources that read the clock that calls them: the clock
//! goes on, never back, and releases its lock.

use super::super::{Clock, Mock, Mode, PerTask, Reason, Source, Upkeep};
use super::checked_reader::HZ;
use super::until;
use core::cell::Cell;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32};
use core::time::Duration;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

/// The methods of a source, by number.
const METHODS: usize = 10;
const BRACKETED: usize = 3;

/// A mock that calls a function before each of its methods, with the method's number and its number of earlier calls.
struct Watched<F> {
    mock: Mock,
    calls: [AtomicU32; METHODS],
    before: F,
}

impl<F: Fn(usize, u32)> Watched<F> {
    fn new(before: F) -> Self {
        let mock = Mock::new(HZ);
        mock.reading_takes(Duration::from_nanos(10));
        let calls = Default::default();
        Self { mock, calls, before }
    }

    fn called(&self, method: usize) -> &Mock {
        let calls = self.calls[method].fetch_add(1, Relaxed);
        (self.before)(method, calls);
        &self.mock
    }
}

/// Each method of the mock's, by its number.
macro_rules! watched {
    ($($number:literal $method:ident($($argument:ident)?) -> $result:ty;)*) => {
        impl<F: Fn(usize, u32)> Source for Watched<F> {
            $(fn $method(&self $(, $argument: u64)?) -> $result {
                self.called($number).$method($($argument)?)
            })*
        }
    };
}

watched! {
    0 bare() -> u64;
    1 load_ordered() -> u64;
    2 dependent_load() -> u64;
    3 bracketed() -> u64;
    4 monotonic_ns() -> u64;
    5 raw_ns() -> u64;
    6 boottime_ns() -> u64;
    7 examine() -> Result<(), Reason>;
    8 disruptions() -> Option<u64>;
    9 raise_floor(ns) -> u64;
}

/// Reads a clock from its start on, through gaps and a disruption. Calls `unwound` after a reading that unwinds.
/// Returns the final mode.
fn read_to_the_end<F: Fn(usize, u32)>(clock: &Clock<Watched<F>>, unwound: impl Fn()) -> Mode {
    let mut last = 0;
    for step in 0..200u64 {
        let mock = &clock.source().mock;
        match step {
            60 | 120 => mock.advance(Duration::from_millis(20)),
            90 => mock.disrupt(),
            _ => mock.advance(Duration::from_micros(100)),
        }
        let read = catch_unwind(AssertUnwindSafe(|| {
            clock.refresh();
            let now = clock.now_as::<PerTask>().as_nanos().min(clock.now().as_nanos());
            clock.reading::<super::super::DependentLoad>();
            now
        }));
        match read {
            Ok(now) => {
                assert!(now >= last, "{now} after {last}");
                last = now;
            }
            Err(_) => unwound(),
        }
    }
    clock.status().mode
}

/// For each method and each of its calls, lets that call panic. Returns the number of panics, and of clocks that are
/// well at the end.
fn every_panic(unwound: impl Fn(&Clock<Watched<Box<dyn Fn(usize, u32)>>>)) -> (u32, u32) {
    let whole = Clock::new(Watched::new(|_, _| ()));
    assert_eq!(
        read_to_the_end(&whole, || unreachable!("nothing panics")),
        Mode::Counter
    );
    let (mut panics, mut well) = (0, 0);
    for method in 0..METHODS {
        let calls = whole.source().calls[method].load(Relaxed);
        assert!(calls > 0, "method {method} is not called");
        for call in 0..calls {
            let before: Box<dyn Fn(usize, u32)> = Box::new(move |m, c| {
                if (m, c) == (method, call) {
                    resume_unwind(Box::new(()));
                }
            });
            let clock = Clock::new(Watched::new(before));
            let seen = Cell::new(0);
            // Reading the status at the end may panic too.
            let mode = catch_unwind(AssertUnwindSafe(|| {
                read_to_the_end(&clock, || {
                    seen.set(seen.get() + 1);
                    unwound(&clock);
                })
            }));
            panics += seen.get();
            well += u32::from(mode.map_or(seen.get() == 0, |mode| mode == Mode::Counter) && seen.get() < 2);
        }
    }
    (panics, well)
}

#[test]
fn a_source_that_panics_leaves_a_clock_that_goes_on() {
    let (panics, well) = every_panic(|_| ());
    assert!(panics as usize > 500, "{panics}");
    assert!(well >= panics, "{well} of {panics}");
}

/// The twin: a lock that is not released when its holder unwinds.
#[test]
fn a_lock_that_is_not_released_is_caught() {
    let (panics, well) = every_panic(|clock| core::mem::forget(clock.updater.try_lock()));
    assert!(well < panics, "{well} of {panics}");
}

/// An examination that panics does not count: the counter is not read before one has completed.
#[test]
fn a_counter_is_not_trusted_by_an_examination_that_panics() {
    let clock = Clock::new(Watched::new(|method, _| {
        if method == 7 {
            resume_unwind(Box::new(()));
        }
    }));
    assert_eq!(read_to_the_end(&clock, || ()), Mode::Starting);
    assert_eq!(clock.status().hz, None);
}

/// A source whose methods read the clock that calls them: the inner reading gets the kernel's clock or a segment's.
#[test]
fn a_source_may_read_its_own_clock() {
    use std::rc::Rc;
    type Inner = Watched<Box<dyn Fn(usize, u32)>>;
    let clock: Rc<std::cell::OnceCell<Clock<Inner>>> = Rc::default();
    let (own, inside) = (Rc::clone(&clock), Cell::new(false));
    let before: Box<dyn Fn(usize, u32)> = Box::new(move |_, _| {
        if !inside.replace(true) {
            own.get().unwrap().now();
            own.get().unwrap().refresh();
            inside.set(false);
        }
    });
    let _ = clock.set(Clock::new(Watched::new(before)));
    assert_eq!(
        read_to_the_end(clock.get().unwrap(), || unreachable!("nothing panics")),
        Mode::Counter
    );
}

/// Whether the upkeep thread panics, and an upkeep that it drops first.
struct Ends(AtomicBool, Mutex<Option<Upkeep>>);

fn ending(ends: &'static Ends) -> &'static Clock<Watched<impl Fn(usize, u32)>> {
    let before = |method, _| {
        if method == BRACKETED && std::thread::current().name() == Some("clock") {
            if ends.0.load(SeqCst) {
                resume_unwind(Box::new(()));
            }
            if let Some(upkeep) = ends.1.lock().unwrap().take() {
                drop(upkeep);
                ends.0.store(true, SeqCst);
            }
        }
    };
    Box::leak(Box::new(Clock::new(Watched::new(before))))
}

/// The thread cannot join itself: it goes on until it notices.
#[test]
fn an_upkeep_that_its_own_thread_drops_ends() {
    static ENDS: Ends = Ends(AtomicBool::new(false), Mutex::new(None));
    let clock = ending(&ENDS);
    let upkeep = Upkeep::start(clock).unwrap();
    *ENDS.1.lock().unwrap() = Some(upkeep);
    // Set after the drop, which then has not panicked.
    until(|| ENDS.0.load(SeqCst) && !clock.recent.is_kept());
}

/// The last time that an upkeep thread wrote is not returned for ever if its source panics.
#[test]
fn recent_goes_on_where_the_upkeep_thread_panics() {
    static ENDS: Ends = Ends(AtomicBool::new(false), Mutex::new(None));
    let clock = ending(&ENDS);
    let upkeep = Upkeep::start(clock).unwrap();
    until(|| clock.recent.is_kept());
    ENDS.0.store(true, SeqCst);
    until(|| !clock.recent.is_kept());
    let before = clock.recent();
    assert!(clock.recent() > before, "each reading takes 10 ns");
    drop(upkeep);
    assert!(clock.recent() > before);
}
