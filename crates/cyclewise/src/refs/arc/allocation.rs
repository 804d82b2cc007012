//! The memory of a shared value: its two counts directly before it, in one allocation.
//!
//! ```text
//!   allocation          counts             value
//!   | padding, if the   | strong | weak | ...
//!   | value's alignment |               ^
//!   | asks for it       |               what Arc and Weak point at
//! ```
//!
//! A pointer to the value is the pointer to everything: raw pointers and references need no arithmetic, and the
//! distance from the value to its counts does not depend on the value's type.
//!
//! # Invariants
//! 1. The pointer handed out is `block.value` bytes into the allocation and may be used for all of it. It is aligned
//!    for the value and for [`Counts`], and initialized counts end where it points.
//! 2. The allocation lasts until [`free`], and its layout follows from the layout of the value alone.
//!
//! # Safety
//! The functions that take a pointer require one by Invariant 1 that has not been freed. [`free`] needs the metadata of
//! a value that may already be destroyed: it makes a reference, uses only its metadata, and does so when nobody else
//! can reach the memory.
#![expect(unsafe_code, reason = "memory laid out by hand")]

use super::count::{Count, SOLE};
use super::weak_count::WeakCount;
use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::mem::{offset_of, size_of_val};
use core::ptr::{NonNull, copy_nonoverlapping};

#[repr(C)]
pub(super) struct Counts {
    pub(super) strong: Count,
    /// The weak references, and one for all strong ones together.
    pub(super) weak: WeakCount,
}

/// The layout of an allocation.
struct Block {
    layout: Layout,
    /// Bytes from the start of the allocation to the value.
    value: usize,
}

impl Block {
    /// # Panics
    /// If the whole exceeds `isize::MAX` bytes.
    fn around(value: Layout) -> Self {
        match Layout::new::<Counts>().extend(value) {
            // The value's offset is a multiple of its alignment, and the counts' size of theirs, so both are aligned.
            Ok((layout, value)) => Self { layout, value },
            Err(_) => too_large(),
        }
    }
}

#[cold]
pub(super) fn too_large() -> ! {
    panic!("an Arc's value and its counts are larger than isize::MAX bytes together")
}

/// Allocates memory for a value of this layout. `strong` is the state of the strong count; the weak count is one.
///
/// # Panics
/// If the whole exceeds `isize::MAX` bytes. Out of memory, [`handle_alloc_error`] is called.
pub(super) fn allocate(value: Layout, strong: usize) -> NonNull<u8> {
    let block = Block::around(value);
    // SAFETY: the layout holds two counts, so its size is not zero.
    let start = unsafe { alloc(block.layout) };
    let Some(start) = NonNull::new(start) else {
        handle_alloc_error(block.layout)
    };
    // SAFETY: the value's offset is within the allocation, or just past its end for a value of size zero.
    let value = unsafe { start.add(block.value) };
    // SAFETY: the block has space for the counts before the value.
    let counts = unsafe { value.cast::<Counts>().sub(1) };
    let initial = Counts {
        strong: Count::new(strong),
        weak: WeakCount::new(SOLE),
    };
    // SAFETY: in the allocation, aligned (see `Block::around`), and not shared yet.
    unsafe { counts.write(initial) };
    value
}

/// The counts of the value at `value`.
///
/// # Safety
/// `value` is by Invariant 1 and not freed for as long as the reference is used.
#[inline]
pub(super) unsafe fn counts<'a, T: ?Sized>(value: NonNull<T>) -> &'a Counts {
    // SAFETY: the counts end where the value starts, in one allocation (Invariant 1).
    let counts = unsafe { value.cast::<Counts>().sub(1) };
    // SAFETY: aligned, initialized (Invariant 1) and never borrowed mutably; the caller guarantees that it is not
    // freed.
    unsafe { counts.as_ref() }
}

/// The distance from a value to its strong count: an operand of the instruction, which needs no register for the address.
pub(super) const STRONG: isize = offset_of!(Counts, strong) as isize - size_of::<Counts>() as isize;

/// Frees the memory without dropping the value, which was dropped, moved out or never written.
///
/// # Safety
/// `value` is by Invariant 1, with the metadata it was allocated with, and the caller has the last pointer to it.
pub(super) unsafe fn free<T: ?Sized>(value: NonNull<T>) {
    // SAFETY: the memory is valid and unreachable for others; only the size and alignment are used.
    let block = Block::around(Layout::for_value(unsafe { value.as_ref() }));
    // SAFETY: the counts end where the value starts (Invariant 1).
    let counts = unsafe { value.cast::<Counts>().sub(1) };
    // SAFETY: initialized, and not used again. This does nothing unless the atomics are loom's.
    unsafe { counts.drop_in_place() };
    // SAFETY: the allocation starts so many bytes before the value (Invariant 1).
    let start = unsafe { value.cast::<u8>().sub(block.value) };
    // SAFETY: allocated with the same layout (Invariant 2); the caller guarantees that it is freed once.
    unsafe { dealloc(start.as_ptr(), block.layout) };
}

/// New memory with a copy of the value's bytes, and counts of one.
///
/// # Safety
/// Of the two values only one is used from here on, unless its bytes may be copied freely.
pub(super) unsafe fn copy<T: ?Sized>(value: &T) -> NonNull<T> {
    let memory = allocate(Layout::for_value(value), SOLE);
    let from = (&raw const *value).cast::<u8>();
    // SAFETY: both are valid for the value's size, and one of them is new.
    unsafe { copy_nonoverlapping(from, memory.as_ptr(), size_of_val(value)) };
    with_metadata_of(memory, value)
}

/// The pointer to `memory` that is as wide as `metadata`, and has its length or its table.
///
/// A wide pointer is its address and then its metadata. The language does not promise that yet, every compiler so far
/// does it, and the check below holds it to that.
///
/// # Panics
/// If the address is not the first word of a wide pointer.
pub(super) fn with_metadata_of<T: ?Sized>(memory: NonNull<u8>, metadata: *const T) -> NonNull<T> {
    let mut pointer = metadata.cast_mut();
    // SAFETY: a pointer to anything is at least as large as this one, and as aligned.
    unsafe { (&raw mut pointer).cast::<*mut u8>().write(memory.as_ptr()) };
    assert!(
        pointer.cast::<u8>() == memory.as_ptr(),
        "a wide pointer starts with its address"
    );
    // SAFETY: its address is that of `memory`, as just seen.
    unsafe { NonNull::new_unchecked(pointer) }
}
