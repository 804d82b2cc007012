//! Threads created by a `pthread_create` that bypasses the hooks, as in some allocators: jemalloc looks up the next
//! definition after its own (RTLD_NEXT). LOCK is restored before such a thread too.

use crate::common::dl;
use crate::common::example;
use crate::common::harness::{Check, checks};
use crate::common::text::poke;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, confined, sites, state};
use std::ffi::{CStr, c_void};

pub(crate) const CHECKS: &[Check] = checks![
    the_next_definition,
    the_c_librarys_handle,
    a_stack_that_was_used_before,
    a_stack_of_the_callers,
    a_librarys_next_definition,
    a_library_bound_to_itself_first,
    its_creator_never_elides_again,
    another_thread_may_elide,
    confined_mode_is_refused,
    without_writing_there_is_no_thread,
    twin_a_second_c_library_is_not_seen,
];

fn ask() -> Result<(), Refusal> {
    crate::enable()
}

/// So that there is a site.
static COUNTER: AtomicUsize = AtomicUsize::new(0);

fn enable() {
    COUNTER.inc(Ordering::Relaxed);
    assert!(state().sites > 0);
    ask().unwrap();
    assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Join = unsafe extern "C" fn(libc::pthread_t, *mut *mut c_void) -> i32;
type Create = unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> i32;

/// The number of sites without LOCK that the thread finds, plus one.
extern "C" fn elided(_: *mut c_void) -> *mut c_void {
    std::ptr::without_provenance_mut(1 + state().elided)
}

/// Retries, because the kernel may list a thread for some microseconds after it was joined.
fn soon(mut elide: impl FnMut() -> Result<(), Refusal>) -> Result<(), Refusal> {
    loop {
        match elide() {
            Err(Refusal::OtherThreads { .. }) => std::thread::yield_now(),
            outcome => return outcome,
        }
    }
}

fn create_of(library: *mut c_void) -> Create {
    // SAFETY: a C library's function of that name.
    unsafe { std::mem::transmute::<*mut c_void, Create>(dl::symbol(library, c"pthread_create")) }
}

fn next() -> Create {
    create_of(libc::RTLD_NEXT)
}

/// Creates a thread, which must find LOCK everywhere.
fn finds_lock(create: Create, attributes: *const libc::pthread_attr_t) {
    let (mut id, mut found) = (0, std::ptr::null_mut());
    // SAFETY: a place for the id, attributes or none, and a function that takes anything.
    assert_eq!(unsafe { create(&mut id, attributes, elided, std::ptr::null_mut()) }, 0);
    // SAFETY: created above, joined once.
    assert_eq!(unsafe { libc::pthread_join(id, &mut found) }, 0);
    assert_eq!(found.addr(), 1, "sites without LOCK beside a second thread, and one");
}

fn the_next_definition() {
    enable();
    finds_lock(next(), std::ptr::null());
}

fn the_c_librarys_handle() {
    enable();
    let library = dl::open("libc.so.6", libc::RTLD_NOLOAD);
    assert!(!library.is_null());
    finds_lock(create_of(library), std::ptr::null());
}

/// The C library caches the stacks of ended threads, and reuses them on another code path.
fn a_stack_that_was_used_before() {
    std::thread::spawn(|| ()).join().unwrap();
    soon(ask).unwrap();
    finds_lock(next(), std::ptr::null());
}

fn a_stack_of_the_callers() {
    enable();
    let mut stack = vec![0_u128; 1 << 16];
    let mut attributes = std::mem::MaybeUninit::uninit();
    // SAFETY: room for one set of attributes.
    assert_eq!(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) }, 0);
    let size = size_of_val(stack.as_slice());
    // SAFETY: initialized above; the stack outlives the thread, which is joined.
    let rc = unsafe { libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack.as_mut_ptr().cast(), size) };
    assert_eq!(rc, 0);
    finds_lock(next(), attributes.as_ptr());
}

/// Has the plugin's function `name` create a thread, which checks the text.
fn by_the_plugin(flags: i32, name: &CStr) {
    let path = example::build("plugin").join("libplugin.so");
    let plugin = dl::open(&path, flags);
    assert!(!plugin.is_null(), "{path:?} cannot be loaded");
    let function = dl::symbol(plugin, name);
    // SAFETY: the object's function of that name.
    let function = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(Start) -> *mut c_void>(function) };
    enable();
    assert_eq!(
        function(elided).addr(),
        1,
        "sites without LOCK beside a second thread, and one"
    );
}

fn a_librarys_next_definition() {
    by_the_plugin(libc::RTLD_LOCAL, c"plugin_spawn_past_hooks");
}

fn a_library_bound_to_itself_first() {
    by_the_plugin(libc::RTLD_LOCAL | libc::RTLD_DEEPBIND, c"plugin_spawn_bound");
}

/// A signal handler might elide between the check of the mode and clone.
fn its_creator_never_elides_again() {
    enable();
    for _ in 0..10 {
        finds_lock(next(), std::ptr::null());
        assert_eq!(soon(patch::reelide), Err(Refusal::Unhooked));
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    }
}

/// A worker created a thread, and both have ended: no creation is in progress.
fn another_thread_may_elide() {
    enable();
    std::thread::spawn(|| finds_lock(next(), std::ptr::null()))
        .join()
        .unwrap();
    soon(patch::reelide).unwrap();
    assert_eq!(state().mode, Mode::Single);
    finds_lock(next(), std::ptr::null());
}

fn confined_mode_is_refused() {
    enable();
    // SAFETY: nothing sets affinities here, and nothing is shared.
    let enter = || unsafe { confined::enter(None) };
    enter().unwrap().leave().unwrap();
    finds_lock(next(), std::ptr::null());
    assert_eq!(enter().unwrap_err(), Refusal::Unhooked);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// Where LOCK cannot be restored, the creation fails with EAGAIN.
fn without_writing_there_is_no_thread() {
    enable();
    let site = sites().next().unwrap().address();
    poke(site, &[0xcc]);
    let mut id = 0;
    // SAFETY: a place for the id, no attributes, and a function that takes anything.
    let rc = unsafe { next()(&mut id, std::ptr::null(), elided, std::ptr::null_mut()) };
    assert_eq!(rc, libc::EAGAIN);
    poke(site, &[0x3e]);
    finds_lock(next(), std::ptr::null());
}

/// Breaks the contract: the check above detects sites without LOCK where nothing restores it.
fn twin_a_second_c_library_is_not_seen() {
    enable();
    let library = dl::open_apart("libc.so.6");
    assert!(!library.is_null());
    let create = create_of(library);
    // SAFETY: a C library's function of that name.
    let join = unsafe { std::mem::transmute::<*mut c_void, Join>(dl::symbol(library, c"pthread_join")) };
    let (mut id, mut found) = (0, std::ptr::null_mut());
    // SAFETY: a place for the id, no attributes, and a function that uses nothing of the C library's.
    let rc = unsafe { create(&mut id, std::ptr::null(), elided, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    // SAFETY: created above, joined once.
    assert_eq!(unsafe { join(id, &mut found) }, 0);
    assert!(found.addr() > 1, "the checks do not see sites without LOCK");
}
