//! Differences between two machines that affect figures.

use crate::record::{Identity, Machine, Record};

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
    for (what, ours, theirs) in of_identities(&a.identity, &b.identity) {
        differ(what, ours, theirs);
    }
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
        if let Some(t) = record.machine.throttled.filter(|t| t.throttled > 0) {
            warnings.push(format!(
                "a control group's quota stopped the run of {label} in {} of {} periods, for {:.2} s",
                t.throttled, t.periods, t.seconds
            ));
        }
        if record.machine.steal_ticks > 0 {
            warnings.push(format!(
                "the hypervisor took {} USER_HZ ticks of CPU time during the run of {label}",
                record.machine.steal_ticks
            ));
        }
    }
    warnings
}

/// What records of before do not say, in both: nothing differs from what is not known.
fn of_identities(a: &Identity, b: &Identity) -> Vec<(&'static str, String, String)> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let limits = |id: &Identity| id.cgroup.as_ref().map(ToString::to_string).unwrap_or_default();
    vec![
        ("the microcode", text(&a.microcode), text(&b.microcode)),
        ("the product", text(&a.product()), text(&b.product())),
        ("the instance type", text(&a.instance_type), text(&b.instance_type)),
        ("the control group's limit", limits(a), limits(b)),
    ]
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

fn shown(value: &str) -> &str {
    if value.trim().is_empty() { "none" } else { value.trim() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Cgroup;

    #[test]
    fn microcode_product_and_limits_are_compared_where_both_are_known() {
        let record = |microcode: &str, product: &str, cpus: Option<f64>| {
            let mut record = Record::default();
            record.machine.tsc_hz = 1e9;
            record.machine.identity = Identity {
                node: Some(microcode.to_owned()),
                microcode: Some(microcode.to_owned()),
                dmi: [("product_name".to_owned(), product.to_owned())].into(),
                instance_type: (product == "m6a.large").then(|| product.to_owned()),
                cgroup: Some(Cgroup {
                    cpus,
                    ..Cgroup::default()
                }),
                ..Identity::default()
            };
            record
        };
        let of = |b: Record| {
            differences(
                &("A".to_owned(), record("0x1", "m6a.large", None)),
                &("B".to_owned(), b),
            )
        };
        assert_eq!(of(record("0x1", "m6a.large", None)), [""; 0], "nodes of one kind");
        let expected = [
            "the microcode differs: 0x1 in A, 0x2 in B",
            "the product differs: m6a.large in A, R740 in B",
            "the instance type differs: m6a.large in A, none in B",
            "the control group's limit differs: no limit in A, 1.5 CPUs in B",
        ];
        assert_eq!(of(record("0x2", "R740", Some(1.5))), expected);
        let mut old = record("0x2", "R740", None);
        old.machine.identity = Identity::default();
        assert_eq!(of(old), [""; 0], "a record of before");
    }
}
