//! What a run says where it cannot be, or ends before its time: one line, and the counts so far.

use crate::common::long::short_or_long;
use crate::common::signals::with_default_signals;
use crate::common::{compile, compiled, count_with, symbols, total, write_executable};
use cyclewise_locks::counts::{Arch, Counts};
use cyclewise_locks::emulator::{Emulator, Launch, Ran, Settings, check_program, find, run};
use cyclewise_locks::error::Status;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Set in a process that the tests start to call [`run`]: the program and its arguments, a line each.
const LAUNCH: &str = "CYCLEWISE_TEST_LAUNCH";

/// In such a process: runs the program, and prints its status and its counts. In others it finds nothing to do.
#[test]
fn run_for_another_test() {
    let Ok(words) = std::env::var(LAUNCH) else {
        assert!(std::env::var_os(LAUNCH).is_none());
        return;
    };
    let mut words = words.lines().map(OsString::from);
    let result = find(Arch::X86_64).and_then(|emulator| {
        run(&Launch {
            program: words.next().unwrap(),
            arguments: words.collect(),
            emulator,
            settings: Settings::default(),
        })
    });
    match result {
        Ok(Ran { status, counts, .. }) => println!(
            "\nresult: {} {}",
            status.into_raw(),
            serde_json::to_string(&counts).unwrap()
        ),
        Err(error) => println!("\nerror: {error}"),
    }
}

/// A process that runs a program by [`run`], with signals as at a terminal.
fn command(words: &[&str]) -> Command {
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args(["--exact", "failures::run_for_another_test", "--nocapture"])
        .env(LAUNCH, words.join("\n"));
    let mut command = with_default_signals(&this);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Its status as the kernel has it, and the counts; or its error.
fn result(said: &str) -> Result<(i32, Counts), String> {
    if let Some(error) = said.lines().find_map(|l| l.strip_prefix("error: ")) {
        return Err(error.to_owned());
    }
    let line = said.lines().find_map(|l| l.strip_prefix("result: "));
    let (status, counts) = line.unwrap_or_else(|| panic!("{said}")).split_once(' ').unwrap();
    Ok((status.parse().unwrap(), serde_json::from_str(counts).unwrap()))
}

fn output(mut command: Command) -> Result<(i32, Counts), String> {
    let output = command.output().unwrap();
    result(&String::from_utf8_lossy(&output.stdout))
}

/// Starts a program that waits for a signal, and reads until it does.
fn waiting(program: &Path, temporary: &Path, group: bool) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = command(&[program.to_str().unwrap(), "wait"]);
    command.env("TMPDIR", temporary);
    if group {
        command.process_group(0);
    }
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim() != "waiting" {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "it ended before it waited");
    }
    (child, said)
}

fn send(signal: &str, target: &str) {
    let status = Command::new("kill").args([signal, "--", target]).status().unwrap();
    assert!(status.success());
}

#[test]
fn signals_are_the_programs() {
    let Some((_, _folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let site = symbols(&program)["site_own"];
    // A terminal sends to the group; others send to the command alone.
    for (signal, number, group) in [("-INT", 2, true), ("-TERM", 15, false), ("-HUP", 1, false)] {
        let temporary = tempfile::tempdir().unwrap();
        let (mut child, mut said) = waiting(&program, temporary.path(), true);
        let target = child.id().to_string();
        send(signal, &if group { format!("-{target}") } else { target });
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        let ended = child.wait().unwrap();
        assert!(ended.success(), "{signal}: the command itself goes on: {ended}: {rest}");
        let (status, counts) = result(&rest).unwrap();
        assert_eq!(
            std::process::ExitStatus::from_raw(status).signal(),
            Some(number),
            "{signal}"
        );
        let executed: u64 = crate::common::sites_at(&counts.processes[0], site)
            .map(|s| s.total())
            .sum();
        assert_eq!(executed, 22, "{signal}: the counts so far");
        let left = std::fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(left, 0, "{signal}: the run's folder is removed");
    }
}

/// A small disk; it is unmounted whatever becomes of the test.
struct Disk(tempfile::TempDir);

impl Disk {
    fn mounted(option: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", option, "tmpfs"]).arg(folder.path());
        let is_mounted = mount.stderr(Stdio::null()).status().is_ok_and(|s| s.success());
        is_mounted.then_some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A folder that is still a disk cannot be removed, and is left for people to see.
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_disk_that_is_full() {
    let Some((_, _folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let mut outcomes = Vec::new();
    // No room for the plugin; room for it, and not for counts; room for those of the first image only.
    for size in ["size=100k", "size=604k", "size=864k"] {
        let Some(disk) = Disk::mounted(size) else {
            println!("skipped: only root may mount a small disk");
            return;
        };
        let mut run = command(&[program.to_str().unwrap(), "children", "3"]);
        run.env("TMPDIR", disk.0.path());
        outcomes.push(output(run));
    }
    let advice = "No space left on device (os error 28); make room there, or set TMPDIR to another folder";
    let [none, plugin_only, some] = &outcomes[..] else {
        panic!("three")
    };
    let none = none.as_ref().unwrap_err();
    assert!(none.starts_with("cannot write /") && none.ends_with(advice), "{none}");
    let plugin_only = plugin_only.as_ref().unwrap_err();
    assert!(
        plugin_only.contains("no file for the counts can be made in") && plugin_only.ends_with(advice),
        "{plugin_only}"
    );
    let (status, counts) = some.as_ref().unwrap();
    assert_eq!(*status, 0, "the program does not notice");
    assert!(total(&counts.processes[0]) > 0);
    assert_eq!(
        counts.missing,
        [
            "not counted: 3 process images, for which no file of counts could be made: No space left on device (os error 28)"
        ]
    );
}

#[test]
fn a_file_that_may_not_grow() {
    let Some((emulator, folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let Some(words) = compile(folder.path(), "million_words.c", &[]) else {
        return;
    };
    // The shell lowers the limit: first below a file of counts, then below what the words take.
    for limit in [0, 100] {
        let line = format!("ulimit -f {limit}; exec {} own 5", program.display());
        let (output, counts) = count_with(&emulator, &Settings::default(), "/bin/bash", &["-c", &line]);
        assert!(output.status.success(), "{output:?}");
        let expected =
            "not counted: 1 process images, for which no file of counts could be made: File too large (os error 27)";
        assert_eq!(counts.missing, [expected]);
    }
    let line = format!("ulimit -f 4000; exec {} 100000", words.display());
    let (output, counts) = count_with(&emulator, &Settings::default(), "/bin/bash", &["-c", &line]);
    assert!(output.status.success(), "{output:?}");
    let [missing] = &counts.missing[..] else {
        panic!("{:?}", counts.missing)
    };
    assert!(missing.contains("could not grow: File too large"), "{missing}");
}

#[test]
fn programs_that_cannot_be_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8], mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let elf = |class: u8, machine: u16| {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes[4] = class;
        bytes.resize(18, 0);
        bytes.extend(machine.to_le_bytes());
        bytes.resize(64, 0);
        bytes
    };
    let cases = [
        (file("text", b"text", 0o644), "it is not executable"),
        (
            file("x", b"text", 0o755),
            "it is neither an ELF program nor a script that begins with #!",
        ),
        (
            file("empty", b"", 0o755),
            "it is neither an ELF program nor a script that begins with #!",
        ),
        (file("narrow", &elf(1, 3), 0o755), "it is a 32-bit program"),
        (file("arm", &elf(2, 183), 0o755), "it is a program for AArch64"),
        (
            file("risc", &elf(2, 243), 0o755),
            "it is a program for another architecture (ELF machine 243)",
        ),
        (
            file("setuid", &elf(2, 62), 0o4755),
            "it is setuid or setgid, and the emulator cannot give it those rights",
        ),
        (
            file("script", b"#!/no/such/interpreter -x\n", 0o755),
            "its #! line names /no/such/interpreter: there is no such file",
        ),
        (folder.path().join("absent"), "there is no such file"),
        (folder.path().to_owned(), "it is a directory"),
    ];
    for (path, why) in cases {
        let error = check_program(path.as_os_str(), Arch::X86_64, None).unwrap_err();
        assert_eq!(error.message, format!("cannot count {}: {why}", path.display()));
        assert_eq!(error.status, Status::Usage);
    }
    let error = check_program("no-such-program-anywhere".as_ref(), Arch::X86_64, None).unwrap_err();
    assert_eq!(
        error.message,
        "cannot count no-such-program-anywhere: no such program in PATH"
    );
    let good = file("good", &elf(2, 62), 0o755);
    assert_eq!(check_program(good.as_os_str(), Arch::X86_64, None), Ok(good));
}

#[test]
fn file_capabilities() {
    let Some((_, _folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let given = Command::new("setcap").arg("cap_net_raw=ep").arg(&program).status();
    if !given.is_ok_and(|s| s.success()) {
        println!("skipped: no setcap that gives a file capabilities");
        return;
    }
    let error = check_program(program.as_os_str(), Arch::X86_64, None).unwrap_err();
    assert!(
        error.message.contains("it has file capabilities (see getcap)"),
        "{error}"
    );
}

#[test]
fn an_emulator_that_does_not_start_the_program() {
    let Some((mut emulator, folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let launch = |emulator: &Emulator, program: &Path| Launch {
        program: program.into(),
        arguments: vec!["own".into(), "1".into()],
        emulator: emulator.clone(),
        settings: Settings::default(),
    };
    let Ran { status, counts, .. } = run(&launch(&emulator, &program)).unwrap();
    assert!(status.success());
    assert!(total(&counts.processes[0]) > 0);
    // A header and nothing behind it.
    let broken = folder.path().join("broken");
    write_executable(&broken, &std::fs::read(&program).unwrap()[..2000]);
    let error = run(&launch(&emulator, &broken)).unwrap_err();
    assert!(error.message.contains("before the first instruction"), "{error}");
    emulator.cpu = Some("no-such".to_owned());
    let error = run(&launch(&emulator, &program)).unwrap_err();
    assert_eq!(error.status, Status::Unsupported);
    assert!(error.message.contains("did not run"), "{error}");
    emulator.path = folder.path().join("absent");
    let error = run(&launch(&emulator, &program)).unwrap_err();
    assert!(error.message.starts_with("cannot start "), "{error}");
}

#[test]
fn a_folder_from_which_nothing_is_loaded() {
    let Some((_, _folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let Some(disk) = Disk::mounted("size=2m,noexec") else {
        println!("skipped: only root may mount a small disk");
        return;
    };
    let mut run = command(&[program.to_str().unwrap(), "own", "1"]);
    run.env("TMPDIR", disk.0.path());
    let error = output(run).unwrap_err();
    assert!(
        error.ends_with("which is on a file system mounted noexec; set TMPDIR to a folder on another"),
        "{error}"
    );
}

#[test]
fn a_program_that_removes_the_folder() {
    let Some((_, _folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let temporary = tempfile::tempdir().unwrap();
    let line = format!(
        "rm -rf '{}'/*; {} own 1 42",
        temporary.path().display(),
        program.display()
    );
    let mut run = command(&["/bin/sh", "-c", &line]);
    run.env("TMPDIR", temporary.path());
    let (status, counts) = output(run).unwrap();
    assert_eq!(
        std::process::ExitStatus::from_raw(status).code(),
        Some(42),
        "the program's status"
    );
    assert_eq!(counts.processes, []);
    assert!(counts.missing[0].contains("the run's folder was removed while the program ran"));
}

#[test]
fn a_signal_at_any_time_leaves_nothing_behind() {
    let Some((_, _folder, program)) = compiled("processes.c", &[]) else {
        return;
    };
    let rounds = short_or_long(8, 24);
    for round in 0..rounds {
        let temporary = tempfile::tempdir().unwrap();
        let mut run = command(&[program.to_str().unwrap(), "wait"]);
        let mut child = run.env("TMPDIR", temporary.path()).process_group(0).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(round * 192 / rounds));
        // An emulator that is just starting may lose a signal; then a user presses the keys again.
        let mut ends = || {
            send("-INT", &format!("-{}", child.id()));
            (0..1000).find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                child.try_wait().unwrap()
            })
        };
        let status = (0..6).find_map(|_| ends()).expect("it ends by the signal");
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        // Either the command ended by it before there was a program, or the program did and the command tells.
        let program = said.lines().any(|l| l.starts_with("result: 2 "));
        assert!(status.signal() == Some(2) || program, "round {round}: {status}: {said}");
        let left = std::fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(left, 0, "round {round}");
    }
}
