//! What the hooks of thread creation in the program call: `hooks/cyclewise-hooks.c`, which the program links.
//!
//! A definition in the program is the only one that every library is bound to, so the program has to have them; this
//! library cannot. They forward to functions here. This library finds them by a weak reference to their table, which is bound before
//! any initializer runs; those of an object that is loaded later register themselves.
//!
//! # Invariants
//! 1. The order of the table is that of `__thread_creators!`, and so is that of `struct cw_hooks` in the C file.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. The C file calls each function with the arguments that the C library's function of that name was called with, behind a
//!    `struct cw_behind` of that hook alone, which has its layout and stays.
//! 3. A table whose size and version are right holds the program's hooks, and stays.
#![expect(unsafe_code, reason = "functions under names of their own, and a table by address")]

use crate::refusal::Refused;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr};
use cyclewise::patch::hooks::tls::{self, TlsHooks};
use cyclewise::patch::hooks::{self, Behind, Hooks, Next};
use std::sync::OnceLock;

/// The version: the layout of the table, and what the functions below are given. Their names have it too: an object of another version
/// does not link, and a program that was linked with one ends where the dynamic linker finds none ("undefined symbol").
macro_rules! abi {
    () => {
        2
    };
}
const ABI: u32 = abi!();
const _: () = assert!(
    ABI == of_the_c_file(),
    "HOOKS_ABI of hooks/cyclewise-hooks.c is another"
);

/// What the C file says: the digits behind the name.
const fn of_the_c_file() -> u32 {
    const FILE: &[u8] = include_bytes!("../hooks/cyclewise-hooks.c");
    const NAME: &[u8] = b"#define HOOKS_ABI ";
    let mut at = 0;
    while !FILE.split_at(at).1.split_at(NAME.len()).0.eq_ignore_ascii_case(NAME) {
        at += 1;
    }
    at += NAME.len();
    let mut number = 0;
    while FILE[at].is_ascii_digit() {
        number = number * 10 + (FILE[at] - b'0') as u32;
        at += 1;
    }
    number
}

macro_rules! define {
    ($($name:ident($($argument:ident: $type:ty),*) if $creates:expr, else $failure:expr;)*) => {
        /// The table of a program's hooks.
        #[repr(C)]
        pub struct cw_hooks {
            /// The bytes of the table.
            pub size: u32,
            /// Its version.
            pub abi: u32,
            /// Calls dlsym in the object's own link unit, which is known by it.
            pub next: Next,
            /// `_dl_allocate_tls`.
            pub allocate: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
            /// `_dl_allocate_tls_init`.
            pub init: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($type),*) -> c_int,
            )*
        }

        impl cw_hooks {
            fn hooks(&self) -> Hooks {
                Hooks {
                    tls: TlsHooks { allocate: self.allocate, init: self.init },
                    next: self.next,
                    $($name: self.$name),*
                }
            }
        }

        $(
            #[doc = concat!("Restores LOCK, then calls the `", stringify!($name), "` behind the hook.")]
            ///
            /// # Safety
            /// The C library's contract, and Safety 2.
            // SAFETY: Safety 1.
            #[unsafe(export_name = concat!("cw_hook", abi!(), "_", stringify!($name)))]
            pub unsafe extern "C" fn $name(behind: &Behind, $($argument: $type),*) -> c_int {
                // SAFETY: the caller's contract is the C library's.
                unsafe { cyclewise::patch::hooks::$name(behind, $($argument),*) }
            }
        )*
    };
}
cyclewise::__thread_creators!(define);

/// Restores LOCK, then calls the dynamic linker's `_dl_allocate_tls`.
///
/// # Safety
/// The dynamic linker's contract.
// SAFETY: Safety 1.
#[unsafe(export_name = concat!("cw_hook", abi!(), "_dl_allocate_tls"))]
pub unsafe extern "C" fn dl_allocate_tls(behind: &Behind, memory: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's contract is the dynamic linker's.
    unsafe { tls::allocate(behind, memory) }
}

/// Restores LOCK, then calls the dynamic linker's `_dl_allocate_tls_init`.
///
/// # Safety
/// The dynamic linker's contract.
// SAFETY: Safety 1.
#[unsafe(export_name = concat!("cw_hook", abi!(), "_dl_allocate_tls_init"))]
pub unsafe extern "C" fn dl_allocate_tls_init(behind: &Behind, block: *mut c_void, is_main: usize) -> *mut c_void {
    // SAFETY: the caller's contract is the dynamic linker's.
    unsafe { tls::init(behind, block, is_main) }
}

/// The table that the program has registered; null without one.
static TABLE: AtomicPtr<cw_hooks> = AtomicPtr::new(ptr::null_mut());

/// Whether a table of another version was seen.
static OTHER_VERSION: AtomicBool = AtomicBool::new(false);

/// Tells where the program's hooks are. A table of another version is not used, and single mode is refused for it.
///
/// # Safety
/// A table as the C file has it, which stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_hooks_register(table: *const cw_hooks) {
    // SAFETY: the caller's table.
    let table = unsafe { of_this_version(table) }.map_or(ptr::null(), ptr::from_ref);
    if !table.is_null() {
        // Release: pairs with the Acquire in `registered`.
        TABLE.store(table.cast_mut(), Release);
    }
}

/// The table, unless it is null or, which is noted, of another version.
///
/// # Safety
/// Null, or a table as the C file of some version has it, which stays.
unsafe fn of_this_version(table: *const cw_hooks) -> Option<&'static cw_hooks> {
    // SAFETY: null, or begins with a size and a version, whatever its version is.
    let head = unsafe { table.cast::<[u32; 2]>().as_ref() }?;
    if *head != [size_of::<cw_hooks>() as u32, ABI] {
        // Relaxed: a flag that refuses, and nothing else.
        OTHER_VERSION.store(true, Relaxed);
        return None;
    }
    // SAFETY: not null, and of this version (Safety 3).
    unsafe { table.as_ref() }
}

/// The program's hooks.
///
/// # Errors
/// It has none, or some of another version. Beside the right ones, others in a shared object do not matter: the library finds out
/// which are in force.
pub(crate) fn registered() -> Result<&'static Hooks, Refused> {
    static HOOKS: OnceLock<Hooks> = OnceLock::new();
    // SAFETY: null, or the object's table: no other has this name (Safety 1).
    let bound = unsafe { of_this_version(hooks::table_of_c_program().cast()) };
    let registered = || {
        // SAFETY: null, or a table of this version that stays (Safety 3).
        // Acquire: pairs with the Release in `cw_hooks_register`.
        unsafe { TABLE.load(Acquire).as_ref() }
    };
    let Some(table) = bound.or_else(registered) else {
        // Relaxed: as in `of_this_version`.
        return Err(if OTHER_VERSION.load(Relaxed) {
            Refused::HooksVersion
        } else {
            Refused::NotHooked
        });
    };
    Ok(HOOKS.get_or_init(|| table.hooks()))
}
