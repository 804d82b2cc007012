//! A planned sweep in a folder of its own, and the single run that it is compared with.

use super::cluster::{Cluster, Task};
use super::common::{command, text, words};
use super::planned::{Jobs, Planned};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Its command, as it is planned: 24 points of seven runs, half a second or less each, so that a task is there for long enough to be found.
const SWEEP: &str = "simulate fetch-add lockref --machine i7-6700hq --threads 1..8 --retry-limit none,5 --ops 30000";

/// Shards: three for each node.
pub(crate) const SHARDS: usize = 12;

/// What one machine alone writes.
pub(crate) fn single_run() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("whole.json");
        let output = command(&words(SWEEP)).arg("--json").arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read(file).unwrap()
    })
}

pub(crate) struct Sweep(Planned);

impl Deref for Sweep {
    type Target = Planned;

    fn deref(&self) -> &Planned {
        &self.0
    }
}

impl Sweep {
    pub(crate) fn plan() -> Self {
        let shards = SHARDS.to_string();
        Self(Planned::new(&[&["--shards", &shards], &words(SWEEP)[..]].concat()))
    }

    /// The bytes of the joined sweep, which are those of the single run or none.
    pub(crate) fn is_joined(&self) -> bool {
        match std::fs::read(self.dir().join("joined.json")) {
            Ok(bytes) => {
                assert!(bytes == single_run(), "joined.json differs from the single run");
                true
            }
            Err(_) => false,
        }
    }

    /// What is in the log of a shard's task.
    pub(crate) fn log_of(&self, jobs: &Jobs, shard: usize) -> String {
        self.log(&format!("shard-{}_{shard}.log", jobs.work))
    }

    pub(crate) fn shard(&self, shard: usize) -> PathBuf {
        self.dir().join(format!("shards/{shard}.json"))
    }

    /// The time at which each shard that is there was written.
    pub(crate) fn written(&self) -> BTreeMap<usize, SystemTime> {
        (1..=SHARDS)
            .filter_map(|i| Some((i, std::fs::metadata(self.shard(i)).ok()?.modified().unwrap())))
            .collect()
    }
}

/// A task of the array that runs, and its `cyclewise`.
pub(crate) fn running(cluster: &Cluster, jobs: &Jobs, on: impl Fn(&Task) -> bool) -> (usize, Task, u32) {
    loop {
        let tasks = cluster.tasks();
        let running = tasks.into_iter().find_map(|task| {
            let (array, shard) = task.id.split_once('_')?;
            let shard = shard.parse().ok()?;
            (array == jobs.work && task.state == "RUNNING" && on(&task)).then_some((shard, task))
        });
        if let Some((shard, task)) = running {
            if let Some(pid) = cluster.program_of(&task) {
                return (shard, task, pid);
            }
        } else {
            assert!(!cluster.tasks().is_empty(), "all tasks ended before one was found");
        }
    }
}
