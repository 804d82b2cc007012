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
    (fn $name:ident() { all: [$($all:ty),* $(,)?]; $($type:ty => $expected:literal;)* }) => {
        /// The rows: type, expected, found. Types that have `all` traits have no row of their own.
        fn $name() -> Vec<(&'static str, &'static str, String)> {
            vec![
                $((stringify!($all), "SYPUR", traits!($all)),)*
                $((stringify!($type), $expected, traits!($type)),)*
            ]
        }
    };
}

table! { fn everywhere() {
    all: [
        atomic::AtomicBool, atomic::AtomicU8, atomic::AtomicU16, atomic::AtomicU32, atomic::AtomicU64,
        atomic::AtomicUsize, atomic::AtomicI8, atomic::AtomicI16, atomic::AtomicI32, atomic::AtomicI64,
        atomic::AtomicIsize, atomic::AtomicPtr<u8>, atomic::AtomicPtr<Kept>, atomic::AtomicPtr<PhantomPinned>,
        clock::System, clock::Mock, clock::Instant, clock::Instant<clock::PerTask>, clock::Instant<clock::LoadOrdered>,
        clock::Reading, clock::Reading<clock::DependentLoad>, clock::Ticks, clock::Ticks<clock::Bracketed>,
        clock::Conversion, clock::ConvertedTime<clock::PerTask>, clock::UnixAnchor, clock::WallClock, clock::PerTask,
        clock::LoadOrdered, clock::DependentLoad, clock::AfterStores, clock::Bracketed, clock::Mode, clock::Status,
        clock::Reason, clock::ClocksourceName, error::Refusal, lock::NoRelax, lock::Pause, lock::Exponential,
        lock::Never, lock::SpinOnly, lock::Futex, lock::DefaultPark, lock::DefaultRelax, lock::Moment,
        lock::RawSpinLock, lock::RawSpinLock<lock::SpinOnly, lock::NoRelax>,
        // A relax strategy is created where it is used.
        lock::RawSpinLock<Kept, Kept>, mask::Signals, mask::Polled<'static>, mask::Woken, mask::Info, mask::Queue<1>,
        patch::StaticKey, patch::Site, patch::Prefix, patch::Mode, patch::State, patch::units::Unit, patch::units::Key,
        patch::confined::Guard, patch::confined::Stuck, percpu::PerCpu<u64>, percpu::PerCpu<*mut u8>,
        percpu::PerCpu<u64, percpu::Cid>, percpu::StaticPerCpu<u64>, percpu::StaticPerCpu<*mut u8>,
        percpu::Stack<Box<u8>, 4>, percpu::Slot, percpu::Ring<u64, 4>, percpu::Ring<*mut u8, 4>,
        percpu::Stopped<'static>, cyclewise::fence::Asymmetric, cyclewise::rcu::Domain, cyclewise::rcu::Global,
        cyclewise::rcu::Rcu<u64>, cyclewise::rcu::Stall, cyclewise::seq::SeqCount, cyclewise::seq::SeqWriter<'static>,
        cyclewise::seq::SeqLatch<u64>, cyclewise::seq::SeqLock<u64>, percpu::Counter, percpu::FreeList<u8>,
        percpu::Node<'static, u8>, percpu::Arc<u8>, percpu::Arc<PhantomPinned>, percpu::ArcOwner<u8>, percpu::Gauge,
        percpu::Histogram, percpu::histogram::Bucket, percpu::histogram::OpenMetrics<'static>, percpu::histogram::Range,
        percpu::histogram::Snapshot, percpu::Ref<fn()>, percpu::Backend, percpu::Reason, percpu::Report, percpu::Cpu,
        percpu::Cid, percpu::Outcome, refs::Arc<u8>, refs::Arc<PhantomPinned>, refs::Weak<u8>, refs::Weak<[u8]>,
        refs::Unsizing<u8>, refs::lockref::Adaptive, refs::lockref::Adaptive<Kept>, refs::lockref::Bounded,
        refs::rcuref::Key, refs::rcuref::Rcuref, refs::rcuref::Got, refs::refcount::Action, refs::refcount::Event,
        refs::refcount::Misuse, refs::refcount::Decremented<u32>, refs::Refcount, refs::Refcount64,
    ];
    clock::Clock => "SYPU-";
    clock::Clock<clock::Mock> => "SYPU-";
    clock::Clock<Sent> => "S-PU-";
    clock::Clock<Kept> => "--PU-";
    clock::Clock<Shared> => "-YPU-";
    clock::Upkeep => "SYP--";
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
    mask::Hold => "--PUR";
    mask::Flags => "--PUR";
    percpu::Stack<Box<Sent>, 4> => "SYPU-";
    percpu::Stack<Box<Shared>, 4> => "--PUR";
    percpu::Stack<*mut u8, 4> => "--PUR";
    cyclewise::rcu::DomainGuard<'static> => "--PUR";
    cyclewise::rcu::Guard => "--PUR";
    cyclewise::rcu::Rcu<Sent> => "S-P--";
    percpu::FreeList<Sent> => "SYP--";
    percpu::FreeList<Shared> => "--PUR";
    percpu::Node<'static, Sent> => "S-P--";
    percpu::Node<'static, Shared> => "--PUR";
    percpu::Chain<'static, u8> => "S-PUR";
    percpu::Chain<'static, Sent> => "S-P--";
    percpu::Chain<'static, Shared> => "--PUR";
    percpu::Arc<Sent> => "--P--";
    percpu::Arc<Shared> => "--PUR";
    percpu::ArcOwner<Sent> => "--P--";
    percpu::ArcOwner<Shared> => "--PUR";
    percpu::Ref<Box<dyn Fn() + Send>> => "S-P--";
    percpu::Ref<Box<dyn Fn() + Sync>> => "-YP--";
    percpu::Ref<Box<dyn Fn()>> => "--P--";
    percpu::Pinned => "--PUR";
    percpu::CurrentSlot => "--PUR";
    refs::Arc<Sent> => "--P--";
    refs::Arc<Shared> => "--PUR";
    refs::Arc<Kept> => "--PUR";
    refs::Arc<dyn Send> => "--P--";
    refs::Arc<dyn Send + Sync> => "SYP--";
    refs::Weak<Sent> => "--P--";
    refs::Weak<Shared> => "--PUR";
    refs::Weak<Kept> => "--PUR";
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
    refs::rcuref::Pool<u8> => "SYPU-";
    refs::rcuref::Pool<Sent> => "S-PU-";
    refs::rcuref::Pool<Shared> => "--PU-";
    refs::rcuref::Entry<'static, u8> => "SYP--";
    refs::rcuref::Entry<'static, Sent> => "--P--";
    refs::rcuref::Entry<'static, Shared> => "--P--";
} }

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
table! { fn here() {
    all: [
        cyclewise::arch::tsc_order::Litmus, cyclewise::arch::tsc_order::Sequence, patch::hooks::Behind,
        patch::hooks::Hooks, patch::hooks::Next, patch::hooks::tls::TlsHooks,
    ];
    cyclewise::arch::alternative::Site => "--PUR";
} }

#[cfg(all(feature = "archery", feature = "metrics", feature = "tracing"))]
table! { fn for_other_crates() {
    all: [
        refs::ArcK, clock::tracing::WallTime, clock::tracing::Uptime, percpu::metrics::Recorder<u8>,
    ];
    percpu::metrics::Recorder<Sent> => "S-PU-";
    percpu::metrics::Recorder<Kept> => "--PUR";
} }

// Where their features are on: `cargo test --workspace`, with `cyclewise-integrations`.
#[cfg(not(all(feature = "archery", feature = "metrics", feature = "tracing")))]
table! { fn for_other_crates() { all: []; } }

// Items of other builds only.
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
table! { fn here() { all: []; } }

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
