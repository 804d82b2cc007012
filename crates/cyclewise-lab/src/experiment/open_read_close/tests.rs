//! Real runs, and the errors of runs that fail.

use super::*;
use crate::error::Status;
use crate::sys::affinity;
use std::time::{Duration, Instant};

fn crowd(count: u32, iterations: u64) -> Processes {
    let target = Arc::new(Target::create(&std::env::temp_dir()).unwrap());
    Processes::new(target, affinity::allowed().unwrap(), count, iterations)
}

#[test]
fn every_iteration_of_every_process_is_counted() {
    for count in [1, 2, 3] {
        let run = crowd(count, 500).run().unwrap();
        assert_eq!(run.ops, u64::from(count) * 500);
        assert!(run.seconds > 0.0 && run.seconds.is_finite());
    }
}

#[test]
fn a_file_that_went_missing_is_named_as_the_cause() {
    let target = Arc::new(Target::create(&std::env::temp_dir()).unwrap());
    let path = std::path::Path::new(target.path().to_str().unwrap());
    std::fs::remove_file(path).unwrap();
    let error = Processes::new(Arc::clone(&target), affinity::allowed().unwrap(), 2, 10)
        .run()
        .unwrap_err();
    insta::assert_snapshot!(error, @"p2: cannot open its file: No such file or directory (os error 2); do not change the temporary directory or the cpuset while it runs");
}

#[test]
fn a_cpu_that_cannot_be_used_stops_everyone_at_once() {
    let target = Arc::new(Target::create(&std::env::temp_dir()).unwrap());
    let good = affinity::allowed().unwrap()[0];
    let start = Instant::now();
    let error = Processes::new(target, vec![good, 1023], 2, 10).run().unwrap_err();
    assert!(error.message.contains("cannot pin"), "{}", error.message);
    assert!(start.elapsed() < Duration::from_secs(25), "the barrier was not broken");
}

#[test]
fn the_file_is_512_bytes_and_leaves_with_its_directory() {
    let target = Target::create(&std::env::temp_dir()).unwrap();
    let path = std::path::Path::new(target.path().to_str().unwrap()).to_path_buf();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!((bytes.len(), &bytes[..6]), (512, b"hello\n".as_slice()));
    drop(target);
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let error = Target::create(std::path::Path::new("/does/not/exist")).err().unwrap();
    assert_eq!(error.status, Status::Unsupported);
    insta::assert_snapshot!(error, @"cannot make its file in /does/not/exist: No such file or directory (os error 2); set TMPDIR to a writable directory");
}

#[test]
fn counts_are_the_sources_up_to_the_machine_or_just_those_asked_for() {
    assert_eq!(counts(&[], 2).unwrap(), [1, 2]);
    assert_eq!(counts(&[], 12).unwrap(), [1, 2, 4, 8, 10]);
    assert_eq!(counts(&[], 1000).unwrap(), COUNTS);
    assert_eq!(counts(&[3, 1, 3, 500], 2).unwrap(), [3, 1, 500]);
    for absurd in [0, MOST + 1, u32::MAX] {
        assert_eq!(counts(&[1, absurd], 2).unwrap_err().status, Status::Usage);
    }
}

#[test]
fn counts_are_held_against_one_process_and_over_subscription_is_noted() {
    let cpus = affinity::allowed().unwrap().len() as u32;
    let options = Options {
        mode: Mode::Quick,
        threads: vec![cpus + 1, 1],
        ..Options::default()
    };
    let mut setup = setup(&options).unwrap();
    // The counts, and lockref against mutex and rwlock for each.
    assert_eq!(setup.compare, [(0, 1), (2, 3), (2, 4), (5, 6), (5, 7)]);
    let names: Vec<&str> = setup.samplers.iter().map(|s| s.name()).collect();
    assert_eq!(names[5..], ["lockref-t1", "mutex-t1", "rwlock-t1"]);
    assert_eq!(setup.control, crate::runner::Control::Repeat(1));
    assert!(
        setup.notes.iter().any(|n| n.contains("over-subscribed")),
        "{:?}",
        setup.notes
    );
    for subject in &mut setup.samplers {
        let value = subject.sample().unwrap().value;
        assert!(value > 0.0 && value.is_finite(), "{}: {value}", subject.name());
    }
}
