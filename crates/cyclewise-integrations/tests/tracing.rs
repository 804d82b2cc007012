//! tracing: the stamps of lines, beside those that tracing-subscriber writes itself, and across threads.

use cyclewise::clock::Instant;
use cyclewise::clock::tracing::{Uptime, WallTime};
use std::fmt;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

fn written(timer: &impl FormatTime) -> String {
    let mut text = String::new();
    timer.format_time(&mut Writer::new(&mut text)).unwrap();
    text
}

/// Whether a stamp lies between two of tracing-subscriber's own, which have microseconds, as the process's clock lies within one of the
/// kernel's. Stamps of one year length sort as text.
fn lies_between(timer: &impl FormatTime) -> bool {
    let before = written(&SystemTime);
    std::thread::sleep(Duration::from_micros(10));
    let ours = written(timer);
    std::thread::sleep(Duration::from_micros(10));
    let after = written(&SystemTime);
    let micros = |stamp: &str| stamp[..26].to_owned();
    assert_eq!((ours.len(), before.len()), (30, 27), "{ours} {before}");
    micros(&before) <= micros(&ours) && micros(&ours) <= micros(&after)
}

/// Tries again: the wall clock may be set between any two of them.
#[test]
fn a_wall_time_is_the_system_s() {
    let timer = WallTime::new();
    assert!((0..100).any(|_| lies_between(&timer)));
}

/// The twin: a timer that is a second late.
#[test]
fn a_wall_time_that_is_wrong_is_caught() {
    struct Late;
    impl FormatTime for Late {
        fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
            std::thread::sleep(Duration::from_millis(1));
            let mut stamp = written(&WallTime::new());
            stamp.replace_range(..4, "1999");
            write!(writer, "{stamp}")
        }
    }
    assert!(!(0..100).any(|_| lies_between(&Late)));
}

#[test]
fn an_uptime_is_seconds_since_its_zero() {
    let zero = Instant::now();
    let stamp = written(&Uptime::from(zero));
    let longest = zero.elapsed();
    let seconds: f64 = stamp.trim_start().strip_suffix('s').unwrap().parse().unwrap();
    assert!((0.0..=longest.as_secs_f64()).contains(&seconds), "{stamp}");
    assert_eq!(stamp.split_once('.').unwrap().1.len(), "123456789s".len());
    assert!(
        written(&Uptime::from(
            zero - Duration::from_secs(12_345).min(Duration::from_nanos(zero.as_nanos()))
        )) > stamp
    );
}

/// A line that is written because of another has no earlier stamp.
#[test]
fn stamps_follow_each_other_from_thread_to_thread() {
    let timer = Uptime::new();
    let (to_them, from_us) = mpsc::sync_channel::<String>(0);
    let (to_us, from_them) = mpsc::sync_channel::<String>(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for theirs in from_us {
                let ours = written(&timer);
                assert!(theirs <= ours, "{theirs} {ours}");
                to_us.send(ours).unwrap();
            }
        });
        let mut last = String::new();
        for _ in 0..2000 {
            let ours = written(&timer);
            assert!(last <= ours, "{last} {ours}");
            to_them.send(ours).unwrap();
            last = from_them.recv().unwrap();
        }
        drop(to_them);
    });
}

/// Bytes that a subscriber writes.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_of_a_subscriber_begin_with_the_stamp() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_timer(WallTime::new())
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!(answer = 42, "first");
        tracing::info_span!("work").in_scope(|| tracing::info!("second"));
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let stamps: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(
        stamps.len() == 2 && stamps.iter().all(|stamp| stamp.len() == 30 && stamp.ends_with('Z')),
        "{text}"
    );
    assert!(text.contains("answer=42") && text.contains("work"), "{text}");
}
