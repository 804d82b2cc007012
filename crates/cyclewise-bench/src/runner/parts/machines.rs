//! What the processes of a run say of the machine, as one.

use crate::record::{Identity, Machine, Record, Throttled, Warning};

/// Adds what the processes before saw to what the last one says of the machine.
pub(super) fn join(last: &mut Record, earlier: &Record) {
    // Processes of one run last about as long.
    let before = earlier.runs.len().max(1) as f64;
    let shares = earlier.machine.steal_share.zip(last.machine.steal_share);
    last.machine.steal_share = shares.map(|(a, b)| (a * before + b) / (before + 1.0));
    last.machine.steal_ticks += earlier.machine.steal_ticks;
    join_throttled(&mut last.machine, &earlier.machine);
    let changed = changed(&earlier.machine.identity, &last.machine.identity);
    let mut warnings = earlier.machine.warnings.clone();
    if last.machine.throttled.is_some() {
        warnings.retain(|w| !matches!(w, Warning::Throttled(_)));
    }
    if !changed.is_empty() {
        warnings.push(Warning::Other(format!(
            "{} changed during the run; the record has what its first process found",
            changed.join(" and ")
        )));
    }
    last.machine.identity = earlier.machine.identity.clone();
    warnings.append(&mut last.machine.warnings);
    for warning in warnings {
        // Of the loads that processes found the first counts: it has nothing of this run.
        let is_known = |w: &Warning| *w == warning || matches!((w, &warning), (Warning::Loaded(_), Warning::Loaded(_)));
        if !last.machine.warnings.iter().any(is_known) {
            last.machine.warnings.push(warning);
        }
    }
}

/// Adds up what a quota took, in one warning.
fn join_throttled(last: &mut Machine, earlier: &Machine) {
    let (Some(a), Some(b)) = (earlier.throttled, last.throttled) else {
        return;
    };
    let sum = Throttled {
        periods: a.periods + b.periods,
        throttled: a.throttled + b.throttled,
        seconds: a.seconds + b.seconds,
    };
    last.throttled = Some(sum);
    last.warnings.retain(|w| !matches!(w, Warning::Throttled(_)));
    last.warnings
        .extend((sum.throttled > 0).then(|| Warning::of_quota(sum)));
}

/// What of the machine is not the same: its microcode may be updated, and a guest may be moved to another host.
fn changed(a: &Identity, b: &Identity) -> Vec<&'static str> {
    let parts = [
        ("the node", a.node == b.node),
        ("the boot", a.boot_id == b.boot_id),
        ("the microcode", a.microcode == b.microcode),
        ("the firmware", a.dmi == b.dmi),
        ("the control group's limits", a.cgroup == b.cgroup),
    ];
    parts.iter().filter(|(_, same)| !same).map(|(what, _)| *what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_the_first_ones_and_changes_are_told_once() {
        let of = |microcode: &str, steal: f64| {
            let mut record = Record::default();
            record.machine.identity.microcode = Some(microcode.to_string());
            record.machine.steal_share = Some(steal);
            record.machine.steal_ticks = 10;
            record
        };
        let mut same = of("0x1", 0.03);
        join(&mut same, &of("0x1", 0.01));
        assert_eq!((same.machine.steal_share, same.machine.steal_ticks), (Some(0.02), 20));
        assert_eq!(same.machine.warnings, []);
        let throttled = |throttled| {
            let mut record = of("0x1", 0.0);
            let t = Throttled {
                periods: 50,
                throttled,
                seconds: 0.5,
            };
            record.machine.throttled = Some(t);
            record.machine.warnings.push(Warning::of_quota(t));
            record
        };
        let mut slow = throttled(5);
        join(&mut slow, &throttled(50));
        assert_eq!(slow.machine.warnings.len(), 1);
        assert!(
            slow.machine.warnings[0].contains("in 55 of 100 periods, for 1.00 s"),
            "{:?}",
            slow.machine.warnings
        );
        let loaded = |load: &str| {
            let mut record = of("0x1", 0.0);
            record
                .machine
                .warnings
                .push(Warning::loaded(format_args!(" {load}: wait")));
            record
        };
        let mut last = loaded("3.1");
        join(&mut last, &loaded("2.0"));
        assert_eq!(last.machine.warnings, [Warning::from("the load average is 2.0: wait")]);
        let mut updated = of("0x2", 0.0);
        join(&mut updated, &of("0x1", 0.0));
        assert_eq!(updated.machine.identity.microcode.as_deref(), Some("0x1"));
        let said = "the microcode changed during the run; the record has what its first process found";
        let mut again = of("0x2", 0.0);
        join(&mut again, &updated);
        assert_eq!(again.machine.warnings, [Warning::from(said)]);
    }
}
