//! The cluster that `.ci/slurm` started: its queue, its nodes, and the failures that are made to happen.

use super::processes;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// What a wait may take on the slowest of machines; a test that reaches it has failed.
const DEADLINE: Duration = Duration::from_secs(600);

pub(crate) const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];

static TURN: Mutex<()> = Mutex::new(());

/// The cluster, as one test has it: four idle nodes and an empty queue.
pub(crate) struct Cluster {
    folder: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

/// A task that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    /// As in `12_3`.
    pub(crate) id: String,
    /// Of its own, without an array.
    pub(crate) job: String,
    /// `RUNNING`, `PENDING`, …
    pub(crate) state: String,
    /// Empty where it waits.
    pub(crate) node: String,
}

impl Cluster {
    /// `None`, after a line on stdout, where there is no cluster.
    pub(crate) fn take() -> Option<Self> {
        let Some(folder) = std::env::var_os("CYCLEWISE_SLURM") else {
            println!("skipped: no Slurm cluster; run .ci/slurm cargo test -p cyclewise-fleet --test slurm");
            return None;
        };
        let cluster = Self {
            folder: folder.into(),
            // A test that failed has said so.
            _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner),
        };
        cluster.mend();
        Some(cluster)
    }

    /// Undoes what a test before has done to it.
    fn mend(&self) {
        if !self.pid("slurmctld").is_some_and(processes::lives) {
            self.start_controller();
        }
        output("scancel", &["--user=root"]);
        // Refused if the state of none is one to resume from.
        output("scontrol", &["update", "NodeName=n[1-4]", "State=RESUME"]);
        for node in NODES {
            if !self.pid(node).is_some_and(processes::lives) {
                self.start_node(node);
            }
        }
        self.until("four idle nodes and no task", || {
            self.tasks().is_empty() && NODES.iter().all(|node| self.node_is(node, "idle"))
        });
    }

    /// Waits until this is so.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        until(what, is_so, || {
            [
                text_of("squeue", &[]),
                text_of("sinfo", &["--Node"]),
                std::fs::read_to_string(self.folder.join("slurmctld.log")).unwrap_or_default(),
            ]
            .concat()
        });
    }

    pub(crate) fn until_all_ended(&self) {
        self.until("the end of all tasks", || self.tasks().is_empty());
    }

    /// Those that have not ended.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        text_of("squeue", &["--noheader", "--array", "--format=%i|%A|%T|%N"])
            .lines()
            .map(|line| {
                let mut fields = line.split('|').map(str::to_string);
                let mut field = || fields.next().unwrap();
                Task {
                    id: field(),
                    job: field(),
                    state: field(),
                    node: field(),
                }
            })
            .collect()
    }

    /// What Slurm knows of a task or a job, ended ones too.
    pub(crate) fn about(&self, task: &str) -> String {
        text_of("scontrol", &["--oneliner", "show", "job", task])
    }

    /// Whether the node is in this state; a node that does not answer has a `*` behind it.
    pub(crate) fn node_is(&self, node: &str, state: &str) -> bool {
        text_of(
            "sinfo",
            &[
                "--noheader",
                "--partition=all",
                "--format=%T",
                &format!("--nodes={node}"),
            ],
        )
        .trim()
            == state
    }

    /// The process of a daemon: `slurmctld`, or a node's name.
    fn pid(&self, daemon: &str) -> Option<u32> {
        let file = self.folder.join(format!("{daemon}.pid"));
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    }

    /// A node's power fails: its slurmd, its slurmstepds and its tasks are gone, without a word to anyone.
    pub(crate) fn kill_node(&self, node: &str) {
        let log = self.folder.join(format!("{node}.log"));
        let conf = self.conf();
        let name = format!("SLURMD_NODENAME={node}");
        // slurmd first, so that it reports nothing.
        processes::signal(self.pid(node).unwrap(), "KILL");
        self.until("the end of a node's processes", || {
            let members: Vec<_> = processes::all()
                .into_iter()
                .filter(|&pid| {
                    processes::has_open(pid, &log)
                        || processes::has_variable(pid, &name) && processes::has_variable(pid, &conf)
                })
                .collect();
            members.iter().for_each(|&pid| processes::signal(pid, "KILL"));
            members.is_empty()
        });
    }

    pub(crate) fn start_node(&self, node: &str) {
        succeeds("slurmd", &["-N", node]);
    }

    pub(crate) fn kill_controller(&self) {
        let pid = self.pid("slurmctld").unwrap();
        processes::signal(pid, "KILL");
        self.until("the end of slurmctld", || !processes::lives(pid));
    }

    /// It finds the jobs in the state that it saved.
    pub(crate) fn start_controller(&self) {
        succeeds("slurmctld", &[]);
        self.until("slurmctld", || output("scontrol", &["ping"]).0);
    }

    /// Waits until the controller has saved its jobs as they are now; it does so 5 s after a change, such as one of this job.
    pub(crate) fn save(&self, job: &str) {
        let now = SystemTime::now();
        succeeds("scontrol", &["update", &format!("JobId={job}"), "Comment=save"]);
        let file = self.folder.join("state/job_state");
        self.until("the controller's state on its disk", || {
            std::fs::metadata(&file).is_ok_and(|file| file.modified().unwrap() > now)
        });
    }

    /// A `cyclewise` (or what it became, such as `cyclewise-sim`) of a task on this node, once it is there.
    pub(crate) fn program_on(&self, node: &str) -> u32 {
        let name = format!("SLURMD_NODENAME={node}");
        let find = || {
            let mut all = processes::all().into_iter();
            all.find(|&pid| self.is_program(pid) && processes::has_variable(pid, &name))
        };
        self.until("a program on a node", || find().is_some() || self.tasks().is_empty());
        find().expect("all tasks ended before one was found")
    }

    /// Every `cyclewise` of a task.
    pub(crate) fn programs(&self) -> Vec<u32> {
        processes::all()
            .into_iter()
            .filter(|&pid| self.is_program(pid))
            .collect()
    }

    fn is_program(&self, pid: u32) -> bool {
        processes::name(pid).starts_with("cyclewise")
            && processes::has_variable(pid, &self.conf())
            && processes::variable(pid, "SLURM_JOB_ID").is_some()
    }

    /// The variable that every process of a task has.
    fn conf(&self) -> String {
        format!("SLURM_CONF={}", self.folder.join("slurm.conf").display())
    }

    /// The `cyclewise` process of this task, once it is there; `None` where the task ended first.
    pub(crate) fn program_of(&self, task: &Task) -> Option<u32> {
        let job = format!("SLURM_JOB_ID={}", task.job);
        loop {
            let found = processes::all()
                .into_iter()
                .find(|&pid| self.is_program(pid) && processes::has_variable(pid, &job));
            if found.is_some() || !self.tasks().contains(task) {
                return found;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// Waits until this is so; a test that waits for too long fails with what `state` says.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool, state: impl Fn() -> String) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < DEADLINE,
            "waited {DEADLINE:?} for {what}\n{}",
            state()
        );
        sleep(Duration::from_millis(20));
    }
}

/// Whether it succeeded, and what it printed.
fn output(program: &str, args: &[&str]) -> (bool, String) {
    let output = Command::new(program).args(args).output().unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
    )
}

/// What it printed, whether it succeeded or not: the controller may be gone for a while.
fn text_of(program: &str, args: &[&str]) -> String {
    output(program, args).1
}

/// Runs a command of Slurm that has to succeed; returns what it printed.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> String {
    let (done, said) = output(program, args);
    assert!(done, "{program} {args:?}: {said}");
    said
}
