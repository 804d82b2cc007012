//! Lines about CPUs: those allowed, SMT, topology, kinds of cores and isolated CPUs.

use super::line::{absent, limited, ok, unknown};
use super::{Answer, Inputs, Status};
use crate::machine::topology::{self, CPUS};
use crate::machine::{Cpuid, fingerprint};
use crate::sys::procfs::Reading;

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![
        ("cpus", cpus(i)),
        ("smt", smt(i)),
        ("topology", topology_line(i)),
        ("core-kinds", core_kinds(i)),
        ("isolation", isolation(i)),
    ]
}

fn cpus(i: &Inputs) -> Answer {
    let online = i.fs.read(&format!("{CPUS}/online"));
    let (allowed, evidence) = match (topology::allowed(&i.fs), &i.affinity) {
        (Some(listed), _) => {
            let evidence = format!("/proc/self/status: Cpus_allowed_list {listed:?}; {online}");
            (listed, evidence)
        }
        (None, Some(mask)) => (mask.clone(), format!("sched_getaffinity: {mask:?}; {online}")),
        (None, None) => {
            let evidence = format!("/proc/self/status: no Cpus_allowed_list; sched_getaffinity failed; {online}");
            return unknown("cannot be determined", evidence).so("choose a CPU by `run --cpu N`");
        }
    };
    let status = if allowed.len() > 1 { Status::Ok } else { Status::Limited };
    Answer::new(status, format!("{} allowed", allowed.len()), evidence)
        .unless_ok("contended variants need two CPUs; widen the mask with `taskset`")
}

fn smt(i: &Inputs) -> Answer {
    let active = i.fs.read(&format!("{CPUS}/smt/active"));
    let control = i.fs.read(&format!("{CPUS}/smt/control"));
    let evidence = format!("{active}; {control}");
    let state = control.get().unwrap_or("control not readable").to_owned();
    let virt = fingerprint::hypervisor(&i.fs, i.cpuid.as_ref(), &i.cpuinfo).is_some();
    match active.get() {
        Some("1") => limited(format!("on ({state})"), evidence)
            .so("a CPU with an idle sibling is preferred; for clean figures write `off` to /sys/devices/system/cpu/smt/control"),
        Some(_) if virt => limited(format!("none visible ({state})"), evidence)
            .so("the host may run two of this guest's CPUs on one core, which a guest cannot detect"),
        Some(_) => ok(format!("off ({state})"), evidence),
        None => unknown("cannot be determined", evidence)
            .so("thread_siblings_list is used when a CPU is chosen"),
    }
}

fn topology_line(i: &Inputs) -> Answer {
    let cpus = topology::online(&i.fs);
    let counted = cpus.as_ref().and_then(|c| topology::packages_and_cores(&i.fs, c));
    let (Some(cpus), Some((packages, cores))) = (cpus, counted) else {
        let evidence = i.fs.presence(&format!("{CPUS}/cpu0/topology"));
        return unknown("cannot be determined", evidence).so("each CPU is treated as a separate core");
    };
    let caches = topology::caches(&i.fs, cpus.first().copied().unwrap_or(0));
    let sizes: Vec<_> = caches.iter().map(|c| format!("{} {}", c.name, c.size)).collect();
    let sharing: Vec<_> = caches
        .iter()
        .map(|c| format!("{} by {}", c.name, c.shared_by))
        .collect();
    let nodes = topology::nodes(&i.fs).map_or("unknown".to_owned(), |n| n.to_string());
    let plural = |n: usize, one: &str| {
        if n == 1 {
            format!("1 {one}")
        } else {
            format!("{n} {one}s")
        }
    };
    let value = format!(
        "{}, {}, {}; NUMA nodes: {nodes}; {}",
        plural(packages, "socket"),
        plural(cores, "core"),
        plural(cpus.len(), "CPU"),
        if sizes.is_empty() {
            "caches unknown".to_owned()
        } else {
            sizes.join(", ")
        }
    );
    let evidence = format!(
        "{CPUS}/cpu*/topology; CPUs sharing cpu0's caches: {}; /sys/devices/system/node/online",
        if sharing.is_empty() {
            "unknown".to_owned()
        } else {
            sharing.join(", ")
        }
    );
    ok(value, evidence)
}

fn core_kinds(i: &Inputs) -> Answer {
    let consequence =
        "the strongest idle core is chosen, and figures apply only to its kind; choose another by `run --cpu N`";
    let hybrid_bit = i.cpuid.as_ref().is_some_and(Cpuid::is_hybrid);
    let capacities = topology::capacities(&i.fs);
    let bit = i.cpuid_evidence(7, "EDX") + ", bit 15";
    let evidence = format!(
        "{bit}; cpu_capacity {capacities:?}; {}",
        i.fs.presence("/sys/devices/cpu_atom")
    );
    if let Some((performance, efficiency)) = topology::hybrid(&i.fs) {
        let value = format!(
            "{} performance and {} efficiency CPUs",
            performance.len(),
            efficiency.len()
        );
        return limited(value, evidence).so(consequence);
    }
    match capacities.len() {
        _ if hybrid_bit => limited("hybrid", evidence).so(consequence),
        0 if i.cpuid.is_none() => {
            unknown("cannot be determined", evidence).so("all cores are treated as equal; choose one by `run --cpu N`")
        }
        0 | 1 => ok("one kind", evidence),
        n => limited(format!("{n} kinds"), evidence).so(consequence),
    }
}

fn isolation(i: &Inputs) -> Answer {
    let isolated = i.fs.read(&format!("{CPUS}/isolated"));
    let nohz = i.fs.read(&format!("{CPUS}/nohz_full"));
    let cmdline = i.fs.text("/proc/cmdline");
    let asked: Vec<&str> = cmdline
        .iter()
        .flat_map(|c| c.split_whitespace())
        .filter(|t| {
            ["isolcpus=", "nohz_full=", "rcu_nocbs="]
                .iter()
                .any(|p| t.starts_with(p))
        })
        .collect();
    let boot = match (&cmdline, asked.is_empty()) {
        (None, _) => "/proc/cmdline cannot be read".to_owned(),
        (Some(_), true) => "/proc/cmdline requests none".to_owned(),
        (Some(_), false) => format!("/proc/cmdline: {}", asked.join(" ")),
    };
    let evidence = format!("{isolated}; {nohz}; {boot}");
    // The kernel prints "(null)" for an empty mask in some versions.
    let cpus = |r: &Reading| r.get().filter(|t| *t != "(null)").map(str::to_owned);
    let said: Vec<String> = [
        cpus(&isolated).map(|c| format!("isolated {c}")),
        cpus(&nohz).map(|c| format!("tickless {c}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !said.is_empty() {
        return ok(said.join(", "), evidence);
    }
    let consequence = "preempted samples are rejected; to have fewer, boot with isolcpus= and nohz_full=";
    if isolated.text.is_err() && nohz.text.is_err() && cmdline.is_none() {
        return unknown("cannot be determined", evidence).so(consequence);
    }
    absent("no CPU is isolated", evidence).so(consequence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    #[test]
    fn a_guest_of_two_cpus() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(cpus(&i).value, "2 allowed");
        assert_eq!(
            topology_line(&i).value,
            "1 socket, 2 cores, 2 CPUs; NUMA nodes: unknown; caches unknown"
        );
        assert_eq!((smt(&i).status, core_kinds(&i).status), (Status::Limited, Status::Ok));
        assert_says!(smt(&i).consequence.unwrap(), "the host");
        tree.write("/proc/self/status", "Cpus_allowed_list:\t1\n");
        assert_eq!(cpus(&i).status, Status::Limited);
    }

    #[test]
    fn smt_by_its_switch() {
        let tree = Tree::guest();
        let mut i = Inputs::guest(&tree);
        i.cpuid = None;
        i.cpuinfo = Default::default();
        assert_eq!(
            (smt(&i).status, smt(&i).value.as_str()),
            (Status::Ok, "off (notsupported)")
        );
        tree.write(&format!("{CPUS}/smt/active"), "1");
        assert_eq!(smt(&i).status, Status::Limited);
        tree.remove(&format!("{CPUS}/smt/active"));
        assert_eq!(smt(&i).status, Status::Unknown);
    }

    #[test]
    fn kinds_of_cores() {
        let tree = Tree::guest();
        let mut i = Inputs::guest(&tree);
        tree.write(&format!("{CPUS}/cpu0/cpu_capacity"), "1024");
        tree.write(&format!("{CPUS}/cpu1/cpu_capacity"), "446");
        assert_eq!(core_kinds(&i).value, "2 kinds");
        i.cpuid = Some(Cpuid::from_leaves([(7, [0, 0, 0, 1 << 15])]));
        assert_eq!(core_kinds(&i).value, "hybrid");
        tree.write("/sys/devices/cpu_core/cpus", "0");
        tree.write("/sys/devices/cpu_atom/cpus", "1");
        assert_eq!(core_kinds(&i).value, "1 performance and 1 efficiency CPUs");
    }

    #[test]
    fn without_proc_the_kernel_is_asked_for_the_cpus() {
        let mut i = Inputs::nothing("x86_64");
        assert_eq!(cpus(&i).value, "cannot be determined");
        i.affinity = Some(vec![0, 3]);
        let line = cpus(&i);
        assert_eq!((line.value.as_str(), line.status), ("2 allowed", Status::Ok));
        assert!(line.evidence.starts_with("sched_getaffinity: [0, 3]"), "{line:?}");
    }

    #[test]
    fn isolated_cpus() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(isolation(&i).status, Status::Absent);
        tree.write(&format!("{CPUS}/nohz_full"), "(null)");
        tree.write(&format!("{CPUS}/isolated"), "");
        assert_eq!(isolation(&i).status, Status::Absent);
        tree.write(&format!("{CPUS}/isolated"), "1");
        tree.write("/proc/cmdline", "quiet isolcpus=1 secret=x");
        let line = isolation(&i);
        assert_eq!((line.status, line.value.as_str()), (Status::Ok, "isolated 1"));
        assert!(line.evidence.ends_with("/proc/cmdline: isolcpus=1"), "{line:?}");
    }
}
