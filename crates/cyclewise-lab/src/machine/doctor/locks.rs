//! Lines about counting a program's locked instructions: by a counter of the PMU, and by an emulator.

use super::line::{absent, limited, ok};
use super::{Answer, Inputs};

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![("locks-by-counter", counter(i)), ("locks-by-emulator", emulator(i))]
}

fn counter(i: &Inputs) -> Answer {
    let survey = &i.lock_events;
    let names = |is_offered: bool| -> String {
        let of_these = survey.tried.iter().filter(|t| t.outcome.is_ok() == is_offered);
        of_these.map(|t| t.event.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut evidence: Vec<String> = survey
        .tried
        .iter()
        .map(|t| match &t.outcome {
            Ok(seen) => format!("{}: {seen}", t.event.name),
            Err(refusal) => format!("{}: {refusal}", t.event.name),
        })
        .collect();
    evidence.push(survey.evidence.clone());
    let evidence = evidence.join("; ");
    let instead = "`locks --by emulator` counts exactly, and needs no counter";
    if !survey.offered().is_empty() {
        ok(names(true), evidence)
    } else if survey.tried.is_empty() {
        let why = "no PMU that the kernel shows has an event for locked instructions";
        absent(why, evidence).so(instead)
    } else {
        absent(format!("refused: {}", names(false)), evidence).so(instead)
    }
}

fn emulator(i: &Inputs) -> Answer {
    let found = &i.lock_emulator;
    let install = format!(
        "install {} (Debian: apt install qemu-user), built with plugins",
        found.name
    );
    let Some(program) = &found.program else {
        let evidence = format!("PATH: no {}", found.name);
        return absent("no emulator", evidence).so(install);
    };
    let version = found.version.as_deref().unwrap_or("a version that it does not say");
    let evidence = format!("{} --version: {version}", program.display());
    if found.plugins {
        ok(format!("{version}, takes plugins"), evidence)
    } else {
        let evidence = format!("{evidence}; its -h lists no -plugin");
        limited(format!("{version}, built without plugins"), evidence).so(install)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CpuInfo;
    use crate::machine::doctor::Status;
    use crate::machine::fake::Tree;
    use crate::machine::lock_emulator::Emulator;
    use crate::machine::lock_event::{Refusal, Survey, Tried, candidates};
    use crate::sys::errno::Errno;

    fn skylake(outcome: Result<String, Refusal>) -> Inputs {
        let tree = Tree::new();
        tree.write("/sys/bus/event_source/devices/cpu/type", "4");
        let intel = CpuInfo::parse("vendor_id\t: GenuineIntel\n");
        let (mut events, evidence) = candidates(&tree.fs(), "x86_64", &intel);
        let event = events.remove(0);
        Inputs {
            lock_events: Survey {
                tried: vec![Tried { event, outcome }],
                evidence,
            },
            ..Inputs::nothing("x86_64")
        }
    }

    #[test]
    fn an_event_that_counts_is_named() {
        let line = counter(&skylake(Ok("it counted 100000 of 100000".to_owned())));
        assert_eq!(line.status, Status::Ok);
        assert_says!(line.value, "MEM_INST_RETIRED.LOCK_LOADS");
        assert!(line.consequence.is_none(), "{line:?}");
        assert_says!(line.evidence, "counted 100000");
    }

    #[test]
    fn one_that_is_refused_says_why_and_what_works() {
        let line = counter(&skylake(Err(Refusal::Errno(Errno(libc::EACCES)))));
        assert_eq!(line.status, Status::Absent);
        assert_says!(line.evidence, "perf_event_paranoid", "vendor_id");
        assert_says!(line.consequence.unwrap(), "--by emulator");
        let line = counter(&skylake(Err(Refusal::Wrong {
            counted: 0,
            executed: 9,
        })));
        assert_says!(line.evidence, "counts nothing of 9");
    }

    #[test]
    fn emulators_are_told_apart() {
        let with = |program: Option<&str>, plugins| {
            let mut i = Inputs::nothing("x86_64");
            i.lock_emulator = Emulator {
                name: "qemu-x86_64".to_owned(),
                program: program.map(Into::into),
                version: Some("qemu-x86_64 version 7.2.22".to_owned()),
                plugins,
            };
            emulator(&i)
        };
        let good = with(Some("/usr/bin/qemu-x86_64"), true);
        assert_eq!((good.status, good.consequence.is_none()), (Status::Ok, true));
        assert_says!(good.value, "7.2.22");
        assert_eq!(with(Some("/usr/bin/qemu-x86_64"), false).status, Status::Limited);
        let none = with(None, false);
        assert!(none.status == Status::Absent && none.consequence.unwrap().contains("qemu-user"));
    }
}
