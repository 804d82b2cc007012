//! What must not compile, each beside a variant that does.
//!
//! A hold cannot leave its thread:
//! ```compile_fail,E0277
//! let hold = cyclewise::mask::hold();
//! std::thread::spawn(move || drop(hold));
//! ```
//! ```
//! std::thread::spawn(|| drop(cyclewise::mask::hold())).join().unwrap();
//! ```
//!
//! Nor be shared with another:
//! ```compile_fail,E0277
//! use cyclewise::mask::{Masked, hold};
//! static VALUE: Masked<u32> = Masked::new(0);
//! let hold = hold();
//! std::thread::scope(|scope| drop(scope.spawn(|| drop(VALUE.lock(&hold)))));
//! ```
//!
//! A hold must outlive the guards under it:
//! ```compile_fail,E0505
//! use cyclewise::mask::{Masked, hold};
//! let (value, hold) = (Masked::new(0), hold());
//! let guard = value.lock(&hold);
//! drop(hold);
//! assert_eq!(*guard, 0);
//! ```
//! ```
//! use cyclewise::mask::{Masked, hold};
//! let (value, hold) = (Masked::new(0), hold());
//! let guard = value.lock(&hold);
//! assert_eq!(*guard, 0);
//! drop(guard);
//! drop(hold);
//! ```
//! ```compile_fail,E0505
//! use cyclewise::mask::{Masked, hold};
//! let (value, hold) = (Masked::new(0), hold());
//! let guard = value.try_lock_for(&hold, std::time::Duration::ZERO).unwrap();
//! drop(hold);
//! assert_eq!(*guard, 0);
//! ```
//!
//! A value cannot be replaced by one with a shorter lifetime, neither through `Masked` nor through its guard:
//! ```compile_fail,E0597
//! use cyclewise::mask::{Masked, hold};
//! let value: Masked<&'static str> = Masked::new("");
//! {
//!     let short = String::from("gone");
//!     let shorter: &Masked<&str> = &value;
//!     *shorter.lock(&hold()) = &short;
//! }
//! assert_eq!(*value.lock(&hold()), "");
//! ```
//! ```compile_fail
//! use cyclewise::mask::MaskedGuard;
//! fn put<'g, 's>(guard: MaskedGuard<'g, &'static str>, short: &'s str) {
//!     let mut shorter: MaskedGuard<'g, &'s str> = guard;
//!     *shorter = short;
//! }
//! ```
//!
//! Registering a closure is unsafe, and a handler is `'static` and `Send`:
//! ```compile_fail,E0277
//! static HANDLER: fn(&cyclewise::mask::Info, &cyclewise::mask::Hold) = |_, _| ();
//! cyclewise::mask::Signals::on(10, &HANDLER);
//! ```
//! ```compile_fail,E0597
//! let count = std::sync::atomic::AtomicU32::new(0);
//! cyclewise::mask::Signals::on(10, &count);
//! ```
//! ```compile_fail,E0133
//! cyclewise::mask::Signals::call(10, |_, _| ());
//! ```
//!
//! A descriptor must stay open while it is waited for:
//! ```compile_fail,E0505
//! use std::os::fd::AsFd;
//! let (reader, _writer) = std::io::pipe().unwrap();
//! let mut polled = [cyclewise::mask::Polled::new(reader.as_fd(), 1)];
//! drop(reader);
//! cyclewise::mask::hold().wait(&mut polled, None);
//! ```
//!
//! A clock that is not `Sync` has no upkeep thread:
//! ```compile_fail,E0277
//! use cyclewise::clock::{Clock, Reason, Source, Upkeep};
//! struct Mine(std::cell::Cell<u64>);
//! impl Source for Mine {
//!     fn bare(&self) -> u64 { self.0.get() }
//!     fn load_ordered(&self) -> u64 { self.0.get() }
//!     fn dependent_load(&self) -> u64 { self.0.get() }
//!     fn bracketed(&self) -> u64 { self.0.get() }
//!     fn monotonic_ns(&self) -> u64 { self.0.get() }
//!     fn raw_ns(&self) -> u64 { self.0.get() }
//!     fn boottime_ns(&self) -> u64 { self.0.get() }
//!     fn examine(&self) -> Result<(), Reason> { Ok(()) }
//!     fn raise_floor(&self, ns: u64) -> u64 { ns }
//! }
//! let clock: &'static Clock<Mine> = Box::leak(Box::new(Clock::new(Mine(Default::default()))));
//! clock.now();
//! let _ = Upkeep::start(clock);
//! ```
