//! The programs, and what each is timed as.
//!
//! To add one: a row here, its source or script in `programs/`, and output that is the same at each run, which tells a copy that works from
//! one that does not. A run takes 0.15 to 0.3 s (README).

/// With LOCK and without.
pub(super) const SIDES: [&str; 2] = ["locked", "elided"];

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
pub(super) enum Elided {
    /// By itself: it is told to.
    Mode,
    /// As a copy, with copies of its libraries.
    Copies,
}

impl Elided {
    /// What it is called in rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Copies => "copies",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) source: Source,
    pub(super) elided_by: Elided,
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

/// Files of `programs/`: their names and what is in them.
macro_rules! files {
    ($($name:literal),*) => { &[$(($name, include_str!(concat!("programs/", $name)))),*] };
}

const fn program(
    name: &'static str,
    source: Source,
    elided_by: Elided,
    environment: &'static [&'static str],
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
) -> Program {
    Program {
        name,
        source,
        elided_by,
        environment,
        command,
        files,
    }
}

/// Every program.
#[rustfmt::skip]
pub(super) const PROGRAMS: &[Program] = &[
    program("interpreter", Source::Example { package: "cyclewise", name: "interpreter" }, Elided::Mode, &[], "./locked/interpreter --{side} 100", files![]),
    program("rpds-ours", Source::Example { package: "cyclewise-integrations", name: "maps" }, Elided::Mode, &[], "./locked/maps {side} 3", files![]),
    program("rpds-std", Source::Example { package: "cyclewise-integrations", name: "maps" }, Elided::Copies, &[LIBRARIES], "./{side}/maps std 3", files![]),
    program("shared-ptr", Source::Cpp("tree.cpp"), Elided::Copies, &[LIBRARIES], "./{side}/tree 350000", files!["tree.cpp"]),
    // The script gives the server its libraries, and the client those of the machine.
    program("redis", Source::Installed("redis-server"), Elided::Copies, &[], "sh redis.sh ./{side}/redis-server {side} 80000 {port}", files!["redis.sh"]),
    program("go-channels", Source::Go("channels.go"), Elided::Copies, &[], "./{side}/channels 1500000", files!["channels.go"]),
    program("node", Source::Installed("node"), Elided::Copies, &[LIBRARIES], "./{side}/node work.js 10", files!["work.js"]),
    program("sqlite", Source::Installed("sqlite3"), Elided::Copies, &[LIBRARIES], "./{side}/sqlite3 -init /dev/null -batch :memory: '.read work.sql'", files!["work.sql"]),
    // A copy does not find its modules by where it is. Without a seed the order of hashes is of each process's own.
    program("python", Source::Installed("python3"), Elided::Copies, &[LIBRARIES, "PYTHONHOME={home}", "PYTHONHASHSEED=0"], "./{side}/python3 work.py 6", files!["work.py"]),
    program("gstreamer", Source::Installed("gst-launch-1.0"), Elided::Copies, &[], "sh gst.sh ./{side}/gst-launch-1.0 {side} 100000", files!["gst.sh"]),
    program("gofmt", Source::Installed("gofmt"), Elided::Copies, &[], "sh gofmt.sh ./{side}/gofmt 1500", files!["gofmt.sh", "channels.go"]),
    program("ripgrep", Source::Installed("rg"), Elided::Copies, &[], "sh rg.sh ./{side}/rg {side}", files!["rg.sh"]),
    program("rsvg", Source::Installed("rsvg-convert"), Elided::Copies, &[], "sh rsvg.sh ./{side}/rsvg-convert {side}", files!["rsvg.sh"]),
    program("json-glib", Source::Installed("json-glib-format"), Elided::Copies, &[], "sh json.sh ./{side}/json-glib-format {side} 25", files!["json.sh"]),
    program("guile", Source::Installed("guile"), Elided::Copies, &[LIBRARIES], "./{side}/guile --no-auto-compile work.scm 60", files!["work.scm"]),
    program("ruby", Source::Installed("ruby"), Elided::Copies, &[LIBRARIES], "./{side}/ruby work.rb 8", files!["work.rb"]),
    program("php", Source::Installed("php"), Elided::Copies, &[LIBRARIES], "./{side}/php -n work.php 10", files!["work.php"]),
    program("imagemagick", Source::Installed("convert-im6.q16"), Elided::Copies, &[LIBRARIES], "./{side}/convert-im6.q16 -seed 1 -size 300x300 plasma:red-blue -blur 3x2 -rotate 12 -format %# info:", files![]),
    program("poppler", Source::Installed("pdftotext"), Elided::Copies, &[], "sh pdf.sh ./{side}/pdftotext {side} 6", files!["pdf.sh"]),
    program("ffmpeg", Source::Installed("ffmpeg"), Elided::Copies, &[LIBRARIES], "./{side}/ffmpeg -v error -f lavfi -i testsrc2=size=320x240:duration=8 -bitexact -threads 2 -c:v mpeg4 -f md5 -", files![]),
];

#[cfg(test)]
mod tests {
    use super::{Elided, PROGRAMS, Source};

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
            assert_eq!(runs_the_copy, program.elided_by == Elided::Copies, "{}", program.name);
        }
    }
}
