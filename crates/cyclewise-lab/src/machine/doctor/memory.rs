//! Lines about memory: ways of patching text, address layout and huge pages.

use super::line::{absent, limited, ok, unknown};
use super::{Answer, Inputs, Status};
use crate::sys::errno::Errno;
use crate::sys::protect::Probe;

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![("wx", wx(i)), ("aslr", aslr(i)), ("huge-pages", huge_pages(i))]
}

fn said(result: Result<(), Errno>) -> String {
    result.map_or_else(|errno| format!("refused, {errno}"), |()| "allowed".to_owned())
}

fn ways(of: &str, probe: Result<Probe, Errno>) -> String {
    match probe {
        Err(errno) => format!("{of}: cannot be mapped, {errno}"),
        Ok(p) => format!(
            "{of}: RWX {}, RW then RX {}, /proc/self/mem {}",
            said(p.rwx),
            said(p.flip),
            said(p.proc_mem)
        ),
    }
}

/// A page of the program decides, because that is what the library patches.
fn wx(i: &Inputs) -> Answer {
    let cmdline = i.fs.text("/proc/cmdline");
    let forced = cmdline
        .iter()
        .flat_map(|c| c.split_whitespace())
        .find(|t| t.starts_with("proc_mem.force_override="));
    let mdwe = i
        .protect
        .mdwe
        .map_or_else(|errno| errno.to_string(), |bits| format!("{bits:#x}"));
    let evidence = format!(
        "{}; {}; {}; PR_GET_MDWE = {mdwe}; {}",
        ways("page of this program", i.protect.program),
        ways("anonymous page", i.protect.anonymous),
        i.fs.read("/sys/fs/selinux/enforce"),
        forced.unwrap_or(match cmdline {
            Some(_) => "no proc_mem.force_override= in /proc/cmdline",
            None => "/proc/cmdline cannot be read",
        }),
    );
    let Ok(probe) = i.protect.program.or(i.protect.anonymous) else {
        return unknown("no executable page can be mapped", evidence)
            .so("text is not patched: LOCK prefixes stay, and static keys are read from memory");
    };
    let ways = [
        (probe.rwx, "mprotect RWX"),
        (probe.flip, "mprotect RW then RX"),
        (probe.proc_mem, "/proc/self/mem"),
    ];
    let open: Vec<&str> = ways.iter().filter(|(r, _)| r.is_ok()).map(|w| w.1).collect();
    let value = if open.is_empty() {
        "text cannot be changed".to_owned()
    } else {
        format!("text can be changed by {}", open.join(", "))
    };
    match (open.len(), probe.proc_mem) {
        (0, _) => {
            absent(value, evidence).so("text is not patched: LOCK prefixes stay, and static keys are read from memory")
        }
        (3, _) => ok(value, evidence),
        (_, Ok(())) => limited(value, evidence).so("patching uses /proc/self/mem"),
        (_, Err(_)) => {
            limited(value, evidence).so("patching uses mprotect, which leaves the page writable for a short time")
        }
    }
}

fn aslr(i: &Inputs) -> Answer {
    let reading = i.fs.read("/proc/sys/kernel/randomize_va_space");
    let consequence = "code and data have different addresses in every run: before trusting a small difference, repeat the run or \
        use `setarch -R`";
    let (status, value) = match reading.number() {
        Some(0) => (Status::Ok, "off: every run has the same layout"),
        Some(1) => (Status::Limited, "on, except for the heap"),
        Some(_) => (Status::Limited, "on"),
        None => (Status::Unknown, "cannot be read"),
    };
    Answer::new(status, value, reading.to_string()).unless_ok(consequence)
}

fn huge_pages(i: &Inputs) -> Answer {
    let reading = i.fs.read("/sys/kernel/mm/transparent_hugepage/enabled");
    let chosen = reading.get().and_then(|t| {
        t.split_whitespace()
            .find_map(|w| w.strip_prefix('[')?.strip_suffix(']'))
    });
    let consequence = "large buffers may or may not get huge pages: before trusting a small difference, repeat the run";
    match chosen {
        // `never` is the same in every run, and with `madvise` the program decides.
        Some(c @ ("never" | "madvise")) => ok(c, reading.to_string()),
        Some(c) => limited(c, reading.to_string()).so(consequence),
        None => unknown("cannot be read", reading.to_string()).so(consequence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    const NO: Result<(), Errno> = Err(Errno(libc::EACCES));

    fn with(rwx: Result<(), Errno>, flip: Result<(), Errno>, proc_mem: Result<(), Errno>) -> Answer {
        let mut i = Inputs::nothing("x86_64");
        i.protect.program = Ok(Probe { rwx, flip, proc_mem });
        wx(&i)
    }

    #[test]
    fn ways_of_patching() {
        assert_eq!(with(Ok(()), Ok(()), Ok(())).status, Status::Ok);
        let strict = with(NO, NO, Ok(()));
        assert_eq!(
            (strict.status, strict.value.as_str()),
            (Status::Limited, "text can be changed by /proc/self/mem")
        );
        assert_says!(with(NO, Ok(()), NO).consequence.unwrap(), "mprotect");
        let shut = with(NO, NO, NO);
        assert_eq!(shut.status, Status::Absent);
        assert_says!(shut.evidence, "RWX refused, EACCES 13", "selinux");
    }

    #[test]
    fn a_forced_override_is_quoted() {
        let tree = Tree::guest();
        tree.write("/proc/cmdline", "quiet proc_mem.force_override=never");
        assert!(
            wx(&Inputs::guest(&tree))
                .evidence
                .ends_with("; proc_mem.force_override=never")
        );
    }

    #[test]
    fn settings_of_the_kernel() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(
            (aslr(&i).status, huge_pages(&i).status),
            (Status::Unknown, Status::Unknown)
        );
        let thp = "/sys/kernel/mm/transparent_hugepage/enabled";
        tree.write("/proc/sys/kernel/randomize_va_space", "2");
        tree.write(thp, "[always] madvise never");
        assert_eq!(
            (aslr(&i).value.as_str(), huge_pages(&i).value.as_str()),
            ("on", "always")
        );
        tree.write("/proc/sys/kernel/randomize_va_space", "0");
        tree.write(thp, "always [madvise] never");
        assert_eq!((aslr(&i).status, huge_pages(&i).status), (Status::Ok, Status::Ok));
    }
}
