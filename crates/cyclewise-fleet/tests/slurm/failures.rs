//! What fails on a cluster: a node, a task, the controller, the disk. What must be said, and that nothing is lost.

use super::cluster::Cluster;
use super::processes;
use super::sweep::{SHARDS, Sweep, running};
use std::process::Command;

#[test]
fn tasks_of_a_node_that_dies_run_elsewhere() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    let jobs = sweep.submit();
    let (_, task, _) = running(&cluster, &jobs, |task| task.node == "n2");
    cluster.kill_node("n2");
    cluster.until("the loss of n2", || cluster.node_is("n2", "down*"));
    cluster.until_all_ended();
    let about = cluster.about(&task.id);
    assert_says!(about, "JobState=COMPLETED", "Restarts=1");
    assert_lacks!(about, " NodeList=n2 ");
    assert!(sweep.is_joined(), "{}", sweep.log_of_join(&jobs));
    cluster.start_node("n2");
    cluster.until("n2", || cluster.node_is("n2", "idle"));
}

#[test]
fn a_task_that_is_killed_is_named_and_the_line_makes_it() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    let jobs = sweep.submit();
    let (shard, task, pid) = running(&cluster, &jobs, |_| true);
    processes::signal(pid, "KILL");
    cluster.until_all_ended();
    // Slurm requeues what a node has lost, not what has failed.
    let about = cluster.about(&task.id);
    assert_says!(about, "JobState=FAILED", "ExitCode=0:9");
    assert!(!sweep.is_joined());
    let join = cluster.about(&jobs.join);
    assert_says!(join, "JobState=FAILED", "ExitCode=1:0");
    let joined = sweep.join();
    assert_eq!(joined.status, Some(1), "{}", joined.said);
    let line = format!("--array={shard} ");
    assert!(joined.said.contains(&line), "{}", joined.said);
    assert!(sweep.log_of_join(&jobs).contains(&line), "{}", sweep.log_of_join(&jobs));

    let before = sweep.written();
    assert_eq!(before.len(), SHARDS - 1);
    sweep.make_the_missing(&joined);
    cluster.until_all_ended();
    let mut after = sweep.written();
    after.remove(&shard).unwrap();
    assert_eq!(after, before, "shards that were there were written again");
    let joined = sweep.join();
    assert_eq!(joined.status, Some(0), "{}", joined.said);
    assert!(sweep.is_joined());
}

#[test]
fn a_controller_that_is_killed_loses_nothing() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    let jobs = sweep.submit();
    running(&cluster, &jobs, |_| true);
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
    for shard in 1..=SHARDS {
        let about = cluster.about(&format!("{}_{shard}", jobs.work));
        assert_says!(about, "JobState=COMPLETED");
    }
    assert!(sweep.is_joined(), "{}", sweep.log_of_join(&jobs));
}

#[test]
fn a_full_disk_loses_nothing() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    // Logs are on another disk, so that they can say what happened.
    let disk = sweep.dir().join("shards");
    std::fs::create_dir_all(&disk).unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(&disk)
        .output()
        .unwrap();
    if !mount.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&mount.stderr).trim_end());
        return;
    }
    let _mounted = Mounted(&disk);
    let filler = disk.join(".filler");
    // As much as fits, but for about three shards.
    let _ = std::fs::write(&filler, vec![b'x'; 1 << 20]);
    let full = std::fs::metadata(&filler).unwrap().len();
    let file = std::fs::File::options().write(true).open(&filler).unwrap();
    file.set_len(full - (24 << 10)).unwrap();
    // An open file keeps its space when it is removed.
    drop(file);

    let jobs = sweep.submit();
    cluster.until_all_ended();
    assert!(!sweep.is_joined());
    let written = sweep.written();
    let failed: Vec<_> = (1..=SHARDS).filter(|shard| !written.contains_key(shard)).collect();
    assert!(!failed.is_empty() && failed.len() < SHARDS, "{failed:?}");
    for &shard in &failed {
        let about = cluster.about(&format!("{}_{shard}", jobs.work));
        assert_says!(about, "JobState=FAILED");
        let log = sweep.log_of(&jobs, shard);
        let says: Vec<_> = log.lines().filter(|line| line.contains("No space left")).collect();
        assert_eq!(says.len(), 1, "{log}");
        assert!(says[0].contains(&format!("shards/{shard}.json")), "{log}");
    }
    let joined = sweep.join();
    assert_eq!(joined.status, Some(1), "{}", joined.said);
    for &shard in &failed {
        assert!(joined.said.contains(&shard.to_string()), "{shard}: {}", joined.said);
    }

    std::fs::remove_file(&filler).unwrap();
    sweep.make_the_missing(&joined);
    cluster.until_all_ended();
    for (shard, time) in &written {
        assert_eq!(sweep.written()[shard], *time, "shard {shard} was written again");
    }
    let joined = sweep.join();
    assert_eq!(joined.status, Some(0), "{}", joined.said);
    assert!(sweep.is_joined());
}

/// Unmounts on drop.
struct Mounted<'a>(&'a std::path::Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // Lazily: a task may be in it.
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}
