//! A filter that fakes open(2), with 0 for the descriptor: the clock does not take standard input for its file.

use crate::common::filter;
use crate::common::harness::{Check, checks};
use cyclewise::clock::Instant;

pub(crate) const CHECKS: &[Check] = checks![
    standard_input_is_neither_read_nor_mapped_nor_closed,
    twin_that_answer_is_standard_input,
];

/// Makes a short file standard input; where it is read from next.
fn short_input() -> impl Fn() -> i64 {
    // SAFETY: a C string.
    let file = unsafe { libc::memfd_create(c"input".as_ptr(), 0) };
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::dup2(file, 0) }, 0);
    // SAFETY: reads as many bytes as there are.
    assert_eq!(unsafe { libc::pwrite(0, b"theirs".as_ptr().cast(), 6, 0) }, 6);
    // SAFETY: takes numbers.
    || unsafe { libc::lseek(0, 0, libc::SEEK_CUR) }
}

fn pretend_open() {
    filter::refuse(libc::SYS_openat, &[], 0);
    #[cfg(target_arch = "x86_64")]
    filter::refuse(libc::SYS_open, &[], 0);
}

fn standard_input_is_neither_read_nor_mapped_nor_closed() {
    let place = short_input();
    assert_eq!(place(), 0);
    pretend_open();
    let first = Instant::now();
    while Instant::now() <= first {
        std::hint::spin_loop();
    }
    assert_eq!(place(), 0, "read, or closed");
}

fn twin_that_answer_is_standard_input() {
    use std::io::Read;
    let place = short_input();
    pretend_open();
    let mut text = String::new();
    std::fs::File::open("/sys/whatever")
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!((text.as_str(), place()), ("theirs", -1), "read, and closed");
}
