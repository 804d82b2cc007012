//! What decides which records count, and in which order they stand.

use crate::record::fleet::{FILES_OF_RUN, Member};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

/// A member without its rows.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) node: String,
    pub(super) created: String,
    pub(super) digest: String,
    pub(super) file: String,
    /// Whether it was read from a joined file, instead of from its own.
    pub(super) from_joined: bool,
    /// The process that wrote it: no two processes of a node end in the same microsecond of the same boot.
    pub(super) process: u64,
    /// The task of an engine, and the command that it ran, if an engine ran it.
    pub(super) task: Option<u64>,
    /// How often the engine had started that task before.
    pub(super) restarts: u32,
    /// Whether it lacks something that its machine could have measured.
    pub(super) is_partial: bool,
    /// When it ended.
    pub(super) ended: SystemTime,
}

impl Key {
    pub(super) fn of_member(member: &Member, from_joined: bool) -> Self {
        let identity = &member.machine.identity;
        let process = (
            &identity.node,
            &identity.boot_id,
            &member.created,
            member.machine.tsc_hz.to_bits(),
        );
        let task = identity.job.as_ref().map(|job| {
            let command: Vec<&str> = without_outputs(&member.command).collect();
            hash(&(&identity.node, &job.engine, &job.id, job.task, command))
        });
        Self {
            node: identity.node.clone().unwrap_or_default(),
            created: member.created.clone(),
            digest: member.digest.clone(),
            file: member.file.clone(),
            from_joined,
            process: hash(&process),
            task,
            restarts: identity.job.as_ref().map_or(0, |job| job.restarts),
            is_partial: member.missing.iter().any(|m| m.possible),
            ended: humantime::parse_rfc3339(&member.created).unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }

    /// The order of a fleet's members.
    pub(super) fn order(&self) -> (&str, &str, &str, &str) {
        (&self.node, &self.created, &self.digest, &self.file)
    }

    /// The first of copies is the one that counts: a record goes before what an earlier join made of it.
    pub(super) fn copy_order(&self) -> (bool, &str) {
        (self.from_joined, &self.file)
    }
}

/// Equal values have equal hashes within one process, which is all that is asked of them.
fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// A command line without the names of its files, in which each start of a task may have its own.
pub(super) fn without_outputs(command: &[String]) -> impl Iterator<Item = &str> {
    let mut is_path = false;
    command.iter().map(String::as_str).filter(move |word| {
        let skip = is_path;
        is_path = FILES_OF_RUN.contains(word);
        let is_output = FILES_OF_RUN.iter().any(|o| {
            word.strip_prefix(o)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        !skip && !is_output
    })
}
