//! Nothing is leaked and nothing is dropped twice: every value and every byte is counted, through panics too.
#![cfg(not(loom))]

use cyclewise::refs::{Arc, Weak};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The system's allocator, counting what each thread holds.
struct Counting;

thread_local! {
    /// Bytes this thread has allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// Blocks of memory likewise.
    static BLOCKS: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: forwards every call to System.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size().cast_signed());
        BLOCKS.set(BLOCKS.get() + 1);
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        BLOCKS.set(BLOCKS.get() - 1);
        // SAFETY: the caller's contract is System's.
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs the test twice and checks the second run: the first may allocate memory that stays.
fn leaves_nothing(test: impl Fn()) {
    test();
    let before = (HELD.get(), BLOCKS.get());
    test();
    assert_eq!((HELD.get(), BLOCKS.get()), before, "bytes and blocks that are left");
}

/// A panic without a message: printing one allocates memory that stays with the process.
fn fail() -> ! {
    resume_unwind(Box::new(()));
}

/// Like [`leaves_nothing`] for a test that panics.
fn leaves_nothing_by_panic(test: impl Fn()) {
    leaves_nothing(|| assert!(catch_unwind(AssertUnwindSafe(&test)).is_err(), "panics"));
}

/// Counts itself, and holds memory.
struct Canary<'a> {
    live: &'a Cell<i32>,
    _memory: Box<u64>,
}

impl<'a> Canary<'a> {
    fn new(live: &'a Cell<i32>) -> Self {
        live.set(live.get() + 1);
        Self {
            live,
            _memory: Box::new(1),
        }
    }
}

impl Drop for Canary<'_> {
    fn drop(&mut self) {
        self.live.set(self.live.get() - 1);
    }
}

/// Panics when the number of live values is this.
struct Fuse<'a>(Canary<'a>, i32);

impl Clone for Fuse<'_> {
    fn clone(&self) -> Self {
        if self.0.live.get() >= self.1 {
            fail();
        }
        Self(Canary::new(self.0.live), self.1)
    }
}

#[test]
fn what_is_left_is_seen() {
    // Kept here and not forgotten, so that leak checkers find no leak.
    let values = RefCell::new(Vec::with_capacity(2));
    let keeps_values = || leaves_nothing(|| values.borrow_mut().push(Arc::new(1)));
    assert!(catch_unwind(AssertUnwindSafe(keeps_values)).is_err());
    let memory = RefCell::new(Vec::with_capacity(2));
    let keeps_memory = || leaves_nothing(|| memory.borrow_mut().push(Arc::downgrade(&Arc::new(1))));
    assert!(catch_unwind(AssertUnwindSafe(keeps_memory)).is_err());
}

#[test]
fn every_way_out_frees_the_value_and_the_memory() {
    leaves_nothing(|| {
        let live = Cell::new(0);
        let new = || Arc::new(Canary::new(&live));
        drop(new().clone());
        drop(Arc::downgrade(&new()));
        assert!(Arc::try_unwrap(new()).is_ok());
        assert!(Arc::into_inner(new()).is_some());
        let arc = new();
        let weak = Arc::downgrade(&arc);
        assert!(Arc::into_inner(arc).is_some() && weak.upgrade().is_none());
        // SAFETY: from `into_raw`.
        drop(unsafe { Arc::from_raw(Arc::into_raw(new())) });
        drop(Arc::<Canary>::from(Box::new(Canary::new(&live))));
        drop(Arc::<[Canary]>::from([Canary::new(&live), Canary::new(&live)]));
        drop((0..9).map(|_| Canary::new(&live)).collect::<Arc<[_]>>());
        drop(Arc::<[Canary]>::from(Vec::new()));
        assert_eq!(live.get(), 0);
    });
}

#[test]
fn sizes_and_alignments() {
    #[repr(align(256))]
    struct Aligned(#[expect(dead_code, reason = "for its size")] u8);
    #[repr(align(64))]
    struct AlignedNothing;
    fn check<T>(make: fn() -> T) {
        leaves_nothing(|| {
            let arc = Arc::new(make());
            let place = Arc::as_ptr(&arc);
            assert!(place.is_aligned());
            let weak = Arc::downgrade(&arc);
            drop(arc);
            drop(weak);
            let slice: Arc<[T]> = Arc::from([make(), make(), make()]);
            assert!(slice.iter().all(|value| (&raw const *value).is_aligned()));
            drop(Arc::<[T]>::from(
                slice.iter().map(|_| make()).collect::<Vec<_>>().into_boxed_slice(),
            ));
        });
    }
    check(|| ());
    check(|| AlignedNothing);
    check(|| 1_u8);
    check(|| [1_u16; 5]);
    check(|| 1_u128);
    check(|| Aligned(1));
}

#[test]
fn a_drop_that_panics_frees_the_memory_and_the_fields() {
    struct Panics<'a>(#[expect(dead_code, reason = "dropped after the panic")] Canary<'a>);
    impl Drop for Panics<'_> {
        fn drop(&mut self) {
            fail();
        }
    }
    let live = Cell::new(0);
    leaves_nothing_by_panic(|| drop(Arc::new(Panics(Canary::new(&live)))));
    leaves_nothing_by_panic(|| drop(Arc::<[Panics]>::from([Panics(Canary::new(&live))])));
    let weak = Cell::new(Weak::new());
    leaves_nothing_by_panic(|| {
        let arc = Arc::new(Panics(Canary::new(&live)));
        weak.set(Arc::downgrade(&arc));
        drop(arc);
    });
    assert!(weak.take().upgrade().is_none());
}

#[test]
fn a_clone_that_panics_drops_the_clones_before_it() {
    let live = Cell::new(0);
    leaves_nothing_by_panic(|| {
        let values = [(); 4].map(|()| Fuse(Canary::new(&live), 6));
        drop(Arc::<[Fuse]>::from(&values[..]));
    });
    leaves_nothing_by_panic(|| {
        let mut arc = Arc::<[Fuse]>::from([(); 4].map(|()| Fuse(Canary::new(&live), 6)));
        let _second = arc.clone();
        Arc::make_mut(&mut arc);
    });
    assert_eq!(live.get(), 0);
}

#[test]
fn an_iterator_that_panics_drops_what_it_gave() {
    let live = Cell::new(0);
    leaves_nothing_by_panic(|| {
        let values = (0..100).map(|at| {
            if at == 98 {
                fail();
            }
            Canary::new(&live)
        });
        drop(values.collect::<Arc<[_]>>());
    });
    assert_eq!(live.get(), 0);
}

#[test]
fn a_cyclic_value_that_panics_frees_its_memory_with_the_last_weak_reference() {
    leaves_nothing_by_panic(|| {
        Arc::<u8>::new_cyclic(|_| fail());
    });
    let kept = Cell::new(Weak::new());
    leaves_nothing_by_panic(|| {
        Arc::<String>::new_cyclic(|me| {
            kept.set(me.clone());
            fail()
        });
    });
    let kept = kept.take();
    assert!(kept.upgrade().is_none());
    assert_eq!((kept.strong_count(), kept.weak_count()), (0, 0));
}

#[test]
fn a_coercion_that_panics_drops_the_reference() {
    let live = Cell::new(0);
    leaves_nothing_by_panic(|| {
        let _: Arc<Canary> = Arc::unsize(Arc::new(Canary::new(&live)), |_| fail());
    });
    assert_eq!(live.get(), 0);
}
