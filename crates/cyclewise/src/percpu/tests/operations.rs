//! Every operation on every width, compared with the kernel's documentation of it.
//!
//! # Safety
//! Each variable belongs to one test.
#![expect(unsafe_code, reason = "words by address")]

use crate::percpu::{Backend, Cid, Index, Integer, PerCpu, Slot, StaticPerCpu, Word, backend};
use std::string::ToString;
use std::thread;

/// What one thread must find that alone uses a variable. It retries until the scheduler leaves it on one CPU for long
/// enough.
fn alone<I: Index, W: Integer + PartialEq + core::fmt::Debug>(of: [W; 4]) {
    let [zero, two, three, all] = of;
    let on_one_cpu = |check: &dyn Fn(&PerCpu<W, I>) -> bool| {
        (0..100_000).any(|_| {
            let fresh = PerCpu::<W, I>::new();
            check(&fresh)
        })
    };
    assert!(on_one_cpu(&|v| v.read() == zero
        && v.xchg(two) == zero
        && v.read() == two));
    assert!(on_one_cpu(&|v| {
        v.write(two);
        v.cmpxchg(three, all) == two && v.cmpxchg(two, three) == two && v.read() == three
    }));
    assert!(on_one_cpu(&|v| {
        v.write_release(three);
        v.and(two);
        v.read() == two
    }));
    assert!(on_one_cpu(&|v| {
        v.or(two);
        v.or(three);
        v.read() == three
    }));
    assert!(on_one_cpu(&|v| {
        v.add(all);
        v.add_return(three) == two && v.read() == two
    }));
    // The sum is exact on whichever CPU each addition ran.
    let v = PerCpu::<W, I>::new();
    v.add(two);
    v.add_release(three);
    v.add_return(all);
    assert_eq!(v.sum(), all.wrapping_sum(two).wrapping_sum(three));
}

macro_rules! widths {
    ($($name:ident: $type:ty;)*) => { $(
        #[test]
        fn $name() {
            alone::<crate::percpu::Cpu, $type>([0, 2, 3, !0]);
            alone::<Cid, $type>([0, 2, 3, !0]);
        }
    )* };
}

widths! {
    u8_is_as_the_kernel_says: u8;
    i8_is_as_the_kernel_says: i8;
    u16_is_as_the_kernel_says: u16;
    i16_is_as_the_kernel_says: i16;
    u32_is_as_the_kernel_says: u32;
    i32_is_as_the_kernel_says: i32;
    u64_is_as_the_kernel_says: u64;
    i64_is_as_the_kernel_says: i64;
    usize_is_as_the_kernel_says: usize;
    isize_is_as_the_kernel_says: isize;
}

#[test]
fn neighbours_of_a_narrow_word_are_left_alone() {
    let v = PerCpu::<[u8; 8]>::new();
    let third = v.as_ptr().cast::<u8>().wrapping_add(3);
    for _ in 0..300 {
        // SAFETY: a byte of the variable.
        unsafe { crate::percpu::this_cpu::add::<crate::percpu::Cpu, u8>(third, 1) };
    }
    let mut sum = [0u8; 8];
    for slot in Slot::all() {
        // SAFETY: the copy of a slot; no other code uses the variable.
        let copy = unsafe { v.slot_ptr(slot).read() };
        for (s, c) in sum.iter_mut().zip(copy) {
            *s = s.wrapping_add(c);
        }
    }
    assert_eq!(sum, [0, 0, 0, 44, 0, 0, 0, 0]);
}

#[test]
fn pointers_come_back_as_they_went() {
    let mut target = 7u64;
    let v = PerCpu::<*mut u64>::new();
    let at = &raw mut target;
    assert!((0..100_000).any(|_| {
        v.write(at);
        // SAFETY: null or `target`, which outlives this.
        v.cmpxchg(at, at) == at && unsafe { v.read().as_ref() } == Some(&7)
    }));
    assert!(Slot::all().any(|slot| !v.get(slot).is_null()));
}

#[test]
fn threads_lose_nothing() {
    static BY_CPU: StaticPerCpu<u64> = StaticPerCpu::new();
    static BY_CID: StaticPerCpu<u32, Cid> = StaticPerCpu::new();
    let (threads, each) = (16, 20_000);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for n in 0..each {
                    BY_CPU.add(1);
                    BY_CID.add(2);
                    if n % 64 == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(BY_CPU.sum(), threads * each);
    assert_eq!(u64::from(BY_CID.sum()), 2 * threads * each);
}

#[test]
fn the_backend_report_has_a_reason() {
    let report = backend();
    let text = report.to_string();
    std::println!("{text}");
    let expected = if report.backend == Backend::Rseq {
        "rseq: "
    } else {
        "portable: "
    };
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(report, backend());
}

#[test]
fn words_start_at_zero() {
    fn zero<W: Word + PartialEq + core::fmt::Debug>(expected: W) {
        let v = PerCpu::<W>::new();
        assert!(Slot::all().all(|slot| v.get(slot) == expected));
    }
    zero(0u8);
    zero(0i64);
    zero(core::ptr::null_mut::<u8>());
}
