//! Which auto traits each public type implements: one row per type, or one per kind of type parameter.
//!
//! A changed row changes what safe code may do with the type: `Send` and `Sync` limit sharing between threads, the
//! unwinding traits limit use after a panic. Programs that must not compile, variance included, are in `compile_fail`.
#![cfg(all(feature = "std", target_os = "linux"))]

use cyclewise::{atomic, clock, error, lock, mask, patch, percpu, refs};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;
use std::sync::MutexGuard;

/// `Send` and not `Sync`.
type Sent = Cell<u8>;
/// `Sync` and not `Send`.
type Shared = MutexGuard<'static, u8>;
/// Neither.
type Kept = *const u8;

/// Whether a type has a trait: an inherent constant hides a trait's constant of the same name where its bound holds.
macro_rules! has {
    ($type:ty: $($bound:tt)+) => {{
        #[allow(dead_code, reason = "hidden where the bound holds")]
        trait Otherwise {
            const HAS: bool = false;
        }
        impl<T: ?Sized> Otherwise for T {}
        struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "not there where the bound does not hold")]
        impl<T: ?Sized + $($bound)+> Probe<T> {
            const HAS: bool = true;
        }
        <Probe<$type>>::HAS
    }};
}

/// The traits of a type: `Send`, `Sync`, `Unpin`, `UnwindSafe`, `RefUnwindSafe`, each by its letter or a dash.
macro_rules! traits {
    ($type:ty) => {
        [
            ('S', has!($type: Send)),
            ('Y', has!($type: Sync)),
            ('P', has!($type: Unpin)),
            ('U', has!($type: UnwindSafe)),
            ('R', has!($type: RefUnwindSafe)),
        ]
        .map(|(letter, has)| if has { letter } else { '-' })
        .iter()
        .collect::<String>()
    };
}

macro_rules! table {
    (fn $name:ident() { $($type:ty => $expected:literal;)* }) => {
        /// The rows: type, expected, found.
        fn $name() -> Vec<(&'static str, &'static str, String)> {
            vec![$((stringify!($type), $expected, traits!($type))),*]
        }
    };
}

table! { fn everywhere() {
    atomic::AtomicBool => "SYPUR";
    atomic::AtomicU8 => "SYPUR";
    atomic::AtomicU16 => "SYPUR";
    atomic::AtomicU32 => "SYPUR";
    atomic::AtomicU64 => "SYPUR";
    atomic::AtomicUsize => "SYPUR";
    atomic::AtomicI8 => "SYPUR";
    atomic::AtomicI16 => "SYPUR";
    atomic::AtomicI32 => "SYPUR";
    atomic::AtomicI64 => "SYPUR";
    atomic::AtomicIsize => "SYPUR";
    atomic::AtomicPtr<u8> => "SYPUR";
    atomic::AtomicPtr<Kept> => "SYPUR";
    atomic::AtomicPtr<PhantomPinned> => "SYPUR";
    clock::Clock => "SYPU-";
    clock::Clock<clock::Mock> => "SYPU-";
    clock::Clock<Sent> => "S-PU-";
    clock::Clock<Kept> => "--PU-";
    clock::Clock<Shared> => "-YPU-";
    clock::System => "SYPUR";
    clock::Mock => "SYPUR";
    clock::Instant => "SYPUR";
    clock::Instant<clock::PerTask> => "SYPUR";
    clock::Instant<clock::LoadOrdered> => "SYPUR";
    clock::Reading => "SYPUR";
    clock::Reading<clock::DependentLoad> => "SYPUR";
    clock::Ticks => "SYPUR";
    clock::Ticks<clock::Bracketed> => "SYPUR";
    clock::Conversion => "SYPUR";
    clock::ConvertedTime<clock::PerTask> => "SYPUR";
    clock::UnixAnchor => "SYPUR";
    clock::WallClock => "SYPUR";
    clock::PerTask => "SYPUR";
    clock::LoadOrdered => "SYPUR";
    clock::DependentLoad => "SYPUR";
    clock::AfterStores => "SYPUR";
    clock::Bracketed => "SYPUR";
    clock::Mode => "SYPUR";
    clock::Status => "SYPUR";
    clock::Reason => "SYPUR";
    clock::ClocksourceName => "SYPUR";
    clock::Upkeep => "SYP--";
    error::Refusal => "SYPUR";
    lock::NoRelax => "SYPUR";
    lock::Pause => "SYPUR";
    lock::Exponential => "SYPUR";
    lock::Never => "SYPUR";
    lock::SpinOnly => "SYPUR";
    lock::Futex => "SYPUR";
    lock::DefaultPark => "SYPUR";
    lock::DefaultRelax => "SYPUR";
    lock::Moment => "SYPUR";
    lock::RawSpinLock => "SYPUR";
    lock::RawSpinLock<lock::SpinOnly, lock::NoRelax> => "SYPUR";
    // A relax strategy is created where it is used.
    lock::RawSpinLock<Kept, Kept> => "SYPUR";
    lock::SpinLock<u8> => "SYPU-";
    lock::SpinLock<Sent> => "SYPU-";
    lock::SpinLock<Shared> => "--PU-";
    lock::SpinLock<Kept> => "--PU-";
    lock::SpinLock<PhantomPinned> => "SY-U-";
    lock::SpinLockWith<Sent, lock::SpinOnly, lock::Pause> => "SYPU-";
    lock::SpinLockGuardWith<'static, u8, lock::SpinOnly, lock::NoRelax> => "SYP--";
    lock::SpinLockGuard<'static, u8> => "SYP--";
    lock::SpinLockGuard<'static, Sent> => "S-P--";
    lock::SpinLockGuard<'static, Shared> => "-YP--";
    lock::SpinLockGuard<'static, Kept> => "--P--";
    mask::Masked<u8> => "SYPU-";
    mask::Masked<Sent> => "SYPU-";
    mask::Masked<Shared> => "--PU-";
    mask::Masked<Kept> => "--PU-";
    mask::Masked<[u8]> => "SYPU-";
    mask::Masked<dyn Send> => "SY---";
    mask::Masked<dyn Sync> => "-----";
    mask::Masked<mask::Queue<4>> => "SYPU-";
    mask::MaskedGuard<'static, u8> => "--P--";
    mask::MaskedGuard<'static, Sent> => "--P--";
    mask::Signals => "SYPUR";
    mask::Polled<'static> => "SYPUR";
    mask::Woken => "SYPUR";
    mask::Info => "SYPUR";
    mask::Hold => "--PUR";
    mask::Flags => "--PUR";
    mask::Queue<1> => "SYPUR";
    patch::StaticKey => "SYPUR";
    patch::Site => "SYPUR";
    patch::Prefix => "SYPUR";
    patch::Mode => "SYPUR";
    patch::State => "SYPUR";
    patch::units::Unit => "SYPUR";
    patch::units::Key => "SYPUR";
    patch::confined::Guard => "SYPUR";
    patch::confined::Stuck => "SYPUR";
    percpu::PerCpu<u64> => "SYPUR";
    percpu::PerCpu<*mut u8> => "SYPUR";
    percpu::PerCpu<u64, percpu::Cid> => "SYPUR";
    percpu::StaticPerCpu<u64> => "SYPUR";
    percpu::StaticPerCpu<*mut u8> => "SYPUR";
    percpu::Stack<Box<u8>, 4> => "SYPUR";
    percpu::Stack<Box<Sent>, 4> => "SYPU-";
    percpu::Stack<Box<Shared>, 4> => "--PUR";
    percpu::Stack<*mut u8, 4> => "--PUR";
    percpu::Slot => "SYPUR";
    percpu::Ring<u64, 4> => "SYPUR";
    percpu::Ring<*mut u8, 4> => "SYPUR";
    percpu::Stopped<'static> => "SYPUR";
    cyclewise::fence::Asymmetric => "SYPUR";
    cyclewise::rcu::Domain => "SYPUR";
    cyclewise::rcu::DomainGuard<'static> => "--PUR";
    cyclewise::rcu::Global => "SYPUR";
    cyclewise::rcu::Guard => "--PUR";
    cyclewise::rcu::Rcu<u64> => "SYPUR";
    cyclewise::rcu::Rcu<Sent> => "S-P--";
    cyclewise::rcu::Stall => "SYPUR";
    cyclewise::seq::SeqCount => "SYPUR";
    cyclewise::seq::SeqWriter<'static> => "SYPUR";
    cyclewise::seq::SeqLatch<u64> => "SYPUR";
    cyclewise::seq::SeqLock<u64> => "SYPUR";
    percpu::Counter => "SYPUR";
    percpu::FreeList<u8> => "SYPUR";
    percpu::FreeList<Sent> => "SYP--";
    percpu::FreeList<Shared> => "--PUR";
    percpu::Node<'static, u8> => "SYPUR";
    percpu::Node<'static, Sent> => "S-P--";
    percpu::Node<'static, Shared> => "--PUR";
    percpu::Chain<'static, u8> => "S-PUR";
    percpu::Chain<'static, Sent> => "S-P--";
    percpu::Chain<'static, Shared> => "--PUR";
    percpu::Arc<u8> => "SYPUR";
    percpu::Arc<Sent> => "--P--";
    percpu::Arc<Shared> => "--PUR";
    percpu::Arc<PhantomPinned> => "SYPUR";
    percpu::ArcOwner<u8> => "SYPUR";
    percpu::ArcOwner<Sent> => "--P--";
    percpu::ArcOwner<Shared> => "--PUR";
    percpu::Gauge => "SYPUR";
    percpu::Histogram => "SYPUR";
    percpu::histogram::Bucket => "SYPUR";
    percpu::histogram::OpenMetrics<'static> => "SYPUR";
    percpu::histogram::Range => "SYPUR";
    percpu::histogram::Snapshot => "SYPUR";
    percpu::Ref<fn()> => "SYPUR";
    percpu::Ref<Box<dyn Fn() + Send>> => "S-P--";
    percpu::Ref<Box<dyn Fn() + Sync>> => "-YP--";
    percpu::Ref<Box<dyn Fn()>> => "--P--";
    percpu::Pinned => "--PUR";
    percpu::Backend => "SYPUR";
    percpu::Reason => "SYPUR";
    percpu::Report => "SYPUR";
    percpu::CurrentSlot => "--PUR";
    percpu::Cpu => "SYPUR";
    percpu::Cid => "SYPUR";
    percpu::Outcome => "SYPUR";
    refs::Arc<u8> => "SYPUR";
    refs::Arc<Sent> => "--P--";
    refs::Arc<Shared> => "--PUR";
    refs::Arc<Kept> => "--PUR";
    refs::Arc<PhantomPinned> => "SYPUR";
    refs::Arc<dyn Send> => "--P--";
    refs::Arc<dyn Send + Sync> => "SYP--";
    refs::Weak<u8> => "SYPUR";
    refs::Weak<[u8]> => "SYPUR";
    refs::Weak<Sent> => "--P--";
    refs::Weak<Shared> => "--PUR";
    refs::Weak<Kept> => "--PUR";
    refs::Unsizing<u8> => "SYPUR";
    refs::Unsizing<Sent> => "S-PU-";
    refs::Unsizing<Shared> => "-YPUR";
    refs::Unsizing<Kept> => "--PUR";
    refs::LockRef<u8> => "SYPU-";
    refs::LockRef<Sent> => "SYPU-";
    refs::LockRef<Shared> => "--PU-";
    refs::LockRef<PhantomPinned> => "SY-U-";
    refs::LockRef<u8, Sent> => "S-PU-";
    refs::LockRef<u8, Shared> => "-YPU-";
    refs::LockRef<u8, Kept> => "--PU-";
    // A guard exposes the `LockRef` itself, so another thread that borrows a guard could lock it later, and take out a value.
    refs::lockref::Guard<'static, u8> => "-YP--";
    refs::lockref::Guard<'static, Sent> => "--P--";
    refs::lockref::Guard<'static, Shared> => "--P--";
    refs::lockref::Guard<'static, u8, Sent> => "--P--";
    refs::lockref::Ref<'static, u8> => "SYP--";
    refs::lockref::Ref<'static, Sent> => "SYP--";
    refs::lockref::Ref<'static, Shared> => "--P--";
    refs::lockref::Ref<'static, Kept> => "--P--";
    refs::lockref::Adaptive => "SYPUR";
    refs::lockref::Adaptive<Kept> => "SYPUR";
    refs::lockref::Bounded => "SYPUR";
    refs::rcuref::Pool<u8> => "SYPU-";
    refs::rcuref::Pool<Sent> => "S-PU-";
    refs::rcuref::Pool<Shared> => "--PU-";
    refs::rcuref::Entry<'static, u8> => "SYP--";
    refs::rcuref::Entry<'static, Sent> => "--P--";
    refs::rcuref::Entry<'static, Shared> => "--P--";
    refs::rcuref::Key => "SYPUR";
    refs::rcuref::Rcuref => "SYPUR";
    refs::rcuref::Got => "SYPUR";
    refs::refcount::Action => "SYPUR";
    refs::refcount::Event => "SYPUR";
    refs::refcount::Misuse => "SYPUR";
    refs::refcount::Decremented<u32> => "SYPUR";
    refs::Refcount => "SYPUR";
    refs::Refcount64 => "SYPUR";
} }

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
table! { fn here() {
    cyclewise::arch::alternative::Site => "--PUR";
    cyclewise::arch::tsc_order::Litmus => "SYPUR";
    cyclewise::arch::tsc_order::Sequence => "SYPUR";
    patch::hooks::Behind => "SYPUR";
    patch::hooks::Hooks => "SYPUR";
    patch::hooks::Next => "SYPUR";
    patch::hooks::tls::TlsHooks => "SYPUR";
} }

#[cfg(all(feature = "archery", feature = "metrics", feature = "tracing"))]
table! { fn for_other_crates() {
    refs::ArcK => "SYPUR";
    clock::tracing::WallTime => "SYPUR";
    clock::tracing::Uptime => "SYPUR";
    percpu::metrics::Recorder<u8> => "SYPUR";
    percpu::metrics::Recorder<Sent> => "S-PU-";
    percpu::metrics::Recorder<Kept> => "--PUR";
} }

// Where their features are on: `cargo test --workspace`, with `cyclewise-integrations`.
#[cfg(not(all(feature = "archery", feature = "metrics", feature = "tracing")))]
table! { fn for_other_crates() {} }

// Items of other builds only.
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
table! { fn here() {} }

#[test]
fn every_row_is_what_it_says() {
    for (name, expected, found) in everywhere().into_iter().chain(here()).chain(for_other_crates()) {
        assert_eq!(
            found, expected,
            "{name}: Send, sYnc, unPin, Unwind safe, Ref unwind safe"
        );
    }
}

/// The twin: the probe finds traits that are implemented and no others.
#[test]
fn the_probe_tells_the_traits_apart() {
    assert_eq!(traits!(u8), "SYPUR");
    assert_eq!(traits!(Sent), "S-PU-");
    assert_eq!(traits!(Shared), "-YPUR");
    assert_eq!(traits!(Kept), "--PUR");
    assert_eq!(traits!(PhantomPinned), "SY-UR");
    assert_eq!(traits!(&mut u8), "SYP-R");
}

/// A type is public through its module or through a `pub use`. The test does not distinguish them: every name declared
/// `pub` has a row.
#[test]
fn every_public_type_has_a_row() {
    let rows: BTreeSet<String> = everywhere()
        .into_iter()
        .chain(here())
        .chain(for_other_crates())
        .map(|(name, ..)| {
            let path = name.split('<').next().unwrap_or(name);
            path.rsplit("::").next().unwrap_or(path).trim().to_owned()
        })
        .collect();
    let mut declared = BTreeSet::new();
    declared_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut declared);
    assert!(declared.len() > 80, "{declared:?}");
    let elsewhere: &[&str] = if cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        &[]
    } else {
        &["Site", "Litmus", "Sequence", "Behind", "Hooks", "Next", "TlsHooks"]
    };
    let other_crates: &[&str] = if for_other_crates().is_empty() {
        &["ArcK", "WallTime", "Uptime", "Recorder"]
    } else {
        &[]
    };
    let missing: Vec<_> = declared
        .iter()
        .filter(|name| !rows.contains(*name) && !elsewhere.contains(&name.as_str()))
        .filter(|name| !other_crates.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

/// The names behind `pub struct`, `pub enum` and `pub type` in a folder's files, except in tests and macro parameters.
fn declared_in(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                declared_in(&path, names);
            }
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().map(str::trim_start) {
            let rest = ["pub struct ", "pub enum ", "pub union ", "pub type "]
                .iter()
                .find_map(|start| line.strip_prefix(start));
            let name = rest.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
            names.extend(name.flatten().filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
}

/// Covariant types: each only returns values or holds a borrow.
#[allow(dead_code, reason = "that it compiles is the test")]
mod covariant {
    use super::{lock, mask, percpu, refs};

    macro_rules! shortens {
        ($($name:ident: $long:ty => $short:ty;)*) => { $(
            fn $name<'a>(long: $long) -> $short {
                long
            }
        )* };
    }
    shortens! {
        arc: refs::Arc<&'static u8> => refs::Arc<&'a u8>;
        weak: refs::Weak<&'static u8> => refs::Weak<&'a u8>;
        given: refs::refcount::Decremented<&'static u8> => refs::refcount::Decremented<&'a u8>;
        spin_guard: lock::SpinLockGuard<'static, u8> => lock::SpinLockGuard<'a, u8>;
        masked_guard: mask::MaskedGuard<'static, u8> => mask::MaskedGuard<'a, u8>;
        polled: mask::Polled<'static> => mask::Polled<'a>;
        percpu_arc: percpu::Arc<&'static u8> => percpu::Arc<&'a u8>;
        arc_owner: percpu::ArcOwner<&'static u8> => percpu::ArcOwner<&'a u8>;
        node: percpu::Node<'static, u8> => percpu::Node<'a, u8>;
        chain: percpu::Chain<'static, u8> => percpu::Chain<'a, u8>;
        stopped: percpu::Stopped<'static> => percpu::Stopped<'a>;
        lockref_guard: refs::lockref::Guard<'static, u8> => refs::lockref::Guard<'a, u8>;
        lockref_ref: refs::lockref::Ref<'static, u8> => refs::lockref::Ref<'a, u8>;
        entry: refs::rcuref::Entry<'static, u8> => refs::rcuref::Entry<'a, u8>;
    }
}
