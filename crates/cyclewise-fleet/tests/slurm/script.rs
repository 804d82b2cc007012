//! `.ci/slurm` itself: it passes the status on, and leaves nothing behind, however it ends.

use super::cluster::until;
use super::processes;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn script() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/slurm"));
    command.stdin(Stdio::null());
    command
}

/// Whether this machine can have a cluster; a line says why not.
fn possible() -> bool {
    let output = script().arg("true").output().unwrap();
    if output.status.code() == Some(3) {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    output.status.code() != Some(3)
}

/// A cluster whose command writes to `told` what it was told, and then waits with a task on a node.
fn start(told: &Path) -> Child {
    let command = "sbatch --output=/dev/null --wrap 'sleep 1000' >/dev/null
        until squeue --noheader --states=RUNNING | grep -q .; do sleep 0.1; done
        echo $CYCLEWISE_SLURM >$0.part && mv $0.part $0
        sleep 1000";
    script().args(["sh", "-c", command]).arg(told).spawn().unwrap()
}

/// The folder of such a cluster, once its task runs.
fn folder(told: &Path) -> PathBuf {
    until("a cluster with a task", || told.exists(), String::new);
    std::fs::read_to_string(told).unwrap().trim_end().into()
}

/// The processes of a cluster: those that run as a part of it, or have a file of it open.
fn members(folder: &Path) -> Vec<u32> {
    let conf = format!("SLURM_CONF={}/slurm.conf", folder.display());
    let logs = ["munged", "slurmctld", "n1", "n2", "n3", "n4"].map(|daemon| folder.join(format!("{daemon}.log")));
    processes::all()
        .into_iter()
        .filter(|&pid| processes::has_variable(pid, &conf) || logs.iter().any(|log| processes::has_open(pid, log)))
        .collect()
}

fn until_gone(folder: &Path) {
    until(
        "the end of a cluster",
        || !folder.exists() && members(folder).is_empty(),
        || format!("{} still has {:?}", folder.display(), members(folder)),
    );
}

#[test]
fn the_status_is_the_commands() {
    if !possible() {
        return;
    }
    for status in [0, 7] {
        let command = format!("exit {status}");
        assert_eq!(
            script().args(["sh", "-c", &command]).status().unwrap().code(),
            Some(status)
        );
    }
    assert_eq!(script().output().unwrap().status.code(), Some(2), "no command");
}

#[test]
fn nothing_outlives_it_and_others_go_on() {
    if !possible() {
        return;
    }
    let told = tempfile::tempdir().unwrap();
    let told = ["a", "b"].map(|name| told.path().join(name));
    let [mut a, mut b] = told.each_ref().map(|told| start(told));
    let [of_a, of_b] = told.each_ref().map(|told| folder(told));
    assert_ne!(of_a, of_b);
    // munged, slurmctld and its scripts' process, four slurmd, slurmstepd, the task, the command.
    let runs = |folder: &Path| assert!(members(folder).len() >= 9, "{:?}", members(folder));
    runs(&of_a);
    processes::signal(a.id(), "TERM");
    assert_eq!(a.wait().unwrap().code(), Some(143));
    until_gone(&of_a);
    runs(&of_b);
    processes::signal(b.id(), "KILL");
    assert_eq!(b.wait().unwrap().code(), None);
    until_gone(&of_b);
}
