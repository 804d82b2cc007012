//! Lines about clocks: whether the tick rate is constant, what it is, and which clocksource the kernel uses.

use super::line::{absent, ok, unknown};
use super::{Answer, Inputs, Status};
use crate::machine::{Cpuid, fingerprint};

const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![
        ("tsc-invariant", tsc_invariant(i)),
        ("tsc-rate", tsc_rate(i)),
        ("clocksource", clocksource(i)),
        ("vdso", vdso(i)),
        ("vmclock", vmclock(i)),
    ]
}

fn tsc_invariant(i: &Inputs) -> Answer {
    if !i.is_x86() {
        let evidence = format!(
            "{} architecture: the generic timer counts at a fixed rate; {}",
            i.arch,
            i.fs.read(fingerprint::CLOCKSOURCE)
        );
        let kept =
            i.fs.text(fingerprint::CLOCKSOURCE)
                .is_some_and(|c| c == "arch_sys_counter");
        let status = if kept { Status::Ok } else { Status::Unknown };
        return Answer::new(status, "cntvct_el0 replaces the TSC", evidence)
            .unless_ok("`cyclewise verify clock` tests it on every pair of CPUs");
    }
    let bit = i.cpuid.as_ref().and_then(Cpuid::invariant_tsc);
    let flags = ["constant_tsc", "nonstop_tsc", "tsc_reliable", "tsc_known_freq"];
    let evidence = format!(
        "{}, bit 8; {}",
        i.cpuid_evidence(0x8000_0007, "EDX"),
        i.cpuinfo.evidence(&flags)
    );
    let constant = i.cpuinfo.has("constant_tsc");
    let (status, value) = match bit {
        Some(true) if constant && i.cpuinfo.has("nonstop_tsc") => (Status::Ok, "constant rate, in every sleep state"),
        Some(true) if constant => (
            Status::Limited,
            "constant rate; the kernel does not report that it continues in sleep",
        ),
        Some(true) if !i.cpuinfo.is_readable() => (
            Status::Limited,
            "invariant according to the CPU; what the kernel says cannot be read",
        ),
        Some(true) => (
            Status::Limited,
            "invariant according to the CPU, but not constant according to the kernel",
        ),
        Some(false) | None if constant => (
            Status::Limited,
            "constant rate according to the kernel; may stop in deep sleep",
        ),
        Some(false) => (Status::Absent, "the tick rate follows the core clock"),
        None if i.cpuid.is_some() && i.cpuinfo.is_readable() => {
            (Status::Absent, "the CPU lacks the CPUID leaf that guarantees it")
        }
        None => (Status::Unknown, "cannot be determined"),
    };
    Answer::new(status, value, evidence)
        .unless_ok("a sample is rejected if the tick rate changed relative to CLOCK_MONOTONIC_RAW during it")
}

fn tsc_rate(i: &Inputs) -> Answer {
    if !i.is_x86() {
        let evidence = format!("no CPUID on {}; the rate is in cntfrq_el0", i.arch);
        return unknown("not read", evidence)
            .so("the rate is measured against CLOCK_MONOTONIC_RAW at the start of a run");
    }
    let crystal = i.cpuid.as_ref().and_then(Cpuid::tsc_hz_from_crystal);
    let by_hypervisor = i.cpuid.as_ref().and_then(Cpuid::tsc_hz_from_hypervisor);
    let base_mhz = i
        .cpuid
        .as_ref()
        .and_then(|c| c.leaf(0x16))
        .map_or("none".to_owned(), |l| format!("{} MHz", l.eax & 0xffff));
    let evidence = format!(
        "{}; {}; CPUID 0x16 base {base_mhz}; /proc/cpuinfo bogomips: {}",
        i.cpuid_evidence(0x15, "ECX"),
        i.cpuid_evidence(0x4000_0010, "EAX"),
        i.cpuinfo.get("bogomips").unwrap_or("none"),
    );
    let mhz = |hz: f64| format!("{:.3} MHz", hz / 1e6);
    let (status, value) = match (crystal, by_hypervisor, i.cpuinfo.tsc_hz_from_bogomips()) {
        (Some(hz), _, _) => (Status::Ok, format!("{} (crystal, CPUID 0x15)", mhz(hz as f64))),
        (None, Some(hz), _) => (Status::Ok, format!("{} (hypervisor, CPUID 0x40000010)", mhz(hz as f64))),
        (None, None, Some(hz)) => (
            Status::Limited,
            format!("about {} (half the kernel's bogomips)", mhz(hz)),
        ),
        (None, None, None) => (Status::Unknown, "not reported".to_owned()),
    };
    Answer::new(status, value, evidence)
        .unless_ok("the rate is measured against CLOCK_MONOTONIC_RAW at the start of a run")
}

fn clocksource(i: &Inputs) -> Answer {
    let current = i.fs.read(fingerprint::CLOCKSOURCE);
    let evidence = format!(
        "{current}; available: {}",
        i.fs.text(AVAILABLE).unwrap_or("unknown".to_owned())
    );
    let Some(name) = current.get() else {
        return unknown("cannot be read", evidence)
            .so("ticks are checked against CLOCK_MONOTONIC_RAW during every run");
    };
    let line = |status| Answer::new(status, name, evidence.clone());
    match (name, i.is_x86()) {
        ("tsc", true) | ("arch_sys_counter", false) => line(Status::Ok),
        ("kvm-clock", true) if stable_kvm_clock(i) => line(Status::Limited)
            .so("kvm-clock reads the TSC and is marked stable; Instant::now has the cost of the conversion"),
        _ => line(Status::Limited)
            .so("the kernel uses another clock, perhaps because it found the TSC unstable; see dmesg"),
    }
}

/// KVM_FEATURE_CLOCKSOURCE_STABLE_BIT.
fn stable_kvm_clock(i: &Inputs) -> bool {
    i.cpuid
        .as_ref()
        .and_then(Cpuid::kvm_features)
        .is_some_and(|features| features >> 24 & 1 == 1)
}

fn vdso(i: &Inputs) -> Answer {
    match i.auxv.sysinfo_ehdr {
        // Not the address: it changes with every exec, and two reports would differ.
        Some(_) => ok("mapped", "AT_SYSINFO_EHDR is in the auxiliary vector"),
        None => absent("not mapped", "AT_SYSINFO_EHDR is not in the auxiliary vector")
            .so("clock_gettime, Instant::now and SystemTime::now are system calls"),
    }
}

fn vmclock(i: &Inputs) -> Answer {
    const DEVICE: &str = "/dev/vmclock0";
    let evidence = i.fs.presence(DEVICE);
    if i.fs.exists(DEVICE) {
        return ok("notifies of migration and snapshots", evidence);
    }
    absent("no notification of migration or snapshots", evidence)
        .so("they appear as a jump relative to CLOCK_MONOTONIC_RAW, and the sample is rejected")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    #[test]
    fn an_invariant_tsc_needs_cpu_and_kernel() {
        let tree = Tree::guest();
        let mut i = Inputs::guest(&tree);
        assert_eq!(tsc_invariant(&i).status, Status::Ok);
        i.cpuinfo = Default::default();
        assert_eq!(tsc_invariant(&i).status, Status::Limited);
        i.cpuid = Some(Cpuid::from_leaves([(0x8000_0007, [0; 4])]));
        assert_eq!(tsc_invariant(&i).status, Status::Absent);
        i.cpuid = None;
        assert_eq!(tsc_invariant(&i).status, Status::Unknown);
    }

    #[test]
    fn the_rate_has_its_source() {
        let mut i = Inputs::guest(&Tree::guest());
        assert_eq!(tsc_rate(&i).value, "about 2596.140 MHz (half the kernel's bogomips)");
        assert_eq!(tsc_rate(&i).status, Status::Limited);
        let crystal = (0x15, [2, 216, 24_000_000, 0]);
        i.cpuid = Some(Cpuid::from_leaves([crystal, (0x4000_0010, [1, 0, 0, 0])]));
        assert_eq!(tsc_rate(&i).value, "2592.000 MHz (crystal, CPUID 0x15)");
        i.cpuid = Some(Cpuid::from_leaves([(0x4000_0010, [2_600_000, 0, 0, 0])]));
        assert_eq!(tsc_rate(&i).value, "2600.000 MHz (hypervisor, CPUID 0x40000010)");
        assert_eq!(tsc_rate(&Inputs::nothing("x86_64")).status, Status::Unknown);
    }

    #[test]
    fn clocksources_have_their_status() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(
            (clocksource(&i).status, clocksource(&i).value.as_str()),
            (Status::Ok, "tsc")
        );
        assert!(clocksource(&i).evidence.ends_with("available: tsc kvm-clock"));
        tree.write(fingerprint::CLOCKSOURCE, "kvm-clock");
        assert_says!(clocksource(&i).consequence.unwrap(), "stable");
        tree.write(fingerprint::CLOCKSOURCE, "hpet");
        assert_says!(clocksource(&i).consequence.unwrap(), "dmesg");
        tree.remove(fingerprint::CLOCKSOURCE);
        assert_eq!(clocksource(&i).status, Status::Unknown);
        let mut arm = Inputs::nothing("aarch64");
        tree.write(fingerprint::CLOCKSOURCE, "arch_sys_counter");
        arm.fs = tree.fs();
        assert_eq!(
            (clocksource(&arm).status, tsc_invariant(&arm).status),
            (Status::Ok, Status::Ok)
        );
    }

    #[test]
    fn devices_and_mappings() {
        let tree = Tree::guest();
        let mut i = Inputs::guest(&tree);
        assert_eq!((vdso(&i).status, vmclock(&i).status), (Status::Absent, Status::Absent));
        i.auxv.sysinfo_ehdr = Some(0x7ffd_0000);
        tree.write("/dev/vmclock0", "");
        assert_eq!((vdso(&i).status, vmclock(&i).status), (Status::Ok, Status::Ok));
    }
}
