//! Uprobes on tests of a key: what the kernel writes, what the test does then, and that the library says so. By hand, and by the kernel.
//!
//! The kernel takes the instruction from the file: at its default. It puts a breakpoint on it, since Linux 6.18 a CALL over a NOP of 5
//! bytes once it was hit, and writes the instruction's first bytes back when the uprobe goes.

use crate::common::child::in_child;
use crate::common::harness::{Check, checks};
use crate::common::text::{bytes, poke};
use crate::paged::{PAGED, all_say, sites};
use cyclewise::error::Refusal;
use std::ffi::CString;
use std::os::fd::{FromRawFd, OwnedFd};

pub(crate) const CHECKS: &[Check] = checks![
    a_uprobe_that_was_there_is_refused,
    a_uprobe_that_comes_to_a_changed_test_is_seen,
    what_a_uprobe_leaves_is_seen_and_mended,
    text_that_the_kernel_read_again_is_seen_and_mended,
    twin_without_a_look_a_key_is_on_and_its_tests_say_off,
    uprobes_of_the_kernel,
];

const NOP: [u8; 5] = [0x0f, 0x1f, 0x44, 0, 0];

fn site() -> usize {
    sites()[5]
}

fn says(at: usize) -> bool {
    // SAFETY: a function without arguments begins at the site.
    let function = unsafe { std::mem::transmute::<usize, extern "C" fn() -> u32>(at) };
    function() != 0
}

fn a_uprobe_that_was_there_is_refused() {
    let at = site();
    poke(at, &[0xcc]);
    assert_eq!(PAGED.enable(), Err(Refusal::Breakpoint { at }));
    assert_eq!(PAGED.check(), Err(Refusal::Breakpoint { at }));
    poke(at, &[0xe8, 1, 2, 3, 4]);
    let refusal = PAGED.enable().unwrap_err();
    assert_eq!(refusal, Refusal::UnexpectedByte { at, found: 0xe8 });
    assert!(refusal.to_string().contains("uprobe"), "{refusal}");
    poke(at, &NOP);
    assert_eq!(PAGED.check(), Ok(()));
    PAGED.enable().unwrap();
    assert!(all_say(true));
}

fn a_uprobe_that_comes_to_a_changed_test_is_seen() {
    PAGED.enable().unwrap();
    assert_eq!(PAGED.check(), Ok(()));
    let at = site();
    poke(at, &[0xcc]);
    let refused = Err(Refusal::Breakpoint { at });
    assert_eq!([PAGED.check(), PAGED.enable(), PAGED.disable()], [refused; 3]);
    // What changes no value is counted all the same: a destructor that gives up its use could not do anything about it.
    assert_eq!((PAGED.inc(), PAGED.users()), (Ok(()), 1));
    assert_eq!((PAGED.dec(), PAGED.users()), (Ok(()), 0));
    poke(at, &[0xe9]);
    assert_eq!(PAGED.check(), Ok(()));
    PAGED.disable().unwrap();
    assert!(all_say(false));
}

/// The first byte of the NOP before those of the jump: 0F 05 is SYSCALL.
fn what_a_uprobe_leaves_is_seen_and_mended() {
    for on in [true, false] {
        in_child(|| {
            PAGED.enable().unwrap();
            let at = site();
            poke(at, &[0x0f]);
            let torn = bytes(at);
            assert!(torn != NOP && torn[0] == 0x0f);
            assert_eq!(PAGED.check(), Err(Refusal::UnexpectedByte { at, found: 0x0f }));
            let set = if on { PAGED.enable() } else { PAGED.disable() };
            assert_eq!((set, PAGED.check()), (Ok(()), Ok(())));
            assert!(all_say(on));
        })
        .unwrap();
    }
}

/// madvise(2) with MADV_DONTNEED: what was written is dropped.
fn read_again(at: usize) {
    let page = (at & !4095) as *mut libc::c_void;
    // SAFETY: the page is read from the file again, where its code is whole.
    assert_eq!(unsafe { libc::madvise(page, 4096, libc::MADV_DONTNEED) }, 0);
}

fn text_that_the_kernel_read_again_is_seen_and_mended() {
    PAGED.enable().unwrap();
    let at = site();
    read_again(at);
    assert!(!says(at));
    assert_eq!(PAGED.check(), Err(Refusal::UnexpectedByte { at, found: 0x0f }));
    PAGED.enable().unwrap();
    assert_eq!(PAGED.check(), Ok(()));
    assert!(all_say(true));
}

fn twin_without_a_look_a_key_is_on_and_its_tests_say_off() {
    PAGED.enable().unwrap();
    read_again(site());
    assert!(PAGED.__flag() && !all_say(true));
}

/// Adds a uprobe at an address of this program; its reason where it may not.
fn uprobe(at: usize) -> Result<OwnedFd, String> {
    let kind = std::fs::read_to_string("/sys/bus/event_source/devices/uprobe/type").map_err(|e| e.to_string())?;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let number = |digits| usize::from_str_radix(digits, 16).unwrap();
    let offset = maps.lines().find_map(|line| {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let offset = number(fields.nth(1)?);
        (number(start)..number(end))
            .contains(&at)
            .then(|| at - number(start) + offset)
    });
    let program = CString::new(std::env::current_exe().unwrap().to_str().unwrap()).unwrap();
    // struct perf_event_attr, include/uapi/linux/perf_event.h: type and size, sample_period, config1 and config2.
    let mut attributes = [0_u64; 16];
    attributes[0] = kind.trim().parse::<u64>().unwrap() | 128 << 32;
    attributes[2] = 1;
    attributes[7] = program.as_ptr().addr() as u64;
    attributes[8] = offset.unwrap() as u64;
    let close_on_exec = 8;
    // SAFETY: reads the attributes, and the path whose address is among them.
    let number = unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, close_on_exec) };
    if number < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: just opened.
    Ok(unsafe { OwnedFd::from_raw_fd(number as i32) })
}

fn is_of_a_uprobe(refusal: Refusal, site: usize) -> bool {
    matches!(refusal, Refusal::Breakpoint { at } | Refusal::UnexpectedByte { at, found: 0xe8 } if at == site)
}

fn uprobes_of_the_kernel() {
    if let Err(reason) = uprobe(site()) {
        println!("skipped: no uprobe can be added: {reason}");
        return;
    }
    for hits in [0, 3] {
        in_child(|| {
            let at = site();
            // On a test at its default: refused.
            let probe = uprobe(at).unwrap();
            assert!((0..hits).all(|_| !says(at)));
            assert!(is_of_a_uprobe(PAGED.enable().unwrap_err(), at));
            drop(probe);
            PAGED.enable().unwrap();
            assert!(all_say(true));
            // On one that jumps: the kernel does not ask.
            let probe = uprobe(at).unwrap();
            assert!((0..hits).all(|_| !says(at)), "executes what is in the file");
            assert!(is_of_a_uprobe(PAGED.check().unwrap_err(), at));
            assert!(is_of_a_uprobe(PAGED.disable().unwrap_err(), at));
            drop(probe);
            assert!(
                matches!(PAGED.check(), Err(Refusal::UnexpectedByte { .. })),
                "{:x?}",
                bytes(at)
            );
            PAGED.enable().unwrap();
            assert_eq!(PAGED.check(), Ok(()));
            assert!(all_say(true));
            PAGED.disable().unwrap();
            assert!(all_say(false));
        })
        .unwrap();
    }
}
