//! dlopen(3): the benchmarks that `cyclewise/bench.h` has put into a shared object.
//!
//! An object is loaded once and stays: nothing refers to memory that is unmapped.
//!
//! # Invariants
//! 1. A table of [`VERSION`] whose size is at least [`Table`]'s has between its ends pointers to entries. Each lives as long as the
//!    process, and says its own size, which is at least [`Entry`]'s.
//!
//! # Safety
//! 1. Loading an object runs its constructors, and a benchmark its functions, with all the rights of this process: whoever names an object
//!    asks for that. What they do to memory that is not theirs is their fault, and beyond what any reader of them could check.
//! 2. The header lays tables and entries out as here; a test compares the two by reading what it has compiled.
#![expect(unsafe_code, reason = "dlopen, dlsym, and functions of the object")]

use cyclewise_bench::suite::Compiled;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{self, NonNull};
use std::slice;

/// The version of the tables that are read here: CW_BENCH_VERSION.
pub(crate) const VERSION: u32 = 1;

/// `struct cw_bench_table`.
#[repr(C)]
struct Table {
    version: u32,
    size: u32,
    begin: *const *const Entry,
    end: *const *const Entry,
}

/// `struct cw_bench_entry`.
#[repr(C)]
struct Entry {
    size: u32,
    order: u32,
    file: *const c_char,
    name: *const c_char,
    run: [Option<unsafe extern "C" fn(u64, *mut c_void)>; 4],
    make: Option<unsafe extern "C" fn(u64) -> *mut c_void>,
    drop: Option<unsafe extern "C" fn(*mut c_void)>,
}

// The test of the object's program says the same of the header's.
const _: () = assert!(size_of::<Entry>() == 72 && size_of::<Table>() == 24);

/// Why an object has no benchmarks that can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It does not load, for this reason of the loader.
    Load(String),
    /// It exports no table.
    NoTable,
    /// Its table, or an entry, is of a header of this version.
    Version(u32),
    /// Its table, or an entry, is smaller than its version is.
    Size(u32),
}

/// A group's head, or a benchmark.
pub(crate) struct Benchmark {
    /// The translation unit.
    pub(crate) file: String,
    pub(crate) order: u32,
    pub(crate) name: String,
    /// `None` for the head of a group.
    pub(crate) loops: Option<Loops>,
}

/// The loops around an expression.
pub(crate) struct Loops {
    entry: &'static Entry,
    inputs: *mut c_void,
}

/// Loads an object, and reads what its table lists.
///
/// # Errors
/// It does not load, or has no table of this version.
pub(crate) fn load(path: &CStr) -> Result<Vec<Benchmark>, Refused> {
    // SAFETY: Safety 1.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let Some(handle) = NonNull::new(handle) else {
        return Err(Refused::Load(reason()));
    };
    // SAFETY: open, and never closed.
    let table = unsafe { libc::dlsym(handle.as_ptr(), c"cyclewise_bench_table".as_ptr()) };
    let Some(table) = NonNull::new(table.cast::<Table>()) else {
        return Err(Refused::NoTable);
    };
    // SAFETY: both fields are first in every version (Safety 2).
    let [version, size] = unsafe { table.cast::<[u32; 2]>().read() };
    if version != VERSION {
        return Err(Refused::Version(version));
    }
    check_size::<Table>(size)?;
    // SAFETY: Invariant 1.
    let table = unsafe { table.as_ref() };
    let bytes = (table.end as usize).saturating_sub(table.begin as usize);
    if table.begin.is_null() || bytes == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: Invariant 1.
    let entries = unsafe { slice::from_raw_parts(table.begin, bytes / size_of::<*const Entry>()) };
    entries
        .iter()
        .filter(|entry| !entry.is_null())
        .map(|at| read(*at))
        .collect()
}

fn read(at: *const Entry) -> Result<Benchmark, Refused> {
    // SAFETY: the size is an entry's first field.
    check_size::<Entry>(unsafe { at.cast::<u32>().read() })?;
    // SAFETY: Invariant 1.
    let entry: &'static Entry = unsafe { &*at };
    Ok(Benchmark {
        file: text(entry.file),
        order: entry.order,
        name: text(entry.name),
        loops: entry.run[0].map(|_| Loops {
            entry,
            inputs: ptr::null_mut(),
        }),
    })
}

fn check_size<T>(size: u32) -> Result<(), Refused> {
    match size as usize >= size_of::<T>() {
        true => Ok(()),
        false => Err(Refused::Size(size)),
    }
}

fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: a string literal of the object (Invariant 1).
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

/// The loader's reason, in one line.
fn reason() -> String {
    // SAFETY: the calling thread's last error, until its next call.
    let at = unsafe { libc::dlerror() };
    match at.is_null() {
        true => "the loader gives no reason".to_string(),
        false => text(at),
    }
}

impl Compiled for Loops {
    fn has_inputs(&self) -> bool {
        self.entry.make.is_some()
    }

    fn prepare(&mut self, calls: u64) {
        let Some(make) = self.entry.make else { return };
        // SAFETY: Safety 1; the header made it for any number of calls.
        self.inputs = unsafe { make(calls) };
        assert!(!self.inputs.is_null(), "there is no memory for {calls} inputs");
    }

    #[inline]
    fn run(&mut self, calls: u32, iterations: u64) {
        // 1, 4, 8 and 16, of which an entry with inputs has the first.
        let at = calls.ilog2().saturating_sub(1) as usize;
        if let Some(run) = self.entry.run[at] {
            // SAFETY: Safety 1; there are as many inputs as calls.
            unsafe { run(iterations, self.inputs) };
        }
    }

    fn finish(&mut self) {
        let inputs = std::mem::replace(&mut self.inputs, ptr::null_mut());
        if let Some(drop) = self.entry.drop {
            // SAFETY: Safety 1; they are used no more.
            unsafe { drop(inputs) };
        }
    }
}

/// A path as the loader takes it.
pub(crate) fn path(path: &std::path::Path) -> Option<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).ok()
}
