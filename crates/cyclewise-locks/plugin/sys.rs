//! The C library's functions that the plugin calls, each with the types of this plugin.
//!
//! The plugin has no dependencies, so that a compiler and its standard library are enough to build it.
//!
//! # Safety
//! 1. The signatures are those of Linux's C libraries on 64-bit machines.
//! 2. A mapping that [`map`] makes is never unmapped but by [`unmap`], whose callers own it.
#![allow(unsafe_code, reason = "calls the C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::io;

/// ENOMEM, ENOSPC, EFBIG: the same on x86-64 and AArch64, as are all below.
pub const EFBIG: i32 = 27;
const EINVAL: i32 = 22;
const O_RDWR: c_int = 2;
const O_CREAT: c_int = 0o100;
const O_EXCL: c_int = 0o200;
const O_CLOEXEC: c_int = 0o2_000_000;
const PROT_READ: c_int = 1;
const PROT_WRITE: c_int = 2;
const MAP_SHARED: c_int = 1;
const RLIMIT_FSIZE: c_int = 1;
const PR_GET_NAME: c_int = 16;
const AT_FDCWD: c_int = -100;
const AT_EACCESS: c_int = 0x200;
const F_DUPFD: c_int = 0;
const F_GETFD: c_int = 1;
const FD_CLOEXEC: c_int = 1;
const SEEK_END: c_int = 2;

/// Rights that [`may`] asks for.
pub mod rights {
    /// To execute a file, or to reach what is in a folder.
    pub const EXECUTE: i32 = 1;
    /// To write to a file, or to make files in a folder.
    pub const WRITE: i32 = 2;
    /// To read.
    pub const READ: i32 = 4;
}

#[repr(C)]
struct IoVec {
    base: *mut c_void,
    len: usize,
}

#[repr(C)]
struct RLimit {
    current: u64,
    maximum: u64,
}

/// `struct statvfs` of 64-bit machines, and room for what a C library may add.
#[repr(C)]
struct FileSystem {
    before: [u64; 9],
    flags: u64,
    after: [u64; 32],
}

unsafe extern "C" {
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn posix_fallocate(fd: c_int, offset: i64, len: i64) -> c_int;
    fn mmap(address: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(address: *mut c_void, len: usize) -> c_int;
    fn getrlimit(resource: c_int, limit: *mut RLimit) -> c_int;
    fn gettid() -> c_int;
    fn geteuid() -> u32;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn prctl(option: c_int, ...) -> c_int;
    fn process_vm_readv(
        pid: c_int,
        local: *const IoVec,
        locals: usize,
        remote: *const IoVec,
        remotes: usize,
        flags: usize,
    ) -> isize;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn faccessat(dirfd: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    fn getxattr(path: *const c_char, name: *const c_char, value: *mut c_void, len: usize) -> isize;
    fn statvfs(path: *const c_char, into: *mut FileSystem) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn sysconf(name: c_int) -> c_long;
}

/// The error number of the last call.
fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Makes the file `path` at least `offset + len` bytes long, on blocks that the disk has, and maps its part from
/// `offset` on, shared. A new file is made where `create` says so, and an old one is then an error.
///
/// No descriptor is kept, since programs close those that they do not know.
pub fn map(path: &CStr, create: bool, offset: u64, len: usize) -> Result<*mut u8, i32> {
    let end = offset.checked_add(len as u64).ok_or(EFBIG)?;
    let mut limit = RLimit { current: 0, maximum: 0 };
    // SAFETY: the limit is ours to write (Invariant 1).
    let got = unsafe { getrlimit(RLIMIT_FSIZE, &raw mut limit) };
    // Past the limit the kernel would send a signal, which the program knows nothing of.
    if got == 0 && end > limit.current {
        return Err(EFBIG);
    }
    let flags = O_RDWR | O_CLOEXEC | if create { O_CREAT | O_EXCL } else { 0 };
    // SAFETY: the path ends with a zero; the mode is there for O_CREAT (Invariant 1).
    let fd = unsafe { open(path.as_ptr(), flags, 0o600 as c_int) };
    if fd < 0 {
        return Err(last_error());
    }
    // SAFETY: the descriptor is ours (Invariant 1).
    let mut error = unsafe { posix_fallocate(fd, offset.cast_signed(), (len as u64).cast_signed()) };
    let mut mapped = std::ptr::null_mut();
    if error == 0 {
        // SAFETY: a new mapping, where the kernel chooses (Invariant 1).
        mapped = unsafe {
            mmap(
                std::ptr::null_mut(),
                len,
                PROT_READ | PROT_WRITE,
                MAP_SHARED,
                fd,
                offset.cast_signed(),
            )
        };
        if mapped.addr() == usize::MAX {
            error = last_error();
        }
    }
    // SAFETY: the descriptor is ours, and nothing uses it after this.
    unsafe { close(fd) };
    if error == 0 { Ok(mapped.cast()) } else { Err(error) }
}

/// Maps the first part of a file that is there, shared. It is not made longer, so no limit of its length matters.
pub fn map_existing(path: &CStr, len: usize) -> Result<*mut u8, i32> {
    // SAFETY: the path ends with a zero (Invariant 1).
    let fd = unsafe { open(path.as_ptr(), O_RDWR | O_CLOEXEC) };
    if fd < 0 {
        return Err(last_error());
    }
    // SAFETY: the descriptor is ours (Invariant 1).
    let has = unsafe { lseek(fd, 0, SEEK_END) };
    let result = if u64::try_from(has).is_ok_and(|has| has >= len as u64) {
        // SAFETY: a new mapping, where the kernel chooses (Invariant 1).
        let mapped = unsafe { mmap(std::ptr::null_mut(), len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) };
        match mapped.addr() {
            usize::MAX => Err(last_error()),
            _ => Ok(mapped.cast()),
        }
    } else {
        Err(EINVAL)
    };
    // SAFETY: the descriptor is ours, and nothing uses it after this.
    unsafe { close(fd) };
    result
}

/// Takes a mapping of [`map`] away.
///
/// # Safety
/// Nothing uses the mapping from now on.
pub unsafe fn unmap(mapping: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { munmap(mapping.cast(), len) };
}

/// The calling thread's number.
pub fn thread_number() -> u32 {
    // SAFETY: takes nothing.
    unsafe { gettid() }.cast_unsigned()
}

/// The calling thread's name.
pub fn thread_name() -> [u8; 16] {
    let mut name = [0; 16];
    // SAFETY: the kernel writes 16 bytes at most, and as many are ours.
    unsafe { prctl(PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// The size of a page.
pub fn page_size() -> u64 {
    const SC_PAGESIZE: c_int = 30;
    // SAFETY: takes a number.
    let size = unsafe { sysconf(SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

/// Copies memory of this process that may not be there; says how many bytes it got.
pub fn peek(address: u64, into: &mut [u8]) -> usize {
    let local = IoVec {
        base: into.as_mut_ptr().cast(),
        len: into.len(),
    };
    let remote = IoVec {
        base: std::ptr::with_exposed_provenance_mut(address as usize),
        len: into.len(),
    };
    let pid = std::process::id().cast_signed();
    // SAFETY: the local part is ours to write; the kernel checks the remote one.
    let copied = unsafe { process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).unwrap_or(0)
}

/// Executes a program in place of this one; comes back with the error number only.
pub fn execute(path: &CStr, arguments: &[CString], environment: &[CString]) -> i32 {
    let pointers = |strings: &[CString]| -> Vec<*const c_char> {
        strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, envp) = (pointers(arguments), pointers(environment));
    // SAFETY: both arrays end with a null pointer, and their strings live until the call is back.
    unsafe { execve(path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    last_error()
}

/// Whether the process has [`rights`] to the file, by its effective user and group.
pub fn may(path: &CStr, rights: i32) -> bool {
    // SAFETY: the path ends with a zero.
    unsafe { faccessat(AT_FDCWD, path.as_ptr(), rights, AT_EACCESS) == 0 }
}

/// The effective user.
pub fn effective_user() -> u32 {
    // SAFETY: takes nothing.
    unsafe { geteuid() }
}

/// Whether the descriptor is open and would be closed by exec.
pub fn closes_at_exec(fd: i32) -> bool {
    // SAFETY: takes numbers.
    let flags = unsafe { fcntl(fd, F_GETFD) };
    flags >= 0 && flags & FD_CLOEXEC != 0
}

/// Another descriptor of the same open file, `lowest` or more, which exec leaves open.
pub fn duplicate(fd: i32, lowest: i32) -> Option<i32> {
    // SAFETY: takes numbers.
    let new = unsafe { fcntl(fd, F_DUPFD, lowest) };
    (new >= 0).then_some(new)
}

/// Closes a descriptor that [`duplicate`] made.
pub fn close_duplicate(fd: i32) {
    // SAFETY: takes a number; the caller made the descriptor, and nobody else uses it.
    unsafe { close(fd) };
}

/// Whether the file gives its process capabilities.
pub fn has_capabilities(path: &CStr) -> bool {
    // SAFETY: both strings end with a zero, and a length of 0 asks for the size only.
    let size = unsafe { getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) };
    size > 0
}

/// Whether the file system that the file is on lets programs be executed.
pub fn file_system_executes(path: &CStr) -> bool {
    const ST_NOEXEC: u64 = 8;
    let mut into = FileSystem {
        before: [0; 9],
        flags: 0,
        after: [0; 32],
    };
    // SAFETY: the path ends with a zero, and the structure is at least as large as the C library's.
    let result = unsafe { statvfs(path.as_ptr(), &raw mut into) };
    result != 0 || into.flags & ST_NOEXEC == 0
}

/// Has functions called at a fork.
pub fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> bool {
    // SAFETY: the functions are there as long as the plugin is, which is never unloaded.
    unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) == 0 }
}

/// The address of a function that the program has, or null.
pub fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a null handle is the program and its libraries (RTLD_DEFAULT), and the name ends with a zero.
    unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }
}
