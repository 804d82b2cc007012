//! A record of each node, and a node that dies in the middle of its own.

use super::cluster::{Cluster, NODES};
use super::common::{cyclewise, text};
use super::planned::{Jobs, Planned};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

/// Planned for the four nodes of the cluster.
fn plan() -> Planned {
    Planned::new(&["--nodes", "4", "run", "null-syscall", "--quick"])
}

/// Names of the files of a folder, and when each was written.
fn files(folder: &Path) -> BTreeMap<String, SystemTime> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| {
            let entry = entry.unwrap();
            let time = entry.metadata().unwrap().modified().unwrap();
            (entry.file_name().into_string().unwrap(), time)
        })
        .collect()
}

fn records(job: &Planned) -> BTreeMap<String, SystemTime> {
    files(&job.dir().join("records"))
}

fn nodes(files: &BTreeMap<String, SystemTime>) -> Vec<&str> {
    files.keys().map(|name| name.split('-').next().unwrap()).collect()
}

fn log(job: &Planned, jobs: &Jobs) -> String {
    job.log(&format!("records-{}.log", jobs.work)) + &job.log_of_join(jobs)
}

#[test]
fn each_node_is_measured_once() {
    let Some(cluster) = Cluster::take() else { return };
    let job = plan();
    let jobs = job.submit();
    cluster.until_all_ended();
    assert_eq!(nodes(&records(&job)), NODES, "{}", log(&job, &jobs));
    assert_eq!(nodes(&files(&job.dir().join("doctor"))), NODES, "{}", log(&job, &jobs));
    let joined = job.join();
    assert_eq!(joined.status, Some(0), "{}", joined.said);
    assert!(job.dir().join("fleet.jsonl").exists());
    let report = cyclewise(&["fleet", "report", job.dir().to_str().unwrap()]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));

    // The twin: a node whose record is lost is named. What was joined has it as well.
    std::fs::remove_file(job.dir().join("fleet.jsonl")).unwrap();
    let lost = records(&job).into_keys().find(|name| name.starts_with("n2-")).unwrap();
    std::fs::remove_file(job.dir().join("records").join(lost)).unwrap();
    let joined = job.join();
    assert_eq!(joined.status, Some(1), "{}", joined.said);
    assert_says!(joined.said, "n2");
}

#[test]
fn a_node_that_dies_is_named_and_the_line_measures_it() {
    let Some(cluster) = Cluster::take() else { return };
    let job = plan();
    let jobs = job.submit();
    // Not n1: the job's script, which starts the tasks, runs there.
    cluster.program_on("n3");
    cluster.kill_node("n3");
    cluster.until_all_ended();
    let before = records(&job);
    assert_eq!(nodes(&before), ["n1", "n2", "n4"], "{}", log(&job, &jobs));
    let joined = job.join();
    assert_eq!(joined.status, Some(1), "{}", joined.said);
    assert_says!(joined.said, "n3");

    cluster.start_node("n3");
    cluster.until("n3", || cluster.node_is("n3", "idle"));
    job.make_the_missing(&joined);
    cluster.until_all_ended();
    let after = records(&job);
    assert_eq!(nodes(&after), NODES);
    assert!(
        before.iter().all(|(name, time)| after[name] == *time),
        "a record was measured again"
    );
    let joined = job.join();
    assert_eq!(joined.status, Some(0), "{}", joined.said);
}
