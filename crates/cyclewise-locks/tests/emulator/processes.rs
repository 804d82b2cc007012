//! Processes that fork, execute others and are ended: each image is counted, and the program sees nothing of it.

use crate::common::{compiled, copy_executable, count, count_with, offset_of, symbols, write_executable};
use cyclewise_locks::counts::{Counts, End, Process};
use cyclewise_locks::emulator::{Emulator, Settings};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

/// The program of these tests, where it can be run.
struct Program {
    emulator: Emulator,
    folder: tempfile::TempDir,
    path: PathBuf,
    site: u64,
}

fn program() -> Option<Program> {
    let (emulator, folder, path) = compiled("processes.c", &[])?;
    let site = symbols(&path)["site_own"];
    Some(Program {
        emulator,
        folder,
        path,
        site,
    })
}

impl Program {
    /// Executions of the program's site by an image.
    fn own(&self, process: &Process) -> u64 {
        let path = std::fs::canonicalize(&self.path).unwrap();
        let sites = process.sites.iter().filter(|site| {
            let file = site.mapping.map(|m| &process.mappings[m as usize].path);
            file == Some(&path) && offset_of(process, site) == Some(self.site)
        });
        sites.map(cyclewise_locks::counts::Site::total).sum()
    }

    /// Each image: executions of the site, and how it ended.
    fn images(&self, counts: &Counts) -> Vec<(u64, End)> {
        counts.processes.iter().map(|p| (self.own(p), p.end)).collect()
    }

    fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

#[test]
fn forks() {
    let Some(program) = program() else { return };
    let (_, counts) = count(&program.emulator, &program.path, &["fork"]);
    let mut images = program.images(&counts);
    images.sort_by_key(|(n, _)| *n);
    // A child has the counts that came after the fork.
    assert_eq!(images, [(20, End::Exited), (30, End::Exited), (50, End::Exited)]);
    let [first, child, grandchild] = &counts.processes[..] else {
        panic!("three images")
    };
    assert_eq!(
        (first.parent, child.parent, grandchild.parent),
        (None, Some(first.pid), Some(child.pid))
    );
    assert_eq!(child.arguments, ["fork"]);
    assert_eq!(child.threads[0].name, "processes");
    assert_eq!(child.threads[0].tid, child.pid);
}

#[test]
fn vfork_and_exec_of_itself() {
    let Some(program) = program() else { return };
    let (output, counts) = count_with(&program.emulator, &Settings::default(), &program.path, &["vfork"]);
    assert_eq!(output.status.code(), Some(3), "the child's status");
    assert_eq!(
        program.images(&counts),
        [(5, End::Exited), (0, End::Executed), (7, End::Exited)]
    );
    let [first, before, after] = &counts.processes[..] else {
        panic!("three images")
    };
    assert_eq!((before.pid, before.parent), (after.pid, after.parent));
    assert_eq!(after.parent, Some(first.pid));
    // What /proc/self/exe is for the program, not for the emulator.
    assert_eq!(after.program, std::fs::canonicalize(&program.path).unwrap());
    assert_eq!(after.arguments, ["own", "7", "3"]);
}

#[test]
fn posix_spawn() {
    let Some(program) = program() else { return };
    let (output, counts) = count_with(&program.emulator, &Settings::default(), &program.path, &["spawn"]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(
        program.images(&counts),
        [(6, End::Exited), (0, End::Executed), (8, End::Exited)]
    );
}

#[test]
fn a_chain_of_programs() {
    let Some(program) = program() else { return };
    let (output, counts) = count_with(&program.emulator, &Settings::default(), &program.path, &["chain", "4"]);
    assert_eq!(output.status.code(), Some(5));
    let executed: Vec<u64> = counts.processes.iter().map(|p| program.own(p)).collect();
    assert_eq!(executed, [4, 3, 2, 1, 0]);
    assert!(counts.processes.iter().all(|p| p.pid == counts.processes[0].pid));
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    write_executable(&path, text);
    path
}

#[test]
fn scripts_of_scripts() {
    let Some(program) = program() else { return };
    let inner = format!("#!{} environment\n", program.name());
    let inner = script(program.folder.path(), "inner", &inner);
    let outer = script(program.folder.path(), "outer", &format!("#! {} \n", inner.display()));
    // By the command itself, and by a program that is counted.
    let (first, _) = count(&program.emulator, &outer, &["LANG"]);
    let (second, counts) = count(
        &program.emulator,
        &program.path,
        &["exec", outer.to_str().unwrap(), "x", "LANG"],
    );
    let native = std::process::Command::new(&outer).arg("LANG").output().unwrap();
    let native = String::from_utf8(native.stdout).unwrap();
    assert_eq!((first.as_str(), second.as_str()), (native.as_str(), native.as_str()));
    assert_eq!(program.images(&counts), [(1, End::Executed), (1, End::Exited)]);
    assert_eq!(
        counts.processes[1].program,
        std::fs::canonicalize(&program.path).unwrap()
    );
}

#[test]
fn errors_are_the_kernels() {
    let Some(program) = program() else { return };
    let folder = program.folder.path();
    let not_executable = folder.join("text");
    std::fs::write(&not_executable, "text").unwrap();
    let bad_interpreter = script(folder, "bad", "#!/no/such\n");
    let no_format = script(folder, "none", "text");
    let loops = script(folder, "loops", &format!("#!{}\n", folder.join("loops").display()));
    for path in [
        Path::new("/no/such"),
        folder,
        &not_executable,
        &bad_interpreter,
        &no_format,
        &loops,
    ] {
        let arguments = ["exec", path.to_str().unwrap(), "x"];
        let (said, counts) = count(&program.emulator, &program.path, &arguments);
        let native = std::process::Command::new(&program.path)
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(said, String::from_utf8(native.stdout).unwrap(), "{}", path.display());
        assert_eq!(program.images(&counts), [(1, End::Exited)]);
    }
}

#[test]
fn relative_paths_and_names_that_look_like_options() {
    let Some(program) = program() else { return };
    let copy = program.folder.path().join("-0");
    copy_executable(&program.path, &copy);
    let folder = cyclewise_locks::emulator::prepare_folder(&program.emulator, &Settings::default()).unwrap();
    let runner = folder.runner().unwrap();
    let words = |words: &[&str]| words.iter().map(std::ffi::OsString::from).collect::<Vec<_>>();
    let arguments = words(&["exec", "-0", "any name", "environment", "HOME"]);
    let mut command = runner.command(program.path.as_os_str(), &arguments).unwrap();
    let output = command.current_dir(program.folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.ends_with("\nany name\n"), "{said}");
    let counts = cyclewise_locks::emulator::collect(folder.path()).unwrap();
    assert_eq!(counts.processes[1].program, std::fs::canonicalize(&copy).unwrap());
}

#[test]
fn execveat() {
    let Some(program) = program() else { return };
    let folder = program.folder.path().to_str().unwrap();
    for (base, name, flags) in [(folder, "processes", "0"), (program.name(), "", "4096")] {
        let arguments = ["execat", base, name, flags, "x", "own", "9"];
        let (_, counts) = count(&program.emulator, &program.path, &arguments);
        assert_eq!(
            program.images(&counts),
            [(1, End::Executed), (9, End::Exited)],
            "{base} {name}"
        );
    }
}

#[test]
fn variables_reach_the_program_and_not_the_emulator() {
    let Some(program) = program() else { return };
    // Each would change what the emulator does, or end it.
    let variables = [
        ("QEMU_STRACE", "1"),
        ("QEMU_CPU", "no-such"),
        ("LD_BIND_NOW", "1"),
        ("LD_LIBRARY_PATH", "/no/such"),
        ("PLAIN", "a,b c"),
    ];
    let names: Vec<&str> = variables.iter().map(|v| v.0).collect();
    let mut arguments = vec!["-c", "exec \"$0\" environment \"$@\"", program.name()];
    arguments.extend(&names);
    let assignments: Vec<String> = variables.iter().map(|(n, v)| format!("export {n}='{v}'")).collect();
    let line = format!("{}; {}", assignments.join("; "), arguments[1]);
    arguments[1] = &line;
    let (said, counts) = count(&program.emulator, "/bin/sh", &arguments);
    let expected: Vec<String> = variables.iter().map(|(n, v)| format!("{n}={v}\n")).collect();
    assert_eq!(said, format!("{}{}\n", expected.concat(), program.name()));
    assert_eq!(counts.processes.len(), 2);
}

#[test]
fn a_variable_that_cannot_be_handed_on_is_told() {
    let Some(program) = program() else { return };
    let line = format!("LD_DEBUG=a,b exec {} own 1", program.name());
    let (output, counts) = count_with(&program.emulator, &Settings::default(), "/bin/sh", &["-c", &line]);
    assert!(output.status.success(), "it ran all the same");
    let expected = format!(
        "not counted: {}: the variable LD_DEBUG has a comma, and the emulator cannot hand that on",
        program.name()
    );
    assert_eq!(counts.missing, [expected]);
}

#[test]
fn programs_that_close_all_descriptors() {
    let Some(program) = program() else { return };
    let (_, counts) = count(&program.emulator, &program.path, &["closed"]);
    assert_eq!(
        program.images(&counts),
        [(24, End::Executed), (12, End::Exited), (14, End::Exited)]
    );
}

#[test]
fn a_limit_of_images() {
    let Some(program) = program() else { return };
    let settings = Settings {
        images: 4,
        ..Settings::default()
    };
    let (output, counts) = count_with(&program.emulator, &settings, &program.path, &["children", "20"]);
    assert_eq!(output.stdout, b"0\n", "the program does not notice");
    assert_eq!(counts.processes.len(), 4);
    assert_eq!(counts.missing, ["not counted: 17 process images beyond the limit of 4"]);
    // What is executed beyond it runs without the emulator.
    let settings = Settings {
        images: 1,
        ..Settings::default()
    };
    let (output, counts) = count_with(&program.emulator, &settings, &program.path, &["chain", "3"]);
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(program.images(&counts), [(3, End::Executed)]);
    assert_eq!(counts.missing, ["not counted: 1 process images beyond the limit of 1"]);
}

#[test]
fn signals_and_deaths_by_them() {
    let Some(program) = program() else { return };
    let (_, counts) = count(&program.emulator, &program.path, &["handler"]);
    assert_eq!(program.images(&counts), [(8, End::Exited)]);
    for signal in [9, 11, 6, 15] {
        let arguments = ["die", &signal.to_string()];
        let (output, counts) = count_with(&program.emulator, &Settings::default(), &program.path, &arguments);
        assert_eq!(output.status.signal(), Some(signal));
        assert_eq!(program.images(&counts), [(21, End::Unknown)], "signal {signal}");
        let fault = symbols(&program.path)["site_fault"];
        let process = &counts.processes[0];
        let faulted = process.sites.iter().filter(|s| offset_of(process, s) == Some(fault));
        assert_eq!(faulted.map(|s| s.total()).sum::<u64>(), 0, "it was not executed");
    }
}

#[test]
fn programs_that_cannot_be_counted_run_all_the_same() {
    let Some(program) = program() else { return };
    let setuid = program.folder.path().join("setuid");
    copy_executable(&program.path, &setuid);
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&setuid, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let arguments = ["exec", setuid.to_str().unwrap(), "x", "own", "1", "42"];
    let (output, counts) = count_with(&program.emulator, &Settings::default(), &program.path, &arguments);
    assert_eq!(output.status.code(), Some(42));
    let expected = format!(
        "not counted: {}: it is setuid or setgid, and the emulator cannot give it those rights",
        setuid.display()
    );
    assert_eq!(counts.missing, [expected]);
}
