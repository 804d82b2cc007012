//! What records say of processes: images, threads, mappings, and where samples fell.
//!
//! # Invariants
//! 1. Records come in the order of time, so a sample finds the image, the thread and the mappings that it was taken in.
//! 2. Memory is bounded: by [`IMAGES`], and in each image by the limits of `image.rs`. What is beyond is counted and said.

use super::image::{Image, Place};
use super::session::{Names, Role};
use crate::counts::End;
use cyclewise_bench::sys::perf_record::{Count, Record, Sample, Stamped, Task};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

/// Process images of a run: a fork bomb ends here.
const IMAGES: usize = 10_000;

/// The program that is run, as its command says.
pub(super) struct Begun {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Begun {
    pub(super) fn by_command(command: &Command) -> Self {
        Self {
            program: command.get_program().into(),
            arguments: command.get_args().map(|a| a.to_string_lossy().into_owned()).collect(),
        }
    }
}

/// Everything that records said.
pub(super) struct Tally {
    names: Names,
    pub(super) images: Vec<Image>,
    current: HashMap<u32, usize>,
    expected: Option<(u32, Begun)>,
    /// Counts of threads that ended, by their role.
    pub(super) counts: HashMap<(Role, Task), u64>,
    /// Sums of the samples' weights, by event.
    pub(super) weights: HashMap<usize, u64>,
    /// The number of samples of locked instructions, by event.
    pub(super) sampled: HashMap<usize, u64>,
    samples: u64,
    pub(super) lost: u64,
    pub(super) throttled: u64,
    pub(super) malformed: u64,
    pub(super) homeless: u64,
    pub(super) images_left_out: u64,
    last_ns: u64,
}

impl Tally {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            images: Vec::new(),
            current: HashMap::new(),
            expected: None,
            counts: HashMap::new(),
            weights: HashMap::new(),
            sampled: HashMap::new(),
            samples: 0,
            lost: 0,
            throttled: 0,
            malformed: 0,
            homeless: 0,
            images_left_out: 0,
            last_ns: 0,
        }
    }

    /// The process that will execute the command.
    pub(super) fn expect(&mut self, pid: u32, begun: Begun) {
        self.expected = Some((pid, begun));
    }

    /// All samples, of other instructions too.
    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// When the last record was written.
    pub(super) fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// The first process ended with `status`, or runs on.
    pub(super) fn ended(&mut self, status: Option<ExitStatus>) {
        let Some((pid, _)) = self.expected else { return };
        if let Some(&image) = self.current.get(&pid) {
            let by_itself = status.is_some_and(|s| s.code().is_some());
            self.images[image].end = if by_itself { End::Exited } else { End::Unknown };
        }
    }

    /// Takes a record; `arguments_of` gives those of a process that has just executed a program.
    pub(super) fn take(&mut self, stamped: Stamped, arguments_of: &dyn Fn(u32) -> Vec<String>) {
        let now = stamped.time_ns;
        self.last_ns = self.last_ns.max(now);
        match stamped.record {
            Record::Sample(sample) => self.sample(&sample, now),
            Record::Mapped(mapped) => {
                if let Some(image) = self.image(mapped.task.pid) {
                    image.map(mapped);
                }
            }
            Record::Named {
                task,
                name,
                executed: true,
            } => self.executed(task, &name, now, arguments_of),
            Record::Named { task, name, .. } => {
                if let Some(image) = self.image(task.pid) {
                    let thread = image.thread(task.tid, &name, now);
                    image.threads[thread].name = name;
                }
            }
            Record::Forked { task, parent } => self.forked(task, parent, now),
            Record::Exited(task) => {
                if let Some(image) = self.image(task.pid) {
                    if let Some(&thread) = image.by_tid.get(&task.tid) {
                        image.threads[thread].ended_ns = Some(now);
                    }
                    image.alive.remove(&task.tid);
                    if image.alive.is_empty() {
                        image.end = End::Exited;
                    }
                }
            }
            Record::Count(count) => self.count(&count),
            Record::Lost(records) => self.lost += records,
            Record::Throttled => self.throttled += 1,
            Record::Malformed => self.malformed += 1,
            Record::Other => {}
        }
    }

    fn image(&mut self, pid: u32) -> Option<&mut Image> {
        let index = *self.current.get(&pid)?;
        self.images.get_mut(index)
    }

    fn begin(&mut self, image: Image) {
        if self.images.len() == IMAGES {
            self.images_left_out += 1;
            self.current.remove(&image.pid);
            return;
        }
        self.current.insert(image.pid, self.images.len());
        self.images.push(image);
    }

    fn executed(&mut self, task: Task, name: &str, now: u64, arguments_of: &dyn Fn(u32) -> Vec<String>) {
        let mut parent = None;
        if let Some(before) = self.image(task.pid) {
            before.end = End::Executed;
            parent = before.parent;
            for thread in before.threads.iter_mut().filter(|t| t.ended_ns.is_none()) {
                thread.ended_ns = Some(now);
            }
        }
        let mut image = Image::new(task.pid, parent);
        // The thread that executes a program becomes the main one.
        image.thread(task.pid, name, now);
        image.arguments = arguments_of(task.pid);
        if let Some((pid, begun)) = &self.expected
            && *pid == task.pid
            && image.arguments.is_empty()
        {
            // It has ended already, so its command has to do.
            image.arguments.clone_from(&begun.arguments);
        }
        self.begin(image);
    }

    fn forked(&mut self, task: Task, parent: Task, now: u64) {
        let Some(from) = self.image(parent.pid) else { return };
        let name = from
            .by_tid
            .get(&parent.tid)
            .map_or_else(String::new, |&i| from.threads[i].name.clone());
        if task.pid == parent.pid {
            from.thread(task.tid, &name, now);
            return;
        }
        let mut image = Image::new(task.pid, Some(parent.pid));
        image.program.clone_from(&from.program);
        image.arguments.clone_from(&from.arguments);
        image.mappings.clone_from(&from.mappings);
        image.thread(task.tid, &name, now);
        self.begin(image);
    }

    fn count(&mut self, count: &Count) {
        if let Some(&role) = self.names.get(&count.event) {
            *self.counts.entry((role, count.task)).or_default() += count.value;
        }
    }

    fn sample(&mut self, sample: &Sample, now: u64) {
        let Some(Role::Sampled(event)) = self.names.get(&sample.event).copied() else {
            return;
        };
        self.samples += 1;
        let (ip, exact) = match sample.ibs {
            Some(op) if !op.locked => return,
            Some(op) => (op.rip.unwrap_or(sample.ip), op.rip.is_some()),
            None => (sample.ip, sample.exact),
        };
        if !sample.user {
            return;
        }
        *self.weights.entry(event).or_default() += sample.period;
        *self.sampled.entry(event).or_default() += 1;
        let Some(image) = self.image(sample.task.pid) else {
            self.homeless += 1;
            return;
        };
        let thread = image.thread(sample.task.tid, "", now);
        let place = Place {
            ip,
            exact,
            mapping: image.mapping(ip),
            event,
        };
        image.fall(place, thread, sample.period);
    }

    /// The name by which the command called the program, for an image that mapped no file.
    pub(super) fn program_of(&self, image: &Image) -> PathBuf {
        let command = self.expected.as_ref().filter(|(pid, _)| *pid == image.pid);
        let named = || command.map(|(_, begun)| begun.program.clone());
        image.program.clone().or_else(named).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
