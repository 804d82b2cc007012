//! dl_iterate_phdr(3): the objects that the dynamic linker lists, and their segments.
//!
//! It lists those of the caller's namespace (dlmopen(3)), the ones that are being loaded or unloaded among them. While it does, it
//! holds a lock without which none is added or unmapped.
//!
//! # Forks
//! The C library leaves that lock taken in a child whose parent had a thread in here, and the child would wait for ever. So walks are
//! counted, with the generation of the process: a child that inherits a count other than 0 never walks. A fork in progress copies the
//! count and the lock at different times. It excludes changes of the address space; so one is made after the count is raised, and one
//! before it is lowered, and the count is raised wherever the lock is taken. Walks of other code are not counted: unwinding or dlopen
//! in another thread at the moment of the fork.
//!
//! # Cost
//! Two mappings of a page that nobody touches, beside the walk.
//!
//! # Safety
//! 1. The dynamic linker maps an object's segments before it lists it, and unmaps them after.
//! 2. An object's headers are valid while it is listed. Its segments lie where they say.
//! 3. The visitor neither unwinds nor waits.
#![expect(unsafe_code, reason = "dl_iterate_phdr, reading mapped segments")]

use super::{fork_generation, mmap, signal_mask};
use crate::error::Refusal;
use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU64};
#[cfg(target_pointer_width = "32")]
use libc::Elf32_Phdr as Header;
#[cfg(target_pointer_width = "64")]
use libc::Elf64_Phdr as Header;
use libc::{PF_R, PF_W, PF_X, PT_GNU_RELRO, PT_LOAD, PT_NOTE};

/// The smallest page that Linux has; a larger one is asked about several times.
const PAGE: usize = 4096;

pub(crate) struct Object<'a> {
    base: usize,
    headers: &'a [Header],
}

/// How many walks are in progress, and in the upper half the generation that they belong to.
static WALKS: AtomicU64 = AtomicU64::new(0);

/// A walk that is counted.
struct Walk {
    generation: u32,
}

impl Walk {
    /// `None` where the lock may be one that nobody releases.
    fn begin() -> Option<Self> {
        let generation = fork_generation::current();
        let raised = WALKS.fetch_update(SeqCst, SeqCst, |walks| {
            let (of, count) = ((walks >> 32) as u32, walks as u32);
            let is_inherited = count != 0 && of != generation;
            (!is_inherited).then_some(u64::from(generation) << 32 | u64::from(count + 1))
        });
        raised.ok()?;
        let walk = Self { generation };
        if wait_for_fork().is_err() {
            walk.lower();
            return None;
        }
        Some(walk)
    }

    /// Whether a fork that began before this has copied all. Where that is unknown, the walk stays counted.
    fn end(self) -> bool {
        let waited = wait_for_fork().is_ok();
        if waited {
            self.lower();
        }
        waited
    }

    /// A child in which a handler of this thread has forked keeps the count: the lock knows its owner by the parent's id.
    fn lower(&self) {
        if fork_generation::current() == self.generation {
            WALKS.fetch_sub(1, SeqCst);
        }
    }
}

/// Returns once a fork that had begun has copied this process's memory: it excludes changes of the address space.
fn wait_for_fork() -> Result<(), Refusal> {
    const LENGTH: usize = 4096;
    let page = mmap::reserve(LENGTH)?;
    // SAFETY: mapped above, and nobody has seen it.
    unsafe { mmap::release(page, LENGTH) };
    Ok(())
}

/// Shows `visit` each object, until it returns false. False where it could not, or a fork may be in progress that began before the
/// walk ended.
pub(crate) fn each(visit: impl FnMut(&Object<'_>) -> bool) -> bool {
    let Some(walk) = Walk::begin() else {
        return false;
    };
    each_uncounted(visit);
    walk.end()
}

fn each_uncounted(mut visit: impl FnMut(&Object<'_>) -> bool) {
    unsafe extern "C" fn one<V: FnMut(&Object<'_>) -> bool>(
        information: *mut libc::dl_phdr_info,
        _size: usize,
        visit: *mut c_void,
    ) -> c_int {
        // SAFETY: the outer function passed it, and waits for dl_iterate_phdr.
        let visit = unsafe { &mut *visit.cast::<V>() };
        // SAFETY: the dynamic linker's, for this call.
        let information = unsafe { &*information };
        let (start, count) = (information.dlpi_phdr, usize::from(information.dlpi_phnum));
        if start.is_null() {
            return 0;
        }
        // SAFETY: Invariant 2.
        let headers = unsafe { core::slice::from_raw_parts(start, count) };
        let base = information.dlpi_addr as usize;
        c_int::from(!visit(&Object { base, headers }))
    }
    fn callback<V: FnMut(&Object<'_>) -> bool>(
        _: &V,
    ) -> unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int {
        one::<V>
    }
    let callback = callback(&visit);
    // SAFETY: the callback for the type of what is passed with it (Invariant 3).
    unsafe { libc::dl_iterate_phdr(Some(callback), (&raw mut visit).cast()) };
}

impl Object<'_> {
    fn range(&self, header: &Header) -> Range<usize> {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    }

    fn of_kind(&self, kind: u32) -> impl Iterator<Item = &Header> {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    /// Whether it lies in one segment with these permissions and without those.
    fn is_in(&self, range: &Range<usize>, with: u32, without: u32) -> bool {
        self.of_kind(PT_LOAD).any(|header| {
            let segment = self.range(header);
            let holds = segment.start <= range.start && range.start <= range.end && range.end <= segment.end;
            holds && header.p_flags & with == with && header.p_flags & without == 0
        })
    }

    pub(crate) fn is_readable(&self, range: &Range<usize>) -> bool {
        self.is_in(range, PF_R, 0)
    }

    /// Whether it is data that can be written, also after relocation.
    pub(crate) fn is_writable(&self, range: &Range<usize>) -> bool {
        let becomes_read_only = |header| {
            let relro = self.range(header);
            relro.start < range.end && range.start < relro.end
        };
        self.is_in(range, PF_R | PF_W, 0) && !self.of_kind(PT_GNU_RELRO).any(becomes_read_only)
    }

    pub(crate) fn is_text(&self, range: &Range<usize>) -> bool {
        self.is_in(range, PF_R | PF_X, PF_W)
    }

    /// Its segments of text: the address and the bytes of each; `None` for one that cannot be read.
    pub(crate) fn text(&self) -> impl Iterator<Item = Option<(usize, &[AtomicU8])>> {
        self.of_kind(PT_LOAD)
            .filter(|header| header.p_flags & PF_X != 0)
            .map(|header| {
                let range = self.range(header);
                let start = core::ptr::with_exposed_provenance(range.start);
                // The program may have made text execute-only since it was mapped.
                let mut pages = (range.start & !(PAGE - 1)..range.end).step_by(PAGE);
                // SAFETY: a segment that can be read (Invariants 1 and 2). Atomic, since other threads may patch it.
                (self.is_readable(&range) && pages.all(signal_mask::reads))
                    .then(|| (range.start, unsafe { core::slice::from_raw_parts(start, range.len()) }))
            })
    }

    /// The aligned word at an address that can be read.
    pub(crate) fn word(&self, at: usize) -> Option<u64> {
        let range = at..at.checked_add(8)?;
        let word = core::ptr::with_exposed_provenance::<AtomicU64>(at);
        // SAFETY: in a segment that can be read (Invariants 1 and 2).
        (at.is_multiple_of(8) && self.is_readable(&range)).then(|| unsafe { (*word).load(Relaxed) })
    }

    /// Whether each of its segments of text has one of these addresses.
    pub(crate) fn each_text_has<I: Iterator<Item = usize>>(&self, addresses: impl Fn() -> I) -> bool {
        let mut text = self.of_kind(PT_LOAD).filter(|header| header.p_flags & PF_X != 0);
        text.all(|header| {
            let segment = self.range(header);
            addresses().any(|at| segment.contains(&at))
        })
    }

    /// From its first segment to its last.
    pub(crate) fn bounds(&self) -> Range<usize> {
        let mut segments = self.of_kind(PT_LOAD).map(|header| self.range(header));
        let first = segments.next().unwrap_or(0..0);
        segments.fold(first, |all, one| all.start.min(one.start)..all.end.max(one.end))
    }

    /// Shows `visit` the contents of each of its notes with this name and type.
    pub(crate) fn notes(&self, name: &[u8], kind: u32, mut visit: impl FnMut(&[u8])) {
        for header in self.of_kind(PT_NOTE) {
            let range = self.range(header);
            if !self.is_readable(&range) || !range.start.is_multiple_of(4) {
                continue;
            }
            let start = core::ptr::with_exposed_provenance(range.start);
            // SAFETY: in a segment that can be read (Invariants 1 and 2). A note is not written.
            let bytes = unsafe { core::slice::from_raw_parts(start, range.len()) };
            let alignment = if header.p_align == 8 { 8 } else { 4 };
            notes_in(bytes, alignment, |found, found_kind, contents| {
                if found == name && found_kind == kind {
                    visit(contents);
                }
            });
        }
    }
}

/// Reads the notes of a segment: name, type, contents. Ends at one that does not fit.
fn notes_in(mut bytes: &[u8], alignment: usize, mut visit: impl FnMut(&[u8], u32, &[u8])) {
    const HEADER: usize = 12;
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(word))
    };
    loop {
        let [Some(name), Some(contents), Some(kind)] = [0, 4, 8].map(|at| word(bytes, at)) else {
            return;
        };
        let [name, contents] = [name as usize, contents as usize];
        let at = (HEADER + name).next_multiple_of(alignment);
        let [Some(name), Some(found)] = [bytes.get(HEADER..HEADER + name), bytes.get(at..at + contents)] else {
            return;
        };
        visit(name, kind, found);
        let Some(rest) = bytes.get((at + contents).next_multiple_of(alignment)..) else {
            return;
        };
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::for_tests::fork;
    use crate::sys::for_tests::mangle::{Owes, hold, tried};
    use core::time::Duration;
    use std::vec::Vec;

    fn note(name: &[u8], kind: u32, contents: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, contents.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        for part in [name, contents] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<(Vec<u8>, u32, Vec<u8>)> {
        let mut found = Vec::new();
        notes_in(bytes, 4, |name, kind, contents| {
            found.push((name.to_vec(), kind, contents.to_vec()));
        });
        found
    }

    #[test]
    fn notes_are_read_up_to_one_that_does_not_fit() {
        let two = two_notes();
        let expected = [
            (b"GNU\0".to_vec(), 3, [7; 5].to_vec()),
            (b"cyclewise\0".to_vec(), 1, [1, 2, 3, 4].to_vec()),
        ];
        assert_eq!(read(&two), expected);
        for length in 0..two.len() {
            assert!(read(&two[..length]).len() < 2, "{length}");
        }
        for lie in [0, 1] {
            let mut wrong = two.clone();
            wrong[4 * lie..4 * lie + 4].copy_from_slice(&u32::MAX.to_ne_bytes());
            assert_eq!(read(&wrong), []);
        }
    }

    fn two_notes() -> Vec<u8> {
        [note(b"GNU\0", 3, &[7; 5]), note(b"cyclewise\0", 1, &[1, 2, 3, 4])].concat()
    }

    #[test]
    fn mangled_notes_are_parts_of_their_segment() {
        hold(&[&two_notes()], Owes::default(), |bytes| {
            let mut found = 0;
            for alignment in [4, 8] {
                notes_in(bytes, alignment, |name, _, contents| {
                    found += 1;
                    let within = bytes.as_ptr_range();
                    for part in [name, contents].map(<[u8]>::as_ptr_range) {
                        assert!(within.start <= part.start && part.end <= within.end);
                    }
                });
            }
            assert!(12 * found <= 2 * bytes.len(), "one for each header at most");
            Ok(found)
        });
    }

    #[test]
    fn twin_mangled_notes_lie_about_their_lengths() {
        let fault = tried(&[&two_notes()], Owes::default(), |bytes| {
            let name = bytes.first_chunk().map_or(0, |length| u32::from_ne_bytes(*length));
            Ok(bytes.get(12..).map_or(0, |rest| rest[..name as usize].len()))
        });
        assert!(fault.unwrap_err().contains("panics"));
    }

    /// Nothing is read where they say: what they say has no address that others do not have.
    #[test]
    fn mangled_program_headers() {
        const WORDS: usize = 7;
        let header = |kind: u32, flags: u32, start: u64, size: u64| {
            [
                u64::from(flags) << 32 | u64::from(kind),
                0,
                start,
                start,
                size,
                size,
                4096,
            ]
        };
        let good = [
            header(PT_LOAD, PF_R | PF_X, 0x1000, 0x2000),
            header(PT_LOAD, PF_R | PF_W, 0x4000, 0x1000),
            header(PT_GNU_RELRO, PF_R, 0x4000, 0x800),
        ];
        let good: Vec<u8> = good.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        hold(&[&good], Owes::default(), |bytes| {
            let words: Vec<u64> = bytes
                .as_chunks()
                .0
                .iter()
                .map(|word| u64::from_le_bytes(*word))
                .collect();
            let headers: Vec<Header> = words
                .as_chunks::<WORDS>()
                .0
                .iter()
                .map(|words| Header {
                    p_type: words[0] as u32,
                    p_flags: (words[0] >> 32) as u32,
                    p_offset: words[1] as _,
                    p_vaddr: words[2] as _,
                    p_paddr: words[3] as _,
                    p_filesz: words[4] as _,
                    p_memsz: words[5] as _,
                    p_align: words[6] as _,
                })
                .collect();
            let said = [0, 0x4000_0000, usize::MAX - 0x1fff].map(|base| {
                let object = Object {
                    base,
                    headers: &headers,
                };
                let bounds = object.bounds();
                let parts = [0x1000, 0x4000, 0x4800, usize::MAX - 8].map(|at| {
                    let part = base.wrapping_add(at);
                    let part = part..part.saturating_add(8);
                    let is = [
                        object.is_readable(&part),
                        object.is_writable(&part),
                        object.is_text(&part),
                    ];
                    assert!(is[0] || !is[1] && !is[2], "text and data can be read");
                    assert!(!is[0] || bounds.start <= part.start && part.end <= bounds.end);
                    is
                });
                (parts, object.each_text_has(|| [base.wrapping_add(0x1000)].into_iter()))
            });
            Ok(said)
        });
    }

    #[test]
    fn this_function_is_text_of_one_object_and_a_local_of_none() {
        let here = this_function_is_text_of_one_object_and_a_local_of_none as fn() as usize;
        let local = 0_u8;
        let (mut holds, mut objects) = (0, 0);
        let walked = each(|object| {
            objects += 1;
            holds += u32::from(object.is_text(&(here..here + 1)));
            let at = (&raw const local).addr();
            assert!(!object.is_readable(&(at..at + 1)));
            assert!(!object.is_writable(&(here..here + 1)));
            true
        });
        assert_eq!((holds, walked), (1, true));
        let mut seen = 0;
        let walked = each(|_| {
            seen += 1;
            false
        });
        assert!(objects >= 1 && seen == 1 && walked);
    }

    /// Runs `child` in a child of a process with a thread inside `walk`. Its status: killed where it waits for the lock.
    fn in_child_of_a_walk(walk: fn(&dyn Fn()), child: fn(), limit: Duration) -> i32 {
        let [reached, go_on] = [const { AtomicU64::new(0) }; 2];
        let wait = |word: &AtomicU64| {
            while word.load(SeqCst) == 0 {
                std::thread::sleep(Duration::from_micros(100));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                walk(&|| {
                    reached.store(1, SeqCst);
                    wait(&go_on);
                });
            });
            wait(&reached);
            // SAFETY: the child allocates at most.
            let status = unsafe { fork::child(child, limit) };
            go_on.store(1, SeqCst);
            status
        })
    }

    #[test]
    fn a_child_of_a_walk_does_not_walk() {
        let walk = |wait: &dyn Fn()| {
            each(|_| {
                wait();
                false
            });
        };
        let child = || assert!(!each(|_| true) && !each(|_| true));
        assert_eq!(in_child_of_a_walk(walk, child, Duration::from_secs(600)), 0);
        assert!(each(|_| true));
    }

    /// It waits for the lock, or a C library that releases it in the child shows the objects.
    #[test]
    fn twin_a_walk_that_is_not_counted_is_not_noticed() {
        let walk = |wait: &dyn Fn()| {
            each_uncounted(|_| {
                wait();
                false
            });
        };
        let child = || {
            // Walks of other tests are counted.
            WALKS.store(0, SeqCst);
            assert!(!each(|_| true));
        };
        assert_ne!(in_child_of_a_walk(walk, child, Duration::from_millis(500)), 0);
    }
}
