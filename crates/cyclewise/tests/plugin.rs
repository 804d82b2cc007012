//! A second copy of the crate, in a loaded shared object: it elides nothing, and its threads restore LOCK here.
#![cfg_attr(
    not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))),
    allow(dead_code, unused_imports, reason = "no mode there")
)]

mod common;

use common::child::in_child;
use common::example;
use common::harness::{self, checks};
use common::text::poke;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::patch::{Mode, sites, state};
use cyclewise::percpu::Reason;
use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;

static COUNTER: AtomicUsize = AtomicUsize::new(0);

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
fn main() {
    harness::run(checks![
        the_copy_elides_nothing,
        the_copys_threads_restore_lock,
        nothing_of_a_closed_copy_is_called_or_written,
        the_copys_sequences_outlive_dlclose,
        the_copys_handlers_outlive_dlclose,
        a_thread_that_asks_has_its_words_before_a_handler_does,
        the_copy_is_refused_without_our_hooks_in_use,
    ]);
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))))]
fn main() {
    harness::skip("no LOCK prefix on this architecture, or no hooks in this C library");
}

struct Plugin(*mut c_void);

// SAFETY: any thread may use the handle.
unsafe impl Sync for Plugin {}

impl Plugin {
    /// Loads the example `plugin`.
    fn load() -> Self {
        let path = example::build("plugin").join("libplugin.so");
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a path; the object's initializers are std's.
        let plugin = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        assert!(!plugin.is_null(), "{path:?} cannot be loaded");
        Self(plugin)
    }

    fn call<T>(&self, name: &str) -> T {
        let name = CString::new(name).unwrap();
        // SAFETY: a name in an object that is loaded.
        let function = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!function.is_null(), "{name:?} is not in the object");
        // SAFETY: the object's functions take nothing and return the caller's type.
        let function = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> T>(function) };
        function()
    }
}

fn enable() {
    COUNTER.inc(Ordering::Relaxed);
    // SAFETY: threads come from the C library only, and no atomics are shared with other processes.
    unsafe { cyclewise::enable_single!() }.unwrap();
}

fn the_copy_elides_nothing() {
    enable();
    let plugin = Plugin::load();
    let ours = state();
    assert_eq!((ours.mode, ours.elided), (Mode::Single, ours.sites));
    assert!(plugin.call::<usize>("plugin_sites") > 0);
    assert_eq!(plugin.call::<i32>("plugin_enable"), 1);
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
    assert_eq!(state(), ours);
}

fn the_copys_threads_restore_lock() {
    enable();
    let plugin = Plugin::load();
    assert_eq!(state().mode, Mode::Single);
    assert_eq!(plugin.call::<i32>("plugin_spawn"), 0);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

fn the_copy_is_refused_without_our_hooks_in_use() {
    let plugin = Plugin::load();
    assert_eq!(plugin.call::<i32>("plugin_enable"), 1);
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
    assert_eq!(
        sites().filter(|s| s.prefix() != cyclewise::patch::Prefix::Lock).count(),
        0
    );
}

/// Its key is flipped and its fork handlers are registered. Then it is closed, and another mapping takes its address.
fn nothing_of_a_closed_copy_is_called_or_written() {
    cyclewise::static_key! { static KEY: StaticKey = false; }
    KEY.enable().unwrap();
    let mut closed = 0;
    for _ in 0..20 {
        let plugin = Plugin::load();
        let tests = plugin.call::<i32>("plugin_flip");
        assert!(tests > 0, "{tests}");
        // SAFETY: a name in an object that is loaded.
        let at = unsafe { libc::dlsym(plugin.0, c"plugin_flip".as_ptr()) }.addr() & !0xfff;
        // SAFETY: nothing of the object is used after this.
        assert_eq!(unsafe { libc::dlclose(plugin.0) }, 0);
        // From now on a call there faults, and a write there is detected.
        let Some(page) = Page::occupy(at) else {
            continue;
        };
        closed += 1;
        let outcome = in_child(|| KEY.disable().unwrap());
        assert_eq!(outcome, Ok(()), "a fork calls the closed object");
        KEY.disable().unwrap();
        KEY.enable().unwrap();
        assert!(KEY.is_enabled() && page.is_untouched());
    }
    println!("closed for good {closed} times");
    // The twin: a mapped object's address cannot be taken, and a written byte is detected.
    let plugin = Plugin::load();
    assert!(plugin.call::<i32>("plugin_flip") > 0);
    // SAFETY: a name in an object that is loaded.
    let at = unsafe { libc::dlsym(plugin.0, c"plugin_flip".as_ptr()) }.addr() & !0xfff;
    assert!(Page::occupy(at).is_none(), "the object is still mapped");
    let page = Page::occupy(0).unwrap();
    poke(page.0.addr() + 7, &[1]);
    assert!(!page.is_untouched());
}

/// A page without permission to execute.
struct Page(*mut u8);

impl Page {
    /// Maps one at an address unless it is taken; at any address for 0.
    fn occupy(at: usize) -> Option<Self> {
        let fixed = if at == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
        // SAFETY: a new mapping at a free address.
        let page = unsafe { libc::mmap(at as *mut c_void, 4096, libc::PROT_READ, flags, -1, 0) };
        (page != libc::MAP_FAILED).then_some(Self(page.cast()))
    }

    fn is_untouched(&self) -> bool {
        // SAFETY: mapped above, readable, and 4096 bytes long.
        let bytes = unsafe { std::slice::from_raw_parts(self.0, 4096) };
        bytes.iter().all(|byte| *byte == 0)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: mapped by `occupy`, and not shared.
        unsafe { libc::munmap(self.0.cast(), 4096) };
    }
}

/// The kernel may read the last sequence's descriptor long after the object is closed, so the object stays mapped.
fn the_copys_sequences_outlive_dlclose() {
    for round in 1..=20u64 {
        let plugin = Plugin::load();
        assert_eq!(plugin.call::<u64>("plugin_count"), round);
        let restarts = plugin.call::<i32>("plugin_restarts") == 1;
        // Without the C library's registration the first copy registers the thread, and the other finds it registered.
        let reason = cyclewise::percpu::backend().reason;
        assert_eq!(restarts, matches!(reason, Reason::Libc | Reason::Foreign), "{reason:?}");
        // SAFETY: nothing of the object is used after this.
        assert_eq!(unsafe { libc::dlclose(plugin.0) }, 0);
        // Through the scheduler, where the kernel reads the descriptor.
        for _ in 0..100 {
            std::thread::yield_now();
        }
    }
}

/// Its signal handler stays registered and is called, so the object stays mapped, with its fork handlers.
fn the_copys_handlers_outlive_dlclose() {
    for round in 0..20u64 {
        let plugin = Plugin::load();
        assert_eq!(plugin.call::<u64>("plugin_signals"), 2 * round);
        // SAFETY: takes a number.
        let raise = || assert_eq!(unsafe { libc::raise(libc::SIGUSR1) }, 0);
        raise();
        // SAFETY: only the kernel uses the object after this.
        assert_eq!(unsafe { libc::dlclose(plugin.0) }, 0);
        raise();
        in_child(raise).unwrap();
    }
}

/// A loaded object's thread-local words are allocated on a thread's first use, which must not be in a handler.
#[cfg(target_env = "gnu")]
fn a_thread_that_asks_has_its_words_before_a_handler_does() {
    const TLS_DATA: i32 = 10; // RTLD_DI_TLS_DATA of glibc's <dlfcn.h>: the calling thread's block, null before it is there
    let plugin = Plugin::load();
    // The process's first use.
    assert_eq!(plugin.call::<u64>("plugin_count"), 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let plugin = &plugin;
            let block = || {
                let mut at: *mut c_void = std::ptr::null_mut();
                // SAFETY: an object that is loaded, and room for one address.
                let rc = unsafe { libc::dlinfo(plugin.0, TLS_DATA, (&raw mut at).cast()) };
                assert_eq!(rc, 0);
                at
            };
            if !block().is_null() {
                println!("skipped: this object's thread-local words are the thread's from the beginning");
                return;
            }
            plugin.call::<i32>("plugin_restarts");
            assert!(!block().is_null());
        });
    });
}
