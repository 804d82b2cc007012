//! Programs that must not compile: they construct what only a macro or the linker may, call a function with a contract
//! without `unsafe`, implement a sealed trait, or lengthen a lifetime.
//!
//! On x86-64 only: elsewhere the available compiler may have no standard library for the target.
#![cfg(all(feature = "std", target_arch = "x86_64", target_os = "linux"))]

mod refused;

use refused::{Case, Library};

macro_rules! cases {
    ($($(#[$meta:meta])* $name:ident: $error:literal in $before:literal wrong $wrong:literal right $right:literal;)*) => { $(
        $(#[$meta])*
        #[test]
        fn $name() {
            let case = Case { before: $before, wrong: $wrong, right: $right, error: $error };
            case.check(Library::get());
        }
    )* };
}

/// The twin: a program that compiles, or that is rejected for another reason, fails the check.
#[test]
fn a_case_that_compiles_or_has_another_reason_is_caught() {
    let library = Library::get();
    for (wrong, error) in [("fn f() {}", "E0308"), ("fn f() -> u8 { false }", "E0133")] {
        let case = Case {
            before: "",
            wrong,
            right: "",
            error,
        };
        assert!(std::panic::catch_unwind(|| case.check(library)).is_err(), "{wrong}");
    }
}

/// Names that a caller may reuse: a type, a module, a macro, a crate. If `core` named another crate, its `asm!` would
/// expand inside the macro's `unsafe` block.
const NAMES: &str = "
    #![no_std]
    #![no_implicit_prelude]
    #![forbid(unsafe_code)]
    extern crate alloc as core;
    mod names {
        #![allow(dead_code, non_camel_case_types, unused_macros)]
        struct bool;
        struct u64;
        struct Option;
        struct StaticKey;
        struct Deref;
        mod core {}
        mod libc {}
        mod cyclewise {}
        macro_rules! asm { () => {} }
        macro_rules! concat { () => {} }
";

#[test]
fn macros_use_no_name_of_the_callers() {
    let keys = "
        ::cyclewise::static_key! {
            static K: StaticKey = false;
            pub(in crate::names) static r#type: StaticKey = true;
        }
        ::cyclewise::percpu! { static P: i32; static C: i64 => Cid; }
        pub fn f() -> i32 {
            ::cyclewise::static_key! { static INSIDE: StaticKey = true; }
            if K.is_enabled() || r#type.is_enabled() || INSIDE.is_enabled() { P.add(1); }
            let _ = K.enable();
            P.read()
        }
        pub fn g<T>(_: T) -> i32 {
            ::cyclewise::static_key! { static INSIDE: StaticKey = false; }
            if INSIDE.is_enabled() { 1 } else { 0 }
        }
    }";
    Library::get().compile(&format!("{NAMES}{keys}")).unwrap();
    // The twin: errors of a macro that used unqualified names.
    for wrong in [
        "fn f() -> bool { 1 < 2 } }",
        "fn f(n: ::core::primitive::u8) {} }",
        "fn f(n: Option<u8>) {} }",
    ] {
        Library::get().compile(&format!("{NAMES}{wrong}")).unwrap_err();
    }
}

// Values that a macro or the linker creates and that are accessed by address.
cases! {
    a_lock_site_is_not_made_by_hand: "E0423" in "use cyclewise::patch::{Site, sites};"
        wrong "fn f() -> Site { Site(16) }"
        right "fn f() -> Site { sites().next().unwrap() }";
    #[cfg(target_arch = "x86_64")]
    a_keys_site_is_not_reached: "E0603" in "cyclewise::static_key! { static K: StaticKey = false; }"
        wrong "fn f() { cyclewise::arch::key::table(); }"
        right "fn f() { K.sites(); }";
    #[cfg(target_arch = "x86_64")]
    an_alternatives_site_is_not_made_by_hand: "E0451" in "use cyclewise::arch::alternative::{Site, sites};"
        wrong "fn f(s: Site) -> Site { Site { at: 16 as *mut u8, ..s } }"
        right "fn f(_: Site) -> Site { sites().next().unwrap() }";
    a_keys_state_is_private: "E0616" in "use cyclewise::patch::StaticKey;"
        wrong "fn f(k: &StaticKey) { let _ = &k.on; }"
        right "fn f(k: &StaticKey) { let _ = k.users(); }";
    a_key_is_not_flipped_on_the_stack: "E0597" in "use cyclewise::patch::StaticKey;"
        wrong "fn f() { let k = StaticKey::__new(false, || 0); let _ = k.enable(); }"
        right "fn f() { static K: StaticKey = StaticKey::__new(false, || 0); let _ = K.enable(); }";
    an_atomics_word_is_private: "E0616" in "use cyclewise::atomic::AtomicU8;"
        wrong "fn f(a: &AtomicU8) { let _ = &a.0; }"
        right "fn f(a: &AtomicU8) { let _ = a.as_ptr(); }";
    confined_modes_guard_is_not_made_by_hand: "E0451" in "use cyclewise::patch::confined::Guard;"
        wrong "fn f(g: Guard) -> Guard { Guard { ..g } }"
        right "fn f(g: Guard) -> Guard { g }";
}

// Functions with a contract.
cases! {
    single_mode_is_unsafe: "E0133" in ""
        wrong "fn f() { let _ = cyclewise::enable_single!(); }"
        right "fn f() { let _ = unsafe { cyclewise::enable_single!() }; }";
    confined_mode_is_unsafe: "E0133" in "use cyclewise::patch::confined::enter;"
        wrong "fn f() { let _ = enter(None); }"
        right "fn f() { let _ = unsafe { enter(None) }; }";
    alternatives_are_applied_by_unsafe_code: "E0133" in "use cyclewise::patch::apply_alternatives;"
        wrong "fn f() { let _ = apply_alternatives(); }"
        right "fn f() { let _ = unsafe { apply_alternatives() }; }";
    #[cfg(target_arch = "x86_64")]
    an_alternative_is_assembly: "E0133" in "use cyclewise::alternative;"
        wrong "fn f() { alternative!(feature = 1, default = [\"nop\"], replacement = [\"nop\"]) }"
        right "fn f() { unsafe { alternative!(feature = 1, default = [\"nop\"], replacement = [\"nop\"]) } }";
    an_atomic_by_address_is_unsafe: "E0133" in "use cyclewise::atomic::AtomicU8;"
        wrong "fn f() { AtomicU8::from_ptr(16 as *mut u8); }"
        right "fn f() { unsafe { AtomicU8::from_ptr(16 as *mut u8) }; }";
    an_arc_by_address_is_unsafe: "E0133" in "use cyclewise::refs::Arc;"
        wrong "fn f(p: *const u8) { Arc::from_raw(p); }"
        right "fn f(p: *const u8) { unsafe { Arc::from_raw(p) }; }";
    a_closure_as_a_handler_is_unsafe: "E0133" in "use cyclewise::mask::Signals;"
        wrong "fn f() { let _ = Signals::call(10, |_, _| {}); }"
        right "fn f() { let _ = unsafe { Signals::call(10, |_, _| {}) }; }";
    a_closure_is_no_handler_by_itself: "E0277" in "use cyclewise::mask::Signals; use std::sync::atomic::AtomicBool;"
        wrong "fn f() { let _ = Signals::on(10, &|_, _| {}); }"
        right "fn f() { static B: AtomicBool = AtomicBool::new(false); let _ = Signals::on(10, &B); }";
    a_hook_is_unsafe: "E0133" in "#[cfg(target_env = \"gnu\")] use cyclewise::patch::hooks::{Behind, aio_read}; use std::ptr::null_mut;
         #[cfg(not(target_env = \"gnu\"))] struct Behind;
         #[cfg(not(target_env = \"gnu\"))] unsafe fn aio_read(_: &Behind, _: *mut u8) {}"
        wrong "fn f(behind: &Behind) { aio_read(behind, null_mut()); }"
        right "fn f(behind: &Behind) { unsafe { aio_read(behind, null_mut()) }; }";
    gs_is_entered_by_unsafe_code: "E0133" in "use cyclewise::percpu::Pinned;"
        wrong "fn f() { let _ = Pinned::enter(0); }"
        right "fn f() { let _ = unsafe { Pinned::enter(0) }; }";
    a_per_cpu_word_by_address_is_unsafe: "E0133" in "use cyclewise::percpu::{Cpu, this_cpu};"
        wrong "fn f(at: *mut u64) { this_cpu::add::<Cpu, u64>(at, 1); }"
        right "fn f(at: *mut u64) { unsafe { this_cpu::add::<Cpu, u64>(at, 1) }; }";
}

// Sealed traits.
cases! {
    a_clocks_order_is_sealed: "E0277" in "#[derive(Clone, Copy)] struct Mine;"
        wrong "impl cyclewise::clock::Order for Mine { fn ticks<S: cyclewise::clock::Source>(_: &S) -> u64 { 0 } }"
        right "";
    what_clones_into_an_arc_is_sealed: "E0277" in "use cyclewise::refs::{Arc, CloneArc}; struct Mine;"
        wrong "impl CloneArc for Mine { fn clone_arc(&self) -> Arc<Self> { Arc::new(Mine) } }"
        right "fn f(mine: &Arc<u8>) -> Arc<u8> { mine.clone() }";
    a_per_cpu_index_is_sealed: "E0277" in "struct Mine;"
        wrong "impl cyclewise::percpu::Index for Mine {}"
        right "";
    a_per_cpu_word_is_sealed: "E0277" in "struct Mine; unsafe impl cyclewise::percpu::Zeroed for Mine {}"
        wrong "impl cyclewise::percpu::Word for Mine {}"
        right "";
    a_value_of_one_word_is_sealed: "E0277" in "struct Mine;"
        wrong "impl cyclewise::percpu::WordSized for Mine {}"
        right "";
    that_zeroes_are_a_value_is_promised: "E0200" in "struct Mine;"
        wrong "impl cyclewise::percpu::Zeroed for Mine {}"
        right "unsafe impl cyclewise::percpu::Zeroed for Mine {}";
    that_a_handler_may_run_anywhere_is_promised: "E0200" in "use cyclewise::mask::{Handler, Hold, Info}; struct Mine;"
        wrong "impl Handler for Mine { fn handle(&self, _: &Info, _: &Hold) {} }"
        right "unsafe impl Handler for Mine { fn handle(&self, _: &Info, _: &Hold) {} }";
}

// Variance: a value would be stored with the shorter lifetime and read with the longer one.
macro_rules! invariant {
    ($($(#[$meta:meta])* $name:ident: $use:literal, $before:literal, $behind:literal;)*) => { $(
        $(#[$meta])*
        #[test]
        fn $name() {
            let case = Case {
                before: concat!("use cyclewise::", $use, ";"),
                wrong: concat!("fn f<'s, 'a>(x: ", $before, "static", $behind, ") -> ", $before, "a", $behind, " { x }"),
                right: concat!("fn f<'s>(x: ", $before, "static", $behind, ") -> ", $before, "static", $behind, " { x }"),
                error: "lifetime may not live long enough",
            };
            case.check(Library::get());
        }
    )* };
}

invariant! {
    an_atomic_pointer_is_invariant: "atomic::AtomicPtr", "&'s AtomicPtr<&'", " u8>";
    a_spinlock_is_invariant: "lock::SpinLock", "&'s SpinLock<&'", " u8>";
    a_spinlocks_guard_is_invariant: "lock::SpinLockGuard", "SpinLockGuard<'s, &'", " u8>";
    a_masked_value_is_invariant: "mask::Masked", "&'s Masked<&'", " u8>";
    a_masked_values_guard_is_invariant: "mask::MaskedGuard", "MaskedGuard<'s, &'", " u8>";
    a_lockref_is_invariant: "refs::LockRef", "&'s LockRef<&'", " u8>";
    a_lockrefs_guard_is_invariant: "refs::lockref::Guard", "Guard<'s, &'", " u8>";
    a_pool_is_invariant: "refs::rcuref::Pool", "&'s Pool<&'", " u8>";
    a_free_list_is_invariant: "percpu::FreeList", "&'s FreeList<&'", " u8>";
    a_node_is_invariant: "percpu::Node", "Node<'s, &'", " u8>";
    a_chain_is_invariant: "percpu::Chain", "Chain<'s, &'", " u8>";
    #[cfg(target_pointer_width = "64")]
    a_stack_is_invariant: "percpu::Stack", "&'s Stack<Box<&'", " u8>, 4>";
}

// Covariance: the lifetime of what an Arc refers to is shortened, and never lengthened.
cases! {
    an_arc_is_not_lengthened: "lifetime may not live long enough" in "use cyclewise::refs::Arc;"
        wrong "fn f<'a>(x: Arc<&'a u8>) -> Arc<&'static u8> { x }"
        right "fn f<'a>(x: Arc<&'static u8>) -> Arc<&'a u8> { x }";
    an_arcs_trait_object_is_not_lengthened: "lifetime may not live long enough" in "use cyclewise::refs::Arc;"
        wrong "fn f<'a>(x: Arc<dyn Fn() + 'a>) -> Arc<dyn Fn()> { Arc::unsize(x, |v| v) }"
        right "fn f<'a>(x: Arc<dyn Fn() + Send>) -> Arc<dyn Fn() + 'a> { Arc::unsize(x, |v| v) }";
}

// Values that outlive what they borrow.
cases! {
    a_guard_does_not_outlive_its_lockref: "E0597" in "use cyclewise::refs::LockRef;"
        wrong "fn f() { let g; { let l = LockRef::new(1u8); g = l.lock(); } drop(g); }"
        right "fn f() { let l = LockRef::new(1u8); let g = l.lock(); drop(g); }";
    an_entry_does_not_outlive_its_pool: "E0505" in "use cyclewise::refs::rcuref::Pool;"
        wrong "fn f(p: Pool<u8>) { let e = p.insert(1); drop(p); drop(e); }"
        right "fn f(p: Pool<u8>) { let e = p.insert(1); drop(e); drop(p); }";
    a_node_does_not_outlive_its_list: "E0505" in "use cyclewise::percpu::FreeList;"
        wrong "fn f(p: FreeList<u8>) { let e = p.grow(1); drop(p); drop(e); }"
        right "fn f(p: FreeList<u8>) { let e = p.grow(1); drop(e); drop(p); }";
    a_masked_guard_does_not_outlive_its_hold: "E0505" in "use cyclewise::mask::{Masked, hold};"
        wrong "fn f(m: &Masked<u8>) { let h = hold(); let g = m.lock(&h); drop(h); drop(g); }"
        right "fn f(m: &Masked<u8>) { let h = hold(); let g = m.lock(&h); drop(g); drop(h); }";
    a_hold_stays_on_its_thread: "E0277" in "use cyclewise::mask::hold;"
        wrong "fn f() { let h = hold(); std::thread::scope(|s| { s.spawn(move || drop(h)); }); }"
        right "fn f() { let h = hold(); drop(h); }";
    a_polled_descriptor_is_borrowed: "E0505" in "use cyclewise::mask::Polled; use std::os::fd::{AsFd, OwnedFd};"
        wrong "fn f(fd: OwnedFd) { let p = Polled::new(fd.as_fd(), 1); drop(fd); p.happened(); }"
        right "fn f(fd: OwnedFd) { let p = Polled::new(fd.as_fd(), 1); p.happened(); drop(fd); }";
    a_stopped_slots_guard_is_borrowed: "E0505" in "use cyclewise::percpu::{Cpu, Guard, Slot};"
        wrong "fn f(s: Slot, a: Box<Guard>) { let g = s.stop::<Cpu>(&a); drop(a); drop(g); }"
        right "fn f(s: Slot, a: Box<Guard>) { let g = s.stop::<Cpu>(&a); drop(g); drop(a); }";
    what_a_handler_uses_lives_for_ever: "E0597" in "use cyclewise::mask::Signals; use std::sync::atomic::AtomicBool;"
        wrong "fn f() { let b = AtomicBool::new(false); let _ = Signals::on(10, &b); }"
        right "fn f() { static B: AtomicBool = AtomicBool::new(false); let _ = Signals::on(10, &B); }";
}

// References that outlive their guard, and values that are borrowed twice or dropped before what they borrow.
cases! {
    a_reference_does_not_outlive_its_guard: "E0597" in "use cyclewise::refs::LockRef;"
        wrong "fn f(l: &LockRef<u8>) -> u8 { let r: &u8 = { let g = l.lock(); &*g }; *r }"
        right "fn f(l: &LockRef<u8>) -> u8 { let g = l.lock(); let r: &u8 = &g; *r }";
    a_count_does_not_outlive_its_lockref: "E0597" in "use cyclewise::refs::LockRef;"
        wrong "fn f() { let r = { let l = LockRef::new(1); l.reference() }; drop(r); }"
        right "fn f() { let l = LockRef::new(1); let r = l.reference(); drop(r); }";
    a_reference_does_not_outlive_its_entry: "E0597" in "use cyclewise::refs::rcuref::Pool;"
        wrong "fn f(p: &Pool<u8>) -> u8 { let r: &u8 = { let e = p.insert(1).unwrap(); &*e }; *r }"
        right "fn f(p: &Pool<u8>) -> u8 { let e = p.insert(1).unwrap(); let r: &u8 = &e; *r }";
    a_reference_does_not_outlive_its_arc: "E0597" in "use cyclewise::refs::Arc;"
        wrong "fn f() -> u8 { let r: &u8 = { let a = Arc::new(1); &*a }; *r }"
        right "fn f() -> u8 { let a = Arc::new(1); let r: &u8 = &a; *r }";
    what_get_mut_lends_is_the_only_reference: "E0502" in "use cyclewise::refs::Arc;"
        wrong "fn f(mut a: Arc<u8>) { let v = Arc::get_mut(&mut a).unwrap(); let _b = a.clone(); *v = 2; }"
        right "fn f(mut a: Arc<u8>) { let v = Arc::get_mut(&mut a).unwrap(); *v = 2; let _b = a.clone(); }";
    what_make_mut_lends_is_the_only_reference: "E0502" in "use cyclewise::refs::Arc;"
        wrong "fn f(mut a: Arc<u8>) { let v = Arc::make_mut(&mut a); let _w = Arc::downgrade(&a); *v = 2; }"
        right "fn f(mut a: Arc<u8>) { let v = Arc::make_mut(&mut a); *v = 2; let _w = Arc::downgrade(&a); }";
    a_guard_lends_its_data_once: "E0499" in "use cyclewise::refs::LockRef;"
        wrong "fn f(l: &LockRef<u8>) { let mut g = l.lock(); let (a, b) = (&mut *g, &mut *g); std::mem::swap(a, b); }"
        right "fn f(l: &LockRef<u8>) { let mut g = l.lock(); std::mem::swap(&mut *g, &mut 1); }";
    an_arcs_value_is_dropped_before_what_it_borrows: "E0597" in "use cyclewise::refs::Arc; struct Loud<'a>(&'a String); impl Drop for Loud<'_> { fn drop(&mut self) {} }"
        wrong "fn f() { let _a; let s = String::new(); _a = Arc::new(Loud(&s)); }"
        right "fn f() { let s = String::new(); let _a; _a = Arc::new(Loud(&s)); }";
    a_pools_values_are_dropped_before_what_they_borrow: "E0597" in "use cyclewise::refs::rcuref::Pool; struct Loud<'a>(&'a String); impl Drop for Loud<'_> { fn drop(&mut self) {} }"
        wrong "fn f() { let p = Pool::new(1); let s = String::new(); std::mem::forget(p.insert(Loud(&s))); }"
        right "fn f() { let s = String::new(); let p = Pool::new(1); std::mem::forget(p.insert(Loud(&s))); }";
    a_value_under_a_hold_is_borrowed_for_a_time_too: "E0505" in "use cyclewise::mask::{Masked, hold}; use std::time::Duration;"
        wrong "fn f(m: &Masked<u8>) { let h = hold(); let g = m.try_lock_for(&h, Duration::ZERO); drop(h); drop(g); }"
        right "fn f(m: &Masked<u8>) { let h = hold(); let g = m.try_lock_for(&h, Duration::ZERO); drop(g); drop(h); }";
    a_hold_is_not_shared: "E0277" in "use cyclewise::mask::{Masked, hold};"
        wrong "fn f(m: &Masked<u8>) { let h = hold(); std::thread::scope(|s| { s.spawn(|| drop(m.lock(&h))); }); }"
        right "fn f(m: &Masked<u8>) { let h = hold(); drop(m.lock(&h)); }";
    a_function_is_no_handler_by_itself: "E0277" in "use cyclewise::mask::{Hold, Info, Signals}; static H: fn(&Info, &Hold) = |_, _| ();"
        wrong "fn f() { let _ = Signals::on(10, &H); }"
        right "fn f() { let _ = unsafe { Signals::call(10, H) }; }";
    a_clock_that_is_not_shared_has_no_upkeep: "E0277" in "use cyclewise::clock::{Clock, Mock, Source, Upkeep};"
        wrong "fn f<S: Source + Send>(c: &'static Clock<S>) { let _ = Upkeep::start(c); }"
        right "fn f<S: Source + Sync>(c: &'static Clock<S>) { let _ = Upkeep::start(c); }";
}

// The function that coerces a reference returns its argument, whatever it does besides.
macro_rules! coercions {
    ($($name:ident: $error:literal, $wrong:literal;)*) => { cases! { $(
        $name: $error in "use cyclewise::refs::{Arc, Unsizing, Weak};
             thread_local!(static KEPT: std::cell::Cell<Option<&'static Unsizing<u8>>> = const { std::cell::Cell::new(None) });"
            wrong $wrong
            right "fn f(a: Arc<[u8; 2]>, w: Weak<[u8; 2]>) -> (Arc<[u8]>, Weak<[u8]>) { (Arc::unsize(a, |v| v), Weak::unsize(w, |v| v)) }";
    )* } };
}

coercions! {
    a_coercion_to_a_new_value_is_refused: "E0423",
        "fn f(w: Weak<[u8; 2]>) -> Weak<[u8]> { Weak::unsize(w, |_| Box::leak(Box::new(Unsizing([1, 2, 3])))) }";
    a_coercion_to_another_value_is_refused: "E0308",
        "fn f(w: Weak<[u8; 2]>, other: &'static Unsizing<[u8; 2]>) -> Weak<[u8; 2]> { Weak::unsize(w, |_| other) }";
    a_coercion_that_keeps_the_value_is_refused: "E0521",
        "fn f(w: Weak<u8>) -> Weak<u8> { Weak::unsize(w, |v| { KEPT.set(Some(v)); v }) }";
    a_coercion_that_reads_the_value_is_refused: "E0616",
        "fn f(w: Weak<u8>) -> Weak<u8> { Weak::unsize(w, |v| { let _: &u8 = &v.0; v }) }";
    a_coercion_to_another_type_is_refused: "E0308", "fn f(w: Weak<i32>) -> Weak<u32> { Weak::unsize(w, |v| v) }";
}
