//! What the instructions do, checked wherever a guest runs: under qemu's TCG, and on this machine's `/dev/kvm`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use cyclewise_guest::case::Verdict;
use cyclewise_guest::known;
use cyclewise_guest::machine::Machine;
use cyclewise_guest::provenance::{Provenance, Virtualization};
use cyclewise_guest::qemu::Qemu;
use cyclewise_guest::semantics::{Family, Features, check, try_once};
use cyclewise_guest::vm::Kvm;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(2);

/// How many cases and payloads of the families hold, what differs in a way that is not known of the emulator, and what was not run.
fn run_all(machine: &mut dyn Machine, kind: Virtualization, families: &[Family]) -> (usize, Vec<String>, Vec<String>) {
    let features = Features::ask(machine).unwrap();
    let (mut held, mut differs, mut not_run) = (0, Vec::new(), Vec::new());
    for family in families {
        let cases = family
            .cases()
            .map(|case| (case.payload.name, check(machine, &features, case).unwrap()));
        let mut verdicts: Vec<_> = cases.collect();
        verdicts.extend(
            family
                .payloads()
                .map(|p| (p.name, try_once(machine, &features, p).unwrap())),
        );
        for (name, verdict) in verdicts {
            match verdict {
                Verdict::Holds => held += 1,
                Verdict::Differs(_) if known::why(kind, name).is_some() => {}
                Verdict::Differs(why) => differs.push(format!("{name}: {why}")),
                Verdict::NotRun(why) => not_run.push(format!("{name}: {why}")),
            }
        }
    }
    (held, differs, not_run)
}

#[test]
fn every_case_holds_under_tcg() {
    if let Err(why) = Qemu::find() {
        return skip(&why.to_string());
    }
    // Each guest is a boot; families share nothing.
    std::thread::scope(|scope| {
        for family in Family::ALL {
            scope.spawn(move || {
                let (held, differs, not_run) = run_all(&mut Qemu::find().unwrap(), Virtualization::Emulated, &[family]);
                println!("{family:?}: {held} hold; not run: {not_run:#?}");
                assert!(held > 0, "{family:?}");
                assert_eq!(differs, [""; 0]);
                assert!(
                    not_run.iter().all(|line| line.contains("the CPU lacks")),
                    "{not_run:#?}"
                );
            });
        }
    });
}

#[test]
fn every_case_that_this_kvm_runs_holds() {
    let mut kvm = match Kvm::new(LIMIT) {
        Ok(kvm) => kvm,
        Err(why) => return println!("skipped: {why}"),
    };
    let provenance = Provenance::of_kvm(&mut kvm).unwrap();
    println!("{provenance:#?}");
    let (held, differs, not_run) = run_all(&mut kvm, provenance.kind, &Family::ALL);
    println!("{held} hold; not run: {not_run:#?}");
    assert_eq!(differs, [""; 0]);
    // An emulator may not know an instruction; a CPU knows all but those that CPUID does not announce.
    let refused = not_run.iter().filter(|line| !line.contains("the CPU lacks")).count();
    assert!(refused == 0 || !provenance.kind.is_hardware(), "{not_run:#?}");
    assert!(held > 2 * refused, "{held} hold, {refused} were refused");
}

/// A line where a test cannot run, and a failure where everything has to.
fn skip(why: &str) {
    println!("skipped: {why}");
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
}
