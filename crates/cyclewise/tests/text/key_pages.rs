//! Sites on many pages: what lies between them stays as it was, also where a change is refused half way through a call.

use crate::common::child::{in_child, with_two_threads};
use crate::common::filter::{If, refuse, refuse_proc_mem, refuse_writable_text};
use crate::common::harness::{Check, checks};
use crate::common::text::{permissions, poke};
use crate::paged::{EMPTY, PAGED, PAGES, all_say, sites, start, text};
use cyclewise::error::Refusal;

pub(crate) const CHECKS: &[Check] = checks![
    nothing_between_sites_changes,
    twin_a_byte_between_sites_is_seen,
    a_call_that_writes_in_part_is_taken_back,
    twin_a_page_that_is_not_taken_back_is_seen,
    a_call_that_writes_in_part_leaves_the_other_way,
    a_shared_page_is_refused,
    twin_a_private_page_is_written,
    a_page_that_cannot_be_read_is_refused,
    a_refusal_half_way_rolls_back,
    a_refusal_half_way_leaves_the_other_way,
    pages_opened_before_a_refusal_are_closed,
    twin_a_page_that_stays_open_is_seen,
    pages_between_that_are_no_text_are_left_alone,
    twin_one_mprotect_over_all_changes_pages_between,
];

/// All pages, those between the sites too, are as text is.
fn all_closed() -> bool {
    let pages = PAGES.iter().chain(&EMPTY);
    pages
        .into_iter()
        .all(|page| permissions(start() + page * 4096) == "r-xp")
}

/// The text with the sites' bytes left out.
fn between() -> Vec<u8> {
    let mut text = text();
    for site in sites() {
        text[site - start()..][..5].fill(0);
    }
    text
}

/// There and back.
fn works() {
    let (before, whole) = (between(), text());
    PAGED.enable().unwrap();
    assert!(all_say(true));
    assert!(between() == before, "bytes between sites changed");
    assert!(all_closed());
    PAGED.disable().unwrap();
    assert!(all_say(false));
    assert!(text() == whole && all_closed());
}

fn refused() -> Refusal {
    let before = text();
    let refusal = PAGED.enable().unwrap_err();
    assert!(text() == before, "not rolled back");
    assert!(all_say(false));
    refusal
}

fn nothing_between_sites_changes() {
    in_child(works).unwrap();
    in_child(|| with_two_threads(works)).unwrap();
    for refuse in [refuse_writable_text, refuse_proc_mem] {
        in_child(|| {
            refuse();
            works();
        })
        .unwrap();
    }
}

fn twin_a_byte_between_sites_is_seen() {
    let before = between();
    poke(start() + EMPTY[0] * 4096 + 7, &[0x91]);
    assert!(between() != before);
}

/// Replaces a page of the sites by the same bytes in a shared mapping, which the kernel does not write against its
/// protection. Returns the file.
fn share(page: usize, writable: bool) -> std::fs::File {
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd};
    let at = start() + page * 4096;
    let text = text()[page * 4096..][..4096].to_vec();
    // SAFETY: a C string.
    let number = unsafe { libc::memfd_create(c"page".as_ptr(), 0) };
    assert!(number >= 0);
    // SAFETY: just opened.
    let mut file = unsafe { std::fs::File::from_raw_fd(number) };
    file.write_all(&text).unwrap();
    // Opened for reading only, it may not be mapped for writing.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let file = if writable {
        file
    } else {
        std::fs::File::open(path).unwrap()
    };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_SHARED | libc::MAP_FIXED);
    // SAFETY: a page of this program's text, which holds the same bytes afterwards.
    let mapped = unsafe { libc::mmap(at as *mut libc::c_void, 4096, protection, flags, file.as_raw_fd(), 0) };
    assert_eq!(mapped as usize, at);
    file
}

/// Refuses to open files for reading: what is mapped where cannot be looked at again.
fn refuse_maps() {
    let (mask, value) = ((libc::O_ACCMODE | libc::O_DIRECTORY) as u32, libc::O_RDONLY as u32);
    refuse(libc::SYS_openat, &[If::Bits { arg: 2, mask, value }], libc::EACCES);
    refuse(libc::SYS_open, &[If::Bits { arg: 1, mask, value }], libc::EACCES);
}

/// A call that writes several pages ends at one of them. Where it begins depends on the address of the first.
fn a_call_that_writes_in_part_is_taken_back() {
    for page in [3, 5, 9] {
        in_child(|| {
            works();
            let _file = share(page, false);
            refuse_maps();
            assert!(matches!(refused(), Refusal::System { call: "mprotect", .. }));
        })
        .unwrap();
    }
}

/// What is written to it is written to the text of every process that maps the file.
fn a_shared_page_is_refused() {
    for (known, writable) in [(false, false), (false, true), (true, false), (true, true)] {
        in_child(|| {
            if known {
                works();
            }
            let file = share(5, writable);
            let page = || {
                use std::os::unix::fs::FileExt;
                let mut page = vec![0; 4096];
                file.read_exact_at(&mut page, 0).unwrap();
                page
            };
            let before = page();
            let at = start() + 5 * 4096;
            let is_there = |refusal| matches!(refusal, Refusal::NotText { at: found } if found.abs_diff(at) <= 4096);
            assert!(is_there(refused()));
            with_two_threads(|| assert!(is_there(refused())));
            assert!(page() == before);
        })
        .unwrap();
    }
}

/// A private copy of the same file is this process's own.
fn twin_a_private_page_is_written() {
    let file = share(5, true);
    let at = (start() + 5 * 4096) as *mut libc::c_void;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_FIXED);
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: a page of this program's text, which holds the same bytes afterwards.
    let mapped = unsafe { libc::mmap(at, 4096, protection, flags, number, 0) };
    assert_eq!(mapped, at);
    works();
}

/// Text that becomes execute-only once it is known, as far as a load can tell.
fn a_page_that_cannot_be_read_is_refused() {
    for known in [false, true] {
        in_child(|| {
            if known {
                works();
            }
            let at = start() + 5 * 4096;
            protect(at, libc::PROT_NONE);
            assert!(matches!(PAGED.enable(), Err(Refusal::NotText { .. })));
            with_two_threads(|| assert!(matches!(PAGED.enable(), Err(Refusal::NotText { .. }))));
            assert!(permissions(at) == "---p");
            protect(at, libc::PROT_READ | libc::PROT_EXEC);
            assert!(all_say(false));
            works();
        })
        .unwrap();
    }
}

/// What a writer would leave that took the refused call for one that wrote nothing.
fn twin_a_page_that_is_not_taken_back_is_seen() {
    use std::os::unix::fs::FileExt;
    let _file = share(5, false);
    let before = text();
    let mut new = before.clone();
    for site in sites() {
        new[site - start()] = 0xe9;
    }
    let memory = std::fs::File::options().write(true).open("/proc/self/mem").unwrap();
    let written = memory.write_at(&new[..8 * 4096], start() as u64).unwrap();
    assert_eq!(written, 5 * 4096, "the kernel wrote in part");
    assert!(text() != before);
}

/// The same page, opened by mprotect.
fn a_call_that_writes_in_part_leaves_the_other_way() {
    works();
    let _file = share(5, true);
    refuse_maps();
    PAGED.enable().unwrap();
    assert!(all_say(true));
    PAGED.disable().unwrap();
    assert!(all_say(false));
}

/// Writes from a page on are refused, and that page is not in a call with those before it.
fn refuse_writes_from(page: usize) {
    let value = (start() + page * 4096) as u64;
    refuse(libc::SYS_pwrite64, &[If::AtLeast { arg: 3, value }], libc::EIO);
}

fn a_refusal_half_way_rolls_back() {
    for page in [24, 60] {
        in_child(|| {
            refuse_writes_from(page);
            refuse_writable_text();
            assert!(matches!(refused(), Refusal::System { call: "mprotect", .. }));
        })
        .unwrap();
    }
}

fn a_refusal_half_way_leaves_the_other_way() {
    for page in [24, 60] {
        in_child(|| {
            refuse_writes_from(page);
            works();
        })
        .unwrap();
    }
}

/// One mprotect over several mappings changes the first ones before it is refused at a later one.
fn pages_opened_before_a_refusal_are_closed() {
    for page in [5, 11, 24, 60] {
        in_child(|| {
            works();
            let _file = share(page, false);
            with_two_threads(|| {
                let refused = std::thread::spawn(|| {
                    refuse_maps();
                    refused()
                });
                assert!(matches!(
                    refused.join().unwrap(),
                    Refusal::System { call: "mprotect", .. }
                ));
                for page in PAGES.iter().chain(&EMPTY) {
                    let permissions = permissions(start() + page * 4096);
                    assert!(permissions.starts_with("r-x"), "page {page}: {permissions}");
                }
            });
        })
        .unwrap();
    }
}

fn twin_a_page_that_stays_open_is_seen() {
    let _file = share(5, false);
    let (all, protection) = (7 * 4096, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    // SAFETY: text stays readable and executable.
    let rc = unsafe { libc::mprotect(start() as *mut libc::c_void, all, protection) };
    assert_eq!(rc, -1, "a page was not refused");
    assert_eq!(permissions(start()), "rwxp");
}

/// What `/proc/self/maps` says of a page, and how other code makes it so.
type OtherUse = (&'static str, fn(usize));

/// What other code may make of a page between sites.
const OTHER_USES: [OtherUse; 4] = [
    ("r--p", |at| protect(at, libc::PROT_READ)),
    ("rw-p", |at| protect(at, libc::PROT_READ | libc::PROT_WRITE)),
    ("---p", |at| protect(at, libc::PROT_NONE)),
    ("none", |at| {
        // SAFETY: a page of this program's text that is not executed.
        assert_eq!(unsafe { libc::munmap(at as *mut libc::c_void, 4096) }, 0);
    }),
];

fn protect(at: usize, protection: i32) {
    // SAFETY: a page of this program's text that is not executed.
    let rc = unsafe { libc::mprotect(at as *mut libc::c_void, 4096, protection) };
    assert_eq!(rc, 0);
}

/// The permissions of a page that may be unmapped.
fn permissions_if_mapped(at: usize) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let is_mapped = maps.lines().any(|line| {
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let number = |digits| usize::from_str_radix(digits, 16).unwrap();
        (number(start)..number(end)).contains(&at)
    });
    if is_mapped { permissions(at) } else { "none".to_owned() }
}

fn pages_between_that_are_no_text_are_left_alone() {
    for known in [false, true] {
        for (expected, make) in OTHER_USES {
            in_child(|| {
                if known {
                    // The writer has found this text, and does not look again.
                    works();
                }
                let at = start() + EMPTY[0] * 4096;
                make(at);
                with_two_threads(|| {
                    for on in [true, false, true] {
                        let changed = if on { PAGED.enable() } else { PAGED.disable() };
                        assert_eq!(changed, Ok(()), "{expected}");
                        assert!(all_say(on));
                        assert_eq!(permissions_if_mapped(at), expected);
                    }
                });
            })
            .unwrap();
        }
    }
}

/// What a writer would do that opened and closed everything from the first site to the last.
fn twin_one_mprotect_over_all_changes_pages_between() {
    for (before, make) in OTHER_USES {
        in_child(|| {
            let at = start() + EMPTY[0] * 4096;
            make(at);
            let length = (PAGES[13] + 1) * 4096;
            // SAFETY: text stays readable and executable.
            let rc = unsafe { libc::mprotect(start() as *mut libc::c_void, length, libc::PROT_READ | libc::PROT_EXEC) };
            if before == "none" {
                assert_eq!(rc, -1, "not refused");
            } else {
                assert_eq!((rc, permissions(at).as_str()), (0, "r-xp"));
            }
        })
        .unwrap();
    }
}
