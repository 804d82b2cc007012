//! Static keys: flags that are tested often and changed rarely. A test is one instruction, not a load.
//!
//! ```
//! cyclewise::static_key! {
//!     /// Whether requests are traced.
//!     static TRACE: StaticKey = false;
//! }
//!
//! fn serve() -> u32 {
//!     // One NOP, until TRACE is enabled: then a jump to where the `if` goes.
//!     if TRACE.is_enabled() { 1 } else { 0 }
//! }
//!
//! assert_eq!(serve(), 0);
//! // Refused where the text cannot be changed; the key is then as it was.
//! if TRACE.enable().is_ok() {
//!     assert_eq!(serve(), 1);
//! }
//! # Ok::<(), cyclewise::error::Refusal>(())
//! ```
//!
//! # States
//! A key is on while it is enabled, or while it has users. [`enable`](StaticKey::enable) and
//! [`disable`](StaticKey::disable) set it; [`inc`](StaticKey::inc) and [`dec`](StaticKey::dec) count users. Every test
//! falls through while the key is at its default, and jumps while it is not.
//!
//! # Invariants
//! 1. Under the text lock every site agrees with the state, or a change of both is in progress, unless something else has written to
//!    the text ([`check`](StaticKey::check)).
//! 2. A refused change leaves both unchanged.
//!
//! # Memory ordering
//! A test orders nothing. When a change returns, every thread has executed a full barrier since it began, and its next
//! test takes the new branch: writes before the change are visible after the test.
//!
//! # Cost
//! A test at its default is one NOP of 5 to 9 bytes, so that its last 5 lie in one aligned quadword. A change takes
//! tens of microseconds and reads the records of every key in the link unit; a key's first change checks that none
//! shares a site with another key. Beside running threads each run of adjacent pages costs two interrupts of them.
//!
//! # Limits
//! Each link unit has its own records: a key, its tests and this crate belong to one executable or one shared object. A
//! key in a crate built as `dylib` and tested from another does not link. A key in a program that gets this crate
//! through a `dylib` is refused ([`Refusal::OtherUnit`]). A linker that folds identical code (`--icf=all`) may fold
//! tests of two keys into one; changes of both keys are then refused. Signal handlers may test keys but not change
//! them: a change allocates, and the handler may have interrupted the allocator. A handler that interrupted a change is
//! refused.
//!
//! # References
//! Linux include/linux/jump_label.h, kernel/jump_label.c; Documentation/staging/static-keys.rst.

#[cfg_attr(not(target_arch = "x86_64"), path = "flag.rs")]
pub(super) mod flip;

use super::text::Goal;
use super::text_lock;
use crate::arch;
use crate::error::Refusal;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use flip::{Sites, addresses};

/// The state of a key that [`static_key!`](crate::static_key) declares.
// Aligned, so that the lowest bit of its address is free for the records.
#[repr(align(8))]
pub struct StaticKey {
    /// Returns the table of the tests in the key's link unit.
    table: fn() -> usize,
    /// The value that tests fall through for.
    default: bool,
    /// The current value, 0 or 1; written under the text lock.
    on: AtomicU8,
    /// Whether it is enabled; written under the text lock.
    switched: AtomicBool,
    /// Users; written under the text lock.
    users: AtomicU32,
    /// Whether its sites were found to be no other key's. Neither the table nor the text moves, so once is enough.
    #[allow(dead_code, reason = "only x86-64 has text to write")]
    unshared: AtomicBool,
}

impl StaticKey {
    /// For the macro.
    #[doc(hidden)]
    pub const fn __new(default: bool, table: fn() -> usize) -> Self {
        Self {
            table,
            default,
            on: AtomicU8::new(default as u8),
            switched: AtomicBool::new(default),
            users: AtomicU32::new(0),
            unshared: AtomicBool::new(false),
        }
    }

    /// The current value as data: for builds that do not patch text, and for diagnostics.
    #[doc(hidden)]
    #[inline]
    pub fn __flag(&self) -> bool {
        // Relaxed: pairs with nothing; a test orders nothing.
        self.on.load(Relaxed) != 0
    }

    /// Switches the key on. If it is on already, this looks whether its tests are, and writes those that are not.
    ///
    /// # Errors
    /// See [`Refusal`]; the key is unchanged.
    #[doc(alias = "static_key_enable")]
    pub fn enable(&'static self) -> Result<(), Refusal> {
        self.change(|_, users| Ok((true, users)))
    }

    /// Switches the key off. It stays on while it has users.
    ///
    /// # Errors
    /// See [`Refusal`]; the key is unchanged.
    #[doc(alias = "static_key_disable")]
    pub fn disable(&'static self) -> Result<(), Refusal> {
        self.change(|_, users| Ok((false, users)))
    }

    /// Adds a user. The first one switches the key on.
    ///
    /// # Errors
    /// [`Refusal::TooManyUsers`] at `u32::MAX` users, and as [`enable`](Self::enable); the user is then not counted.
    #[doc(alias = "static_key_slow_inc")]
    pub fn inc(&'static self) -> Result<(), Refusal> {
        self.change(|switched, users| match users.checked_add(1) {
            Some(users) => Ok((switched, users)),
            None => Err(Refusal::TooManyUsers),
        })
    }

    /// Removes a user. The last one switches the key off, unless it is enabled.
    ///
    /// # Errors
    /// [`Refusal::NoUsers`] without users, and as [`disable`](Self::disable); the user is then still counted.
    #[doc(alias = "static_key_slow_dec")]
    pub fn dec(&'static self) -> Result<(), Refusal> {
        self.change(|switched, users| match users.checked_sub(1) {
            Some(users) => Ok((switched, users)),
            None => Err(Refusal::NoUsers),
        })
    }

    /// The number of users. Another thread may change it at any time.
    pub fn users(&self) -> u32 {
        // Relaxed: pairs with nothing; for diagnostics.
        self.users.load(Relaxed)
    }

    /// Reads the key's tests back: whether each of them does what the key's value says.
    ///
    /// Something else may have changed them. A uprobe on a test that was changed makes it take its default's branch; if it is removed
    /// without having been hit, the test is no instruction of ours, and executing it may crash. madvise(2) with MADV_DONTNEED on text
    /// brings the defaults back. The next change of the key in either direction writes what can be written.
    ///
    /// # Errors
    /// [`Refusal::Breakpoint`], [`Refusal::UnexpectedByte`], [`Refusal::NotText`] of a test that does not; as [`enable`](Self::enable).
    pub fn check(&'static self) -> Result<(), Refusal> {
        if (self.table)() != arch::key::table() {
            return Err(Refusal::OtherUnit);
        }
        let sites = Sites::list(self)?;
        let held = text_lock::lock()?;
        let checked = sites.read_back(self.__flag() != self.default);
        drop(held);
        checked
    }

    /// The addresses of the key's tests in the text.
    pub fn sites(&'static self) -> impl Iterator<Item = usize> {
        addresses(self)
    }

    /// Changes `(switched, users)`, and flips the sites if the value changes.
    fn change(&'static self, to: impl FnOnce(bool, u32) -> Result<(bool, u32), Refusal>) -> Result<(), Refusal> {
        // Where this crate is in a shared object and the key is not, the key's tests are in a table that this code does
        // not read.
        if (self.table)() != arch::key::table() {
            return Err(Refusal::OtherUnit);
        }
        // Allocated before the lock is taken and freed after it is released: the allocator may test keys, and a thread
        // inside it may wait for this lock.
        let mut sites = Sites::list(self)?;
        let held = text_lock::lock()?;
        // Relaxed, here and below: the lock orders them.
        let (switched, users) = to(self.switched.load(Relaxed), self.users.load(Relaxed))?;
        let on = switched || users > 0;
        // The sites may disagree with the state: after a change lost in a fork, or where the kernel has put back what is in the file.
        let must = on != self.__flag() || text_lock::was_taken_over(&held);
        let flips = must || sites.read_back(on != self.default).is_err();
        if flips {
            let goal = Goal {
                state: &self.on,
                value: on,
            };
            let flipped = Sites::ask_own_canary(&held).and_then(|()| sites.flip(&held, on != self.default, goal));
            // A count that changes no value does not fail because of tests that cannot be mended: who gives up a use in a destructor
            // could do nothing. `check` and `enable` tell of these.
            if must || users == self.users.load(Relaxed) {
                flipped?;
            }
            self.on.store(u8::from(on), Relaxed);
        }
        self.switched.store(switched, Relaxed);
        self.users.store(users, Relaxed);
        drop(held);
        if flips {
            // Audit confined mode. `check` and leaving the mode report a violation; the flip itself is right.
            let _ = super::confined::audit();
        }
        Ok(())
    }
}

impl fmt::Debug for StaticKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticKey")
            .field("on", &self.__flag())
            .field("users", &self.users())
            .finish_non_exhaustive()
    }
}

/// Declares static keys, each with its default.
///
/// The static has the methods of [`StaticKey`], and `is_enabled()`, which is the test. The branch of the default falls
/// through; the other is a jump away.
///
/// ```
/// cyclewise::static_key! {
///     /// On unless someone turns it off.
///     pub static CACHE: StaticKey = true;
///     static TRACE: StaticKey = false;
/// }
/// assert!(CACHE.is_enabled() && !TRACE.is_enabled());
/// ```
#[macro_export]
macro_rules! static_key {
    ($($(#[doc = $doc:expr])* $vis:vis static $name:ident: StaticKey = $default:tt;)+) => {$(
        $(#[doc = $doc])*
        $vis static $name: $name = $name { key:
            $crate::patch::StaticKey::__new($default, $crate::__static_key_table!())
        };

        #[doc(hidden)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the key's own type shares its name")]
        #[repr(transparent)]
        $vis struct $name {
            key: $crate::patch::StaticKey,
        }

        #[allow(dead_code, reason = "a key may be tested only where a feature is on")]
        impl $name {
            /// Whether the key is on: one instruction. Ordering: none.
            #[inline(always)]
            $vis fn is_enabled(&self) -> $crate::__core::primitive::bool {
                $crate::__static_key_test!($name, $default)
            }
        }

        impl $crate::__core::ops::Deref for $name {
            type Target = $crate::patch::StaticKey;

            #[inline]
            fn deref(&self) -> &$crate::patch::StaticKey {
                &self.key
            }
        }
    )+};
}

#[cfg(test)]
mod tests;
