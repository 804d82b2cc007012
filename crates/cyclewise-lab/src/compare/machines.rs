//! Differences between two machines that affect figures.

use crate::record::{Machine, Record};

/// Clock rates closer than this are considered equal.
const SAME_RATE: f64 = 1e-3;

/// Whether the two machines' ticks have different lengths.
pub(super) fn clocks_differ(a: &Machine, b: &Machine) -> bool {
    (a.tsc_hz / b.tsc_hz - 1.0).abs() > SAME_RATE
}

/// One warning per difference.
pub(super) fn differences(base: &(String, Record), other: &(String, Record)) -> Vec<String> {
    let (a, b) = (&base.1.machine, &other.1.machine);
    let mut warnings = Vec::new();
    let mut differ = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            warnings.push(format!(
                "{what} differs: {} in {}, {} in {}",
                shown(&ours),
                base.0,
                shown(&theirs),
                other.0
            ));
        }
    };
    differ("the architecture", a.arch.clone(), b.arch.clone());
    differ(
        "the CPU",
        format!("{} {}", a.cpu_model, a.cpu_id),
        format!("{} {}", b.cpu_model, b.cpu_id),
    );
    differ("the number of CPUs", a.cpus.to_string(), b.cpus.to_string());
    differ("the kernel", a.kernel.clone(), b.kernel.clone());
    differ("the hypervisor", text(&a.hypervisor), text(&b.hypervisor));
    differ("the clocksource", a.clocksource.clone(), b.clocksource.clone());
    differ("the frequency governor", text(&a.governor), text(&b.governor));
    differ("SMT", text(&a.smt), text(&b.smt));
    differ(
        "the version of cyclewise",
        base.1.tool.version.clone(),
        other.1.tool.version.clone(),
    );
    for name in a
        .mitigations
        .keys()
        .chain(b.mitigations.keys().filter(|k| !a.mitigations.contains_key(*k)))
    {
        differ(
            &format!("the mitigation of {name}"),
            text(&a.mitigations.get(name).cloned()),
            text(&b.mitigations.get(name).cloned()),
        );
    }
    if clocks_differ(a, b) {
        warnings.push(format!(
            "the tick rates differ: {:.6} GHz in {}, {:.6} GHz in {}; ticks are converted to nanoseconds",
            a.tsc_hz / 1e9,
            base.0,
            b.tsc_hz / 1e9,
            other.0
        ));
    }
    for (label, record) in [base, other] {
        if record.machine.steal_ticks > 0 {
            warnings.push(format!(
                "the hypervisor took {} USER_HZ ticks of CPU time during the run of {label}",
                record.machine.steal_ticks
            ));
        }
    }
    warnings
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

fn shown(value: &str) -> &str {
    if value.trim().is_empty() { "none" } else { value.trim() }
}
