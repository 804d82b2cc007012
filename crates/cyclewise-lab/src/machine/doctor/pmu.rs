//! The line about performance counters: whether core cycles can be counted, and if not, why.

use super::line::{absent, limited, ok};
use super::{Answer, Inputs};
use crate::sys::perf_probe;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
const SOURCES: &str = "/sys/bus/event_source/devices";

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![("pmu", pmu(i))]
}

/// Names of the PMUs that count core cycles: `cpu`, `cpu_core` and `cpu_atom` on x86, `armv8_pmuv3_0` and the like on Arm.
fn core_pmus(i: &Inputs) -> Option<Vec<String>> {
    let mut names = i.fs.names(SOURCES)?;
    names.retain(|n| n == "cpu" || n == "cpu_core" || n == "cpu_atom" || n.starts_with("armv"));
    Some(names)
}

fn pmu(i: &Inputs) -> Answer {
    let found = match core_pmus(i) {
        None => format!("{SOURCES} cannot be listed"),
        Some(names) if names.is_empty() => format!("{SOURCES}/cpu does not exist"),
        Some(names) => format!("{SOURCES}: {}", names.join(", ")),
    };
    let tried = match i.perf {
        Ok(count) => format!("perf_event_open(CPU_CYCLES, user) counted {count}"),
        Err(errno) => format!("perf_event_open(CPU_CYCLES, user): {errno}"),
    };
    let evidence = format!("{tried}; {found}; {}", i.fs.read(PARANOID));
    let instead = "core cycles are derived from a calibrated chain of additions; each record says so";
    match i.perf {
        Ok(0) => limited("the counter opens but does not count", evidence).so(instead),
        Ok(_) => ok("core cycles are counted", evidence),
        Err(errno) => absent(perf_probe::meaning(errno), evidence).so(instead),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::doctor::Status;
    use crate::machine::fake::Tree;
    use crate::sys::errno::Errno;

    #[test]
    fn the_line_has_the_reason() {
        let tree = Tree::guest();
        tree.write(PARANOID, "4");
        tree.write(&format!("{SOURCES}/software/type"), "1");
        let mut i = Inputs::guest(&tree);
        i.perf = Err(Errno(libc::ENOENT));
        let line = pmu(&i);
        assert_says!(line.value, "no hardware PMU");
        assert!(line.evidence.ends_with("paranoid: 4"), "{line:?}");
        assert_says!(line.evidence, "devices/cpu does not exist");
        i.perf = Err(Errno(libc::EACCES));
        tree.write(&format!("{SOURCES}/cpu/type"), "4");
        assert_says!(pmu(&i).value, "not permitted");
    }

    #[test]
    fn a_counter_that_does_not_count_is_not_ok() {
        let mut i = Inputs::nothing("aarch64");
        i.perf = Ok(0);
        assert_eq!(pmu(&i).status, Status::Limited);
        i.perf = Ok(123_456);
        assert_eq!(pmu(&i).status, Status::Ok);
        assert_says!(pmu(&i).evidence, "cannot be listed");
    }
}
