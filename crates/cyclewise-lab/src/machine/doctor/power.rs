//! Lines about the core clock: governor, boost and sleep states.

use super::line::{absent, limited, ok, unknown};
use super::{Answer, Inputs};
use crate::machine::topology::{self, CPUS};
use crate::machine::{boost, fingerprint};

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![
        ("governor", governor(i)),
        ("boost", boosted(i)),
        ("cpuidle", cpuidle(i)),
    ]
}

fn governor(i: &Inputs) -> Answer {
    let cpus = topology::allowed(&i.fs).unwrap_or(vec![0]);
    let first = cpus.first().copied().unwrap_or(0);
    let driver = i.fs.read(&format!("{CPUS}/cpu{first}/cpufreq/scaling_driver"));
    let reading = i.fs.read(&format!("{CPUS}/cpu{first}/cpufreq/scaling_governor"));
    let evidence = format!("{reading}; {driver}");
    match fingerprint::governor(&i.fs, &cpus) {
        Some(g) if g == "performance" => ok(g, evidence),
        Some(g) => {
            limited(g, evidence).so("the core clock varies during samples; run `cpupower frequency-set -g performance`")
        }
        None if !i.fs.exists(CPUS) => {
            unknown("cannot be read", evidence).so("compare runs by the core cycles per tick in their records")
        }
        None => absent("no cpufreq (usual in a VM)", evidence)
            .so("the core clock cannot be fixed; compare runs by the core cycles per tick in their records"),
    }
}

fn boosted(i: &Inputs) -> Answer {
    match boost::state(&i.fs) {
        Some(b) if b.on => limited("on", b.evidence).so(
            "the core clock depends on temperature and on other cores' load; turn boost off for reproducible figures",
        ),
        Some(b) => ok("off", b.evidence),
        None => {
            let evidence = boost::switches()
                .map(|(path, _)| i.fs.read(&path).to_string())
                .join("; ");
            unknown("cannot be read", evidence).so("compare runs by the core cycles per tick in their records")
        }
    }
}

fn cpuidle(i: &Inputs) -> Answer {
    let driver = i.fs.read(&format!("{CPUS}/cpuidle/current_driver"));
    let governor = i.fs.read(&format!("{CPUS}/cpuidle/current_governor"));
    let directory = format!("{CPUS}/cpu0/cpuidle");
    let states: Vec<String> =
        i.fs.names(&directory)
            .unwrap_or_default()
            .iter()
            .filter_map(|s| {
                let name = i.fs.text(&format!("{directory}/{s}/name"))?;
                Some(match i.fs.text(&format!("{directory}/{s}/latency")) {
                    Some(us) => format!("{name} {us} us"),
                    None => name,
                })
            })
            .collect();
    let list = if states.is_empty() {
        "no states".to_owned()
    } else {
        states.join(", ")
    };
    let evidence = format!("{driver}; {governor}; {directory}/state*: {list}");
    match driver.get() {
        None if !i.fs.exists(CPUS) => {
            unknown("cannot be read", evidence).so("if the first samples are slow, boot with cpuidle.off=1 and compare")
        }
        Some("none") | None if states.is_empty() => unknown("no driver detected", evidence)
            .so("if the first samples are slow, boot with cpuidle.off=1 and compare"),
        driver => ok(format!("{} ({list})", driver.unwrap_or("unnamed")), evidence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::doctor::Status;
    use crate::machine::fake::Tree;

    #[test]
    fn governors() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(governor(&i).status, Status::Absent);
        for cpu in 0..2 {
            tree.write(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"), "performance");
        }
        assert_eq!(governor(&i).status, Status::Ok);
        tree.write(&format!("{CPUS}/cpu1/cpufreq/scaling_governor"), "powersave");
        assert_eq!(governor(&i).value, "performance, powersave");
        assert_eq!(governor(&i).status, Status::Limited);
    }

    #[test]
    fn boosts() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(boosted(&i).status, Status::Unknown);
        tree.write(&format!("{CPUS}/cpufreq/boost"), "0");
        assert_eq!(boosted(&i).status, Status::Ok);
        tree.write(&format!("{CPUS}/intel_pstate/no_turbo"), "0");
        assert_eq!(boosted(&i).status, Status::Limited);
    }

    #[test]
    fn sleep_states() {
        let tree = Tree::guest();
        let i = Inputs::guest(&tree);
        assert_eq!(cpuidle(&i).status, Status::Unknown);
        tree.write(&format!("{CPUS}/cpuidle/current_driver"), "intel_idle");
        tree.write(&format!("{CPUS}/cpu0/cpuidle/state0/name"), "POLL");
        tree.write(&format!("{CPUS}/cpu0/cpuidle/state1/name"), "C6");
        tree.write(&format!("{CPUS}/cpu0/cpuidle/state1/latency"), "133");
        assert_eq!(cpuidle(&i).value, "intel_idle (POLL, C6 133 us)");
    }
}
