//! Options that hyperfine's users know: names, parameters, commands around the timed ones, numbers of runs, exports.

use super::*;

/// The log of commands that each write their word, run without random order: of one command.
fn log(folder: &Folder, args: &[&str]) -> Option<Vec<String>> {
    let _ = std::fs::remove_file(folder.path("log"));
    measured(args)?;
    Some(folder.read("log").lines().map(str::to_owned).collect())
}

#[test]
fn commands_around_the_timed_ones_run_when_they_should() {
    let folder = Folder::new();
    let say = |word: &str| format!("echo {word} >> '{}'", folder.name("log"));
    let [setup, prepare, conclude, cleanup, run] =
        ["setup", "prepare", "conclude", "cleanup", "$HYPERFINE_ITERATION"].map(say);
    let args = [
        "-w", "1", "-M", "2", "-s", &setup, "-p", &prepare, "-C", &conclude, "-c", &cleanup, &run,
    ];
    let Some(log) = log(&folder, &args) else { return };
    assert_eq!(
        log.join(" "),
        "setup prepare warmup-0 conclude prepare 0 conclude prepare 1 conclude cleanup"
    );
}

#[test]
fn each_command_may_have_its_own() {
    let folder = Folder::new();
    let say = |word: &str| format!("echo {word} >> '{}'", folder.name("log"));
    let [pa, pb, ca, cb, a, b] = ["pa", "pb", "ca", "cb", "a", "b"].map(say);
    let args = ["-r", "2", "-p", &pa, "-p", &pb, "-C", &ca, "-C", &cb, &a, &b];
    let Some(log) = log(&folder, &args) else { return };
    let mut runs: Vec<&[String]> = log.chunks(3).collect();
    runs.sort();
    runs.dedup();
    assert_eq!(runs, [["pa", "a", "ca"], ["pb", "b", "cb"]]);
    let three = time(&["-r", "2", "-p", "true", "-p", "true", "a", "b", "c"]);
    assert_eq!(three.status.code(), Some(2));
    assert_says!(text(&three.stderr), "--prepare is given 2 times for 3 commands");
}

#[test]
fn what_fails_around_a_command_is_named() {
    for command in ["setup", "prepare", "conclude", "cleanup"] {
        let output = time(&["-r", "2", &format!("--{command}"), "exit 3", "true"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert_says!(said, &format!("{command} command 'exit 3' exited with status 3"));
    }
}

#[test]
fn parameters_make_commands_and_are_recorded() {
    let around = ["-s", "test {n} -gt 0", "-p", "test -n {c}", "echo {n}"];
    let args = with("-r 2 -L n 1,2 -L c a,b --json -", &around);
    let Some(r) = record(&args) else { return };
    let v = &r.experiments[0].variants;
    let names: Vec<&str> = v.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names,
        ["echo 1 (c = a)", "echo 2 (c = a)", "echo 1 (c = b)", "echo 2 (c = b)"]
    );
    let timed = v[3].timed.as_ref().unwrap();
    assert_eq!(
        (
            timed.line.as_str(),
            timed.parameters["n"].as_str(),
            timed.parameters["c"].as_str()
        ),
        ("echo 2", "2", "b")
    );
}

#[test]
fn scans_names_and_a_reference() {
    let options = "-r 2 -P t 0.1 0.3 -D 0.1 --reference true --reference-name base --json -";
    let args = with(options, &["-n", "at {t}", "test {t}"]);
    let Some(r) = record(&args) else { return };
    let e = &r.experiments[0];
    let names: Vec<&str> = e.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["base", "at 0.1", "at 0.2", "at 0.3"]);
    assert!(e.comparisons.iter().all(|c| c.b == "base"));
}

#[test]
fn names_are_found_again_by_compare() {
    let folder = Folder::new();
    let [a, b] = ["a.json", "b.json"].map(|name| folder.name(name));
    for (path, line) in [(&a, "true one"), (&b, "true another")] {
        if measured(&["-r", "6", "-n", "build", "--json", path, line]).is_none() {
            return;
        }
    }
    let compared = cyclewise(&["compare", &a, &b]);
    let said = text(&compared.stdout);
    assert!(
        said.contains("build") && !text(&compared.stderr).contains("no variant in common"),
        "{said}"
    );
}

#[test]
fn a_number_as_a_name_is_told() {
    let output = time(&["-n", "12", "-r", "2", "true"]);
    assert_says!(text(&output.stderr), "the number of runs is -r 12");
}

#[test]
fn numbers_of_runs_have_bounds() {
    let runs = |args: &[&str]| {
        let r = record(&[args, &["--json", "-", "true"]].concat())?;
        Some(r.experiments[0].rounds)
    };
    let Some(most) = runs(&["-M", "3"]) else { return };
    assert_eq!(most, 3);
    // A fast command is run until its time is over.
    assert!(runs(&["-m", "2", "-M", "40"]).is_none_or(|n| n == 40));
    // A slow one as often as is asked.
    let begun = std::time::Instant::now();
    let Some(r) = record(&["--max-time", "0.5", "--json", "-", "sleep 0.1"]) else {
        return;
    };
    assert!(
        (2..20).contains(&r.experiments[0].rounds),
        "{}",
        r.experiments[0].rounds
    );
    assert!(begun.elapsed().as_secs() < 20);
    let empty = time(&["-m", "5", "-M", "3", "true"]);
    assert_eq!(empty.status.code(), Some(2));
}

#[test]
fn the_shell_is_the_users() {
    let shell = ["-S", "echo 'custom shell' --arg", "benchmark"];
    let Some(shown) = measured(&with("-r 2 --show-output", &shell)) else {
        return;
    };
    assert_says!(text(&shown.stdout), "custom shell --arg -c benchmark");
    if let Some(r) = record(&["-r", "2", "--shell", "none", "--json", "-", "printf '%s' '$HOME'"]) {
        assert!(r.experiments[0].timing.as_ref().unwrap().shell.is_empty());
    }
    let missing = time(&["-r", "2", "-S", "/no/such/shell", "true"]);
    let said = text(&missing.stderr);
    assert_eq!(missing.status.code(), Some(3), "{said}");
    assert_says!(said, "starting the shell `/no/such/shell`");
    assert_lacks!(said, "no such program");
}

#[test]
fn a_shells_syntax_without_a_shell_is_warned_of() {
    let output = time(&["-r", "2", "-N", "echo a > f; ls | wc"]);
    assert_says!(text(&output.stderr), "no shell runs it");
    let quoted = time(&["-r", "2", "-N", "echo 'a > f; ls | wc'"]);
    assert_lacks!(text(&quoted.stderr), "no shell runs it");
}

#[test]
fn the_environment_is_padded_where_commands_are_compared() {
    let folder = Folder::new();
    let line = format!("echo ${{#CYCLEWISE_ENVIRONMENT_PADDING}} >> '{}'", folder.name("log"));
    let Some(sizes) = log(&folder, &["-r", "4", &line, "true"]) else {
        return;
    };
    let mut numbers: Vec<u32> = sizes.iter().map(|n| n.parse().unwrap()).collect();
    numbers.dedup();
    assert!(numbers.len() > 1 && numbers.iter().all(|n| *n < 4096), "{numbers:?}");
    let alone = log(&folder, &["-r", "2", &line]);
    assert!(
        alone.is_none_or(|sizes| sizes.iter().all(|n| n == "0")),
        "one command is compared with nothing"
    );
    let Some(r) = record(&["-r", "2", "--environment-padding", "on", "--json", "-", "true"]) else {
        return;
    };
    assert_eq!(r.experiments[0].timing.as_ref().unwrap().environment_padding, 4096);
}

#[test]
fn hyperfines_formats_are_written() {
    let folder = Folder::new();
    let [json, csv, markdown] = ["h.json", "h.csv", "h.md"].map(|name| folder.name(name));
    let options =
        format!("-r 3 -n first -u second --export-json {json} --export-csv {csv} --export-markdown {markdown} true");
    if measured(&with(&options, &["sleep 0.01"])).is_none() {
        return;
    }
    let value: serde_json::Value = serde_json::from_str(&folder.read("h.json")).unwrap();
    let of = |i: usize| value["results"][i]["command"].as_str();
    assert_eq!((of(0), of(1)), (Some("first"), Some("sleep 0.01")));
    assert!(
        folder
            .read("h.csv")
            .starts_with("command,mean,stddev,median,user,system,min,max\nfirst,")
    );
    assert!(
        folder.read("h.md").starts_with("| Command | Mean [s] |"),
        "{}",
        folder.read("h.md")
    );
}

/// A sleep has wall time and no other.
#[test]
fn verdicts_are_about_the_time_that_is_asked_for_and_all_are_shown() {
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let folder = Folder::new();
    let json = folder.name("r.json");
    let options = format!("-r 6 --by user --json {json} -n sleep -n busy");
    let Some(output) = measured(&with(&options, &["sleep 0.15", busy])) else {
        return;
    };
    let r = record::load(&folder.path("r.json")).unwrap();
    let e = &r.experiments[0];
    assert_eq!(e.timing.as_ref().unwrap().by, "user");
    let [sleep, busy] = &e.variants[..] else { panic!() };
    assert!(sleep.metrics["wall"].samples.iter().all(|wall| *wall >= 0.15) && sleep.median < 0.1);
    assert_eq!(busy.samples, busy.metrics["user"].samples);
    let kinds: Vec<&str> = e.comparisons[0]
        .quantities
        .iter()
        .map(|q| q.quantity.as_str())
        .collect();
    // User time may be counted in ticks of the clock, and then a sleep has none to divide by.
    assert!(kinds.contains(&"wall"), "{kinds:?}");
    let table = text(&output.stdout);
    assert_says!(table, " of user time, ", "wall ");
}

#[test]
fn times_have_the_unit_that_fits_or_that_is_asked_for() {
    let unit = |args: &[&str]| {
        let table = text(&measured(&[args, &["-r", "2", "sleep 0.03"]].concat())?.stdout);
        let line = table.lines().find(|line| line.contains(" of wall time")).unwrap();
        Some(line.split(' ').next().unwrap().to_owned())
    };
    for (args, expected) in [
        (&[][..], "ms"),
        (&["-u", "second"], "s"),
        (&["-u", "microsecond"], "µs"),
    ] {
        assert!(unit(args).is_none_or(|unit| unit == expected), "{args:?}");
    }
}
