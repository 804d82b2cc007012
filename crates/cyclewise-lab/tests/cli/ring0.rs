//! Experiments of ring 0: on this machine, whatever its KVM is, and in a record that was made up for hardware.

use super::*;
use cyclewise_lab::record::Record;
use cyclewise_lab::record::guest::Outcome;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What a machine with SVM could have written.
const HARDWARE: &str = include_str!("made/hardware.json");

fn made(folder: &Folder, text: &str) -> String {
    let path = folder.name("made.json");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_record_of_hardware_is_read_with_its_provenance_on_every_row() {
    let record: Record = record::from_str("made", HARDWARE).unwrap();
    let e = &record.experiments[0];
    let guest = e.guest().unwrap();
    assert!(guest.hardware && guest.run_by() == "hardware (SVM)");
    for variant in &e.variants {
        assert_eq!(
            variant.provenance,
            Some(cyclewise_lab::record::Provenance::Svm),
            "{}",
            variant.name
        );
        let row = guest.rows.iter().find(|row| row.name == variant.name).unwrap();
        assert_eq!(
            (row.provenance.as_str(), Some(row.code_bytes)),
            ("svm", variant.code_bytes)
        );
    }
    let written = serde_json::to_string(&record).unwrap();
    assert_eq!(record::from_str("again", &written).unwrap(), record);
}

#[test]
fn its_report_has_costs_who_ran_them_and_the_mails_figures() {
    let folder = Folder::new();
    let (json, html) = (made(&folder, HARDWARE), folder.name("r.html"));
    let table = stdout(&cyclewise(&["report", &json]));
    assert_says!(
        table,
        "the guest is hardware (SVM)",
        "popf-clear",
        "9.40× push-pop: slower",
        "exits"
    );
    assert_eq!(cyclewise(&["report", &json, "--html", &html]).status.code(), Some(0));
    let page = std::fs::read_to_string(&html).unwrap();
    assert_says!(
        page,
        "Who ran the guest: hardware (SVM)",
        "24.645",
        "push and popf, 4,929,012,093 cycles",
        "kvm_amd"
    );
}

#[test]
fn a_record_with_a_result_of_another_version_is_refused_in_one_line() {
    let folder = Folder::new();
    let json = made(
        &folder,
        &HARDWARE.replace(r#""result": "holds""#, r#""result": "perhaps""#),
    );
    let (status, line) = refused(&["report", &json]);
    assert_eq!(status, 2);
    assert_says!(line, "perhaps");
}

/// Ends as the machine allows: with costs on hardware, with checks alone under an emulator, with a reason where there is no guest.
#[test]
fn a_run_has_costs_of_hardware_alone() {
    let output = command(&["run", "lock-prefix-ring0", "--quick", "--json", "-"])
        .output()
        .unwrap();
    let said = stderr(&output);
    assert_lacks!(said, "panicked");
    if stdout(&output).is_empty() {
        assert_eq!(output.status.code(), Some(3), "{said}");
        let reasons = ["/dev/kvm", "needs x86-64", "samples were usable"];
        assert!(reasons.iter().any(|reason| said.contains(reason)), "{said}");
        return println!("skipped: {said}");
    }
    let record: Record = record::from_str("stdout", &stdout(&output)).unwrap();
    let e = &record.experiments[0];
    let guest = e.guest().unwrap();
    assert_eq!(guest.count(Outcome::Differs), 0, "{guest:?}");
    assert!(guest.cases.iter().any(|case| case.result == Outcome::Holds));
    assert!(guest.witnesses.len() >= 7);
    if !guest.hardware {
        assert_eq!(output.status.code(), Some(3), "named, and not measured");
        assert!(e.variants.is_empty() && e.comparisons.is_empty());
        assert_says!(said, "no costs, since the guest is emulated");
    }
}

#[test]
fn ctrl_c_ends_a_run_with_a_guest() {
    let mut command = command(&["run", "popf-ring0", "percpu-ring0", "--quick", "--json", "-"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .output()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_lacks!(said, "panicked");
    // It may have ended before the signal came.
    assert!(killed.status.success() || output.status.code().is_some(), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
}
