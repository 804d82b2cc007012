//! Sums of a run: by thread, by process, by system call.

use super::system_calls::name;
use super::{Form, ProcessProfile, SystemCallProfile, ThreadProfile};
use crate::counts::{Counts, Process, saturating_sum};
use crate::decode::locked;
use std::collections::BTreeMap;

/// Each thread, and each process image.
pub(super) fn threads(counts: &Counts) -> (Vec<ThreadProfile>, Vec<ProcessProfile>) {
    let mut threads = Vec::new();
    let mut processes = Vec::new();
    for process in &counts.processes {
        let first = threads.len();
        threads.extend(process.threads.iter().map(|t| ThreadProfile {
            pid: process.pid,
            tid: t.tid,
            name: t.name.clone(),
            instructions: t.instructions,
            locked: 0,
            fences: 0,
        }));
        let (mut all_locked, mut all_fences) = (0_u64, 0_u64);
        for site in &process.sites {
            let is_fence = locked(counts.arch, &site.code, site.address).is_some_and(|l| l.form == Form::Fence);
            for (index, executed) in &site.executed {
                if is_fence {
                    all_fences = all_fences.saturating_add(*executed);
                } else {
                    all_locked = all_locked.saturating_add(*executed);
                }
                let Some(thread) = threads.get_mut(first + *index as usize) else {
                    continue;
                };
                if is_fence {
                    thread.fences = thread.fences.saturating_add(*executed);
                } else {
                    thread.locked = thread.locked.saturating_add(*executed);
                }
            }
        }
        processes.push(ProcessProfile {
            pid: process.pid,
            command: command(process),
            threads: u32::try_from(process.threads.len()).unwrap_or(u32::MAX),
            instructions: saturating_sum(threads[first..].iter().map(|t| t.instructions)),
            locked: all_locked,
            fences: all_fences,
        });
    }
    (threads, processes)
}

fn command(process: &Process) -> String {
    let mut command = process.program.display().to_string();
    for argument in &process.arguments {
        command.push(' ');
        command.push_str(argument);
    }
    command
}

/// System calls of all threads, those with the most locked instructions before them first.
pub(super) fn system_calls(counts: &Counts) -> Vec<SystemCallProfile> {
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let threads = counts.processes.iter().flat_map(|p| &p.threads);
    for call in threads.flat_map(|t| &t.system_calls) {
        let sum = sums.entry(call.number).or_default();
        sum.0 = sum.0.saturating_add(call.calls);
        sum.1 = sum.1.saturating_add(call.locked_before);
    }
    let mut calls: Vec<_> = sums
        .into_iter()
        .map(|(number, (calls, locked_before))| SystemCallProfile {
            name: name(counts.arch, number),
            calls,
            locked_before,
        })
        .collect();
    calls.sort_by(|a, b| {
        let key = |c: &SystemCallProfile| (std::cmp::Reverse(c.locked_before), std::cmp::Reverse(c.calls));
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    calls
}
