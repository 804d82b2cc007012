//! The programs, and what each is timed as.
//!
//! To add one: a row here, its source or script in `programs/`, and output that is the same at each run, which tells a copy that works from
//! one that does not. A run takes 0.15 to 0.3 s (README).

/// How a program comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// An example of a package of this tree.
    Example {
        package: &'static str,
        name: &'static str,
    },
    /// Compiled from a file of `programs/`.
    Cpp(&'static str),
    Go(&'static str),
    /// Installed on this machine.
    Installed(&'static str),
}

/// How it loses LOCK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    /// By itself: it is told to.
    Mode,
    /// As a copy, with copies of its libraries, that `elide` made.
    Copies,
}

impl Twin {
    /// What it is called in rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Copies => "copies",
        }
    }
}

/// A program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) source: Source,
    pub(super) twin: Twin,
    /// Assignments for its environment. In these and in the command, `{side}` is `locked` or `elided`, `{home}` the folder above that of an
    /// installed program, and `{port}` a free port.
    pub(super) environment: &'static [&'static str],
    /// What is run, in the folder where the files are.
    pub(super) command: &'static str,
    /// Files of `programs/` that it reads: their names and what is in them.
    pub(super) files: &'static [(&'static str, &'static str)],
}

/// Where copies find their libraries. Both sides have all of them, so that nothing but prefixes differs.
const LIBRARIES: &str = "LD_LIBRARY_PATH={side}";

/// Every program.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "interpreter",
        source: Source::Example {
            package: "cyclewise",
            name: "interpreter",
        },
        twin: Twin::Mode,
        environment: &[],
        command: "./locked/interpreter --{side} 100",
        files: &[],
    },
    Program {
        name: "rpds-ours",
        source: Source::Example {
            package: "cyclewise-integrations",
            name: "maps",
        },
        twin: Twin::Mode,
        environment: &[],
        command: "./locked/maps {side} 3",
        files: &[],
    },
    Program {
        name: "rpds-std",
        source: Source::Example {
            package: "cyclewise-integrations",
            name: "maps",
        },
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/maps std 3",
        files: &[],
    },
    Program {
        name: "shared-ptr",
        source: Source::Cpp("tree.cpp"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/tree 350000",
        files: &[("tree.cpp", include_str!("programs/tree.cpp"))],
    },
    Program {
        name: "redis",
        source: Source::Installed("redis-server"),
        twin: Twin::Copies,
        // The script gives the server its libraries, and the client those of the machine.
        environment: &[],
        command: "sh redis.sh ./{side}/redis-server {side} 80000 {port}",
        files: &[("redis.sh", include_str!("programs/redis.sh"))],
    },
    Program {
        name: "go-channels",
        source: Source::Go("channels.go"),
        twin: Twin::Copies,
        environment: &[],
        command: "./{side}/channels 1500000",
        files: &[("channels.go", include_str!("programs/channels.go"))],
    },
    Program {
        name: "node",
        source: Source::Installed("node"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/node work.js 10",
        files: &[("work.js", include_str!("programs/work.js"))],
    },
    Program {
        name: "sqlite",
        source: Source::Installed("sqlite3"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/sqlite3 -init /dev/null -batch :memory: '.read work.sql'",
        files: &[("work.sql", include_str!("programs/work.sql"))],
    },
    Program {
        name: "python",
        source: Source::Installed("python3"),
        twin: Twin::Copies,
        // A copy does not find its modules by where it is. Without a seed the order of hashes is of each process's own.
        environment: &[LIBRARIES, "PYTHONHOME={home}", "PYTHONHASHSEED=0"],
        command: "./{side}/python3 work.py 6",
        files: &[("work.py", include_str!("programs/work.py"))],
    },
    Program {
        name: "gstreamer",
        source: Source::Installed("gst-launch-1.0"),
        twin: Twin::Copies,
        environment: &[],
        command: "sh gst.sh ./{side}/gst-launch-1.0 {side} 100000",
        files: &[("gst.sh", include_str!("programs/gst.sh"))],
    },
    Program {
        name: "gofmt",
        source: Source::Installed("gofmt"),
        twin: Twin::Copies,
        environment: &[],
        command: "sh gofmt.sh ./{side}/gofmt 1500",
        files: &[
            ("gofmt.sh", include_str!("programs/gofmt.sh")),
            ("channels.go", include_str!("programs/channels.go")),
        ],
    },
    Program {
        name: "ripgrep",
        source: Source::Installed("rg"),
        twin: Twin::Copies,
        environment: &[],
        command: "sh rg.sh ./{side}/rg {side}",
        files: &[("rg.sh", include_str!("programs/rg.sh"))],
    },
    Program {
        name: "rsvg",
        source: Source::Installed("rsvg-convert"),
        twin: Twin::Copies,
        environment: &[],
        command: "sh rsvg.sh ./{side}/rsvg-convert {side}",
        files: &[("rsvg.sh", include_str!("programs/rsvg.sh"))],
    },
    Program {
        name: "json-glib",
        source: Source::Installed("json-glib-format"),
        twin: Twin::Copies,
        environment: &[],
        command: "sh json.sh ./{side}/json-glib-format {side} 25",
        files: &[("json.sh", include_str!("programs/json.sh"))],
    },
    Program {
        name: "guile",
        source: Source::Installed("guile"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/guile --no-auto-compile work.scm 60",
        files: &[("work.scm", include_str!("programs/work.scm"))],
    },
    Program {
        name: "ruby",
        source: Source::Installed("ruby"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/ruby work.rb 8",
        files: &[("work.rb", include_str!("programs/work.rb"))],
    },
    Program {
        name: "php",
        source: Source::Installed("php"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/php -n work.php 10",
        files: &[("work.php", include_str!("programs/work.php"))],
    },
    Program {
        name: "imagemagick",
        source: Source::Installed("convert-im6.q16"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/convert-im6.q16 -seed 1 -size 300x300 plasma:red-blue -blur 3x2 -rotate 12 -format %# info:",
        files: &[],
    },
    Program {
        name: "poppler",
        source: Source::Installed("pdftotext"),
        twin: Twin::Copies,
        environment: &[],
        command: "sh pdf.sh ./{side}/pdftotext {side} 6",
        files: &[("pdf.sh", include_str!("programs/pdf.sh"))],
    },
    Program {
        name: "ffmpeg",
        source: Source::Installed("ffmpeg"),
        twin: Twin::Copies,
        environment: &[LIBRARIES],
        command: "./{side}/ffmpeg -v error -f lavfi -i testsrc2=size=320x240:duration=8 -bitexact -threads 2 -c:v mpeg4 -f md5 -",
        files: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::{PROGRAMS, Source, Twin};

    #[test]
    fn each_program_has_a_name_of_its_own_and_the_files_that_it_is_made_of() {
        let mut names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROGRAMS.len());
        for program in PROGRAMS {
            if let Source::Cpp(file) | Source::Go(file) = program.source {
                assert!(program.files.iter().any(|(name, _)| *name == file), "{}", program.name);
            }
            assert!(
                program.command.contains("{side}"),
                "{}: both sides are one",
                program.name
            );
            let runs_the_copy = program.command.contains("./{side}/");
            assert_eq!(runs_the_copy, program.twin == Twin::Copies, "{}", program.name);
        }
    }
}
