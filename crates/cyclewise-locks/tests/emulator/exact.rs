//! Counts by the emulator are those of programs that count themselves.

use crate::common::long::short_or_long;
use crate::common::{compare, compile, compiled, count, count_with, sites_at, symbols};
use cyclewise_locks::class::known::Table;
use cyclewise_locks::counts::Site;
use cyclewise_locks::emulator::Settings;
use cyclewise_locks::profile::{Options, Profile};
use std::path::Path;
use std::process::Command;

#[test]
fn every_form_by_one_two_and_eight_threads() {
    let Some((emulator, _folder, program)) = compiled("counter.c", &[]) else {
        return;
    };
    let symbols = symbols(&program);
    for threads in [1, 2, 8] {
        let (printed, counts) = count(&emulator, &program, &[&threads.to_string(), "3000"]);
        let process = &counts.processes[0];
        assert_eq!(compare(process, &symbols, &printed), Ok(14), "{threads} threads");
        assert_eq!(process.threads.len(), threads);
        let inc: Vec<&Site> = sites_at(process, symbols["site_inc"]).collect();
        let by_thread: Vec<u64> = inc[0].executed.iter().map(|(_, n)| *n).collect();
        assert_eq!(by_thread, vec![3000; threads], "each thread has its own loops");
    }
}

#[test]
fn a_plugin_that_misses_a_form_is_caught() {
    let Some((emulator, _folder, program)) = compiled("counter.c", &[]) else {
        return;
    };
    let symbols = symbols(&program);
    // XCHG is the second form.
    let settings = Settings {
        leave_out: 1 << 1,
        ..Settings::default()
    };
    let (output, counts) = count_with(&emulator, &settings, &program, &["2", "1000"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let compared = compare(&counts.processes[0], &symbols, &printed);
    assert_eq!(compared, Err("site_xchg: counted 0, executed 2000".to_owned()));
    // So is one execution too few.
    let (printed, mut counts) = count(&emulator, &program, &["2", "1000"]);
    let offset = symbols["site_bts"];
    let address = sites_at(&counts.processes[0], offset).next().unwrap().address;
    let site = counts.processes[0]
        .sites
        .iter_mut()
        .find(|s| s.address == address)
        .unwrap();
    site.executed[0].1 -= 1;
    let compared = compare(&counts.processes[0], &symbols, &printed);
    assert_eq!(compared, Err("site_bts: counted 1999, executed 2000".to_owned()));
}

#[test]
fn static_and_stripped_programs() {
    let ways: &[&[&str]] = short_or_long(
        &[&["-static", "-s"], &["-static-pie"], &["-no-pie"]],
        &[
            &["-static", "-s"],
            &["-static-pie"],
            &["-no-pie"],
            &["-static"],
            &["-s"],
        ],
    );
    for options in ways {
        let Some((emulator, _folder, program)) = compiled("counter.c", options) else {
            return;
        };
        // Stripping moves nothing that is loaded.
        let unstripped: Vec<&str> = options.iter().copied().filter(|o| *o != "-s").collect();
        let with_symbols = tempfile::tempdir().unwrap();
        let symbols = symbols(&compile(with_symbols.path(), "counter.c", &unstripped).unwrap());
        let (printed, counts) = count(&emulator, &program, &["3", "500"]);
        assert_eq!(compare(&counts.processes[0], &symbols, &printed), Ok(14), "{options:?}");
    }
}

#[test]
fn instructions_of_an_assembly_program() {
    let options = ["-nostdlib", "-static", "-no-pie"];
    let Some((emulator, _folder, program)) = compiled("instructions.S", &options) else {
        return;
    };
    let symbols = symbols(&program);
    for loops in [1, 2, 1000] {
        // The program's loops are as many as it has arguments; each is counted in the source.
        let arguments = vec!["x"; loops];
        let (_, counts) = count(&emulator, &program, &arguments);
        let process = &counts.processes[0];
        let source = include_str!("programs/instructions.S");
        let number = |name: &str| -> u64 {
            let line = source.lines().find_map(|l| l.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches("*/").trim().parse().unwrap()
        };
        let expected = number("/* once:") + number("/* each loop:") * loops as u64;
        assert_eq!(process.threads[0].instructions, expected, "{loops} loops");
        let across: u64 = sites_at(process, symbols["site_across"]).map(Site::total).sum();
        assert_eq!(across, loops as u64);
        let distances = sites_at(process, symbols["site_second"]).next().unwrap().distances;
        assert_eq!(distances, [loops as u64, 0, 0, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn rust_threads() {
    let Some((emulator, _folder, program)) = compiled("threads.rs", &[]) else {
        return;
    };
    let (printed, counts) = count(&emulator, &program, &["4", "2000"]);
    let process = &counts.processes[0];
    assert_eq!(compare(process, &symbols(&program), &printed), Ok(2));
    let mut names: Vec<&str> = process.threads.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(
        names.remove(0),
        "threads",
        "the main thread has the program's name, not the emulator's"
    );
    // They begin in any order.
    names.sort_unstable();
    assert_eq!(names, ["worker 0", "worker 1", "worker 2", "worker 3"]);
}

#[test]
fn generated_code_that_is_rewritten() {
    let Some((emulator, _folder, program)) = compiled("generated.c", &[]) else {
        return;
    };
    let (printed, counts) = count(&emulator, &program, &["700", "300"]);
    assert_eq!(printed, "400\n", "the program's own result");
    let process = &counts.processes[0];
    let generated: Vec<(&[u8], u64)> = process
        .sites
        .iter()
        .filter(|s| s.mapping.is_none())
        .map(|s| (&s.code[..4], s.total()))
        .collect();
    assert_eq!(
        generated,
        [(&b"\xf0\x48\xff\x07"[..], 700), (&b"\xf0\x48\xff\x0f"[..], 300)],
        "two sites at one address"
    );
    // The program wrote a map for perf.
    let profile = Profile::new(&counts, &Table::built_in(), &Options::default());
    let map = format!("/tmp/perf-{}.map", process.pid);
    let names = |profile: &Profile| -> Vec<String> {
        let sites = profile.sites.iter().filter(|site| site.module == "[generated code]");
        sites
            .flat_map(|site| &site.frames)
            .map(|frame| frame.function.clone())
            .collect()
    };
    std::fs::remove_file(map).unwrap();
    assert_eq!(names(&profile), ["generated_count"; 2]);
    let says = |profile: &Profile| {
        profile
            .missing
            .iter()
            .any(|line| line.contains("2 of 2 sites, executed 1000 times"))
    };
    assert!(!says(&profile), "{:?}", profile.missing);
    // The twin: without it nothing is known, and a line says so.
    let without = Profile::new(&counts, &Table::built_in(), &Options::default());
    assert!(names(&without).is_empty() && says(&without), "{:?}", without.missing);
}

#[test]
fn many_threads_that_end() {
    let Some((emulator, _folder, program)) = compiled("many_threads.c", &[]) else {
        return;
    };
    let threads: usize = short_or_long(300, 3000);
    let (printed, counts) = count(&emulator, &program, &[&threads.to_string()]);
    let process = &counts.processes[0];
    assert_eq!(compare(process, &symbols(&program), &printed), Ok(1));
    assert_eq!(process.threads.len(), threads + 1);
    let site = sites_at(process, symbols(&program)["site_thread"]).next().unwrap();
    assert_eq!(site.executed.len(), threads);
    assert!(site.executed.iter().all(|(thread, n)| *thread > 0 && *n == 10));
    assert_eq!(site.before_threads, 0);
    let calls = |thread: usize, number: u32| {
        let calls = &process.threads[thread].system_calls;
        calls
            .iter()
            .find(|c| c.number == number)
            .map(|c| (c.calls, c.locked_before))
    };
    // getppid, whose number is 110, between five and five.
    assert_eq!(calls(1, 110), Some((1, 5)));
    assert_eq!(calls(threads, 110), Some((1, 5)));
}

#[test]
fn threads_that_overlap_have_numbers_that_grow() {
    let Some((emulator, _folder, program)) = compiled("many_threads.c", &[]) else {
        return;
    };
    // More than the plugin finds by their numbers.
    let (printed, counts) = count(&emulator, &program, &["4500", "overlap"]);
    let process = &counts.processes[0];
    assert_eq!(compare(process, &symbols(&program), &printed), Ok(1));
    assert_eq!(process.threads.len(), 4501);
    let site = sites_at(process, symbols(&program)["site_thread"]).next().unwrap();
    assert!(site.executed.iter().all(|(thread, n)| *thread > 0 && *n == 10));
    assert_eq!(site.words.shared, 45_000);
}

#[test]
fn the_same_counts_through_a_cargo_runner() {
    let Some((emulator, _folder, program)) = compiled("counter.c", &[]) else {
        return;
    };
    let run = cyclewise_locks::emulator::prepare_folder(&emulator, &Settings::default()).unwrap();
    let prefix = run.runner().unwrap().prefix();
    let ran = |program: &Path| {
        let output = Command::new(&prefix[0])
            .args(&prefix[1..])
            .arg(program)
            .args(["1", "10"])
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let printed = [ran(&program), ran(&program)];
    let counts = cyclewise_locks::emulator::collect(run.path()).unwrap();
    assert_eq!(counts.processes.len(), 2);
    for (process, printed) in counts.processes.iter().zip(&printed) {
        assert_eq!(compare(process, &symbols(&program), printed), Ok(14));
    }
}

#[test]
fn a_site_that_faults_is_counted_when_it_succeeds() {
    let Some((emulator, _folder, program)) = compiled("faults.c", &[]) else {
        return;
    };
    let symbols = symbols(&program);
    for readable in ["0", "1"] {
        for threads in ["1", "2"] {
            let (printed, counts) = count(&emulator, &program, &[readable, threads]);
            let compared = compare(&counts.processes[0], &symbols, &printed);
            assert_eq!(compared, Ok(7), "readable {readable}, {threads} threads");
        }
    }
}
