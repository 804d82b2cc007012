//! A planned job in a folder of its own.

use super::cluster::succeeds;
use super::common::{cyclewise, programs, text};
use std::path::Path;
use std::process::Command;

/// A folder that `fleet plan` has written.
pub(crate) struct Planned {
    folder: tempfile::TempDir,
}

/// The jobs that `submit` started.
pub(crate) struct Jobs {
    /// The array, or the records' job.
    pub(crate) work: String,
    pub(crate) join: String,
}

/// What `fleet join` said.
pub(crate) struct Joined {
    pub(crate) status: Option<i32>,
    pub(crate) said: String,
}

impl Planned {
    /// Plans it with these options of `fleet plan` and this command.
    pub(crate) fn new(args: &[&str]) -> Self {
        // What the tasks run.
        programs::cyclewise();
        let folder = tempfile::tempdir().unwrap();
        let start = ["fleet", "plan", "--into", folder.path().to_str().unwrap()];
        let output = cyclewise(&[&start[..], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        Self { folder }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Submits the work and its join to a partition of the cluster.
    pub(crate) fn submit_to(&self, partition: &str) -> Jobs {
        let submit = self.dir().join("submit");
        let partition = format!("SBATCH_PARTITION={partition}");
        let said = succeeds("env", &[&partition, "sh", submit.to_str().unwrap()]);
        let ids: Vec<_> = said
            .lines()
            .filter_map(|line| line.split_once(": job "))
            .map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().to_string())
            .collect();
        let [work, join] = <[String; 2]>::try_from(ids).expect(&said);
        Jobs { work, join }
    }

    pub(crate) fn submit(&self) -> Jobs {
        self.submit_to("all")
    }

    pub(crate) fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir().join("logs").join(name)).unwrap_or_else(|e| format!("no {name}: {e}"))
    }

    pub(crate) fn log_of_join(&self, jobs: &Jobs) -> String {
        self.log(&format!("join-{}.log", jobs.join))
    }

    pub(crate) fn join(&self) -> Joined {
        let output = cyclewise(&["fleet", "join", self.dir().to_str().unwrap()]);
        Joined {
            status: output.status.code(),
            said: text(&output.stdout) + &text(&output.stderr),
        }
    }

    /// Runs the line that `fleet join` printed for what is missing, as who copies it does.
    pub(crate) fn make_the_missing(&self, joined: &Joined) {
        let line = joined.said.lines().find(|line| line.contains("sbatch "));
        let line = line.expect(&joined.said).trim();
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
}
