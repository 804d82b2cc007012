//! What a function's name says: that it takes a lock, or gives one back.

/// What a function is for, by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It takes a lock.
    Lock,
    /// It gives one back.
    Unlock,
}

/// Words of a function that takes a lock.
const LOCKS: &[&str] = &[
    "lock",
    "trylock",
    "rdlock",
    "wrlock",
    "rlock",
    "timedlock",
    "clocklock",
    "clockrdlock",
    "clockwrlock",
    "timedrdlock",
    "timedwrlock",
    "tryrdlock",
    "trywrlock",
    "tryrlock",
    "tryrwlock",
    "trywlock",
    "wlock",
    "flockfile",
    "ftrylockfile",
    "spinlock",
    "lwlock",
    "readlock",
    "writelock",
];

/// Words of one that gives a lock back.
const UNLOCKS: &[&str] = &[
    "unlock",
    "runlock",
    "wunlock",
    "rwunlock",
    "rdunlock",
    "wrunlock",
    "readunlock",
    "writeunlock",
    "funlockfile",
];

/// Words that make of taking a lock the giving back: of one that was not got, too.
const UNDOES: &[&str] = &["release", "restore", "undo", "revert", "rollback"];

/// Words beside those that turn the name into something else: "lock free", "lock count", "is locked", "deadlock".
const OTHER: &[&str] = &[
    "free", "less", "count", "is", "init", "destroy", "stat", "stats", "id", "profile", "rank", "with", "no", "file",
    "new", "drop", "get", "set", "size", "ref",
];

/// What the function is for, by the last part of its name.
pub(super) fn purpose(function: &str) -> Option<Purpose> {
    let words = words(last_part(function));
    if drops_guard(function) {
        return Some(Purpose::Unlock);
    }
    if let Some(class) = last_part(function).strip_prefix('~') {
        return is_guard(class).then_some(Purpose::Unlock);
    }
    // Locking a weak reference makes a strong one of it.
    if function.contains("weak") || function.contains("Weak") {
        return None;
    }
    if words.iter().any(|w| OTHER.contains(&w.as_str())) {
        return None;
    }
    let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    if has(UNLOCKS) || has(LOCKS) && has(UNDOES) {
        Some(Purpose::Unlock)
    } else if has(LOCKS)
        || has(ACCESSES) && !has(&["wake"]) && is_rwlock(function)
        || has(&["upgrade", "downgrade"]) && function.contains("RwLock")
    {
        Some(Purpose::Lock)
    } else {
        None
    }
}

/// Words of a read-write lock's method that takes it, or changes how it is held.
const ACCESSES: &[&str] = &[
    "read",
    "write",
    "reader",
    "writer",
    "upgrade",
    "downgrade",
    "upgradeable",
];

/// Whether a function belongs to a lock, by the name of its class, or in C by its own.
pub(super) fn is_of_lock(function: &str) -> bool {
    let method = last_part(function);
    let words = match function[..start_of(function, method)].trim_end_matches(':') {
        "" => words(method),
        path => words(last_part(path)),
    };
    let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    has(&["lock", "spinlock", "rwlock", "mutex", "rwmutex"]) && !has(OTHER)
}

/// Where a function's own name begins in it.
fn start_of(function: &str, method: &str) -> usize {
    method.as_ptr() as usize - function.as_ptr() as usize
}

/// Whether a Rust method is a read-write lock's, by its type or by its module.
fn is_rwlock(function: &str) -> bool {
    let method = function.len() - last_part(function).len();
    let path = &function[..method];
    // A guard's own `read` and `write` are those of what it guards.
    (path.contains("RwLock") || path.contains("rwlock::")) && !path.contains("Guard")
}

/// Whether a function is the drop of a Rust lock's guard, which gives the lock back.
fn drops_guard(function: &str) -> bool {
    let Some(of) = function
        .strip_prefix('<')
        .and_then(|f| f.split_once(" as core::ops::drop::Drop>::drop"))
    else {
        return false;
    };
    let name = of.0.split(['<', ' ']).next().unwrap_or_default();
    let name = words(last_part(name));
    let is_lock = |w: &String| ["mutex", "lock", "read", "write", "upgradable"].contains(&w.as_str());
    name.last().is_some_and(|w| w == "guard") && name.iter().any(is_lock)
}

/// Whether a C++ class holds a lock and gives it back when it ends, by its name; a lock's own class does not.
fn is_guard(class: &str) -> bool {
    let words = words(class);
    let has = |word: &str| words.iter().any(|w| w == word);
    let holds = ["unique", "scoped", "shared", "auto", "guard", "holder"];
    has("locker") || has("lock") && holds.iter().any(|word| has(word))
}

/// Whether a function is the atomic operation itself, as a library has it: what that is for is said by its caller.
pub(super) fn is_atomic(function: &str) -> bool {
    let starts = [
        "core::sync::atomic::",
        "<core::sync::atomic::",
        "std::__atomic_base<",
        "std::atomic<",
        "std::atomic_flag::",
        "std::__cmpexch",
        "__gnu_cxx::__exchange_and_add",
        "__gnu_cxx::__atomic_add",
        "__atomic_",
        "atomic_",
        "g_atomic_",
        "mi_atomic_",
        "_Py_atomic_",
    ];
    starts.iter().any(|s| function.starts_with(s)) || is_go_atomic(function) || is_wrapper(function)
}

/// Whether a function wraps one atomic operation, by the words of its own name: `ethr_native_atomic32_cmpxchg`, `CompareAndSwap`.
fn is_wrapper(function: &str) -> bool {
    let words = words(last_part(function));
    let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    has(&["atomic", "uatomic", "cmpxchg", "cmpexch", "xchg", "cas"])
        || has(&["compare"]) && has(&["swap", "exchange"])
        || has(&["fetch"]) && has(&["add", "sub", "and", "or", "xor"])
}

/// Whether a function does something once, by its name, its class or an argument: `OnceCell::initialize`, `CallOnceImpl`.
pub(super) fn is_once(function: &str) -> bool {
    words(function).iter().any(|w| w == "once")
}

/// Words of a function that takes a lock for reading.
const READS: &str = "read reader shared rdlock rlock readlock tryrdlock tryrlock";

/// Whether a function that locks does so for reading, by its name.
pub(super) fn takes_for_reading(function: &str) -> bool {
    let words = words(last_part(function));
    purpose(function) == Some(Purpose::Lock) && READS.split(' ').any(|read| words.iter().any(|w| w == read))
}

/// The same of Go alone.
pub(super) fn is_go_atomic(function: &str) -> bool {
    let starts = ["sync/atomic.", "internal/runtime/atomic.", "runtime/internal/atomic."];
    starts.iter().any(|s| function.starts_with(s))
}

/// Whether a function is Go's, by its name: it has a package before a dot, and takes its arguments in other registers than C's.
pub(super) fn is_go(function: &str) -> bool {
    let path = function.split('(').next().unwrap_or_default();
    path.contains('.') && !path.contains("::") && !path.starts_with('<')
}

/// What the slow path of a lock is for, by the name of a function that it calls: who waits takes, who wakes gives back.
pub(super) fn slow_purpose(function: &str) -> Option<Purpose> {
    let words = words(last_part(function));
    let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    if has(UNLOCKS) || has(&["wake", "wakeup", "signal", "semrelease"]) {
        Some(Purpose::Unlock)
    } else if has(LOCKS) || has(&["wait", "contended", "semacquire"]) {
        Some(Purpose::Lock)
    } else {
        None
    }
}

/// The slow path of giving back, by a name that says both.
pub(super) fn unlock_slow(function: &str) -> Option<Purpose> {
    let is_slow = words(last_part(function)).iter().any(|w| w == "slow");
    purpose(function).filter(|p| is_slow && *p == Purpose::Unlock)
}

/// A function in which a thread waits for a lock, by a name that says that it waits.
pub(super) fn waiting(function: &str) -> Option<Purpose> {
    let words = words(last_part(function));
    let waits = ["semacquire", "contended", "wait"];
    words
        .iter()
        .any(|w| waits.contains(&w.as_str()))
        .then_some(Purpose::Lock)
}

/// Whether a function puts a thread to sleep until another one wakes it, by its name.
pub(super) fn parks(function: &str) -> bool {
    let words = words(last_part(function));
    let sleeps = [
        "park",
        "parked",
        "wait",
        "delay",
        "abstimed",
        "semasleep",
        "semacquire",
        "sleep",
    ];
    words.iter().any(|w| sleeps.contains(&w.as_str()))
}

/// Whether a function wakes such a thread, by its name.
pub(super) fn unparks(function: &str) -> bool {
    words(last_part(function)).iter().any(|w| w == "unpark")
}

/// Whether a function belongs to a type that counts references, by the type's name or its own.
pub(crate) fn counts_references(function: &str) -> bool {
    let own = ["ref", "unref", "addref", "incref", "decref", "refcount", "retain"];
    if words(last_part(function)).iter().any(|w| own.contains(&w.as_str())) && !is_atomic(function) {
        return true;
    }
    let types = [
        "Arc<",
        "Arc::",
        "shared_ptr",
        "_Sp_counted",
        "RefCount",
        "refcount",
        "ref_count",
    ];
    types.iter().any(|t| function.contains(t)) && !function.contains("ArcSwap")
}

/// Whether a function is a lock's, an allocator's or a reference count's, or one that wraps such a function, by its name: who pays is its
/// caller.
pub(crate) fn is_primitive(function: &str) -> bool {
    const ALLOCATES: &[&str] = &[
        "malloc",
        "free",
        "calloc",
        "realloc",
        "memalign",
        "posix_memalign",
        "aligned_alloc",
        "alloc",
        "dealloc",
        "zmalloc",
        "zfree",
        "delete",
        "sysmalloc",
        "mallocx",
        "dallocx",
        "sdallocx",
        "tcache",
    ];
    let words = words(last_part(function));
    let allocates = words.iter().any(|w| ALLOCATES.contains(&w.as_str())) || function.starts_with("operator new");
    // AArch64 calls a function of the compiler for each atomic operation.
    let is_outlined = function.starts_with("__aarch64_");
    allocates || is_outlined || purpose(function).is_some() || counts_references(function) || is_atomic(function)
}

/// Whether a function never returns to its caller, by its name: it ends the program or unwinds.
pub(super) fn never_returns(function: &str) -> bool {
    let last = last_part(function);
    if matches!(
        last,
        "__stack_chk_fail" | "__assert_fail" | "_Unwind_Resume" | "__cxa_rethrow"
    ) {
        return true;
    }
    let ends = [
        "throw",
        "fatalthrow",
        "panic",
        "abort",
        "terminate",
        "unreachable",
        "morestack",
    ];
    words(last).iter().any(|w| ends.contains(&w.as_str()))
}

/// The function's own name, without paths, types, arguments and generics.
pub(super) fn last_part(function: &str) -> &str {
    let mut depth = 0_i32;
    let (mut start, mut end) = (0, function.len());
    let mut closed = false;
    let bytes = function.as_bytes();
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            // Go's receiver `(*Mutex)` opens after a dot; arguments open after a name.
            b'(' if depth == 0 && !closed && i > start => {
                end = i;
                closed = true;
                depth += 1;
            }
            b'<' if depth == 0 && !closed && i > start => {
                end = i;
                closed = true;
                depth += 1;
            }
            b'(' | b'<' | b'[' | b'{' => depth += 1,
            b'>' if i > 0 && bytes[i - 1] == b'-' => {}
            b')' | b'>' | b']' | b'}' => depth -= 1,
            b':' | b'.' if depth == 0 && starts_name(&bytes[i + 1..]) => {
                start = i + 1;
                end = function.len();
                closed = false;
            }
            _ => {}
        }
    }
    function.get(start..end).unwrap_or(function)
}

/// Whether a name follows, rather than another colon, a receiver, or nothing but generics.
fn starts_name(rest: &[u8]) -> bool {
    rest.first().is_some_and(|c| !matches!(c, b':' | b'(' | b'<' | b'{'))
}

/// The words of a name: at underscores, at changes of case, without digits at the end that compilers add.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
            was_lower = false;
            continue;
        }
        if c.is_ascii_uppercase() && was_lower {
            words.push(std::mem::take(&mut word));
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        word.push(c.to_ascii_lowercase());
    }
    words.push(word);
    for word in &mut words {
        // `lock2`, `clocklock64`.
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    words.retain(|w| !w.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_so_lock_or_unlock() {
        for name in [
            "pthread_mutex_lock",
            "__GI___pthread_mutex_trylock",
            "sync.(*Mutex).Lock",
            "sync.(*RWMutex).RLock",
            "runtime.lock2",
            "std::sys::sync::mutex::futex::Mutex::lock",
            "<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u8>>>::try_lock",
            "std::sync::poison::mutex::Mutex<T>::lock",
            "g_mutex_lock",
            "v8::base::Mutex::Lock()",
            "parking_lot::raw_mutex::RawMutex::lock_slow",
            "spin::rwlock::RwLock<T,R>::try_write",
            "ethr_rwmutex_tryrwlock",
            "<std::sys::sync::rwlock::futex::RwLock>::read_contended",
        ] {
            assert_eq!(purpose(name), Some(Purpose::Lock), "{name}");
        }
        for name in [
            "pthread_rwlock_unlock",
            "sync.(*Mutex).Unlock",
            "runtime.unlock2",
            "std::sys::sync::mutex::futex::Mutex::unlock",
            "sync.(*RWMutex).rUnlockSlow",
            "PyThread_release_lock",
            "<spin::mutex::ticket::TicketMutexGuard<T> as core::ops::drop::Drop>::drop",
            "<spin::rwlock::RwLockReadGuard<T> as core::ops::drop::Drop>::drop",
            "std::unique_lock<std::mutex>::~unique_lock()",
            "MutexLocker::~MutexLocker()",
            "rwlock_restore_failed_tryrlock",
        ] {
            assert_eq!(purpose(name), Some(Purpose::Unlock), "{name}");
        }
    }

    #[test]
    fn names_that_only_contain_the_letters_do_not() {
        for name in [
            "block_push",
            "clock_gettime",
            "lock_free_push",
            "crossbeam_deque::deque::Worker<T>::push",
            "pthread_mutex_init",
            "malloc",
            "drop_in_place<std::sync::poison::mutex::MutexGuard<u8>>",
            "is_locked",
            "std::vector<Lock>::push_back(Lock const&)",
            "<crossbeam_epoch::guard::Guard as core::ops::drop::Drop>::drop",
            "<std::fs::File as std::io::Read>::read",
            "core::ptr::write",
            "SpinLock::~SpinLock()",
        ] {
            assert_eq!(purpose(name), None, "{name}");
        }
    }

    #[test]
    fn wrappers_of_one_operation_say_nothing_about_its_purpose() {
        for name in [
            "ethr_native_atomic32_cmpxchg_mb",
            "base::subtle::NoBarrier_CompareAndSwap(int volatile*, int, int)",
            "_fc_atomic_ptr_cmpexch",
            "tMPI_Atomic_fetch_add",
        ] {
            assert!(is_atomic(name), "{name}");
        }
        for name in ["fetch_row", "compare_keys", "cascade", "cell::AtomicRefCell<T>::borrow"] {
            assert!(!is_atomic(name), "{name}");
        }
    }

    #[test]
    fn a_locks_functions_are_known_by_its_class_and_in_c_by_their_own_name() {
        for name in [
            "SpinLock::SpinLoop()",
            "rwmutex_upgrade",
            "spin::mutex::SpinMutex<T>::acquire",
        ] {
            assert!(is_of_lock(name), "{name}");
        }
        for name in [
            "LockFreeQueue::push(int)",
            "kj::_::Once::run()",
            "block_push",
            "Mutex::map<T>::get",
            "lock_init",
        ] {
            assert!(!is_of_lock(name), "{name}");
        }
    }

    #[test]
    fn a_go_function_has_its_package_before_a_dot() {
        for name in ["sync.(*Mutex).Lock", "main.main", "github.com/x/y.(*T).Run"] {
            assert!(is_go(name), "{name}");
        }
        for name in [
            "log(char const*, ...)",
            "std::mutex::lock()",
            "main",
            "<a::B as c::D>::e",
        ] {
            assert!(!is_go(name), "{name}");
        }
    }
}
