//! What to do when a system call fails. The call's name says what it was for: each serves one purpose.

/// The advice for a call, named as in [`Refusal::System`](super::Refusal::System), that failed with this errno.
pub(super) fn for_call(call: &str, errno: i32) -> &'static str {
    let name = call.split([' ', ',']).next().unwrap_or(call);
    match name {
        "mmap" if errno == EAGAIN => {
            "raise the limit on locked memory (ulimit -l), or lock no mappings to come (mlockall with MCL_FUTURE)"
        }
        "sched_setaffinity" if errno == EBUSY => "confine no thread of SCHED_DEADLINE, or give it another policy",
        "open" if errno == EMFILE => "close some files, or raise the limit on them (ulimit -n)",
        "open" if errno == ENFILE => "raise the system's limit on open files (fs.file-max), or try again",
        "open" | "getdents64" | "stat" if call.ends_with("/proc/self/task") => {
            "mount /proc and allow reading it, or continue with LOCK in force"
        }
        "mprotect" if errno == ENOMEM => "raise the limit on mappings (vm.max_map_count), or free some memory",
        // As SELinux does without execmem and execmod, PaX's MPROTECT, and prctl(2) with PR_SET_MDWE.
        "mprotect" if errno == EACCES => {
            "let a security policy allow text to be written (execmod, execmem; no MDWE), or leave the text as it is"
        }
        "mprotect" | "open" | "read" | "pread" | "pwrite" => "allow this call, or leave the text as it is",
        "membarrier" if call.ends_with("RSEQ") => "allow this call, or stop no slot and kill no per-CPU reference",
        "membarrier" if call.ends_with("PRIVATE_EXPEDITED") => {
            "allow this call, or install the filter before the process's first fence"
        }
        "membarrier" => "allow this call, or change the text before the second thread starts",
        "pthread_atfork" => "free some memory and try again",
        "mmap" => "raise the limits on address space and on mappings",
        "sched_getaffinity" | "sched_getcpu" => "allow this call, or do not use confined mode",
        "sched_setaffinity" => "name a CPU that the thread may run on, and allow sched_setaffinity",
        "arch_prctl" => "allow this call, or use the operations that do not need GS",
        "rt_sigprocmask" => "allow this call: without it signals cannot be blocked",
        "ppoll" => "wait for fewer descriptors, or free some memory",
        _ => "allow this call, or do without what needs it",
    }
}

// By number: without a feature that calls the kernel there is no libc.
const EAGAIN: i32 = 11; // include/uapi/asm-generic/errno-base.h
const ENOMEM: i32 = 12; // same place
const EACCES: i32 = 13; // same place
const EBUSY: i32 = 16; // same place
const ENFILE: i32 = 23; // same place
const EMFILE: i32 = 24; // same place

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Finds every call that the sources name. Each has advice of its own, and only the calls that change the text mention it.
    #[test]
    fn every_call_has_advice_that_fits_it() {
        let mut calls = Vec::new();
        gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut calls);
        assert!(calls.len() >= 12, "{calls:?}");
        for call in &calls {
            let advice = for_call(call, 0);
            assert!(!advice.contains("do without"), "{call} has no advice of its own");
            let is_of_text = call.contains("/proc/self/m") || call.starts_with("mprotect");
            assert_eq!(advice.contains("the text as it is"), is_of_text, "{call}: {advice}");
        }
        // The twin: an unknown name is noticed.
        assert!(for_call("frobnicate", 0).contains("do without"));
    }

    // With a feature that has libc, whose numbers these are.
    #[cfg(feature = "percpu")]
    #[test]
    fn a_limit_on_locked_memory_and_a_deadline_have_advice_of_their_own() {
        assert_eq!((EAGAIN, ENOMEM, EACCES), (libc::EAGAIN, libc::ENOMEM, libc::EACCES));
        assert_eq!((EBUSY, ENFILE, EMFILE), (libc::EBUSY, libc::ENFILE, libc::EMFILE));
        for (call, errno, has) in [
            ("mmap", libc::EAGAIN, "locked"),
            ("mmap", libc::ENOMEM, "address space"),
            ("sched_setaffinity", libc::EBUSY, "SCHED_DEADLINE"),
            ("sched_setaffinity", libc::EINVAL, "name a CPU"),
            ("mprotect", libc::EACCES, "security policy"),
            ("mprotect", libc::ENOMEM, "max_map_count"),
            ("mprotect", libc::EPERM, "allow this call"),
            ("open /proc/self/mem", libc::EMFILE, "close some files"),
            ("open /proc/self/task", libc::ENFILE, "fs.file-max"),
            ("open /proc/self/mem", libc::EACCES, "allow this call"),
        ] {
            let advice = for_call(call, errno);
            assert!(advice.contains(has), "{call} {errno}: {advice}");
            // The twin: without its errno it is another.
            let is_general = ["address space", "name a CPU", "allow this call"].contains(&has);
            assert_eq!(advice == for_call(call, 0), is_general, "{call} {errno}");
        }
        assert!(for_call("membarrier, which a filter answers with 0 for RSEQ", 0).contains("per-CPU"));
    }

    /// Collects what follows `failed("` and `call: "` in a folder's files, up to the closing quote.
    fn gather(folder: &Path, calls: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                gather(&path, calls);
            } else if !path.ends_with("error/advice.rs") {
                let text = std::fs::read_to_string(path).unwrap();
                for start in ["failed(\"", "call: \""] {
                    let found = text.split(start).skip(1);
                    calls.extend(found.map(|rest| rest.split('"').next().unwrap().to_string()));
                }
            }
        }
    }
}
