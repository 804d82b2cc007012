//! Sandboxes that a process enters: they refuse calls, fake results, or hide `/proc`.

use crate::common::call;
use crate::common::filter::{If, refuse, refuse_writable_text};

/// open(2), which AArch64 lacks: no check runs there.
#[cfg(target_arch = "x86_64")]
pub(crate) const OPEN: libc::c_long = libc::SYS_open;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const OPEN: libc::c_long = -1;

const PR_SET_MDWE: i32 = 65; // include/uapi/linux/prctl.h, since Linux 6.3
const PR_MDWE_REFUSE_EXEC_GAIN: u64 = 1;

pub(crate) fn refuse_open() {
    refuse(OPEN, &[], libc::EPERM);
    refuse(libc::SYS_openat, &[], libc::EPERM);
}

pub(crate) fn pretend_open() {
    refuse(OPEN, &[], 0);
    refuse(libc::SYS_openat, &[], 0);
}

pub(crate) fn pretend_writable_text() {
    refuse(libc::SYS_mprotect, &[If::has(2, libc::PROT_WRITE | libc::PROT_EXEC)], 0);
}

fn deny_write_execute() {
    // SAFETY: takes numbers.
    let rc = unsafe { libc::prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) };
    if rc != 0 {
        println!("skipped: no PR_SET_MDWE: {}", std::io::Error::last_os_error());
    }
}

/// No further file can be opened.
fn no_more_files() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: reads one structure.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &none) }, 0);
}

/// A root without `/proc`.
fn leave_proc_behind() {
    if call::geteuid() != 0 && call::unshare(libc::CLONE_NEWUSER) != 0 {
        println!("skipped: no right to chroot: {}", std::io::Error::last_os_error());
        return;
    }
    let folder = std::env::temp_dir().join(format!("cyclewise-root-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let result = std::os::unix::fs::chroot(&folder);
    std::fs::remove_dir(&folder).ok();
    match result {
        Ok(()) => std::env::set_current_dir("/").unwrap_or(()),
        Err(error) => println!("skipped: no chroot: {error}"),
    }
}

/// An empty file system where `/proc` was.
pub(crate) fn cover_proc() {
    if call::unshare(libc::CLONE_NEWNS) != 0 && call::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) != 0 {
        println!("skipped: no mount namespaces: {}", std::io::Error::last_os_error());
        return;
    }
    let mount = |kind: *const libc::c_char, at: &std::ffi::CStr, flags| {
        // SAFETY: C strings, or null where the flags want none.
        unsafe { libc::mount(kind, at.as_ptr(), kind, flags, std::ptr::null()) }
    };
    let alone = mount(std::ptr::null(), c"/", libc::MS_REC | libc::MS_PRIVATE);
    if alone != 0 || mount(c"tmpfs".as_ptr(), c"/proc", 0) != 0 {
        println!("skipped: no mount here: {}", std::io::Error::last_os_error());
    }
}

/// Forbids opening files from now on, by Landlock.
fn landlock() {
    const CREATE: libc::c_long = 444; // landlock_create_ruleset, arch/x86/entry/syscalls/syscall_64.tbl
    const RESTRICT: libc::c_long = 446; // landlock_restrict_self, same place
    let every_access = (1_u64 << 13) - 1; // ABI 1, include/uapi/linux/landlock.h
    // SAFETY: reads one word.
    let rules = unsafe { libc::syscall(CREATE, &raw const every_access, 8, 0) };
    if rules < 0 {
        println!("skipped: no Landlock: {}", std::io::Error::last_os_error());
        return;
    }
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::syscall(RESTRICT, rules, 0) }, 0);
}

pub(crate) type Sandbox = (&'static str, fn());

/// Sandboxes that leave a way to restore LOCK: the descriptor, a new one, or mprotect.
pub(crate) const SANDBOXES: &[Sandbox] = &[
    ("open and openat refused", refuse_open),
    ("openat refused", || refuse(libc::SYS_openat, &[], libc::EACCES)),
    ("writable text refused", refuse_writable_text),
    ("open and writable text refused", || {
        refuse_open();
        refuse_writable_text();
    }),
    ("open, writable text and membarrier refused", || {
        refuse_open();
        refuse_writable_text();
        refuse(libc::SYS_membarrier, &[], libc::EPERM);
    }),
    ("no threads to be counted, no open, no writable text", || {
        refuse(libc::SYS_getdents64, &[], libc::EPERM);
        refuse(libc::SYS_newfstatat, &[], libc::EPERM);
        refuse(libc::SYS_statx, &[], libc::EPERM);
        refuse_open();
        refuse_writable_text();
    }),
    ("pwrite refused", || refuse(libc::SYS_pwrite64, &[], libc::EPERM)),
    ("pwrite only says so", || refuse(libc::SYS_pwrite64, &[], 0)),
    ("pread only says so", || refuse(libc::SYS_pread64, &[], 0)),
    ("writable text only says so", pretend_writable_text),
    ("open only says so", pretend_open),
    ("open and writable text only say so", || {
        pretend_open();
        pretend_writable_text();
    }),
    ("open refused, writable text only says so", || {
        refuse_open();
        pretend_writable_text();
    }),
    ("membarrier only says so", || refuse(libc::SYS_membarrier, &[], 0)),
    ("fstat only says so", || {
        refuse(libc::SYS_fstat, &[], 0);
        refuse(libc::SYS_newfstatat, &[], 0);
    }),
    ("getdents only says so", || refuse(libc::SYS_getdents64, &[], 0)),
    ("getpid only says so", || refuse(libc::SYS_getpid, &[], 0)),
    ("blocking of signals refused", || {
        refuse(libc::SYS_rt_sigprocmask, &[], libc::EPERM)
    }),
    ("blocking of signals only says so", || {
        refuse(libc::SYS_rt_sigprocmask, &[], 0)
    }),
    ("PR_SET_MDWE", deny_write_execute),
    ("PR_SET_MDWE and open refused", || {
        deny_write_execute();
        refuse_open();
    }),
    ("no more files", no_more_files),
    ("no more files and writable text refused", || {
        no_more_files();
        refuse_writable_text();
    }),
    ("a root without /proc, writable text refused", || {
        leave_proc_behind();
        refuse_writable_text();
    }),
    ("an empty /proc, writable text refused", || {
        cover_proc();
        refuse_writable_text();
    }),
    ("Landlock, writable text refused", || {
        landlock();
        refuse_writable_text();
    }),
];
