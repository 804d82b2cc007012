//! Which events to try, by the files of /sys and the CPU's vendor.
//!
//! # References
//! Intel: MEM_INST_RETIRED.LOCK_LOADS (from Skylake on) and MEM_UOPS_RETIRED.LOCK_LOADS (Sandy Bridge to Broadwell, Goldmont and later
//! small cores) are both event 0xD0, umask 0x21: tools/perf/pmu-events/arch/x86/*/{cache,memory}.json; "a locked access is one with a lock
//! prefix, or an exchange to memory" (goldmontplus). Nehalem, Westmere, Silvermont and older encode other events there.
//! AMD: IBS_OP_DATA3.DcLockedOp, see `sys/perf_ibs.rs`; IbsOpCntCtl, bit 19 of IBS_OP_CTL, counts dispatched ops. `ls_locks`, event 0x25,
//! counts retired lock instructions of four kinds, umask 0x0f: tools/perf/pmu-events/arch/x86/amdzen3/memory.json.
//! Arm: STREX_SPEC 0x6F, LSE_LDST_SPEC 0x8177, LSE_ST_SPEC 0x8176 and CAS_SPEC 0x8174: Arm ARM (DDI 0487) D14.3 "Common event numbers". The kernel's
//! driver names none of these in `events/`, and a PMU that lacks one counts nothing, so they are tried. Their samples come late. The
//! Statistical Profiling Extension would be exact, and is not read here.

use super::{Exercise, LockEvent, SampleMeaning};
use crate::machine::cpu_list;
use crate::machine::cpuinfo::CpuInfo;
use crate::sys::perf_sampling::{Rate, Spec};
use crate::sys::procfs::Sysfs;

const SOURCES: &str = "/sys/bus/event_source/devices";

const LOCK_LOADS: u64 = 0x21d0;
const LS_LOCKS: u64 = 0x0f25;
const IBS_COUNT_OPS: u64 = 1 << 19;
/// `swfilt`: the kernel's driver leaves out samples of the kernel, which IBS itself cannot.
const IBS_SOFTWARE_FILTER: u64 = 1;
const ARM: [(u64, &str, Exercise); 4] = [
    (0x8177, "LSE_LDST_SPEC", Exercise::Add),
    (0x8176, "LSE_ST_SPEC", Exercise::Add),
    (0x8174, "CAS_SPEC", Exercise::CompareExchange),
    (0x6f, "STREX_SPEC", Exercise::Add),
];

/// `caps/pmu_name` of Intel's cores whose event 0xD0 is something else.
const OTHERS: &[&str] = &[
    "core2",
    "nehalem",
    "westmere",
    "bonnell",
    "silvermont",
    "airmont",
    "knights-landing",
    "knights-mill",
];
/// Those that call it MEM_UOPS_RETIRED: cores before Skylake. So do all of the small cores.
const BY_UOPS: &[&str] = &["sandybridge", "ivybridge", "haswell", "broadwell"];
const SMALL: &[&str] = &[
    "goldmont",
    "goldmont_plus",
    "tremont",
    "gracemont",
    "crestmont",
    "skymont",
];

/// Samples a second of a thread's time. Fewer where a sample costs much; see `sampling/overhead.rs`.
const PER_SECOND: u64 = 1000;
/// Most of the ops that IBS samples are not locked, so it takes more of them.
const OPS_PER_SECOND: u64 = 4000;

/// The events to try, and the files that say so.
pub fn candidates(fs: &Sysfs, arch: &str, cpuinfo: &CpuInfo) -> (Vec<LockEvent>, String) {
    let Some(names) = fs.names(SOURCES) else {
        return (Vec::new(), format!("{SOURCES} cannot be listed"));
    };
    let listed = format!("{SOURCES}: {}", names.join(", "));
    if arch == "aarch64" {
        let pmus = names
            .iter()
            .filter(|n| n.starts_with("armv8") || n.starts_with("armv9"));
        return (pmus.flat_map(|pmu| arm(fs, pmu)).collect(), listed);
    }
    let vendor = cpuinfo.get("vendor_id").unwrap_or("an unknown vendor");
    let evidence = format!("{listed}; /proc/cpuinfo vendor_id: {vendor}");
    let found = match vendor {
        "GenuineIntel" => ["cpu", "cpu_core", "cpu_atom"]
            .iter()
            .filter_map(|pmu| intel(fs, pmu))
            .collect(),
        "AuthenticAMD" | "HygonGenuine" => amd(fs).into_iter().collect(),
        _ => Vec::new(),
    };
    (found, evidence)
}

/// The rate wanted, or the highest that the kernel takes. It lowers that by itself where interrupts took long.
fn per_second(fs: &Sysfs, wanted: u64) -> Rate {
    let most = fs.read("/proc/sys/kernel/perf_event_max_sample_rate").number();
    Rate::PerSecond(
        most.and_then(|m| u64::try_from(m).ok())
            .unwrap_or(wanted)
            .clamp(1, wanted),
    )
}

fn pmu_type(fs: &Sysfs, pmu: &str) -> Option<u32> {
    fs.text(&format!("{SOURCES}/{pmu}/type"))?.parse().ok()
}

fn intel(fs: &Sysfs, pmu: &str) -> Option<LockEvent> {
    let kind = pmu_type(fs, pmu)?;
    let model = fs.text(&format!("{SOURCES}/{pmu}/caps/pmu_name")).unwrap_or_default();
    if OTHERS.contains(&model.as_str()) {
        return None;
    }
    let is_small = pmu == "cpu_atom" || SMALL.contains(&model.as_str());
    let event = if is_small || BY_UOPS.contains(&model.as_str()) {
        "MEM_UOPS_RETIRED.LOCK_LOADS"
    } else {
        "MEM_INST_RETIRED.LOCK_LOADS"
    };
    let precise = fs
        .read(&format!("{SOURCES}/{pmu}/caps/max_precise"))
        .number()
        .unwrap_or(0);
    let cpus = fs.text(&format!("{SOURCES}/{pmu}/cpus"));
    // On hybrids a general event is of the PMU in its upper half (PERF_PMU_TYPE_SHIFT).
    let mut instructions = Spec::instructions();
    if pmu != "cpu" {
        instructions.config |= u64::from(kind) << 32;
    }
    Some(LockEvent {
        name: format!("{pmu} {event} (event 0xd0, umask 0x21)"),
        sampled: Spec {
            rate: per_second(fs, PER_SECOND),
            // 3 is for events that are always exact, and this one is not among them on every model.
            precise: precise.clamp(0, 2) as u8,
            ..Spec::count(kind, LOCK_LOADS)
        },
        kind: SampleMeaning::Instructions,
        exercise: Exercise::Add,
        total: None,
        instructions,
        cpus: cpus.and_then(|text| cpu_list::parse(&text)),
    })
}

fn amd(fs: &Sysfs) -> Option<LockEvent> {
    let kind = pmu_type(fs, "ibs_op")?;
    // Without it IBS counts cycles, and slow instructions are sampled more often.
    if !fs.exists(&format!("{SOURCES}/ibs_op/format/cnt_ctl")) {
        return None;
    }
    let has_filter = fs.exists(&format!("{SOURCES}/ibs_op/format/swfilt"));
    Some(LockEvent {
        name: "ibs_op DcLockedOp (IBS_OP_DATA3 bit 15)".to_owned(),
        sampled: Spec {
            config2: if has_filter { IBS_SOFTWARE_FILTER } else { 0 },
            rate: per_second(fs, OPS_PER_SECOND),
            raw: true,
            user_only: has_filter,
            ..Spec::count(kind, IBS_COUNT_OPS)
        },
        kind: SampleMeaning::Ops,
        exercise: Exercise::Add,
        total: pmu_type(fs, "cpu").map(|cpu| Spec::count(cpu, LS_LOCKS)),
        instructions: Spec::instructions(),
        cpus: None,
    })
}

fn arm(fs: &Sysfs, pmu: &str) -> Vec<LockEvent> {
    let Some(kind) = pmu_type(fs, pmu) else {
        return Vec::new();
    };
    let cpus = fs
        .text(&format!("{SOURCES}/{pmu}/cpus"))
        .and_then(|text| cpu_list::parse(&text));
    let one = |(code, name, exercise): (u64, &str, Exercise)| LockEvent {
        name: format!("{pmu} {name} ({code:#x})"),
        sampled: Spec {
            rate: per_second(fs, PER_SECOND),
            ..Spec::count(kind, code)
        },
        kind: SampleMeaning::Speculative,
        exercise,
        total: None,
        instructions: Spec::count(kind, 0x08), // INST_RETIRED
        cpus: cpus.clone(),
    };
    ARM.map(one).into()
}

#[cfg(test)]
mod tests;
