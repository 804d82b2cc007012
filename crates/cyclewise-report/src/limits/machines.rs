//! Which records are of one machine, in which order, and what a machine is called.

use super::{OnMachine, microarchitecture};
use crate::record::{Machine, Record};
use std::time::SystemTime;

/// Two readings of one counter's rate differ by less than this share; CPUs of different rates by more.
const SAME_RATE: f64 = 1e-3;

/// The records by machine: the machines in the order of their first records, the records of each by time. A record that is
/// given twice counts once.
pub(super) fn by_machine(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|g| is_same(&g[0].machine, &record.machine)) {
            Some(group) if group.contains(&record) => {}
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

fn is_same(a: &Machine, b: &Machine) -> bool {
    let names = |m: &Machine| [&m.arch, &m.cpu_model, &m.cpu_id].map(String::clone);
    let rates = [a.tsc_hz, b.tsc_hz].map(|hz| hz.max(0.0));
    names(a) == names(b)
        && (a.cpus, &a.hypervisor) == (b.cpus, &b.hypervisor)
        && (rates[0] - rates[1]).abs() <= SAME_RATE * rates[0].max(rates[1])
}

/// A short name: `AMD Zen 4`, or the brand string.
pub(super) fn name(machine: &Machine) -> String {
    let brand = machine.cpu_model.split_whitespace().next().unwrap_or("unknown");
    match microarchitecture::name(machine) {
        Some(name) => format!("{} {name}", brand.trim_end_matches("(R)")),
        None if machine.cpu_id.is_empty() => machine.cpu_model.clone(),
        None => format!("{}, {}", machine.cpu_model, machine.cpu_id),
    }
}

/// Makes equal names differ: by the brand string, then by the number of CPUs, then by their order.
pub(super) fn tell_apart(on: &mut [OnMachine]) {
    let by_model = |m: &OnMachine| m.model.clone();
    let by_cpus = |m: &OnMachine| format!("{} CPUs", m.cpus);
    let more: [&dyn Fn(&OnMachine) -> String; 2] = [&by_model, &by_cpus];
    for more in more {
        for i in equal(on) {
            let more = more(&on[i]);
            if !on[i].name.contains(&more) {
                on[i].name = format!("{}, {more}", on[i].name);
            }
        }
    }
    for (n, i) in equal(on).into_iter().enumerate() {
        on[i].name = format!("{} ({})", on[i].name, n + 1);
    }
}

/// The machines whose name another has too.
fn equal(on: &[OnMachine]) -> Vec<usize> {
    let is_twice = |i: &usize| on.iter().filter(|m| m.name == on[*i].name).count() > 1;
    (0..on.len()).filter(is_twice).collect()
}

/// When a record was made; `None` if it does not say a time of RFC 3339 in UTC, as every record does.
pub(super) fn when(created: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(created).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ordered_as_times() {
        assert!(when("2026-01-01T00:00:00.5Z") > when("2026-01-01T00:00:00.45Z"));
        assert_eq!(when("2026-01-01"), None);
    }

    fn machine(change: impl Fn(&mut Machine)) -> Record {
        let mut r = Record::default();
        r.machine.cpu_model = "AMD EPYC".to_owned();
        r.machine.cpu_id = "family 25 model 17 stepping 1".to_owned();
        (r.machine.cpus, r.machine.tsc_hz) = (2, 2_596_143_823.6);
        change(&mut r.machine);
        r
    }

    #[test]
    fn machines_that_differ_are_not_joined() {
        let same = [machine(|_| ()), machine(|m| m.tsc_hz += 1e4)];
        assert_eq!(by_machine(&same).len(), 1);
        let others = [
            machine(|_| ()),
            machine(|m| m.cpus = 4),
            machine(|m| m.hypervisor = Some("KVMKVMKVM".to_owned())),
            machine(|m| m.tsc_hz = 2_600_000_000.0),
            machine(|m| m.tsc_hz = 0.0),
            machine(|m| m.cpu_model = "AMD EPYC 9R14".to_owned()),
        ];
        assert_eq!(by_machine(&others).len(), others.len());
        // The same record twice is one.
        assert_eq!(by_machine(&[machine(|_| ()), machine(|_| ())])[0].len(), 1);
    }
}
