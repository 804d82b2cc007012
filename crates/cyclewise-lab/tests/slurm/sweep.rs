//! A planned sweep in a folder of its own, and the single run that it is compared with.

use super::cluster::{Cluster, Task, succeeds};
use super::common::{command, cyclewise, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// 24 points of half a second or less each, so that a task is there for long enough to be found.
const LONG: &str = "200000";

/// Its command, as it is planned.
const SWEEP: [&str; 11] = [
    "simulate",
    "fetch-add",
    "lockref",
    "--machine",
    "i7-6700hq",
    "--threads",
    "1..8",
    "--retry-limit",
    "none,5",
    "--ops",
    LONG,
];

/// Shards: three for each node.
pub(crate) const SHARDS: usize = 12;

/// What one machine alone writes.
pub(crate) fn single_run() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("whole.json");
        let output = command(&SWEEP).arg("--json").arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read(file).unwrap()
    })
}

/// A planned sweep.
pub(crate) struct Sweep {
    folder: tempfile::TempDir,
}

/// The jobs that `submit` started.
pub(crate) struct Jobs {
    pub(crate) array: String,
    pub(crate) join: String,
}

/// What `fleet join` said.
pub(crate) struct Joined {
    pub(crate) status: Option<i32>,
    pub(crate) said: String,
}

impl Sweep {
    pub(crate) fn plan() -> Self {
        let sweep = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let mut args = vec!["fleet", "plan", "--into", sweep.dir().to_str().unwrap()];
        let shards = SHARDS.to_string();
        args.extend(["--shards", &shards]);
        args.extend(SWEEP);
        let output = cyclewise(&args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        sweep
    }

    pub(crate) fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Submits the array and its join.
    pub(crate) fn submit(&self) -> Jobs {
        self.submit_to("all")
    }

    /// The same, to a partition of the cluster.
    pub(crate) fn submit_to(&self, partition: &str) -> Jobs {
        let submit = self.dir().join("submit");
        let partition = format!("SBATCH_PARTITION={partition}");
        let said = succeeds("env", &[&partition, "sh", submit.to_str().unwrap()]);
        let id_behind = |start: &str| {
            let line = said.lines().find(|line| line.starts_with(start)).expect(&said);
            let rest = line.split_once("job ").expect(line).1;
            rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().to_string()
        };
        Jobs {
            array: id_behind("shards 1 to"),
            join: id_behind("join:"),
        }
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

    /// What is in the log of the join.
    pub(crate) fn log_of_join(&self, jobs: &Jobs) -> String {
        std::fs::read_to_string(self.dir().join(format!("logs/join-{}.log", jobs.join))).unwrap()
    }

    /// What is in the log of a shard's task.
    pub(crate) fn log_of(&self, jobs: &Jobs, shard: usize) -> String {
        std::fs::read_to_string(self.dir().join(format!("logs/shard-{}_{shard}.log", jobs.array))).unwrap()
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

    pub(crate) fn join(&self) -> Joined {
        let output = cyclewise(&["fleet", "join", self.dir().to_str().unwrap()]);
        Joined {
            status: output.status.code(),
            said: text(&output.stdout) + &text(&output.stderr),
        }
    }

    /// Runs the line that `fleet join` printed for what is missing.
    pub(crate) fn make_the_missing(&self, joined: &Joined) {
        let line = joined.said.lines().find(|line| line.contains("sbatch --"));
        let line = line.expect(&joined.said).trim();
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.dir())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
}

/// A task of the array that runs, and its `cyclewise`.
pub(crate) fn running(cluster: &Cluster, jobs: &Jobs, on: impl Fn(&Task) -> bool) -> (usize, Task, u32) {
    loop {
        let tasks = cluster.tasks();
        let running = tasks.into_iter().find_map(|task| {
            let (array, shard) = task.id.split_once('_')?;
            let shard = shard.parse().ok()?;
            (array == jobs.array && task.state == "RUNNING" && on(&task)).then_some((shard, task))
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
