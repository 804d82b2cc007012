//! Sweeps on a cluster on which nothing fails, and tasks that run more often than they should.

use super::cluster::{Cluster, succeeds};
use super::sweep::{SHARDS, Sweep, running};

#[test]
fn joins_to_the_bytes_of_the_single_run() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    let jobs = sweep.submit();
    cluster.until_all_ended();
    assert!(sweep.is_joined(), "{}", sweep.log_of_join(&jobs));

    // The twin: what is not whole is not joined, and named.
    let shard = std::fs::read(sweep.shard(3)).unwrap();
    std::fs::remove_file(sweep.dir().join("joined.json")).unwrap();
    std::fs::remove_file(sweep.shard(3)).unwrap();
    let joined = sweep.join();
    assert_eq!(joined.status, Some(1), "{}", joined.said);
    assert_says!(joined.said, "--array=3 ");
    assert!(!sweep.is_joined());
    for damaged in [
        shard[..shard.len() / 2].to_vec(),
        String::from_utf8(shard.clone())
            .unwrap()
            .replacen("\"events\":", "\"event\":", 1)
            .into_bytes(),
    ] {
        std::fs::write(sweep.shard(3), damaged).unwrap();
        let joined = sweep.join();
        assert_eq!(joined.status, Some(1), "{}", joined.said);
        assert_says!(joined.said, "shards/3.json");
        assert!(!sweep.is_joined());
    }
    std::fs::write(sweep.shard(3), shard).unwrap();
    assert_eq!(sweep.join().status, Some(0));
    assert!(sweep.is_joined());
}

#[test]
fn a_task_that_runs_again_changes_nothing() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    let jobs = sweep.submit();
    // In the middle: what it has computed is lost, and computed again.
    let (_, cut_short, _) = running(&cluster, &jobs, |_| true);
    succeeds("scontrol", &["requeue", &cut_short.id]);
    cluster.until_all_ended();
    assert_says!(cluster.about(&cut_short.id), "Restarts=1");
    assert!(sweep.is_joined(), "{}", sweep.log_of_join(&jobs));

    // After its end: it finds its result, and leaves it.
    let written = sweep.written();
    let task = format!("{}_5", jobs.work);
    succeeds("scontrol", &["requeue", &task]);
    cluster.until_all_ended();
    let about = cluster.about(&task);
    assert_says!(about, "JobState=COMPLETED", "Restarts=");
    assert_eq!(sweep.written(), written);
    assert_eq!(sweep.join().status, Some(0));
    assert!(sweep.is_joined());
}

#[test]
fn two_tasks_of_one_shard_count_once() {
    let Some(cluster) = Cluster::take() else { return };
    let sweep = Sweep::plan();
    // Each shard in both halves of the cluster, at about the same time.
    let jobs = ["left", "right"].map(|partition| sweep.submit_to(partition));
    cluster.until_all_ended();
    for jobs in &jobs {
        for shard in 1..=SHARDS {
            let about = cluster.about(&format!("{}_{shard}", jobs.work));
            assert!(
                about.contains("JobState=COMPLETED"),
                "{}{about}",
                sweep.log_of(jobs, shard)
            );
        }
    }
    assert!(sweep.is_joined());
    // Nothing but results is left.
    let left: Vec<_> = std::fs::read_dir(sweep.dir().join("shards"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), SHARDS, "{left:?}");
}
