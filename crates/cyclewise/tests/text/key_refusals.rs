//! Every refusal of a flip, provoked by a filter, a breakpoint or a changed byte: it has a type, and every site keeps its bytes.

use crate::common::child::{in_child, with_two_threads};
use crate::common::filter::{If, refuse, refuse_proc_mem, refuse_writable_text};
use crate::common::harness::{Check, checks};
use crate::common::text::{instruction_at, permissions, poke};
use crate::many::{MANY, all_say, sites, text};
use cyclewise::error::Refusal;

pub(crate) const CHECKS: &[Check] = checks![
    the_key_has_its_sites_on_several_pages,
    nothing_refused_works_alone_and_not_alone,
    alone_each_way_stands_in_for_the_other,
    alone_with_both_ways_refused,
    not_alone_the_kernels_copy_is_no_way,
    the_kernels_own_write_xor_execute,
    not_alone_with_an_mprotect_that_is_not_made,
    an_open_that_is_not_made_is_no_file,
    not_alone_without_membarrier,
    not_alone_with_a_membarrier_that_is_not_made,
    not_alone_with_a_membarrier_that_is_made_no_more,
    membarrier_that_fails_after_writing_rolls_back,
    without_proc_nothing_is_known_to_be_text,
    a_breakpoint_on_one_of_a_hundred_sites,
    a_breakpoint_on_the_prefix_of_a_site,
    another_byte_among_the_prefixes_of_a_site,
    other_bytes_on_one_of_a_hundred_sites,
    a_protection_that_cannot_be_restored_rolls_back_and_is_reported,
];

const PR_SET_MDWE: i32 = 65; // include/uapi/linux/prctl.h, since Linux 6.3
const PR_MDWE_REFUSE_EXEC_GAIN: u64 = 1;
const PRIVATE_EXPEDITED_SYNC_CORE: u32 = 1 << 5; // include/uapi/linux/membarrier.h

/// A flip that has to be refused, and to leave everything as it was.
fn refused(expected: Refusal) {
    let before = text();
    let refusal = MANY.enable().unwrap_err();
    assert_eq!(refusal, expected);
    assert_eq!(text(), before);
    assert!(!format!("{MANY:?}", MANY = *MANY).contains("on: true"));
    assert_eq!(MANY.inc(), Err(expected));
    assert_eq!(MANY.users(), 0);
}

fn system(call: &'static str, errno: i32) -> Refusal {
    Refusal::System { call, errno }
}

fn no_mprotect() -> Refusal {
    system("mprotect", libc::EACCES)
}

/// A flip there and back that has to work, and to leave no page writable.
fn works() {
    MANY.enable().unwrap();
    assert!(all_say(true));
    assert!(sites().into_iter().all(|at| permissions(at) == "r-xp"));
    MANY.disable().unwrap();
    assert!(all_say(false));
    assert!(sites().into_iter().all(|at| permissions(at) == "r-xp"));
}

fn the_key_has_its_sites_on_several_pages() {
    assert_eq!(sites().len(), 100);
    assert!(sites()[99] / 4096 > sites()[0] / 4096);
    assert!(sites().iter().all(|at| at % 8 <= 3), "a site straddles a quadword");
    assert!(all_say(false));
}

fn nothing_refused_works_alone_and_not_alone() {
    in_child(works).unwrap();
    in_child(|| with_two_threads(works)).unwrap();
}

fn alone_each_way_stands_in_for_the_other() {
    for refuse in [refuse_writable_text, refuse_proc_mem] {
        in_child(|| {
            refuse();
            works();
        })
        .unwrap();
    }
}

fn alone_with_both_ways_refused() {
    refuse_writable_text();
    refuse_proc_mem();
    refused(no_mprotect());
}

fn not_alone_the_kernels_copy_is_no_way() {
    refuse_writable_text();
    with_two_threads(|| refused(no_mprotect()));
    // The second thread is gone.
    works();
}

fn the_kernels_own_write_xor_execute() {
    // SAFETY: takes numbers.
    let rc = unsafe { libc::prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) };
    if rc != 0 {
        eprintln!("skipped: no PR_SET_MDWE, {}", std::io::Error::last_os_error());
        return;
    }
    with_two_threads(|| refused(no_mprotect()));
    works();
}

/// A store into a page that mprotect only says is writable would be SIGSEGV.
fn not_alone_with_an_mprotect_that_is_not_made() {
    refuse(libc::SYS_mprotect, &[If::has(2, libc::PROT_WRITE | libc::PROT_EXEC)], 0);
    with_two_threads(|| refused(system("mprotect", libc::ENOSYS)));
    works();
}

/// 0 is standard input, or its place.
fn an_open_that_is_not_made_is_no_file() {
    refuse(libc::SYS_openat, &[], 0);
    refuse(libc::SYS_open, &[], 0);
    refused(system("open /proc/self/maps", libc::ENOSYS));
}

fn not_alone_without_membarrier() {
    refuse(libc::SYS_membarrier, &[], libc::ENOSYS);
    with_two_threads(|| refused(system("membarrier REGISTER_PRIVATE_EXPEDITED_SYNC_CORE", libc::ENOSYS)));
    // Alone it is not needed.
    works();
}

/// A filter may say that a call went well that it has not made: cores would go on with what they have fetched.
fn not_alone_with_a_membarrier_that_is_not_made() {
    refuse(libc::SYS_membarrier, &[], 0);
    let call = "membarrier, which a filter answers with 0,";
    with_two_threads(|| refused(system(call, libc::ENOSYS)));
    works();
}

/// A filter is installed at any time, and may answer for one command alone.
fn not_alone_with_a_membarrier_that_is_made_no_more() {
    let call = "membarrier, which a filter answers with 0,";
    for conditions in [vec![], vec![If::is(0, PRIVATE_EXPEDITED_SYNC_CORE)]] {
        in_child(|| {
            with_two_threads(|| {
                works();
                refuse(libc::SYS_membarrier, &conditions, 0);
                refused(system(call, libc::ENOSYS));
            });
            works();
        })
        .unwrap();
    }
}

fn membarrier_that_fails_after_writing_rolls_back() {
    let sync_core = If::is(0, PRIVATE_EXPEDITED_SYNC_CORE);
    refuse(libc::SYS_membarrier, &[sync_core], libc::EPERM);
    with_two_threads(|| refused(system("membarrier PRIVATE_EXPEDITED_SYNC_CORE", libc::EPERM)));
}

fn without_proc_nothing_is_known_to_be_text() {
    refuse(libc::SYS_openat, &[], libc::EACCES);
    refuse(libc::SYS_open, &[], libc::EACCES);
    refused(system("open /proc/self/maps", libc::EACCES));
}

fn a_breakpoint_on_one_of_a_hundred_sites() {
    let at = sites()[57];
    poke(at, &[0xcc]);
    refused(Refusal::Breakpoint { at });
    poke(at, &[0x0f]);
    works();
}

/// The first site that has prefixes, and where its instruction begins.
fn prefixed() -> (usize, usize) {
    let starts = sites().into_iter().map(|at| (at, instruction_at(at)));
    starts
        .into_iter()
        .find(|(at, start)| start < at)
        .expect("of a hundred sites some have prefixes")
}

fn a_breakpoint_on_the_prefix_of_a_site() {
    let (_, start) = prefixed();
    poke(start, &[0xcc]);
    refused(Refusal::Breakpoint { at: start });
    poke(start, &[0x2e]);
    works();
}

fn another_byte_among_the_prefixes_of_a_site() {
    let (at, _) = prefixed();
    poke(at - 1, &[0x66]);
    refused(Refusal::UnexpectedByte {
        at: at - 1,
        found: 0x66,
    });
}

fn other_bytes_on_one_of_a_hundred_sites() {
    let (at, found) = (sites()[99] + 2, 0x40);
    poke(at, &[found]);
    refused(Refusal::UnexpectedByte { at, found });
}

fn a_protection_that_cannot_be_restored_rolls_back_and_is_reported() {
    let closing = If::is(2, (libc::PROT_READ | libc::PROT_EXEC) as u32);
    refuse(libc::SYS_mprotect, &[closing], libc::EACCES);
    with_two_threads(|| {
        let before = text();
        let errno = libc::EACCES;
        assert_eq!(MANY.enable(), Err(Refusal::StillWritable { errno }));
        assert_eq!(text(), before);
        assert!(all_say(false));
    });
}
