//! What fails on a cluster besides a node: the controller, the disk. What must be said, and that nothing is lost.

use super::cluster::{Cluster, NODES};
use super::processes;
use super::records::{log, nodes, plan, records};
use std::path::Path;
use std::process::Command;

#[test]
fn a_controller_that_is_killed_loses_nothing() {
    let Some(cluster) = Cluster::take() else { return };
    let job = plan();
    let jobs = job.submit();
    cluster.program_on("n3");
    // A controller that loses the start of a task gives its number to another, and the node refuses that.
    let stopped = cluster.programs();
    stopped.iter().for_each(|&pid| processes::signal(pid, "STOP"));
    cluster.save(&jobs.join);
    cluster.kill_controller();
    // They end while there is nobody to tell.
    stopped.iter().for_each(|&pid| processes::signal(pid, "CONT"));
    cluster.until("the end of what runs", || cluster.programs().is_empty());
    cluster.start_controller();
    cluster.until_all_ended();
    assert_eq!(nodes(&records(&job)), NODES, "{}", log(&job, &jobs));
    assert!(job.dir().join("fleet.jsonl").exists(), "{}", log(&job, &jobs));
}

#[test]
fn a_full_disk_is_said_and_the_line_measures_what_it_lost() {
    let Some(cluster) = Cluster::take() else { return };
    let job = plan();
    // Logs are on another disk, so that they can say what happened.
    let disk = job.dir().join("records");
    let mut mount = Command::new("mount");
    let mount = mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&disk);
    let mount = mount.output().unwrap();
    if !mount.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&mount.stderr).trim_end());
        return;
    }
    let _mounted = Mounted(&disk);
    let filler = disk.join(".filler");
    // As much as fits.
    let _ = std::fs::write(&filler, vec![b'x'; 1 << 20]);

    let jobs = job.submit();
    cluster.until_all_ended();
    let said = log(&job, &jobs);
    assert_eq!(said.matches("No space left").count(), NODES.len(), "{said}");
    let joined = job.join();
    assert_eq!(joined.status, Some(1), "{}", joined.said);
    for node in NODES {
        assert_says!(joined.said, &format!("missing: {node}"));
    }

    std::fs::remove_file(&filler).unwrap();
    job.make_the_missing(&joined);
    cluster.until_all_ended();
    assert_eq!(nodes(&records(&job)), NODES, "{}", log(&job, &jobs));
    let joined = job.join();
    assert_eq!(joined.status, Some(0), "{}", joined.said);
}

/// Unmounts on drop.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // Lazily: a task may be in it.
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}
