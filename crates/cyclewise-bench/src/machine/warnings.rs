//! Warnings about a machine's figures: each says what is wrong and what to do.

use super::cpuid::Cpuid;
use super::cpuinfo::CpuInfo;
use super::{boost, emulator, topology};
use crate::record::hypervisor_name;
use crate::sys::procfs::Sysfs;

/// Load per CPU above which other work affects the figures.
pub const LOAD_PER_CPU: f64 = 0.5; // A guess: at one half, rejecting samples no longer helps a pinned run.

/// The data that the warnings are based on.
pub struct Facts<'a> {
    /// The files of /proc and /sys.
    pub fs: &'a Sysfs,
    pub cpuid: Option<&'a Cpuid>,
    pub cpuinfo: &'a CpuInfo,
    /// `x86_64` or `aarch64`.
    pub arch: &'a str,
    /// The hypervisor's name.
    pub hypervisor: Option<&'a str>,
    /// The kernel's clock source.
    pub clocksource: &'a str,
    pub governor: Option<&'a str>,
}

/// All warnings that apply, the most serious first.
pub fn all(facts: &Facts<'_>) -> Vec<String> {
    [
        emulated(facts),
        unsteady_tsc(facts),
        clocksource(facts),
        hypervisor(facts),
        kinds_of_cores(facts),
        smt(facts),
        governor(facts),
        boosted(facts),
        load(facts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn emulated(facts: &Facts<'_>) -> Option<String> {
    let evidence = emulator::evidence(facts.fs, facts.arch, facts.cpuid, facts.cpuinfo)?;
    Some(format!(
        "this CPU is emulated ({evidence}): the figures are not those of a real CPU"
    ))
}

fn unsteady_tsc(facts: &Facts<'_>) -> Option<String> {
    const ADVICE: &str = "compare figures only within this run";
    let invariant = facts.cpuid?.invariant_tsc() == Some(true);
    let constant = facts.cpuinfo.has("constant_tsc");
    match (invariant, constant) {
        (true, true) => None,
        (true, false) if !facts.cpuinfo.is_readable() => Some(
            "the CPU says that the TSC is invariant (CPUID 0x80000007 EDX bit 8), but whether the kernel says so cannot be read: \
             the rate is checked against CLOCK_MONOTONIC_RAW"
                .to_owned(),
        ),
        (true, false) => Some(format!(
            "the CPU says that the TSC is invariant (CPUID 0x80000007 EDX bit 8), but the kernel does not set constant_tsc: {ADVICE}"
        )),
        (false, true) => Some(format!(
            "the TSC has a constant rate and may stop in deep sleep (constant_tsc, but not CPUID 0x80000007 EDX bit 8): {ADVICE}"
        )),
        (false, false) => Some(format!(
            "the TSC is not invariant (CPUID 0x80000007 EDX bit 8, constant_tsc): a tick's length varies with the core clock; {ADVICE}"
        )),
    }
}

fn clocksource(facts: &Facts<'_>) -> Option<String> {
    let expected = if facts.arch == "aarch64" {
        "arch_sys_counter"
    } else {
        "tsc"
    };
    match facts.clocksource {
        found if found == expected => None,
        "" => Some("the kernel's clocksource is unknown: /sys/devices/system/clocksource cannot be read".to_owned()),
        found => Some(format!(
            "the kernel's clocksource is {found}, not {expected}: the kernel may have found the {expected} unstable; see dmesg"
        )),
    }
}

fn hypervisor(facts: &Facts<'_>) -> Option<String> {
    let name = hypervisor_name(facts.hypervisor?);
    Some(format!(
        "a hypervisor is present ({name}): it may steal time, hide SMT siblings and hide the PMU; {}",
        match facts.fs.text("/proc/stat") {
            Some(_) => "samples of one thread with stolen time are rejected",
            None => "/proc/stat cannot be read, so stolen time is not detected",
        }
    ))
}

fn kinds_of_cores(facts: &Facts<'_>) -> Option<String> {
    let advice = "figures apply only to the kind of core that was pinned; choose one by `taskset -c N`";
    if let Some((performance, efficiency)) = topology::hybrid(facts.fs) {
        return Some(format!(
            "hybrid CPU with {} performance and {} efficiency CPUs: {advice}",
            performance.len(),
            efficiency.len()
        ));
    }
    if facts.cpuid.is_some_and(Cpuid::is_hybrid) {
        return Some(format!("hybrid CPU (CPUID 7 EDX bit 15): {advice}"));
    }
    let capacities = topology::capacities(facts.fs);
    (capacities.len() > 1).then(|| format!("cores of different capacity (cpu_capacity {capacities:?}): {advice}"))
}

fn smt(facts: &Facts<'_>) -> Option<String> {
    let active = facts.fs.text(&format!("{}/smt/active", topology::CPUS))?;
    (active == "1").then(|| {
        "SMT is on: work on a sibling thread slows the pinned one; keep the sibling idle, or turn SMT off by writing `off` to \
         /sys/devices/system/cpu/smt/control"
            .to_owned()
    })
}

fn governor(facts: &Facts<'_>) -> Option<String> {
    let governor = facts.governor?;
    (governor != "performance").then(|| {
        format!("the cpufreq governor is {governor}: the core clock varies during samples; set it to performance")
    })
}

fn boosted(facts: &Facts<'_>) -> Option<String> {
    let said = boost::state(facts.fs)?;
    said.on.then(|| {
        format!(
            "boost is on ({}): the core clock depends on temperature and on other cores' load",
            said.evidence
        )
    })
}

fn load(facts: &Facts<'_>) -> Option<String> {
    let text = facts.fs.text("/proc/loadavg")?;
    let minute: f64 = text.split_whitespace().next()?.parse().ok()?;
    // The load is of the whole machine. Where its CPUs cannot be read, one is assumed, and none are named.
    let online = topology::online(facts.fs).map(|c| c.len());
    (minute > LOAD_PER_CPU * online.unwrap_or(1) as f64).then(|| {
        let on = match online {
            Some(1) => " on 1 CPU".to_owned(),
            Some(cpus) => format!(" on {cpus} CPUs"),
            None => String::new(),
        };
        format!(
            "the load average is {minute}{on}: other work is running; wait, or choose another CPU by `taskset -c N`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::{Tree, X86, kvm_guest};

    /// Warnings of a machine that has none but for these and `change`.
    fn warned(tree: &Tree, cpuid: &Cpuid, cpuinfo: &str, change: impl Fn(&mut Facts<'_>)) -> Vec<String> {
        let (fs, cpuinfo) = (tree.fs(), CpuInfo::parse(cpuinfo));
        let mut facts = Facts {
            fs: &fs,
            cpuid: Some(cpuid),
            cpuinfo: &cpuinfo,
            arch: "x86_64",
            hypervisor: None,
            clocksource: "tsc",
            governor: Some("performance"),
        };
        change(&mut facts);
        all(&facts)
    }

    /// Of one with a guest's CPU.
    fn warnings(tree: &Tree, change: impl Fn(&mut Facts<'_>)) -> Vec<String> {
        warned(tree, &kvm_guest(), X86, change)
    }

    #[track_caller]
    fn only(warnings: &[String], word: &str) {
        assert!(
            warnings.len() == 1 && warnings[0].contains(word),
            "{word}: {warnings:?}"
        );
    }

    #[test]
    fn a_quiet_machine_has_none() {
        assert_eq!(warnings(&Tree::guest(), |_| ()), Vec::<String>::new());
        assert_eq!(
            warnings(&Tree::new(), |_| ()),
            Vec::<String>::new(),
            "absent files cause no warning"
        );
    }

    #[test]
    fn warnings_from_the_fingerprint() {
        let tree = Tree::new();
        only(&warnings(&tree, |f| f.hypervisor = Some("KVMKVMKVM")), "present (KVM)");
        only(&warnings(&tree, |f| f.clocksource = "hpet"), "hpet");
        only(&warnings(&tree, |f| f.clocksource = ""), "unknown");
        only(&warnings(&tree, |f| f.governor = Some("powersave")), "powersave");
        only(
            &warnings(&tree, |f| f.governor = Some("schedutil")),
            "set it to performance",
        );
    }

    #[test]
    fn warnings_from_files() {
        let with = |path: &str, text: &str| {
            let tree = Tree::guest();
            tree.write(path, text);
            warnings(&tree, |_| ())
        };
        only(&with("/proc/loadavg", "1.73 1 1 1/1 1"), "1.73 on 2 CPUs");
        only(&with("/sys/devices/system/cpu/smt/active", "1"), "SMT is on");
        only(
            &with("/sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
            "boost is on",
        );
        only(&with("/sys/devices/system/cpu/cpufreq/boost", "1"), "boost is on");
        assert!(with("/sys/devices/system/cpu/intel_pstate/no_turbo", "1").is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_not_called_missing() {
        let tree = Tree::new();
        let all_of = |cpuinfo, hypervisor| warned(&tree, &kvm_guest(), cpuinfo, |f| f.hypervisor = hypervisor);
        // The CPU says that its TSC is invariant; a masked /proc/cpuinfo says nothing against it.
        let said = all_of("", None);
        only(&said, "cannot be read");
        assert_lacks!(said[0], "not invariant");
        only(&all_of("flags : tsc\n", None), "does not set constant_tsc");
        let stolen = all_of(X86, Some("KVMKVMKVM"));
        only(&stolen, "/proc/stat cannot be read");
        tree.write("/proc/stat", "cpu  1 1 1 1 1 1 1 7 0 0\n");
        only(
            &all_of(X86, Some("KVMKVMKVM")),
            "samples of one thread with stolen time are rejected",
        );
        // /proc is there and /sys is not: the number of CPUs is unknown, and not 1.
        tree.write("/proc/loadavg", "1.73 1 1 1/1 1");
        let loaded = all_of(X86, None);
        only(&loaded, "the load average is 1.73: ");
        tree.write("/sys/devices/system/cpu/online", "0");
        only(&all_of(X86, None), "1.73 on 1 CPU:");
    }

    #[test]
    fn cores_of_two_kinds() {
        let tree = Tree::guest();
        tree.write("/sys/devices/system/cpu/cpu0/cpu_capacity", "1024");
        assert!(warnings(&tree, |_| ()).is_empty());
        tree.write("/sys/devices/system/cpu/cpu1/cpu_capacity", "446");
        only(&warnings(&tree, |_| ()), "[446, 1024]");
        tree.write("/sys/devices/cpu_core/cpus", "0");
        tree.write("/sys/devices/cpu_atom/cpus", "1");
        only(&warnings(&tree, |_| ()), "1 performance and 1 efficiency");
    }

    #[test]
    fn warnings_from_cpuid() {
        let warnings_of = |cpuid: &Cpuid| warned(&Tree::guest(), cpuid, X86, |_| ());
        let bare = Cpuid::from_leaves([(0x8000_0007, [0; 4])]);
        only(&warnings_of(&bare), "constant_tsc, but not CPUID");
        let invariant = (0x8000_0007, [0, 0, 0, 1 << 8]);
        let hybrid = (7, [0, 0, 0, 1 << 15]);
        only(&warnings_of(&Cpuid::from_leaves([invariant, hybrid])), "hybrid");
        let emulated = (0x4000_0000, [0, u32::from_le_bytes(*b"TCGT"), 0, 0]);
        only(
            &warnings_of(&Cpuid::from_leaves([invariant, emulated])),
            "not those of a real CPU",
        );
    }
}
