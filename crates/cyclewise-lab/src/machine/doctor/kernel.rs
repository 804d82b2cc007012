//! Lines about the kernel: release, tick, mitigations, limits and load.

use super::line::{ok, unknown};
use super::{Answer, Inputs, Status};
use crate::machine::{fingerprint, topology};
use crate::sys::errno::Errno;
use crate::sys::limits::{Limits, Rlimit};

const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// What hackbench needs by default: 10 groups of 40 processes, with a socket pair for each pair.
const PROCESSES_WANTED: u64 = 500;
const FILES_WANTED: u64 = 1024;

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![
        ("kernel", kernel(i)),
        ("kernel-hz", kernel_hz(i)),
        ("mitigations", mitigations(i)),
        ("limits", limits(i)),
        ("load", load(i)),
    ]
}

fn kernel(i: &Inputs) -> Answer {
    let reading = i.fs.read(RELEASE);
    match reading.get() {
        Some(release) => ok(release, reading.to_string()),
        None => unknown("cannot be read", reading.to_string()),
    }
}

/// The kernel's tick rate, from its configuration: user space always sees USER_HZ, 100.
fn kernel_hz(i: &Inputs) -> Answer {
    let Some(release) = i.fs.text(RELEASE) else {
        let evidence = format!("{RELEASE} cannot be read, and names the file in /boot");
        return unknown("cannot be read", evidence)
            .so("a timer tick inside a sample is an outlier: compare the median with the mean");
    };
    let path = format!("/boot/config-{release}");
    let reading = i.fs.read(&path);
    let hz = reading
        .get()
        .and_then(|t| t.lines().find_map(|l| l.strip_prefix("CONFIG_HZ=")));
    match hz {
        Some(hz) => ok(format!("{hz} Hz"), format!("{path}: CONFIG_HZ={hz}")),
        None => {
            let why = reading
                .text
                .as_ref()
                .map_or_else(Errno::to_string, |_| "no CONFIG_HZ=".to_owned());
            unknown("cannot be read", format!("{path}: {why}"))
                .so("a timer tick inside a sample is an outlier: compare the median with the mean")
        }
    }
}

fn mitigations(i: &Inputs) -> Answer {
    let known = fingerprint::mitigations(&i.fs);
    if known.is_empty() {
        return unknown("cannot be read", i.fs.presence(fingerprint::VULNERABILITIES))
            .so("figures of system calls cannot be compared with another machine's");
    }
    let count = |start: &str| known.values().filter(|v| v.starts_with(start)).count();
    let (not, mitigated, open) = (count("Not affected"), count("Mitigation"), count("Vulnerable"));
    let value = format!(
        "{mitigated} mitigated, {open} vulnerable, {not} not affected of {}",
        known.len()
    );
    let affected: Vec<String> = known
        .iter()
        .filter(|(_, v)| !v.starts_with("Not affected"))
        .map(|(name, v)| format!("{name}: {v}"))
        .collect();
    let listed = if affected.is_empty() {
        "all Not affected".to_owned()
    } else {
        affected.join("; ")
    };
    ok(value, format!("{}: {listed}", fingerprint::VULNERABILITIES))
}

fn limits(i: &Inputs) -> Answer {
    let Limits { processes, files } = i.limits;
    let number = |n: Option<u64>| n.map_or("unlimited".to_owned(), |n| n.to_string());
    let shown = |limit: Rlimit| format!("{} (hard {})", number(limit.current), number(limit.maximum));
    let evidence = format!("RLIMIT_NPROC = {}; RLIMIT_NOFILE = {}", shown(processes), shown(files));
    let value = format!(
        "{} processes, {} descriptors",
        number(processes.current),
        number(files.current)
    );
    let enough = |limit: Rlimit, wanted| limit.current.is_none_or(|n| n >= wanted);
    let status = if enough(processes, PROCESSES_WANTED) && enough(files, FILES_WANTED) {
        Status::Ok
    } else {
        Status::Limited
    };
    Answer::new(status, value, evidence)
        .unless_ok("give fewer groups by `run hackbench --groups N`, or raise `ulimit -u` and `ulimit -n`")
}

fn load(i: &Inputs) -> Answer {
    let reading = i.fs.read("/proc/loadavg");
    let minute = reading
        .get()
        .and_then(|t| t.split_whitespace().next()?.parse::<f64>().ok());
    let Some(minute) = minute else {
        return unknown("cannot be read", reading.to_string());
    };
    let cpus = topology::online(&i.fs).map_or(1, |c| c.len());
    let busy = minute > crate::machine::warnings::LOAD_PER_CPU * cpus as f64;
    let status = if busy { Status::Limited } else { Status::Ok };
    Answer::new(
        status,
        format!("{minute} over the last minute"),
        format!("{reading}; CPUs online: {cpus}"),
    )
    .unless_ok("other work is running; wait, or let `run` choose, so that the idlest CPU is chosen")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    #[test]
    fn the_tick_is_in_the_configuration() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(
            (kernel(&i).value.as_str(), kernel_hz(&i).status),
            ("6.18.0", Status::Unknown)
        );
        tree.write(
            "/boot/config-6.18.0",
            "# CONFIG_HZ_100 is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n",
        );
        assert_eq!(kernel_hz(&i).value, "250 Hz");
    }

    #[test]
    fn mitigations_are_counted_and_listed() {
        let tree = Tree::guest();
        tree.write(&format!("{}/ssb", fingerprint::VULNERABILITIES), "Vulnerable");
        let line = mitigations(&Inputs::guest(&tree));
        assert_eq!(line.value, "1 mitigated, 1 vulnerable, 1 not affected of 3");
        assert!(
            line.evidence
                .ends_with("spectre_v2: Mitigation: Retpolines; ssb: Vulnerable"),
            "{line:?}"
        );
        assert_eq!(mitigations(&Inputs::nothing("x86_64")).status, Status::Unknown);
    }

    #[test]
    fn limits_too_low_for_hackbench() {
        let mut i = Inputs::nothing("x86_64");
        assert_eq!(limits(&i).status, Status::Limited);
        i.limits.processes = Rlimit {
            current: None,
            maximum: None,
        };
        i.limits.files = Rlimit {
            current: Some(1024),
            maximum: Some(4096),
        };
        assert_eq!(
            (limits(&i).status, limits(&i).value.as_str()),
            (Status::Ok, "unlimited processes, 1024 descriptors")
        );
        i.limits.processes = Rlimit {
            current: Some(100),
            maximum: Some(100),
        };
        assert_eq!(limits(&i).status, Status::Limited);
    }

    #[test]
    fn a_load_of_other_work() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(load(&i).status, Status::Ok);
        tree.write("/proc/loadavg", "3.5 1 1 1/1 1");
        assert_eq!(load(&i).status, Status::Limited);
        tree.remove("/proc/loadavg");
        assert_eq!(load(&i).status, Status::Unknown);
    }
}
