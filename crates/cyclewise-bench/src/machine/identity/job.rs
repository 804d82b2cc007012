//! The job that an engine runs this process for, from the environment variables that engines set.
//!
//! | engine | id | task | restarts | source |
//! |---|---|---|---|---|
//! | Slurm | `SLURM_ARRAY_JOB_ID`, `SLURM_JOB_ID` | `SLURM_ARRAY_TASK_ID`, `SLURM_PROCID` | `SLURM_RESTART_COUNT` | sbatch(1), "Output environment variables" |
//! | PBS | `PBS_ARRAY_ID`, `PBS_JOBID` | `PBS_ARRAY_INDEX`; Torque: `PBS_ARRAYID` | | OpenPBS, qsub(1B); Torque, qsub(1B) |
//! | LSF | `LSB_JOBID` | `LSB_JOBINDEX`, which is 0 outside arrays | `LSB_RESTART` is `Y` | LSF Reference, "Environment variables" |
//! | Grid Engine | `JOB_ID` | `SGE_TASK_ID`, which is `undefined` outside arrays | `RESTARTED` is 1 | qsub(1), "Environmental variables" |
//!
//! LSF and Grid Engine say that a job was restarted, not how often: that counts as once.

use super::line;
use crate::record::{Job, map_of};
use std::collections::BTreeMap;

/// The variables that are looked at.
const NAMES: [&str; 17] = [
    "SLURM_JOB_ID",
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_PROCID",
    "SLURM_RESTART_COUNT",
    "SLURMD_NODENAME",
    "PBS_JOBID",
    "PBS_ARRAY_ID",
    "PBS_ARRAY_INDEX",
    "PBS_ARRAYID",
    "LSB_JOBID",
    "LSB_JOBINDEX",
    "LSB_RESTART",
    "SGE_TASK_ID",
    "SGE_CELL",
    "JOB_ID",
    "RESTARTED",
];

/// What engines set in the environment.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    pub fn of_this_process() -> Self {
        let set = |name: &&str| {
            Some((
                (*name).to_owned(),
                std::env::var_os(name)?.to_string_lossy().into_owned(),
            ))
        };
        Self(map_of(NAMES.iter().filter_map(set)))
    }

    /// A variable in one line; `None` if it is not set or empty.
    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(|text| line(text))
    }

    /// The first of `names` that is set.
    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The first of `names` that is set, as a number.
    fn number(&self, names: &[&str]) -> Option<u32> {
        self.first(names)?.parse().ok()
    }

    /// Slurm's name of the node, within a job of Slurm.
    pub fn slurm_node(&self) -> Option<&str> {
        self.get("SLURM_JOB_ID")?;
        self.0
            .get("SLURMD_NODENAME")
            .map(String::as_str)
            .filter(|n| !n.trim().is_empty())
    }
}

#[cfg(test)]
impl From<&[(&str, &str)]> for Variables {
    fn from(set: &[(&str, &str)]) -> Self {
        Self(
            set.iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect(),
        )
    }
}

/// The job; `None` outside the engines of the table above.
pub(super) fn job(v: &Variables) -> Option<Job> {
    let job = |engine: &str, id: String, task: Option<u32>, restarts: Option<u32>| Job {
        engine: engine.to_owned(),
        id,
        task,
        restarts: restarts.unwrap_or(0),
    };
    if v.get("SLURM_JOB_ID").is_some() {
        let id = v.first(&["SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID"])?;
        let task = v.number(&["SLURM_ARRAY_TASK_ID", "SLURM_PROCID"]);
        return Some(job("slurm", id, task, v.number(&["SLURM_RESTART_COUNT"])));
    }
    if let Some(id) = v.first(&["PBS_ARRAY_ID", "PBS_JOBID"]) {
        return Some(job("pbs", id, v.number(&["PBS_ARRAY_INDEX", "PBS_ARRAYID"]), None));
    }
    if let Some(id) = v.get("LSB_JOBID") {
        let task = v.number(&["LSB_JOBINDEX"]).filter(|index| *index > 0);
        let restarted = v.get("LSB_RESTART").is_some_and(|text| text == "Y");
        return Some(job("lsf", id, task, Some(restarted.into())));
    }
    // Other programs have a JOB_ID too.
    v.first(&["SGE_TASK_ID", "SGE_CELL"])?;
    let id = v.get("JOB_ID")?;
    Some(job(
        "gridengine",
        id,
        v.number(&["SGE_TASK_ID"]),
        v.number(&["RESTARTED"]),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_job(set: &[(&str, &str)], expected: Option<(&str, &str, Option<u32>, u32)>) {
        for (name, _) in set {
            assert!(NAMES.contains(name), "{name} is not looked at");
        }
        let found = job(&Variables::from(set));
        let found = found
            .as_ref()
            .map(|j| (j.engine.as_str(), j.id.as_str(), j.task, j.restarts));
        assert_eq!(found, expected, "{set:?}");
    }

    #[test]
    fn jobs_of_slurm() {
        is_job(&[("SLURM_JOB_ID", "41")], Some(("slurm", "41", None, 0)));
        is_job(
            &[("SLURM_JOB_ID", "41"), ("SLURM_PROCID", "3")],
            Some(("slurm", "41", Some(3), 0)),
        );
        let array = [
            ("SLURM_JOB_ID", "57"),
            ("SLURM_ARRAY_JOB_ID", "41"),
            ("SLURM_ARRAY_TASK_ID", "16"),
            ("SLURM_PROCID", "0"),
            ("SLURM_RESTART_COUNT", "2"),
        ];
        is_job(&array, Some(("slurm", "41", Some(16), 2)));
        // Left over in an environment that is no job's.
        is_job(&array[1..], None);
    }

    #[test]
    fn jobs_of_other_engines() {
        is_job(&[("PBS_JOBID", "12.server")], Some(("pbs", "12.server", None, 0)));
        let pbs = [
            ("PBS_JOBID", "12[4].server"),
            ("PBS_ARRAY_ID", "12[].server"),
            ("PBS_ARRAY_INDEX", "4"),
        ];
        is_job(&pbs, Some(("pbs", "12[].server", Some(4), 0)));
        is_job(
            &[("LSB_JOBID", "9"), ("LSB_JOBINDEX", "0")],
            Some(("lsf", "9", None, 0)),
        );
        let lsf = [("LSB_JOBID", "9"), ("LSB_JOBINDEX", "7"), ("LSB_RESTART", "Y")];
        is_job(&lsf, Some(("lsf", "9", Some(7), 1)));
        let grid = [("JOB_ID", "8"), ("SGE_TASK_ID", "undefined"), ("RESTARTED", "0")];
        is_job(&grid, Some(("gridengine", "8", None, 0)));
        is_job(&[("JOB_ID", "8")], None);
        is_job(&[], None);
    }

    #[test]
    fn what_is_no_number_is_no_task() {
        let odd = [
            ("SLURM_JOB_ID", "4\u{1b}[2J"),
            ("SLURM_PROCID", "-1"),
            ("SLURM_RESTART_COUNT", "often"),
        ];
        is_job(&odd, Some(("slurm", "4 [2J", None, 0)));
        is_job(&[("SLURM_JOB_ID", ""), ("SLURM_PROCID", "1")], None);
    }
}
