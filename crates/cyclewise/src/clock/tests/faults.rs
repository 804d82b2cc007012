//! Faults, injected through a mock: no reading is below the one before, and the status names the fault.

use super::super::{ClocksourceName, Mode, PerTask, Reason};
use super::checked_reader::{CheckedReader, HZ};
use core::time::Duration;
use std::format;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

const fn ticks(ms: i64) -> i64 {
    ms * (HZ as i64 / 1000)
}

/// Injects `fault` into a warm clock, reads on, and returns the recorded reason. The clock must be well again at the
/// end.
fn after(fault: impl FnOnce(&CheckedReader)) -> Option<Reason> {
    let mut reader = CheckedReader::warm();
    // The bound requires a steady counter.
    reader.checks_bound = false;
    fault(&reader);
    reader.read_for(100 * MS, 50 * US);
    (reader.checks_bound, reader.max_error_ns) = (true, 0);
    reader.read_for(100 * MS, 50 * US);
    assert!(reader.max_error_ns < 300, "{} ns off", reader.max_error_ns);
    assert_eq!(reader.clock.status().mode, Mode::Counter);
    reader.clock.status().reason
}

#[test]
fn a_fault_is_noticed_and_named() {
    use Reason::{CounterJumped, CounterWentBack, Disrupted, RateStep, Suspended};
    let night = Duration::from_secs(600);
    let noticed = |what: &str, fault: &dyn Fn(&CheckedReader), reason| {
        assert_eq!(after(fault), Some(reason), "{what}");
    };
    noticed(
        "a suspend, which does not count",
        &|reader| reader.mock.suspend(night),
        Suspended,
    );
    let restart = |reader: &CheckedReader| {
        reader.mock.suspend(night);
        reader.mock.jump(-ticks(4_200_000));
    };
    noticed("a suspend with a counter that restarts", &restart, Suspended);
    for ms in [2, 20, 20_000] {
        noticed(
            &format!("{ms} ms ahead"),
            &|reader| reader.mock.jump(ticks(ms)),
            CounterJumped,
        );
    }
    for ms in [40, 1000, 3_600_000] {
        noticed(
            &format!("{ms} ms back"),
            &|reader| reader.mock.jump(-ticks(ms)),
            CounterWentBack,
        );
    }
    for ppm in [5000.0, -5000.0] {
        noticed(
            &format!("the kernel's rate by {ppm} ppm"),
            &|reader| reader.mock.slew(ppm),
            RateStep,
        );
        let rate = |reader: &CheckedReader| reader.mock.set_counter_rate(HZ, ppm);
        noticed(&format!("the counter's rate by {ppm} ppm"), &rate, CounterJumped);
    }
    noticed("a machine that was moved", &|reader| reader.mock.disrupt(), Disrupted);
}

/// Past the end of the last segment and back into it: the gap opened in between stays open.
#[test]
fn a_counter_that_jumps_ahead_and_back_steps_nobody_back() {
    let mut reader = CheckedReader::warm();
    reader.checks_bound = false;
    for ms in [9, 20, 41] {
        reader.mock.jump(ticks(ms));
        reader.read();
        reader.mock.jump(-ticks(ms));
        reader.read();
        reader.read_for(100 * MS, 50 * US);
    }
    assert_eq!(reader.clock.status().mode, Mode::Counter);
}

/// As in a child of fork whose parent held the lock, or after a thread was stopped with it: nobody waits.
#[test]
fn a_lock_that_is_never_released_leaves_the_kernels_clock() {
    let mut reader = CheckedReader::warm();
    let held = reader.clock.updater.try_lock().unwrap();
    core::mem::forget(held);
    reader.read_for(Duration::from_secs(1), 50 * US);
    assert!(reader.max_error_ns < 100, "{} ns off", reader.max_error_ns);
    assert_eq!(reader.clock.status().mode, Mode::Starting);
    assert_eq!(reader.clock.status().reason, None);
}

/// Jumps before the rate is known: until then readers get the kernel's clock, and the rate is right afterwards.
#[test]
fn a_counter_that_jumps_while_its_rate_is_learnt_misleads_nobody() {
    for jump in [1, 5, 26, 1000].into_iter().flat_map(|ms| [ms, -ms]) {
        for at in (0..).map(|step| step * 50 * US) {
            let mut reader = CheckedReader::new();
            reader.read();
            reader.read_for(at, 50 * US);
            if reader.clock.status().mode == Mode::Counter {
                break;
            }
            reader.mock.jump(ticks(jump));
            reader.read_for(100 * MS, 50 * US);
            assert!(
                reader.max_error_ns < 300,
                "{jump} ms after {at:?}: {} ns off",
                reader.max_error_ns
            );
            assert_eq!(reader.clock.status().mode, Mode::Counter);
        }
    }
}

/// The twin of [`CheckedReader::jump_back`]: a jump that it would allow, but that was not announced, is caught.
#[test]
#[should_panic(expected = " after ")]
fn a_step_back_that_is_not_announced_is_caught() {
    let mut reader = CheckedReader::warm();
    reader.checks_bound = false;
    for _ in 0..100 {
        reader.mock.advance(50 * US);
        reader.read();
        reader.mock.jump(-ticks(1) / 50);
        reader.read();
    }
}

/// By less than the age of the segment: no single reading shows it. Each thread is protected from a step back, and the
/// next anchor detects the jump.
#[test]
fn a_counter_that_jumps_back_a_little_does_not_step_a_thread_back() {
    let mut reader = CheckedReader::warm();
    let mut last = reader.clock.now_as::<PerTask>();
    for step in 0..2000 {
        if step == 1000 {
            reader.mock.jump(-ticks(1));
        }
        reader.mock.advance(20 * US);
        let now = reader.clock.now_as::<PerTask>();
        assert!(now >= last, "{now:?} after {last:?}");
        last = now;
    }
    assert!(matches!(
        reader.clock.status().reason,
        Some(Reason::CounterJumped | Reason::CounterWentBack)
    ));
    reader.checks_bound = false;
    reader.read_for(100 * MS, 50 * US);
    assert_eq!(reader.clock.status().mode, Mode::Counter);
}

const SECOND_NS: i64 = 1_000_000_000;

/// In another time namespace, or restored from a checkpoint on another machine, whose counter is anywhere: every reading is of the
/// kernel's clock as it is now.
#[test]
fn kernels_clocks_that_were_moved_are_followed() {
    let moves = [10_000 * SECOND_NS, -5 * SECOND_NS, -3000 * SECOND_NS, 0].into_iter();
    for (ns, jump) in moves.flat_map(|ns| [(ns, 0), (ns, -ticks(3_000_000)), (ns, ticks(5_000_000))]) {
        let mut reader = CheckedReader::warm();
        reader.mock.jump(jump);
        reader.clock.now_as::<PerTask>();
        reader.clock.recent();
        reader.move_clocks(ns);
        let floored = reader.clock.now_as::<PerTask>().as_nanos();
        assert!(reader.mock.peek_ns().abs_diff(floored) < 1_000);
        assert!(reader.mock.peek_ns().abs_diff(reader.clock.recent().as_nanos()) < 1_000);
        reader.read_for(100 * MS, 50 * US);
        assert!(reader.max_error_ns < 1_000, "{} ns off", reader.max_error_ns);
        // The counter is read again, and examined at the latest after twice the usual time.
        assert_eq!(reader.clock.status().mode, Mode::Counter);
        reader.mock.set_trust(Err(Reason::NotInvariant));
        reader.read_for(Duration::from_secs(33), 500 * US);
        assert_eq!(reader.clock.status().mode, Mode::Kernel);
    }
}

/// The twin: so little may be the clock's own lead, and is waited for.
#[test]
#[should_panic(expected = "ns off")]
fn a_clock_that_waits_for_the_kernels_is_caught() {
    let mut reader = CheckedReader::warm();
    reader.checks_bound = false;
    reader.move_clocks(-50_000_000);
    reader.read_for(20 * MS, 50 * US);
    assert!(reader.max_error_ns < 1_000, "{} ns off", reader.max_error_ns);
}

#[test]
fn a_counter_that_the_kernel_distrusts_is_given_up() {
    let mut reader = CheckedReader::warm();
    let reason = Reason::Clocksource(ClocksourceName::new("hpet"));
    reader.mock.set_trust(Err(reason));
    reader.read_for(Duration::from_secs(17), 100 * US);
    let status = reader.clock.status();
    assert_eq!((status.mode, status.reason), (Mode::Kernel, Some(reason)));
    // Permanently: the counter's recovery does not matter.
    reader.mock.set_trust(Ok(()));
    reader.mock.jump(ticks(1000));
    reader.max_error_ns = 0;
    reader.read_for(Duration::from_secs(5), 100 * US);
    assert_eq!((reader.clock.status().mode, reader.max_error_ns), (Mode::Kernel, 0));
}

/// Out of descriptors for a while, as a server may be when an examination is due.
#[test]
fn a_clock_that_cannot_be_examined_goes_on_as_it_was() {
    let mut reader = CheckedReader::warm();
    reader.mock.set_trust(Err(Reason::NotExamined));
    reader.read_for(Duration::from_secs(18), 100 * US);
    let status = reader.clock.status();
    assert_eq!((status.mode, status.reason), (Mode::Counter, Some(Reason::NotExamined)));
    assert!((1..5).contains(&status.faults), "once a second: {}", status.faults);
    // The result of the next possible examination counts, within a second.
    reader.mock.set_trust(Err(Reason::UnknownClocksource));
    reader.read_for(Duration::from_secs(2), 100 * US);
    assert_eq!(reader.clock.status().mode, Mode::Kernel);
}

#[test]
fn a_counter_is_not_read_before_it_was_examined() {
    let mut reader = CheckedReader::new();
    reader.mock.set_trust(Err(Reason::NotExamined));
    reader.read_for(Duration::from_secs(3), 100 * US);
    let status = reader.clock.status();
    assert_eq!((status.mode, status.hz, reader.max_error_ns), (Mode::Starting, None, 0));
    reader.mock.set_trust(Ok(()));
    reader.read_for(Duration::from_secs(2), 100 * US);
    assert_eq!(reader.clock.status().mode, Mode::Counter);
}

#[test]
fn a_counter_that_cannot_be_trusted_at_the_start_is_never_read() {
    for reason in [Reason::NotInvariant, Reason::UnknownClocksource, Reason::NoCounter] {
        let mut reader = CheckedReader::new();
        reader.mock.set_trust(Err(reason));
        reader.read_for(20 * MS, 50 * US);
        let status = reader.clock.status();
        assert_eq!(
            (status.mode, status.reason, status.anchors),
            (Mode::Kernel, Some(reason), 0)
        );
        assert_eq!(reader.max_error_ns, 0, "it is the kernel's clock");
    }
}

#[test]
fn a_counter_with_too_many_faults_is_given_up() {
    let mut reader = CheckedReader::warm();
    reader.checks_bound = false;
    for _ in 0..17 {
        reader.mock.jump(ticks(50));
        reader.read_for(100 * MS, 50 * US);
    }
    let status = reader.clock.status();
    assert_eq!((status.mode, status.reason), (Mode::Kernel, Some(Reason::Unsteady)));
}

/// A counter that is given up while a segment is still open, as where an upkeep thread refreshes the clock: the segment gets no
/// successor, also if the rate is learnt again before its end.
#[test]
fn a_counter_that_was_given_up_is_not_used_again_however_often_the_clock_is_refreshed() {
    let mut reader = CheckedReader::warm();
    reader.checks_bound = false;
    let refresh_for = |reader: &mut CheckedReader, steps| {
        for _ in 0..steps {
            reader.mock.advance(600 * US);
            reader.clock.refresh();
            reader.read();
        }
    };
    for _ in 0..17 {
        reader.mock.jump(ticks(1) / 10);
        refresh_for(&mut reader, 100);
    }
    assert_eq!(reader.clock.status().mode, Mode::Kernel);
    let anchors = reader.clock.status().anchors;
    reader.max_error_ns = 0;
    refresh_for(&mut reader, 100);
    assert_eq!((reader.max_error_ns, reader.clock.status().anchors), (0, anchors));
}

/// Neither is a fault of the counter: a laptop sleeps every night, and a guest may be migrated every hour.
#[test]
fn a_machine_that_sleeps_or_moves_often_keeps_its_counter() {
    let mut reader = CheckedReader::warm();
    reader.checks_bound = false;
    for _ in 0..20 {
        reader.mock.suspend(Duration::from_secs(600));
        reader.read_for(20 * MS, 50 * US);
        reader.mock.disrupt();
        reader.read_for(20 * MS, 50 * US);
    }
    let status = reader.clock.status();
    assert_eq!((status.mode, status.faults), (Mode::Counter, 40));
}
