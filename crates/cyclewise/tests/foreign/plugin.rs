//! A second copy of the crate, in a loaded shared object: its sites are elided with the program's, and its threads restore LOCK in
//! both.

use crate::common::call;
use crate::common::child::in_child;
use crate::common::dl;
use crate::common::example;
use crate::common::harness::{Check, checks};
use crate::common::sanitizer::is_asan;
use crate::common::text::poke;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::patch::{Mode, sites, state};
use cyclewise::percpu::Reason;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, elf};
use std::ffi::{CString, c_void};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

pub(crate) const CHECKS: &[Check] = checks![
    the_copys_sites_are_elided_with_the_programs,
    a_copy_that_is_bound_to_itself_elides_nothing,
    a_copy_loaded_before_is_elided_too,
    the_copys_calls_reach_the_program,
    the_copys_threads_restore_lock,
    the_copys_key_is_flipped_while_its_sites_are_elided,
    a_copy_of_another_namespace_elides_nothing,
    nothing_of_a_closed_copy_is_called_or_written,
    the_copys_sequences_outlive_dlclose,
    the_copys_handlers_outlive_dlclose,
    a_thread_that_asks_has_its_words_before_a_handler_does,
    five_copies_have_room_in_static_tls,
    the_copy_is_refused_without_our_hooks_in_use,
    an_allocator_that_is_preloaded_counts_from_its_first_call_on,
    twin_an_allocator_that_asks_the_dynamic_linker_inside_its_question_does_not_end,
];

struct Plugin(*mut c_void);

// SAFETY: any thread may use the handle.
unsafe impl Sync for Plugin {}

impl Plugin {
    fn load() -> Self {
        Self::load_with(libc::RTLD_GLOBAL)
    }

    fn load_with(flags: i32) -> Self {
        let path = example::build("plugin").join("libplugin.so");
        let plugin = dl::open(&path, flags);
        assert!(!plugin.is_null(), "{path:?} cannot be loaded");
        Self(plugin)
    }

    fn call<T>(&self, name: &str) -> T {
        let name = CString::new(name).unwrap();
        let function = dl::symbol(self.0, &name);
        // SAFETY: the object's functions take nothing and return the caller's type.
        let function = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> T>(function) };
        function()
    }
}

fn thread_local_bytes(object: &[u8]) -> u64 {
    let header = elf::FileHeader64::<Endianness>::parse(object).unwrap();
    let endian = header.endian().unwrap();
    let segments = header.program_headers(endian, object).unwrap();
    let words = segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_TLS);
    words.map(|segment| segment.p_memsz(endian)).sum()
}

/// Whether five objects with this many have room in what glibc keeps for objects that are loaded late (elf/dl-tls.c, 2.32 and later).
fn five_have_room(bytes: u64) -> bool {
    const SURPLUS: u64 = 1664;
    5 * bytes.next_multiple_of(64) <= SURPLUS
}

fn five_copies_have_room_in_static_tls() {
    let plugin = std::fs::read(example::build("plugin").join("libplugin.so")).unwrap();
    let bytes = thread_local_bytes(&plugin);
    assert!(bytes >= 160 && five_have_room(bytes), "{bytes} bytes");
    // The twin: what it took with whole records in a block aligned to 64.
    assert!(!five_have_room(440));
    for copy in 0..5 {
        let path =
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("plugin.{copy}.{}", std::process::id()));
        std::fs::write(&path, &plugin).unwrap();
        let plugin = dl::open(&path, libc::RTLD_LOCAL);
        std::fs::remove_file(&path).unwrap();
        if plugin.is_null() {
            // SAFETY: takes nothing.
            let said = unsafe { libc::dlerror() };
            // SAFETY: the linker's own C string, after a failure.
            panic!("{copy}: {:?}", unsafe { std::ffi::CStr::from_ptr(said) });
        }
    }
}

fn enable() {
    COUNTER.inc(Ordering::Relaxed);
    crate::enable().unwrap();
}

impl Plugin {
    fn is_elided(&self) -> bool {
        self.call::<usize>("plugin_elided") == self.call::<usize>("plugin_sites")
    }
}

/// Whether an object may be bound to itself first. AddressSanitizer ends a program that asks for it.
fn has_deepbind() -> bool {
    !is_asan()
}

fn the_copys_sites_are_elided_with_the_programs() {
    enable();
    let ways = [libc::RTLD_GLOBAL, libc::RTLD_LOCAL, libc::RTLD_DEEPBIND];
    for flags in ways.into_iter().take(if has_deepbind() { 3 } else { 2 }) {
        let plugin = Plugin::load_with(flags);
        // At once, by its constructor.
        let ours = state();
        assert_eq!((ours.mode, ours.elided, ours.units), (Mode::Single, ours.sites, 1));
        assert!(plugin.call::<usize>("plugin_sites") > 0 && plugin.is_elided());
        assert_eq!(ours.unit_sites, ours.unit_elided);
        assert_eq!(plugin.call::<i32>("plugin_enable"), 0);
        // SAFETY: nothing of the object is used after this.
        assert_eq!(unsafe { libc::dlclose(plugin.0) }, 0);
        assert_eq!((state().mode, state().elided), (Mode::Single, ours.sites));
    }
}

/// The program's hooks are there, and it has not asked for the mode. An object that is bound to itself first is no reason to elide in it.
fn a_copy_that_is_bound_to_itself_elides_nothing() {
    if !has_deepbind() {
        return println!("skipped: AddressSanitizer refuses RTLD_DEEPBIND");
    }
    let plugin = Plugin::load_with(libc::RTLD_DEEPBIND);
    assert_eq!(plugin.call::<i32>("plugin_enable"), 1);
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
}

fn a_copy_loaded_before_is_elided_too() {
    let plugin = Plugin::load();
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
    assert_eq!(plugin.call::<u32>("plugin_mode"), 0);
    enable();
    assert!(plugin.is_elided());
    assert_eq!(plugin.call::<u32>("plugin_mode"), 1);
}

/// Its hooks are not in force: it asks the program's copy.
fn the_copys_calls_reach_the_program() {
    let plugin = Plugin::load();
    assert_eq!(plugin.call::<i32>("plugin_reelide"), 1, "there is none");
    enable();
    assert_eq!(plugin.call::<i32>("plugin_lock"), 0);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
    assert_eq!(plugin.call::<u32>("plugin_mode"), 0);
    assert_eq!(plugin.call::<i32>("plugin_reelide"), 0);
    assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
    assert!(plugin.is_elided());
    assert_eq!(
        (plugin.call::<u32>("plugin_mode"), plugin.call::<usize>("plugin_units")),
        (1, 1)
    );
    // The program's refusal arrives.
    std::thread::scope(|scope| {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || ended.recv().unwrap_err());
        assert_eq!(plugin.call::<i32>("plugin_reelide"), 2);
        drop(end);
    });
}

fn the_copys_key_is_flipped_while_its_sites_are_elided() {
    enable();
    let plugin = Plugin::load();
    assert!(plugin.call::<i32>("plugin_flip") > 0);
    assert!(plugin.is_elided());
    assert_eq!(plugin.call::<i32>("plugin_spawn"), 0);
    assert_eq!((plugin.call::<usize>("plugin_elided"), state().elided), (0, 0));
    assert!(plugin.call::<i32>("plugin_flip") > 0);
}

/// It has a C library of its own, whose threads no hook of the program's sees.
fn a_copy_of_another_namespace_elides_nothing() {
    enable();
    let path = example::build("plugin").join("libplugin.so");
    let plugin = dl::open_apart(path);
    if plugin.is_null() {
        return println!("skipped: dlmopen refuses here");
    }
    let plugin = Plugin(plugin);
    cyclewise::patch::reelide().unwrap();
    assert_eq!((plugin.call::<usize>("plugin_elided"), state().units), (0, 0));
    assert_eq!(plugin.call::<i32>("plugin_reelide"), 1);
    assert_eq!(plugin.call::<i32>("plugin_enable"), 1);
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
}

fn the_copys_threads_restore_lock() {
    enable();
    let plugin = Plugin::load();
    assert_eq!(state().mode, Mode::Single);
    assert_eq!(plugin.call::<i32>("plugin_spawn"), 0);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    assert_eq!(plugin.call::<usize>("plugin_elided"), 0);
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
        let at = dl::symbol(plugin.0, c"plugin_flip").addr() & !0xfff;
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
    let at = dl::symbol(plugin.0, c"plugin_flip").addr() & !0xfff;
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
        let raise = || assert_eq!(call::raise(libc::SIGUSR1), 0);
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

/// Runs this program's list of checks with the example `allocator` preloaded; the exit status is the expected one.
fn with_allocator(variable: &str, expected: i32) {
    if is_asan() {
        return println!("skipped: AddressSanitizer's malloc comes before a preloaded one");
    }
    let allocator = example::build("allocator").join("liballocator.so");
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.arg("--list").env("LD_PRELOAD", allocator).env(variable, "1");
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(expected), "{output:?}");
}

/// The first use of per-CPU data opens its own object by dlopen(3), which allocates: in a malloc(3) that counts per CPU it is reached again.
fn an_allocator_that_is_preloaded_counts_from_its_first_call_on() {
    with_allocator("NO_TWIN", 0);
}

fn twin_an_allocator_that_asks_the_dynamic_linker_inside_its_question_does_not_end() {
    with_allocator("TWIN_OF_THE_FIRST_USE", 50);
}
