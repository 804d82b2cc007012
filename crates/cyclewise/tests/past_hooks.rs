//! Threads created by a `pthread_create` that is bound past the hooks, as some allocators bind theirs: jemalloc asks for
//! the next definition behind its own (RTLD_NEXT).
#![cfg_attr(
    not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))),
    allow(dead_code, unused_imports, reason = "no hooks there")
)]

mod example;
mod process;

use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, state};
use process::in_child;
use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;

/// Whether such threads find LOCK. They do not yet: the macro's contract excludes them. Each check below says what has
/// to be, and fails where this is false.
const HOLDS: bool = false;

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
fn main() {
    process::run(&[
        ("the_next_definition", || expect(the_next_definition)),
        ("the_c_librarys_handle", || expect(the_c_librarys_handle)),
        ("a_stack_that_was_used_before", || expect(a_stack_that_was_used_before)),
        ("a_stack_of_the_callers", || expect(a_stack_of_the_callers)),
        ("a_librarys_next_definition", || expect(a_librarys_next_definition)),
        ("a_library_bound_to_itself_first", || {
            expect(a_library_bound_to_itself_first)
        }),
        ("again_after_the_first", || expect(again_after_the_first)),
    ]);
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))))]
fn main() {
    println!("skipped: no hooks on this architecture or in this C library");
}

fn expect(check: fn()) {
    assert_eq!(in_child(check) == 0, HOLDS, "has this been mended? then `HOLDS`");
}

fn ask() -> Result<(), Refusal> {
    // SAFETY: nothing here is shared with other processes. The threads are what is tested: they change no shared word.
    unsafe { cyclewise::enable_single!() }
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
type Create = unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> i32;

/// Sites without LOCK, as a thread finds them, and one more.
extern "C" fn elided(_: *mut c_void) -> *mut c_void {
    std::ptr::without_provenance_mut(1 + state().elided)
}

fn next() -> Create {
    // SAFETY: a C string.
    let create = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    // SAFETY: the C library's function of that name.
    unsafe { std::mem::transmute::<*mut c_void, Create>(create) }
}

fn of_the_library(name: &CStr) -> Create {
    // SAFETY: a C string; the library is loaded.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    assert!(!library.is_null());
    // SAFETY: a C string, in a library that is loaded.
    let create = unsafe { libc::dlsym(library, c"pthread_create".as_ptr()) };
    // SAFETY: the C library's function of that name.
    unsafe { std::mem::transmute::<*mut c_void, Create>(create) }
}

/// Creates a thread; it has to find LOCK everywhere.
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
    finds_lock(of_the_library(c"libc.so.6"), std::ptr::null());
}

/// The C library keeps the stacks of threads that have ended, and takes another way to them.
fn a_stack_that_was_used_before() {
    std::thread::spawn(|| ()).join().unwrap();
    // The kernel may list it for some microseconds more.
    while let Err(refusal) = ask() {
        assert!(matches!(refusal, Refusal::OtherThreads { .. }), "{refusal}");
        std::thread::yield_now();
    }
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

/// Has the example of that name create a thread, and looks at the text from there.
fn by_the_plugin(flags: i32, name: &CStr) {
    let path = example::build("plugin").join("libplugin.so");
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a path; the object's initializers are std's.
    let plugin = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | flags) };
    assert!(!plugin.is_null(), "{path:?} cannot be loaded");
    // SAFETY: a name in an object that is loaded.
    let function = unsafe { libc::dlsym(plugin, name.as_ptr()) };
    assert!(!function.is_null());
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

/// Eliding may be refused from then on; where it is not, the next thread finds LOCK too.
fn again_after_the_first() {
    enable();
    for _ in 0..10 {
        finds_lock(next(), std::ptr::null());
        let _ = patch::reelide();
    }
}
