//! Preflight: before anything is forked, refuses a run that exceeds a limit of this machine, and names the limit.

use super::plan::{Carrier, Plan};
use crate::error::{Error, Result};
use crate::sys::channel::ChannelKind;
use crate::sys::limits;
use std::fs::read_to_string;
use std::path::Path;

/// The limits that apply to a run.
struct Limits {
    /// RLIMIT_NPROC and RLIMIT_NOFILE.
    user: limits::Limits,
    files_open: u64,
    root: bool,
    /// The task limits of the system and of control groups: name, and tasks left.
    tasks_left: Vec<(String, u64)>,
    /// Bytes of MemAvailable.
    memory: Option<u64>,
    /// Pages that one user's pipes may have before new pipes get only two each.
    pipe_pages: Option<u64>,
}

/// Refuses `plan` if it cannot run here; else returns notes for the reader.
pub(super) fn check(plan: &Plan) -> Result<Vec<String>> {
    check_against(plan, &Limits::of_this_machine())
}

fn check_against(plan: &Plan, limits: &Limits) -> Result<Vec<String>> {
    let files = limits.files_open + files(plan, plan.groups());
    if let Some(soft) = limits.user.files.current.filter(|&soft| soft < files) {
        let how = match limits.user.files.maximum {
            Some(hard) if hard < files => format!("the hard limit of {hard} must be raised first"),
            _ => format!("run `ulimit -n {files}` first"),
        };
        let limit = format!("a process may have {soft} (RLIMIT_NOFILE)");
        let fits = |groups| limits.files_open + self::files(plan, groups) <= soft;
        return refuse(plan, &format!("{files} open files"), &limit, &how, fits);
    }
    let tasks = u64::from(plan.tasks());
    let of_user = limits.user.processes.current.filter(|_| !limits.root);
    let of_user = of_user.map(|soft| {
        (
            soft,
            format!("a user may have {soft} (RLIMIT_NPROC)"),
            "raise `ulimit -u`",
        )
    });
    let of_all = limits.tasks_left.iter();
    let of_all = of_all.map(|(what, left)| (*left, format!("{what} leaves {left}"), "raise it"));
    if let Some((left, limit, how)) = of_user.into_iter().chain(of_all).find(|(left, ..)| *left < tasks) {
        let fits = |groups| tasks / u64::from(plan.groups()) * u64::from(groups) <= left;
        return refuse(plan, &format!("{tasks} tasks"), &limit, how, fits);
    }
    let memory = memory(plan, plan.groups());
    if let Some(available) = limits.memory.filter(|&available| available < memory) {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let limit = format!("{} MiB are available (MemAvailable)", mib(available));
        let fits = |groups| self::memory(plan, groups) <= available;
        return refuse(plan, &format!("about {} MiB", mib(memory)), &limit, "free some", fits);
    }
    Ok(notes(plan, limits))
}

/// The most files this process has open at once, not counting those open before.
fn files(plan: &Plan, groups: u32) -> u64 {
    let gate = 4;
    gate + u64::from(match plan.carrier() {
        Carrier::Processes => Plan::FDS + 1, // a group's write ends, and the read end being handed over
        Carrier::Threads => 2 * Plan::FDS * groups,
    })
}

/// Bytes: a conservative estimate.
fn memory(plan: &Plan, groups: u32) -> u64 {
    let task = match plan.carrier() {
        Carrier::Processes => 512 << 10, // page tables, kernel stack, and the pages a child writes to
        Carrier::Threads => 64 << 10,    // kernel stack, and the pages touched of its own
    };
    let group = 2 * u64::from(Plan::FDS) * task + u64::from(Plan::FDS) * plan.bytes_in_flight_per_channel();
    u64::from(groups) * group
}

fn refuse<T>(plan: &Plan, need: &str, limit: &str, how: &str, fits: impl Fn(u32) -> bool) -> Result<T> {
    let fewer = match (1..plan.groups()).rev().find(|&g| fits(g)) {
        Some(groups) => format!(", or give --groups {groups}"),
        None => String::new(),
    };
    Err(Error::unsupported(format!(
        "{} with {} groups needs {need}, but {limit}; {how}{fewer}",
        plan.name(),
        plan.groups()
    )))
}

fn notes(plan: &Plan, limits: &Limits) -> Vec<String> {
    const PIPE_PAGES: u64 = 16; // a pipe's size, pipe(7)
    let pages = (u64::from(plan.groups() * Plan::FDS) + 2) * PIPE_PAGES;
    match limits.pipe_pages {
        Some(allowed) if plan.channel() == ChannelKind::Pipe && !limits.root && allowed < pages => vec![format!(
            "{}: {pages} pages of pipes are over fs.pipe-user-pages-soft ({allowed}), so the last pipes are smaller than \
             the first and block sooner",
            plan.name()
        )],
        _ => Vec::new(),
    }
}

impl Limits {
    fn of_this_machine() -> Self {
        let number = |path: &str| read_to_string(path).ok()?.trim().parse::<u64>().ok();
        // /proc/loadavg: "0.5 0.6 0.6 running/existing last-pid".
        let existing = read_to_string("/proc/loadavg").ok().and_then(|text| {
            let field = text.split_whitespace().nth(3)?;
            field.split_once('/')?.1.parse::<u64>().ok()
        });
        let mut tasks_left = Vec::new();
        for name in ["pid_max", "threads-max"] {
            if let (Some(limit), Some(existing)) = (number(&format!("/proc/sys/kernel/{name}")), existing) {
                tasks_left.push((format!("kernel.{name} of {limit}"), limit.saturating_sub(existing)));
            }
        }
        tasks_left.extend(group_limits());
        let memory = read_to_string("/proc/meminfo").ok().and_then(|text| {
            let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        Self {
            user: limits::Limits::of_this_process(),
            files_open: std::fs::read_dir("/proc/self/fd").map_or(16, |entries| entries.count() as u64),
            root: limits::is_root(),
            tasks_left,
            memory: memory.map(|kib| kib << 10),
            pipe_pages: number("/proc/sys/fs/pipe-user-pages-soft").filter(|&pages| pages > 0),
        }
    }
}

/// pids.max of this process's control group and of those above it (cgroup v2).
fn group_limits() -> Vec<(String, u64)> {
    let Ok(text) = read_to_string("/proc/self/cgroup") else {
        return Vec::new();
    };
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Vec::new();
    };
    let root = Path::new("/sys/fs/cgroup");
    let leaf = root.join(path);
    let groups = leaf.ancestors().take_while(|group| group.starts_with(root));
    let left = groups.filter_map(|group| {
        let number = |file: &str| read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        let (max, current) = (number("pids.max")?, number("pids.current")?);
        Some((
            format!("pids.max of {} ({max})", group.display()),
            max.saturating_sub(current),
        ))
    });
    left.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    fn plan(carrier: Carrier, channel: ChannelKind) -> Plan {
        Plan::new(carrier, channel, 50, 100).unwrap()
    }

    fn enough() -> Limits {
        let limit = limits::Rlimit {
            current: Some(4096),
            maximum: Some(4096),
        };
        Limits {
            user: limits::Limits {
                processes: limit,
                files: limit,
            },
            files_open: 6,
            root: false,
            tasks_left: vec![("kernel.pid_max of 32768".to_string(), 32_000)],
            memory: Some(8 << 30),
            pipe_pages: Some(16_384),
        }
    }

    fn refusal(carrier: Carrier, change: impl FnOnce(&mut Limits)) -> String {
        let mut limits = enough();
        change(&mut limits);
        let error = check_against(&plan(carrier, ChannelKind::SocketPair), &limits).unwrap_err();
        assert_eq!(error.status, Status::Unsupported);
        error.message
    }

    #[test]
    fn enough_of_everything_is_no_refusal() {
        assert!(
            check_against(&plan(Carrier::Threads, ChannelKind::SocketPair), &enough())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn refusals_name_the_limit_the_need_and_the_way_out() {
        use Carrier::{Processes, Threads};
        let all = [
            refusal(Threads, |r| r.user.files.current = Some(1024)),
            refusal(Threads, |r| {
                r.user.files.current = Some(1024);
                r.user.files.maximum = Some(1024);
            }),
            refusal(Processes, |r| r.user.files.current = Some(16)),
            refusal(Processes, |r| r.user.processes.current = Some(1000)),
            refusal(Processes, |r| r.tasks_left[0].1 = 39),
            refusal(Processes, |r| r.memory = Some(600 << 20)),
        ];
        insta::assert_snapshot!(all.join("\n"), @r"
        threads-socketpair with 50 groups needs 2010 open files, but a process may have 1024 (RLIMIT_NOFILE); run `ulimit -n 2010` first, or give --groups 25
        threads-socketpair with 50 groups needs 2010 open files, but a process may have 1024 (RLIMIT_NOFILE); the hard limit of 1024 must be raised first, or give --groups 25
        processes-socketpair with 50 groups needs 31 open files, but a process may have 16 (RLIMIT_NOFILE); run `ulimit -n 31` first
        processes-socketpair with 50 groups needs 2000 tasks, but a user may have 1000 (RLIMIT_NPROC); raise `ulimit -u`, or give --groups 25
        processes-socketpair with 50 groups needs 2000 tasks, but kernel.pid_max of 32768 leaves 39; raise it
        processes-socketpair with 50 groups needs about 1204 MiB, but 600 MiB are available (MemAvailable); free some, or give --groups 24
        ");
    }

    #[test]
    fn processes_do_not_need_a_file_for_each_channel() {
        let mut limits = enough();
        limits.user.files.current = Some(64);
        assert!(check_against(&plan(Carrier::Processes, ChannelKind::SocketPair), &limits).is_ok());
    }

    #[test]
    fn smaller_pipes_are_noted() {
        let mut limits = enough();
        let plan = plan(Carrier::Processes, ChannelKind::Pipe);
        assert_eq!(notes(&plan, &limits).len(), 0);
        limits.pipe_pages = Some(8192);
        assert_eq!(notes(&plan, &limits).len(), 1);
        limits.root = true;
        assert_eq!(notes(&plan, &limits).len(), 0);
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        let limits = Limits::of_this_machine();
        assert!(limits.files_open >= 3);
        assert!(limits.memory.is_some());
    }
}
