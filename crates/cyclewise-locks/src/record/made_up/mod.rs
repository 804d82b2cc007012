//! Made-up documents of plausible programs: in Rust with threads, in C++ with one, and on AArch64 stripped.
//!
//! The tests of the command's output, in `src/` and in `tests/`, read the same ones.
#![allow(dead_code, reason = "each test program uses a part")]

mod rust;

pub(crate) use rust::rust;

use crate::counts::{Arch, Method, Words};
use crate::forecast::{Forecast, NativeTime, Remedy, RemedyForecast, Verdict};
use crate::profile::{
    Class, Executed, Form, Frame, Mix, Operation, ProcessProfile, Profile, SiteProfile, SystemCallProfile,
    ThreadProfile,
};
use crate::record::{Exit, Locks, SCHEMA};
use cyclewise_bench::record::{Machine, Tool};

const PTR: &str = "/usr/include/c++/12/bits/shared_ptr_base.h";

/// A site at `frames` of `module`: function, file and line, the innermost first.
fn site(
    module: &str,
    address: u64,
    what: (&str, Form, Operation),
    class: Class,
    frames: &[(&str, &str, u32)],
) -> SiteProfile {
    SiteProfile {
        module: module.to_owned(),
        address,
        instruction: what.0.to_owned(),
        form: what.1,
        operation: what.2,
        width: 8,
        class,
        why: "made up".to_owned(),
        family: None,
        frames: frames
            .iter()
            .map(|(function, file, line)| Frame {
                function: (*function).to_owned(),
                file: (!file.is_empty()).then(|| (*file).to_owned()),
                line: (*line > 0).then_some(*line),
            })
            .collect(),
        executed: 0,
        threads: 1,
        words: Words::default(),
        before_threads: 0,
        distances: [0; 8],
        callers: Vec::new(),
        mix: Mix {
            arithmetic: 9,
            loads: 4,
            stores: 2,
            locked: 0,
            branches: 3,
        },
    }
}

/// With its executions: `private` of 100 of them on words of one thread.
fn counted(mut site: SiteProfile, family: &str, executed: u64, threads: u32, private: u64) -> SiteProfile {
    site.family = (!family.is_empty()).then(|| family.to_owned());
    site.executed = executed;
    site.threads = threads;
    site.words = Words {
        private: executed / 100 * private,
        shared: executed - executed / 100 * private,
        unknown: 0,
    };
    site.distances = [0, 0, executed / 2, executed - executed / 2, 0, 0, 0, 0];
    site
}

fn thread(pid: u32, tid: u32, name: &str, instructions: u64, locked: u64, fences: u64) -> ThreadProfile {
    ThreadProfile {
        pid,
        tid,
        name: name.to_owned(),
        instructions,
        locked,
        fences,
    }
}

fn call(name: &str, calls: u64, locked_before: u64) -> SystemCallProfile {
    SystemCallProfile {
        name: name.to_owned(),
        calls,
        locked_before,
    }
}

fn machine(arch: &str, cpu_model: &str) -> Machine {
    Machine {
        arch: arch.to_owned(),
        cpu_model: cpu_model.to_owned(),
        cpus: 2,
        kernel: "6.1.0-example".to_owned(),
        tsc_hz: 2.4e9,
        clocksource: "tsc".to_owned(),
        ..Machine::default()
    }
}

fn document(machine: Machine, program: &[&str], profile: Profile, forecast: Option<Forecast>) -> Locks {
    let program: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
    let command = ["locks", "--html", "locks.html", "--"].map(str::to_owned);
    Locks {
        schema: SCHEMA.to_owned(),
        created: "2026-01-02T03:04:05Z".to_owned(),
        tool: Tool {
            version: "0.1.0".to_owned(),
            commit: Some("0123456789abcdef".to_owned()),
        },
        machine,
        command: command.into_iter().chain(program.clone()).collect(),
        program,
        exit: Exit {
            code: Some(0),
            ..Exit::default()
        },
        counted_user_s: 61.4,
        slowdown: forecast.as_ref().map(|_| 38.4),
        profile,
        forecast,
        costs: Some("in-context, measured after the run".to_owned()),
        notes: Vec::new(),
    }
}

fn emulator() -> Method {
    Method::Emulator {
        version: "qemu-x86_64 version 7.2.22".to_owned(),
    }
}

fn remedy(
    remedy: Remedy,
    sites: &[usize],
    executed: u64,
    saved: [f64; 2],
    bound: f64,
    condition: &str,
) -> RemedyForecast {
    RemedyForecast {
        remedy,
        name: match remedy {
            Remedy::PlainCounts => "plain counts (Rc for Arc)",
            Remedy::FewerClones => "half of the clones (borrow)",
            _ => "no LOCK at all",
        }
        .to_owned(),
        sites: sites.to_vec(),
        executed,
        saved_s: saved,
        saved_percent: Some(saved.map(|s| 100.0 * s / 1.6)),
        back_to_back_s: bound,
        back_to_back_percent: Some(100.0 * bound / 1.6),
        condition: condition.to_owned(),
    }
}

/// A C++ program with one thread, in which libstdc++ never executes LOCK; a signal ended it.
pub(crate) fn cplusplus() -> Locks {
    let tree = "/opt/tree";
    let add = ("lock xadd dword ptr [rdi+8],eax", Form::Lock, Operation::FetchAdd);
    let dispatch = "__gnu_cxx::__exchange_and_add_dispatch";
    let sites = vec![counted(
        site(
            tree,
            0x1532,
            add,
            Class::CountDownAndTest,
            &[
                (dispatch, "/usr/include/c++/12/ext/atomicity.h", 84),
                (
                    "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release",
                    PTR,
                    317,
                ),
                (
                    "Tree<int, std::less<int>, std::allocator<std::pair<int const, std::shared_ptr<Node>>>>::insert",
                    "tree.cpp",
                    58,
                ),
            ],
        ),
        "shared_ptr",
        90_000,
        1,
        100,
    )];
    let profile = Profile {
        method: emulator(),
        arch: Arch::X86_64,
        instructions: 600_000_000,
        executed: Executed {
            lock: 90_000,
            ..Executed::default()
        },
        sites,
        threads: vec![thread(99, 99, "tree", 600_000_000, 90_000, 0)],
        system_calls: Vec::new(),
        processes: vec![ProcessProfile {
            pid: 99,
            command: "tree".to_owned(),
            threads: 1,
            instructions: 600_000_000,
            locked: 90_000,
            fences: 0,
        }],
        lines: Vec::new(),
        missing: Vec::new(),
    };
    let forecast = Forecast {
        verdict: Verdict::NotWorthIt,
        answer: "not worth it: without any LOCK the program would save at most 0.1 % of its user time".to_owned(),
        remedies: vec![remedy(
            Remedy::NoLock,
            &[0],
            90_000,
            [0.0, 0.0012],
            0.002,
            "what no remedy can exceed",
        )],
        native: Some(NativeTime {
            user_s: 1.6,
            range: [1.6, 1.6],
            runs: 1,
        }),
        basis: Vec::new(),
    };
    let mut locks = document(
        machine("x86_64", "Example CPU @ 2.40GHz"),
        &["tree"],
        profile,
        Some(forecast),
    );
    locks.exit = Exit {
        code: None,
        signal: Some(11),
        interrupted: false,
    };
    locks
}

/// A stripped program on AArch64, sampled, of which no time and no costs are known.
pub(crate) fn aarch64() -> Locks {
    let server = "/usr/bin/server";
    let sites = vec![
        counted(
            site(
                server,
                0x40_1200,
                ("ldaddal x1, x0, [x2]", Form::Lse, Operation::FetchAdd),
                Class::CountUp,
                &[],
            ),
            "",
            500_000,
            4,
            0,
        ),
        counted(
            site(
                server,
                0x40_1240,
                ("stlxr w3, x1, [x2]", Form::Exclusive, Operation::StoreExclusive),
                Class::ExchangeLoop,
                &[],
            ),
            "",
            400_000,
            4,
            0,
        ),
        counted(
            site(
                "[generated code]",
                0x7f00_0000_1000,
                ("dmb ish", Form::Fence, Operation::Fence),
                Class::Fence,
                &[],
            ),
            "",
            100_000,
            4,
            0,
        ),
    ];
    let profile = Profile {
        method: Method::Counter {
            event: "armv8_pmuv3/lse/".to_owned(),
            period: 10_007,
        },
        arch: Arch::Aarch64,
        instructions: 1_000_000_000,
        executed: Executed {
            lse: 500_000,
            exclusive: 400_000,
            fence: 100_000,
            ..Executed::default()
        },
        sites,
        threads: vec![thread(7, 7, "server", 1_000_000_000, 900_000, 100_000)],
        system_calls: Vec::new(),
        processes: Vec::new(),
        lines: Vec::new(),
        missing: vec!["/usr/bin/server has no symbols: addresses only".to_owned()],
    };
    let mut locks = document(
        machine("aarch64", "Example Arm core"),
        &["server", "--port", "0"],
        profile,
        None,
    );
    locks.costs = None;
    locks.exit.interrupted = true;
    locks.notes = vec!["no time and no forecast: the run was ended early".to_owned()];
    locks
}
