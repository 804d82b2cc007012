//! The events of a run: on every CPU one ring, into which all events of that CPU write.
//!
//! The task clock owns the ring and reports tasks and mappings; it needs no counter of the PMU, so it always runs. The others write into it. Each event also counts per
//! thread: the kernel writes a thread's counts when it ends.

use super::order::Order;
use super::overhead::Cost;
use super::totals::Totals;
use cyclewise_bench::machine::lock_event::LockEvent;
use cyclewise_bench::sys::perf_record::parse;
use cyclewise_bench::sys::perf_ring::Ring;
use cyclewise_bench::sys::perf_sampling::{Event, Rate, Spec};
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

/// Data pages of a ring. With one more they stay below `perf_event_mlock_kb`, which is 516 KiB a CPU by default.
const PAGES: usize = 64;
/// Below this a ring overflows between two looks.
const FEWEST_PAGES: usize = 8;

/// What an event of a CPU is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// Time on the CPU.
    Time,
    /// Retired instructions.
    Instructions,
    /// Samples of the event with this index.
    Sampled(usize),
    /// Counts the locked instructions of the event with this index.
    Total(usize),
}

/// The roles of events by the number in their records.
pub(super) type Names = HashMap<u64, Role>;

/// What failed, for a line.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) what: String,
    pub(super) step: Step,
    pub(super) error: io::Error,
}

/// Where it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// perf_event_open.
    Open,
    Ring,
    /// No CPU has the event.
    NoCpu,
}

/// All events of a run.
pub(super) struct Session {
    cpus: Vec<OnCpu>,
    bytes: Vec<u8>,
    reading: Duration,
    events: usize,
    sampled_totals: Vec<bool>,
}

struct OnCpu {
    ring: Ring,
    events: Vec<(Role, Event)>,
}

impl Session {
    /// Opens `events` on `cpus` for what this thread executes next, sampled no more often than `cost` allows.
    pub(super) fn open(cpus: &[u32], events: &[LockEvent], cost: &Cost) -> Result<Self, Failure> {
        let mut session = Self {
            cpus: Vec::new(),
            bytes: Vec::new(),
            reading: Duration::ZERO,
            events: events.len(),
            sampled_totals: events.iter().map(LockEvent::counts_itself).collect(),
        };
        for &cpu in cpus {
            let here = events.iter().enumerate();
            let here: Vec<_> = here
                .filter(|(_, e)| e.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu)))
                .collect();
            match on_cpu(cpu, &here, cost) {
                Ok(Some(on)) => session.cpus.push(on),
                Ok(None) => {}
                // The CPU went offline.
                Err(Failure { error, .. }) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(failure) => return Err(failure),
            }
        }
        if session.cpus.is_empty() {
            return Err(Failure {
                what: events[0].name.clone(),
                step: Step::NoCpu,
                error: io::Error::from_raw_os_error(libc::ENODEV),
            });
        }
        Ok(session)
    }

    /// The roles of the numbers in records.
    pub(super) fn names(&self) -> Names {
        let all = self.cpus.iter().flat_map(|on| &on.events);
        all.map(|(role, event)| (event.id(), *role)).collect()
    }

    /// Reads every ring once.
    pub(super) fn drain(&mut self, order: &mut Order) {
        let begun = Instant::now();
        order.round();
        for on in &mut self.cpus {
            self.bytes.clear();
            on.ring.drain(&mut self.bytes);
            order.add(parse(&self.bytes));
        }
        self.reading += begun.elapsed();
    }

    /// Stops all of them.
    pub(super) fn disable(&self) {
        for (_, event) in self.cpus.iter().flat_map(|on| &on.events) {
            // Fails for none that opened; if it did, a few more samples came.
            let _ = event.disable();
        }
    }

    /// Time spent on reading rings.
    pub(super) fn reading(&self) -> Duration {
        self.reading
    }

    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals {
            locked: vec![None; self.events],
            ..Totals::default()
        };
        for on in &self.cpus {
            self.add_cpu(on, &mut totals);
        }
        totals
    }

    fn add_cpu(&self, on: &OnCpu, totals: &mut Totals) {
        let mut here_ns = 0;
        for (role, event) in &on.events {
            let Ok(total) = event.total() else {
                totals.unread += 1;
                continue;
            };
            let sum = match *role {
                // The first of them.
                Role::Time => {
                    here_ns = total.value;
                    totals.on_cpu_ns += here_ns;
                    continue;
                }
                Role::Instructions => &mut totals.instructions,
                Role::Sampled(index) if !self.sampled_totals[index] => continue,
                Role::Sampled(index) | Role::Total(index) => totals.locked[index].get_or_insert_default(),
            };
            sum.value += total.value;
            sum.running_ns += total.running_ns;
            sum.enabled_ns += here_ns;
        }
    }
}

/// The events of a CPU; none if it has none of them.
fn on_cpu(cpu: u32, events: &[(usize, &LockEvent)], cost: &Cost) -> Result<Option<OnCpu>, Failure> {
    let Some((_, first)) = events.first() else {
        return Ok(None);
    };
    let open = |what: &str, spec: &Spec, tasks: bool| {
        Event::of_next_program(spec, cpu, tasks).map_err(|error| Failure {
            what: what.to_owned(),
            step: Step::Open,
            error,
        })
    };
    let in_ring = |error| Failure {
        what: format!("CPU {cpu}"),
        step: Step::Ring,
        error,
    };
    let leader = open("task-clock", &Spec::task_clock(), true)?;
    let ring = ring(&leader).map_err(in_ring)?;
    let mut all = vec![(Role::Instructions, open("instructions", &first.instructions, false)?)];
    for &(index, event) in events {
        let sampled = Spec {
            rate: bounded(event.sampled.rate, cost),
            ..event.sampled
        };
        all.push((Role::Sampled(index), open(&event.name, &sampled, false)?));
        if let Some(total) = &event.total {
            all.push((Role::Total(index), open("ls_locks", total, false)?));
        }
    }
    for (_, event) in &all {
        event.write_into(&leader).map_err(in_ring)?;
    }
    all.insert(0, (Role::Time, leader));
    Ok(Some(OnCpu { ring, events: all }))
}

fn bounded(rate: Rate, cost: &Cost) -> Rate {
    match rate {
        Rate::PerSecond(wanted) => Rate::PerSecond(wanted.min(cost.most_per_second())),
        other => other,
    }
}

/// A ring as large as the kernel allows.
fn ring(event: &Event) -> io::Result<Ring> {
    let mut pages = PAGES;
    loop {
        match event.ring(pages) {
            Err(e) if e.raw_os_error() == Some(libc::EPERM) && pages > FEWEST_PAGES => pages /= 2,
            ring => return ring,
        }
    }
}
