//! Lists of threads that end early, or are another process's.

use crate::error::Refusal;
use crate::sys::proc_task::*;
use crate::sys::thread;
use std::vec::Vec;

#[test]
fn a_test_runner_and_its_test_are_two() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(list().unwrap().contains(&thread::id()));
            assert!(count().unwrap() >= 2 && !is_alone());
        });
    });
}

/// Older threads come first in the kernel's list, and it may end at any of them.
#[test]
fn a_list_that_ends_before_the_caller_is_not_foreign() {
    let full = [3, 9, 5, 7];
    for length in 0..=full.len() {
        let tids = with_caller(full[..length].to_vec(), 7, || true).unwrap();
        assert!(tids.contains(&7) && tids.is_sorted(), "{tids:?}");
        assert_eq!(tids.len(), length.max(1) + usize::from((1..4).contains(&length)));
    }
    assert_eq!(with_caller(full.to_vec(), 8, || false), Err(Refusal::ForeignProc));
    assert_eq!(with_caller(Vec::new(), 8, || false), Err(Refusal::ForeignProc));
    assert_eq!(with_caller(Vec::from([8]), 8, || unreachable!()), Ok(Vec::from([8])));
}

#[test]
fn names_that_are_not_numbers_are_left_out() {
    assert_eq!(number(b"42\0garbage"), Some(42));
    assert_eq!(number(b".\0"), None);
    assert_eq!(number(b"7"), None, "no NUL: not a record");
}
