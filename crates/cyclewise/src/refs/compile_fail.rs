//! Programs that must not compile: each would use a value that is gone, or store one that does not live long enough.
//!
//! rustdoc compiles them as tests. Each group begins with a corrected program, which compiles.

/// The lifetime of a value behind a lock cannot be shortened: a short-lived string could then be stored where a
/// long-lived one is read.
///
/// ```
/// use cyclewise::refs::LockRef;
/// fn same<'a>(lock: &'a LockRef<&'static str>) -> &'a LockRef<&'static str> { lock }
/// ```
/// ```compile_fail
/// use cyclewise::refs::LockRef;
/// fn shorter<'a>(lock: &'a LockRef<&'static str>) -> &'a LockRef<&'a str> { lock }
/// ```
/// ```compile_fail
/// use cyclewise::lock::SpinLock;
/// fn shorter<'a>(lock: &'a SpinLock<&'static str>) -> &'a SpinLock<&'a str> { lock }
/// ```
/// ```compile_fail
/// use cyclewise::refs::lockref::Guard;
/// fn shorter<'a>(guard: Guard<'a, &'static str>) -> Guard<'a, &'a str> { guard }
/// ```
/// ```compile_fail
/// use cyclewise::refs::rcuref::Pool;
/// fn shorter<'a>(pool: &'a Pool<&'static str>) -> &'a Pool<&'a str> { pool }
/// ```
struct Shorter;

/// A reference obtained through a guard, an entry or an `Arc` does not outlive it.
///
/// ```
/// let lock = cyclewise::refs::LockRef::new(String::new());
/// let guard = lock.lock();
/// let data: &String = &guard;
/// assert!(data.is_empty());
/// ```
/// ```compile_fail
/// let lock = cyclewise::refs::LockRef::new(String::new());
/// let data: &String = &lock.lock();
/// let other: &String = { let guard = lock.lock(); &*guard };
/// ```
/// ```compile_fail
/// let guard = { let lock = cyclewise::refs::LockRef::new(1); lock.lock() };
/// drop(guard);
/// ```
/// ```compile_fail
/// let reference = { let lock = cyclewise::refs::LockRef::new(1); lock.reference() };
/// drop(reference);
/// ```
/// ```compile_fail
/// let entry = { let pool = cyclewise::refs::rcuref::Pool::new(1); pool.insert(1).unwrap() };
/// drop(entry);
/// ```
/// ```compile_fail
/// let pool = cyclewise::refs::rcuref::Pool::new(1);
/// let value: &i32 = { let entry = pool.insert(1).unwrap(); &*entry };
/// assert_eq!(*value, 1);
/// ```
/// ```compile_fail
/// let value: &i32 = { let arc = cyclewise::refs::Arc::new(1); &*arc };
/// assert_eq!(*value, 1);
/// ```
struct Outlived;

/// A pool with entries can be neither moved nor dropped.
///
/// ```
/// let pool = cyclewise::refs::rcuref::Pool::new(1);
/// let entry = pool.insert(1).unwrap();
/// drop(entry);
/// drop(pool);
/// ```
/// ```compile_fail
/// let pool = cyclewise::refs::rcuref::Pool::new(1);
/// let entry = pool.insert(1).unwrap();
/// drop(pool);
/// drop(entry);
/// ```
struct Borrowed;

/// While a value is borrowed mutably, its owner makes no other reference.
///
/// ```
/// use cyclewise::refs::Arc;
/// let mut arc = Arc::new(1);
/// *Arc::get_mut(&mut arc).unwrap() = 2;
/// let other = arc.clone();
/// ```
/// ```compile_fail
/// use cyclewise::refs::Arc;
/// let mut arc = Arc::new(1);
/// let value = Arc::get_mut(&mut arc).unwrap();
/// let other = arc.clone();
/// *value = 2;
/// ```
/// ```compile_fail
/// use cyclewise::refs::Arc;
/// let mut arc = Arc::new(1);
/// let value = Arc::make_mut(&mut arc);
/// let weak = Arc::downgrade(&arc);
/// *value = 2;
/// ```
/// ```compile_fail
/// use cyclewise::refs::lockref::{Guard, LockRef};
/// let lock = LockRef::new(1);
/// let mut guard = lock.lock();
/// let (one, two) = (&mut *guard, &mut *guard);
/// std::mem::swap(one, two);
/// ```
struct Twice;

/// A value is dropped before what it borrows.
///
/// ```
/// use cyclewise::refs::Arc;
/// struct Loud<'a>(&'a String);
/// impl Drop for Loud<'_> { fn drop(&mut self) { assert_eq!(self.0, "here"); } }
/// let string = String::from("here");
/// let arc;
/// arc = Arc::new(Loud(&string));
/// ```
/// ```compile_fail
/// use cyclewise::refs::Arc;
/// struct Loud<'a>(&'a String);
/// impl Drop for Loud<'_> { fn drop(&mut self) { assert_eq!(self.0, "here"); } }
/// let arc;
/// let string = String::from("here");
/// arc = Arc::new(Loud(&string));
/// ```
/// ```compile_fail
/// use cyclewise::refs::rcuref::Pool;
/// struct Loud<'a>(&'a String);
/// impl Drop for Loud<'_> { fn drop(&mut self) { assert_eq!(self.0, "here"); } }
/// let pool = Pool::new(1);
/// let string = String::from("here");
/// std::mem::forget(pool.insert(Loud(&string)));
/// ```
struct Dropped;

/// A coercion returns its argument.
///
/// ```
/// use cyclewise::refs::{Arc, Weak};
/// let arc: Arc<[u8]> = Arc::unsize(Arc::new([1, 2]), |value| value);
/// let weak: Weak<[u8]> = Weak::unsize(Weak::<[u8; 2]>::new(), |value| value);
/// ```
/// ```compile_fail
/// use cyclewise::refs::{Unsizing, Weak};
/// let weak: Weak<[u8]> = Weak::unsize(Weak::<[u8; 2]>::new(), |_| Box::leak(Box::new(Unsizing([1, 2, 3]))));
/// ```
/// ```compile_fail
/// use cyclewise::refs::{Unsizing, Weak};
/// fn both(long: &'static Unsizing<[u8; 2]>) {
///     let weak: Weak<[u8; 2]> = Weak::unsize(Weak::<[u8; 2]>::new(), |_| long);
/// }
/// ```
/// ```compile_fail
/// use cyclewise::refs::{Unsizing, Weak};
/// use std::cell::Cell;
/// thread_local!(static KEPT: Cell<Option<&'static Unsizing<u8>>> = const { Cell::new(None) });
/// let weak: Weak<u8> = Weak::unsize(Weak::<u8>::new(), |value| { KEPT.set(Some(value)); value });
/// ```
/// ```compile_fail
/// use cyclewise::refs::{Unsizing, Weak};
/// let weak: Weak<u8> = Weak::unsize(Weak::<u8>::new(), |value| { let inside: &u8 = &value.0; value });
/// ```
/// ```compile_fail
/// use cyclewise::refs::Weak;
/// let weak: Weak<u32> = Weak::unsize(Weak::<i32>::new(), |value| value);
/// ```
struct Coerced;
