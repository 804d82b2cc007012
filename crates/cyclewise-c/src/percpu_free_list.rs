//! Reusable objects, on a list for each CPU: `struct cw_percpu_free_list`.
//!
//! # States
//! An object is *held* by the program, or on a list. Its memory begins with a [`Header`], which C programs do not see.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_percpu_free_list *` is what `cw_percpu_free_list_create` returned, not null, and not destroyed.
//! 3. An object that is pushed is what a pop or a grow of some list returned; the caller holds it, and gives it up.
//! 4. Before each object there is its header, written by `grow` and read only.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free};
use crate::percpu::register_now;
use crate::refusal::{Refused, answer, cw_refusal};
use crate::sys::errno;
use core::ffi::{c_int, c_void};
use core::mem::{ManuallyDrop, forget};
use core::ptr::{self, NonNull};
use cyclewise::percpu::{FreeList, Node};
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Reusable objects of one size, on a list for each CPU.
pub struct cw_percpu_free_list {
    list: FreeList<Object>,
    layout: Layout,
    /// From the beginning of an object's memory to what C programs see.
    offset: usize,
}

/// The memory of an object, which goes with its list.
struct Object {
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: memory, which has no thread.
unsafe impl Send for Object {}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: allocated by `grow` with this layout.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

/// What stands before an object.
struct Header {
    list: *const cw_percpu_free_list,
    /// The node, for whoever holds the object.
    node: ManuallyDrop<Node<'static, Object>>,
}

/// # Safety
/// Safety 3 and 4.
#[inline(always)]
unsafe fn header(object: *mut c_void) -> *mut Header {
    object.cast::<Header>().wrapping_sub(1)
}

impl cw_percpu_free_list {
    #[inline(always)]
    fn held(&self, node: Option<Node<'_, Object>>) -> *mut c_void {
        let Some(node) = node else {
            return ptr::null_mut();
        };
        let object = node.memory.as_ptr().wrapping_add(self.offset);
        // The header has it, for the push.
        forget(node);
        object.cast()
    }
}

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn list_at<'a>(list: *const cw_percpu_free_list) -> &'a cw_percpu_free_list {
    // SAFETY: a list that is not destroyed (Safety 2).
    unsafe { &*list }
}

/// An empty list of objects of `size` bytes, aligned to `alignment`: a power of two, or 0 for malloc's. Null for a size of 0, for
/// sizes that no memory has, and without memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_percpu_free_list_create(size: usize, alignment: usize) -> *mut cw_percpu_free_list {
    let _errno = errno::keep();
    register_now();
    let alignment = if alignment == 0 { 16 } else { alignment };
    let layout = Layout::from_size_align(size, alignment).ok().filter(|_| size > 0);
    let Some((layout, offset)) = layout.and_then(|object| Layout::new::<Header>().extend(object).ok()) else {
        return ptr::null_mut();
    };
    // The header ends where the object begins.
    let offset = offset.next_multiple_of(align_of::<Header>());
    match FreeList::try_new() {
        Ok(list) => boxed(cw_percpu_free_list { list, layout, offset }),
        Err(_) => ptr::null_mut(),
    }
}

/// Frees a list and all its objects, those that are held too; or does nothing if it is null.
///
/// # Safety
/// Null or Safety 2, and no thread uses the list or an object any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_free_list_destroy(list: *mut cw_percpu_free_list) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller.
    unsafe { free(list) };
}

/// A new object of zeroes, held by the caller. Null without memory. Not for signal handlers.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_free_list_grow(list: *mut cw_percpu_free_list) -> *mut c_void {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let this = unsafe { list_at(list) };
    // SAFETY: not of size 0.
    let Some(memory) = NonNull::new(unsafe { alloc_zeroed(this.layout) }) else {
        return ptr::null_mut();
    };
    let layout = this.layout;
    let Some(node) = this.list.try_grow(Object { memory, layout }) else {
        return ptr::null_mut();
    };
    let object = memory.as_ptr().wrapping_add(this.offset).cast();
    // SAFETY: new memory, with room for a header before the object (Safety 4).
    let at = unsafe { header(object) };
    let node = ManuallyDrop::new(node);
    // SAFETY: room for a header, aligned to it.
    unsafe { at.write(Header { list, node }) };
    object
}

/// Pops the last object that was pushed on this CPU, with the contents it had; null if there is none. It sees what happened before
/// the push. A signal handler may call it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_free_list_pop(list: *mut cw_percpu_free_list) -> *mut c_void {
    // SAFETY: Safety 2.
    let this = unsafe { list_at(list) };
    this.held(this.list.pop())
}

/// As cw_percpu_free_list_pop; if this CPU's list is empty, takes the first list that is not: one object for the caller, the others for
/// this CPU's list. Not for signal handlers.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_free_list_pop_or_steal(list: *mut cw_percpu_free_list) -> *mut c_void {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let this = unsafe { list_at(list) };
    this.held(this.list.pop_or_steal())
}

/// Pushes an object that the caller holds to this CPU's list. A signal handler may call it.
///
/// Returns 0, or CW_REFUSED_ARGUMENT if `object` is null or of another list; nothing was done then.
///
/// # Safety
/// Safety 2; `object` is null or as Safety 3 says; `why` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_free_list_push(
    list: *mut cw_percpu_free_list,
    object: *mut c_void,
    why: *mut cw_refusal,
) -> c_int {
    if object.is_null() {
        let refused = Refused::Argument("the object to push is null; push what a pop or a grow returned");
        // SAFETY: guaranteed by the caller.
        return unsafe { answer(Err::<(), _>(refused), why) };
    }
    // SAFETY: Safety 3.
    let at = unsafe { header(object) };
    // SAFETY: Safety 4. Its node is used once, below, where the caller gives the object up.
    let header = unsafe { at.read() };
    if !ptr::eq(header.list, list) {
        let refused = Refused::Argument("the object to push is of another list; push it to that");
        // SAFETY: guaranteed by the caller.
        return unsafe { answer(Err::<(), _>(refused), why) };
    }
    ManuallyDrop::into_inner(header.node).push();
    0
}
