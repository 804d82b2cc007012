//! Registration in a thread that has no area, also with the lengths of other kernels.
//!
//! The C library registers every thread here, so each test starts a thread, which unregisters itself first and does not use
//! `registration` afterwards.
//!
//! # Safety
//! Areas are leaked, and each thread uses only its own words.
#![expect(unsafe_code, reason = "registers areas and runs sequences with them")]

use super::self_registered::fitting;
use crate::arch::rseq::{Area, SIGNATURE, Sections};
use crate::arch::static_libc::rseq_words;
use crate::arch::{Cid, Cpu};
use crate::percpu::{Backend, PerCpu, backend};
use crate::sys::for_tests::unregister;
use crate::sys::rseq::{features, of_libc, register, shaped};
use core::ptr::NonNull;
use std::boxed::Box;
use std::thread;
use std::vec::Vec;

#[test]
fn unsupported_shapes_fall_back_to_the_original_area() {
    let lengths = [(0, 0), (28, 32), (33, 64), (128, 128), (129, 128), (40, 256)];
    let ours: Vec<_> = lengths
        .iter()
        .map(|&(size, align)| fitting(shaped(size, align)))
        .collect();
    assert_eq!(ours, [32, 32, 33, 128, 32, 32]);
}

/// Calls `run` in a thread without a registered area. `None` without rseq(2).
fn unregistered<R: Send>(run: impl FnOnce() -> R + Send) -> Option<R> {
    if backend().backend != Backend::Rseq {
        std::println!("skipped: {}", backend());
        return None;
    }
    let run = || {
        if let Some((distance, length)) = of_libc(rseq_words()) {
            let known = NonNull::from(&0u8);
            // The thread pointer, computed from an address whose distance to it is known.
            let pointer = known.as_ptr().wrapping_byte_offset(Area::at(known).0.wrapping_neg());
            let at = NonNull::new(pointer.wrapping_byte_offset(distance)).unwrap();
            // The length reported is what the kernel fills; the length registered may be rounded up.
            let gave_up = [length, length.next_multiple_of(32)].into_iter().any(|length| {
                // SAFETY: from here on this thread uses only areas of its own.
                unsafe { unregister(at, length, SIGNATURE) }.is_ok()
            });
            assert!(gave_up, "{length} bytes");
        }
        Some(run())
    };
    thread::scope(|scope| scope.spawn(run).join().unwrap())
}

#[repr(align(128))]
struct Space([u8; 128]);

#[test]
fn areas_of_newer_kernels_work_as_the_original_one_does() {
    let v = PerCpu::<u64>::new();
    let by_cid = PerCpu::<u64, Cid>::new();
    let mut ran = 0;
    // An area may be longer than what this kernel fills, but not shorter.
    for length in [32, 33, 40, 64, 128].into_iter().filter(|&n| n >= features()) {
        let (v, by_cid) = (&v, &by_cid);
        ran += unregistered(move || {
            let space = Box::leak(Box::new(Space([0; 128])));
            let at = NonNull::from(&mut space.0).cast();
            // SAFETY: never freed, and the thread's only area.
            assert_eq!(unsafe { register(at, length, SIGNATURE) }, Ok(()), "{length}");
            let area = Area::at(at);
            for n in 0..1000 {
                // SAFETY: the thread's area, and a word in every slot.
                unsafe { <u64 as Sections>::add::<Cpu, false>(area, v.as_ptr(), 1) };
                if features() >= super::WITH_CID {
                    // SAFETY: the thread's area, and a word in every slot.
                    unsafe { <u64 as Sections>::add::<Cid, true>(area, by_cid.as_ptr(), 1) };
                }
                if n % 50 == 0 {
                    thread::yield_now();
                }
            }
            1
        })
        .unwrap_or(0);
    }
    assert_eq!(v.sum(), ran * 1000);
    if features() >= super::WITH_CID {
        assert_eq!(by_cid.sum(), v.sum());
    }
    assert!(ran > 0 || backend().backend != Backend::Rseq);
}

#[test]
fn one_thread_registers_once_and_with_one_signature() {
    unregistered(|| {
        let space = Box::leak(Box::new([Space([0; 128]), Space([0; 128])]));
        let [one, other] = space.each_mut().map(|space| NonNull::from(&mut space.0).cast());
        let length = fitting(crate::sys::rseq::shape());
        // SAFETY: never freed, and the thread's only area.
        assert_eq!(unsafe { register(one, length, SIGNATURE) }, Ok(()));
        // SAFETY: never freed; the call is refused.
        assert_eq!(unsafe { register(other, length, SIGNATURE) }, Err(libc::EINVAL));
        // SAFETY: the registered area; the call is refused.
        assert_eq!(unsafe { register(one, length, !SIGNATURE) }, Err(libc::EPERM));
        // SAFETY: the registered area; the call is refused.
        assert_eq!(unsafe { register(one, length, SIGNATURE) }, Err(libc::EBUSY));
    });
}
