//! The scripts as an administrator reads them; shells accept them; words survive every quoting.

use super::*;
use crate::record::Tool;
use crate::record::plan::SCHEMA;
use crate::record::simulation::testing;
use std::process::{Command, Stdio};

fn tool() -> Tool {
    Tool {
        version: "0.1.0".to_owned(),
        commit: None,
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn sweep(shards: u32) -> Plan {
    let sweep = testing::sweep(&[1, 28, 224]);
    Plan {
        schema: SCHEMA.to_owned(),
        tool: tool(),
        command: words("simulate lockref --machine thunderx2 --threads 1..224 --retry-limit 15,100,none"),
        work: Work::Sweep {
            shards,
            points: sweep.points(),
            sweep: Box::new(sweep),
        },
    }
}

fn records(nodes: Option<u32>) -> Plan {
    Plan {
        schema: SCHEMA.to_owned(),
        tool: tool(),
        command: words("run lock-prefix --quick"),
        work: Work::Records { nodes },
    }
}

fn launch(program: &str, key: Option<&'static str>) -> Launch {
    Launch {
        program: program.to_owned(),
        options: words("--partition=batch --cpus-per-task=8"),
        join_options: words("--partition=batch"),
        key,
    }
}

fn all() -> Vec<(String, String)> {
    let jobs = [
        ("sweep", sweep(64), launch("/opt/cyclewise", None)),
        (
            "long sweep",
            sweep(2500),
            launch("/opt/it's \"$HOME\" %a/cyclewise", None),
        ),
        ("records", records(Some(4)), launch("/opt/cyclewise", None)),
        (
            "anonymous",
            records(None),
            launch("/opt/cyclewise", Some("anonymous.key")),
        ),
    ];
    let of = |(job, plan, launch): &(&str, Plan, Launch)| {
        let files = files(plan, launch).unwrap();
        let named = move |(name, text): (&str, String)| (format!("{job}/{name}"), text);
        files.into_iter().map(named).collect::<Vec<_>>()
    };
    jobs.iter().flat_map(of).collect()
}

#[test]
fn the_files_as_people_read_them() {
    let all = all();
    let mut differences = String::new();
    // The plan has a whole machine; others read it.
    for (name, text) in all.iter().filter(|(name, _)| !name.ends_with(".json")) {
        let (job, file) = name.split_once('/').unwrap();
        let plain = match job {
            "long sweep" => format!("sweep/{file}"),
            "anonymous" => format!("records/{file}"),
            _ => {
                insta::assert_snapshot!(name.replace(['/', '.'], "_"), text);
                continue;
            }
        };
        let (_, plain) = all.iter().find(|(name, _)| *name == plain).unwrap();
        for (sign, from, to) in [('-', plain, text), ('+', text, plain)] {
            for line in from.lines().filter(|line| to.lines().all(|other| other != *line)) {
                differences += &format!("{name}: {sign} {line}\n");
            }
        }
    }
    insta::assert_snapshot!("differences", differences);
}

#[test]
fn shells_accept_the_scripts() {
    for (shell, arguments) in [
        ("sh", &["-n"][..]),
        ("bash", &["-n"]),
        ("shellcheck", &["-s", "sh", "-"]),
    ] {
        if Command::new(shell)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_err()
        {
            println!("skipped: {shell} is not installed");
            continue;
        }
        for (name, text) in all() {
            if name.ends_with(".json") {
                continue;
            }
            let (said, good) = run(shell, arguments, &text);
            assert!(good, "{shell}: {name}: {said}\n{text}");
        }
        let (_, good) = run(shell, arguments, "if true; then echo\n");
        assert!(!good, "{shell} accepts what is no script");
    }
}

/// What a program says of a text, and whether it accepts it.
fn run(program: &str, arguments: &[&str], text: &str) -> (String, bool) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, text).unwrap();
    let output = Command::new(program)
        .args(arguments)
        .stdin(std::fs::File::open(&script).unwrap())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&said).into_owned(), output.status.success())
}

/// Words that a shell would change.
const ODD: &[&str] = &[
    "",
    "a b",
    "it's",
    "\"$HOME\"",
    "$(id)",
    "`id`",
    "-n",
    "--",
    "%a%%j",
    "*",
    "~",
    "\\",
    "a\\'b",
    "#x",
    "é ü",
    "a;b&c|d>e",
    "!x",
];

#[test]
fn a_shell_reads_the_words_as_they_are() {
    for word in ODD {
        let line = command_line(["printf", "%s.", word]).unwrap();
        let output = Command::new("sh").arg("-c").arg(&line).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{word}."), "{line}");
    }
    for bad in ["a\nb", "\u{1b}[2J", "a\0b", "\u{9b}x"] {
        let error = command_line([bad]).unwrap_err().message;
        assert!(!error.contains(char::is_control), "{error:?}");
        assert_says!(error, "control character");
    }
}

/// The words of a line of options as sbatch reads them: `get_argument` of Slurm 22.05, in its order of cases.
fn as_sbatch_reads(line: &str) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let (mut at, mut words) = (0, Vec::new());
    loop {
        while chars.get(at).is_some_and(|c| c.is_whitespace()) {
            at += 1;
        }
        let (mut word, mut escape, mut quote) = (None::<String>, false, None);
        while let Some(&c) = chars.get(at) {
            if quote.is_none() && c.is_whitespace() {
                break;
            }
            if escape {
                escape = false;
            } else if c == '\\' {
                escape = true;
                at += 1;
                continue;
            } else if quote.is_some() {
                if quote == Some(c) {
                    quote = None;
                    at += 1;
                    continue;
                }
            } else if c == '"' || c == '\'' {
                quote = Some(c);
                at += 1;
                continue;
            } else if c == '#' {
                at = chars.len();
                break;
            }
            word.get_or_insert_default().push(c);
            at += 1;
        }
        assert_eq!(quote, None, "unmatched quote in {line}");
        match word {
            Some(word) => words.push(word),
            None => return words,
        }
    }
}

#[test]
fn sbatch_reads_the_options_as_they_are() {
    for value in ODD.iter().filter(|value| !value.is_empty()) {
        let option = format!("--comment={value}");
        assert_eq!(
            as_sbatch_reads(&directive(&option)),
            [&*option],
            "{}",
            directive(&option)
        );
        let pair = format!("-J {value}");
        assert_eq!(
            as_sbatch_reads(&directive(&pair)),
            ["-J", value],
            "{}",
            directive(&pair)
        );
    }
    // As they are, the same values are read otherwise.
    assert_ne!(as_sbatch_reads("--comment=a b"), ["--comment=a b"]);
    assert_ne!(as_sbatch_reads("--comment=#x"), ["--comment=#x"]);
}
