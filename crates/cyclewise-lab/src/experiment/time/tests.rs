//! Real commands, good and bad.

use super::*;
use crate::error::Status;

fn named(text: &str) -> Named {
    Named {
        text: text.to_string(),
        ..Named::default()
    }
}

fn subject(text: &str, opts: &TimeOptions) -> Box<dyn Sampler> {
    setup(&[named(text)], opts).unwrap().setup.samplers.remove(0)
}

fn failure(text: &str, opts: &TimeOptions) -> String {
    let error = subject(text, opts).sample().unwrap_err();
    assert_eq!(error.status, Status::CheckFailed);
    error.message
}

#[test]
fn work_is_counted_as_user_time() {
    let busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let sample = subject(busy, &TimeOptions::default()).sample().unwrap();
    let (.., user) = sample.metrics.iter().find(|m| m.0 == "user").unwrap();
    assert!(*user > 0.0 && *user <= sample.value + 0.01); // the kernel's accounting may round up by a tick
}

#[test]
fn failures_say_how_when_and_what_was_printed() {
    let opts = TimeOptions {
        runs: Some(20),
        ..TimeOptions::default()
    };
    let prepared = TimeOptions {
        prepare: vec!["echo no disk >&2; false".to_string()],
        ..opts.clone()
    };
    let direct = TimeOptions {
        shell: Shell::None,
        ..TimeOptions::default()
    };
    let warm = TimeOptions {
        warmup: 2,
        ..TimeOptions::default()
    };
    let all = [
        failure("echo one; echo two >&2; exit 3", &opts),
        failure("seq 1 100; printf '\\033[2J\\377'; exit 1", &opts),
        failure("false", &direct),
        failure("kill -SEGV $$", &opts),
        failure("(exit 139)", &opts),
        failure("exec 2>/dev/null; no-such-command-at-all", &opts),
        failure("true", &prepared),
        failure("exit 4", &warm),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    command 'echo one; echo two >&2; exit 3' exited with status 3 (run 1 of 20); if that is expected, use --ignore-failure; run once more, its output ended:
        one
        two
    command 'seq 1 100; printf '\033[2J\377'; exit 1' exited with status 1 (run 1 of 20); if that is expected, use --ignore-failure; run once more, its output ended:
        92
        93
        94
        95
        96
        97
        98
        99
        100
        \u{1b}[2J�
    command 'false' exited with status 1 (run 1); if that is expected, use --ignore-failure; run once more, it printed nothing
    command 'kill -SEGV $$' was killed by signal 11 (SIGSEGV) (run 1 of 20); if that is expected, use --ignore-failure; run once more, it printed nothing
    command '(exit 139)' exited with status 139, a shell's status for signal 11 (SIGSEGV) (run 1 of 20); if that is expected, use --ignore-failure; run once more, it printed nothing
    command 'exec 2>/dev/null; no-such-command-at-all' exited with status 127, a shell's status for a command that is not found (run 1 of 20); if that is expected, use --ignore-failure; run once more, it printed nothing
    prepare command 'echo no disk >&2; false' exited with status 1 before run 1 of 20 of 'true'; run once more, its output ended:
        no disk
    command 'exit 4' exited with status 4 (warm-up run 1 of 2); if that is expected, use --ignore-failure; run once more, it printed nothing
    ");
}

#[test]
fn a_later_run_is_numbered() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("cd '{}' && mkdir a || mkdir b || exit 9", dir.path().display());
    let mut subject = subject(&text, &TimeOptions::default());
    subject.sample().unwrap();
    subject.sample().unwrap();
    assert!(subject.sample().unwrap_err().message.contains("status 9 (run 3)"));
}

#[test]
fn a_failure_may_be_ignored_but_not_that_of_the_prepare_command() {
    let mut opts = TimeOptions {
        tolerate: Tolerate::All,
        ..TimeOptions::default()
    };
    assert!(subject("exit 3", &opts).sample().is_ok());
    opts.prepare = vec!["exit 3".to_string()];
    assert!(failure("true", &opts).contains("prepare command"));
}

#[test]
fn bad_input_is_wrong_use() {
    let direct = TimeOptions {
        shell: Shell::None,
        ..TimeOptions::default()
    };
    let no_prepare = TimeOptions {
        prepare: vec![" ".to_string()],
        ..TimeOptions::default()
    };
    let shell = TimeOptions::default();
    let bad: [(&[&str], &TimeOptions); 6] = [
        (&[], &shell),
        (&["true", " "], &shell),
        (&["a\0b"], &shell),
        (&["echo 'open"], &direct),
        (&["# only a comment"], &direct),
        (&["true"], &no_prepare),
    ];
    let mut messages = Vec::new();
    for (commands, opts) in bad {
        let commands: Vec<Named> = commands.iter().map(|text| named(text)).collect();
        let error = setup(&commands, opts).err().unwrap();
        assert_eq!(error.status, Status::Usage);
        messages.push(error.message);
    }
    insta::assert_snapshot!(messages.join("\n"), @r##"
    time: give at least one command, each quoted as one argument
    time: the command " " is empty; give a command, quoted as one argument
    time: the command "a\0b" has a NUL byte, which no command can have; remove it
    time: the command "echo 'open" has a quote or a backslash without its end; close it
    time: the command "# only a comment" names no program; give one, or let a shell run it
    time: the prepare command " " is empty; give a command, quoted as one argument
    "##);
}

#[test]
fn equal_commands_get_names_of_their_own_and_all_are_held_against_the_first() {
    let commands = ["true", "true", "true #2", "false", "true"].map(named);
    assert_eq!(names(&commands), ["true", "true #3", "true #2", "false", "true #4"]);
    let setup = setup(&commands, &TimeOptions::default()).unwrap().setup;
    assert_eq!(setup.compare, [(1, 0), (2, 0), (3, 0), (4, 0)]);
    assert_eq!(setup.control, Control::Split(0));
}
