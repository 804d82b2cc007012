//! How the emulator is called: the same by the command, for the first program, and by the plugin, for each that is executed.
//!
//! The emulator is a program itself: variables that steer it, its dynamic linker and its C library must not reach it, and must
//! reach the program. Those go by `-E`; the others are its environment, which it hands on.

use super::layout::PLUGIN;
use super::program::Program;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What stays the same in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The emulator.
    pub emulator: PathBuf,
    /// The run's folder.
    pub folder: PathBuf,
    /// The model of CPU, where it is not left to the emulator.
    pub cpu: Option<String>,
    /// Where dynamic linkers of another architecture are looked for.
    pub root: Option<PathBuf>,
}

/// Who calls the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The command, for the first program.
    Command,
    /// The plugin in a process that executes a program, and that `parent` forked; 0 where the command started it.
    Executed {
        /// The parent.
        parent: u32,
    },
}

/// The start of a variable's assignment that goes by `-E`.
const STEERING: &[&str] = &["LD_", "QEMU_", "GLIBC_TUNABLES=", "MALLOC_"];

/// A call of the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Arguments, without the emulator's own name.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<OsString>,
}

impl Launcher {
    /// The options that load the plugin.
    pub fn options(&self, origin: Origin) -> Vec<OsString> {
        let mut spec = escaped(self.folder.join(PLUGIN).as_os_str());
        spec.push(",dir=");
        spec.push(escaped(self.folder.as_os_str()));
        if let Origin::Executed { parent } = origin {
            spec.push(format!(",parent={parent}"));
        }
        let mut options = vec!["-plugin".into(), spec];
        if let Some(cpu) = &self.cpu {
            options.extend(["-cpu".into(), cpu.into()]);
        }
        if let Some(root) = &self.root {
            options.extend(["-L".into(), root.into()]);
        }
        options
    }

    /// A call for a program with the caller's arguments and environment; or the variable that cannot be handed on.
    pub fn call(
        &self,
        origin: Origin,
        program: &Program,
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl IntoIterator<Item = OsString>,
    ) -> Result<Call, OsString> {
        let mut all = self.options(origin);
        all.extend(["-0".into(), program.argv0.clone()]);
        let mut rest = Vec::new();
        // The emulator gives its program no string that assigns nothing, and refuses to be told one.
        for variable in environment.into_iter().filter(|v| v.as_bytes().contains(&b'=')) {
            if !STEERING.iter().any(|s| variable.as_bytes().starts_with(s.as_bytes())) {
                rest.push(variable);
            } else if variable.as_bytes().contains(&b',') {
                // qemu parts what -E has at commas, and knows no escape.
                return Err(name_of(&variable));
            } else {
                all.extend(["-E".into(), variable]);
            }
        }
        all.push(not_an_option(&program.path));
        all.extend(program.arguments.iter().cloned());
        all.extend(arguments);
        Ok(Call {
            arguments: all,
            environment: rest,
        })
    }

    /// What the emulator was called with, found again in its command line; and the program and its arguments.
    pub fn parse(emulator: PathBuf, folder: PathBuf, line: &[u8]) -> (Self, Vec<OsString>) {
        let mut words = line.split(|b| *b == 0).map(|w| OsString::from_vec(w.to_vec()));
        let mut launcher = Self {
            emulator,
            folder,
            cpu: None,
            root: None,
        };
        words.next();
        while let Some(word) = words.next() {
            match word.as_bytes() {
                b"-cpu" => launcher.cpu = words.next().map(|w| w.to_string_lossy().into_owned()),
                b"-L" => launcher.root = words.next().map(PathBuf::from),
                option if option.starts_with(b"-") => {
                    words.next();
                }
                _ => {
                    let mut program = vec![word];
                    program.extend(words);
                    // The line ends with a zero, behind which is nothing.
                    program.pop_if(|last| last.is_empty());
                    return (launcher, program);
                }
            }
        }
        (launcher, Vec::new())
    }
}

/// A value among qemu's comma-separated options.
pub fn escaped(value: &OsStr) -> OsString {
    let mut bytes = Vec::new();
    for byte in value.as_bytes() {
        bytes.push(*byte);
        if *byte == b',' {
            bytes.push(b',');
        }
    }
    OsString::from_vec(bytes)
}

/// Why a variable keeps a program from being counted.
pub fn comma(variable: &OsStr) -> String {
    format!(
        "the variable {} has a comma, and the emulator cannot hand that on",
        variable.display()
    )
}

fn not_an_option(path: &Path) -> OsString {
    if path.as_os_str().as_bytes().starts_with(b"-") {
        Path::new(".").join(path).into_os_string()
    } else {
        path.as_os_str().to_owned()
    }
}

fn name_of(variable: &OsStr) -> OsString {
    let name = variable.as_bytes().split(|b| *b == b'=').next().unwrap_or_default();
    OsStr::from_bytes(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::program::Program;
    use super::{Launcher, Origin};
    use std::ffi::OsString;

    fn launcher() -> Launcher {
        Launcher {
            emulator: "/usr/bin/qemu-x86_64".into(),
            folder: "/tmp/a,b".into(),
            cpu: Some("max".into()),
            root: None,
        }
    }

    fn program(path: &str) -> Program {
        Program {
            path: path.into(),
            argv0: "sh".into(),
            arguments: vec!["script".into()],
        }
    }

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn what_steers_the_emulator_reaches_the_program_only() {
        let environment = words(&[
            "PATH=/bin",
            "LD_PRELOAD=x.so",
            "QEMU_STRACE=1",
            "A=b,c",
            "LD_PRELOAD",
            "B",
        ]);
        let call = launcher()
            .call(
                Origin::Executed { parent: 7 },
                &program("-x"),
                words(&["1", ""]),
                environment,
            )
            .unwrap();
        assert_eq!(call.environment, words(&["PATH=/bin", "A=b,c"]));
        let expected = [
            "-plugin",
            "/tmp/a,,b/plugin.so,dir=/tmp/a,,b,parent=7",
            "-cpu",
            "max",
            "-0",
            "sh",
            "-E",
            "LD_PRELOAD=x.so",
            "-E",
            "QEMU_STRACE=1",
            "./-x",
            "script",
            "1",
            "",
        ];
        assert_eq!(call.arguments, words(&expected));
        let refused = launcher().call(
            Origin::Executed { parent: 7 },
            &program("x"),
            [],
            words(&["LD_DEBUG=libs,files"]),
        );
        assert_eq!(refused, Err("LD_DEBUG".into()));
    }

    #[test]
    fn the_call_is_found_again() {
        let call = launcher()
            .call(
                Origin::Executed { parent: 7 },
                &program("x"),
                words(&["-cpu", "no", ""]),
                words(&["LD_A=b"]),
            )
            .unwrap();
        let mut line = b"qemu\0".to_vec();
        for word in &call.arguments {
            line.extend(word.as_encoded_bytes());
            line.push(0);
        }
        let l = launcher();
        let (parsed, program) = Launcher::parse(l.emulator.clone(), l.folder.clone(), &line);
        assert_eq!((parsed, program), (l, words(&["x", "script", "-cpu", "no", ""])));
    }
}
