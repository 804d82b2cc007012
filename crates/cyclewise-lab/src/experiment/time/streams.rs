//! What commands read and where their output goes.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What commands read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Input {
    #[default]
    Null,
    /// This file, from its beginning in each run.
    File(PathBuf),
}

/// Where the output of commands goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// /dev/null.
    #[default]
    Null,
    /// stdout through a pipe, whose other end drops it.
    Pipe,
    /// This program's own streams.
    Inherit,
    /// stdout into this file, which holds that of the last run.
    File(PathBuf),
}

impl Input {
    /// `null` or a file that can be read.
    ///
    /// # Errors
    /// Exit 2: the file cannot be read.
    pub(crate) fn parse(path: &Path) -> Result<Self> {
        if path == Path::new("null") {
            return Ok(Self::Null);
        }
        let file = Self::File(path.into());
        file.open()?;
        Ok(file)
    }

    fn open(&self) -> Result<File> {
        match self {
            Self::Null => null(false),
            Self::File(path) => File::open(path).map_err(|e| {
                let path = path.display();
                Error::usage(format!(
                    "time: --input {path}: {e}; name a file that can be read, or null"
                ))
            }),
        }
    }
}

impl Output {
    /// `null`, `pipe`, `inherit`, or a file with a folder before it.
    ///
    /// # Errors
    /// Exit 2: neither.
    pub(crate) fn parse(path: &Path) -> Result<Self> {
        match path.to_str() {
            Some("null") => Ok(Self::Null),
            Some("pipe") => Ok(Self::Pipe),
            Some("inherit") => Ok(Self::Inherit),
            // As in hyperfine, so that a mistyped word makes no file.
            _ if path.display().to_string().contains('/') => Ok(Self::File(path.into())),
            _ => Err(Error::usage(format!(
                "time: --output {0} is none of null, pipe and inherit; a file has a folder before its name: ./{0}",
                path.display()
            ))),
        }
    }

    /// Connects the streams of a command; the other end of its pipe, if it has one.
    ///
    /// # Errors
    /// Exit 2: the file cannot be written. Exit 3: there is no /dev/null, or no descriptor left.
    pub(super) fn connect(&self, input: &Input, command: &mut Command) -> Result<Option<PipeReader>> {
        command.stdin(input.open()?);
        match self {
            Self::Null => command.stdout(null(true)?).stderr(null(true)?),
            Self::Pipe => {
                let (reader, writer) = io::pipe().map_err(|e| no_pipe(&e))?;
                command.stdout(writer).stderr(null(true)?);
                return Ok(Some(reader));
            }
            Self::Inherit => command.stdout(Stdio::inherit()).stderr(Stdio::inherit()),
            Self::File(path) => {
                let file = File::create(path).map_err(|e| {
                    let path = path.display();
                    Error::usage(format!("time: --output {path}: {e}; name a file that can be written"))
                })?;
                command.stdout(file).stderr(null(true)?)
            }
        };
        Ok(None)
    }
}

/// Connects both output streams of a command to one pipe; its other end.
pub(super) fn capture(input: &Input, command: &mut Command) -> Result<PipeReader> {
    let (reader, writer) = io::pipe().map_err(|e| no_pipe(&e))?;
    let second = writer.try_clone().map_err(|e| no_pipe(&e))?;
    command.stdin(input.open()?).stdout(writer).stderr(second);
    Ok(reader)
}

fn null(write: bool) -> Result<File> {
    let opened = File::options().read(!write).write(write).open("/dev/null");
    opened.map_err(|e| {
        let remedy = match e.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => "raise `ulimit -n`",
            _ => "commands get it as their streams: mount /dev, or `mknod -m 666 /dev/null c 1 3`",
        };
        Error::system("time: opening /dev/null", &e, remedy)
    })
}

fn no_pipe(e: &io::Error) -> Error {
    Error::system("time: making a pipe for the command's output", e, "raise `ulimit -n`")
}

/// The end of what was written.
#[derive(Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    /// The bytes that are kept.
    const KEPT: usize = 4 << 10;

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(Self::KEPT)..];
        let over = (self.0.len() + bytes.len()).saturating_sub(Self::KEPT);
        self.0.drain(..over);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_bytes_however_they_came() {
        let all: Vec<u8> = (0..20_000u32).map(|i| b'a' + (i % 26) as u8).collect();
        for size in [1, 100, 4095, 4096, 4097, 20_000] {
            let mut tail = Tail::default();
            all.chunks(size).for_each(|bytes| tail.push(bytes));
            assert_eq!(tail.text().as_bytes(), &all[20_000 - Tail::KEPT..], "{size}");
        }
        let mut short = Tail::default();
        short.push(b"short\n");
        assert_eq!(short.text(), "short");
    }

    #[test]
    fn outputs_are_named_as_in_hyperfine() {
        assert_eq!(Output::parse(Path::new("pipe")), Ok(Output::Pipe));
        assert_eq!(Output::parse(Path::new("./log")), Ok(Output::File("./log".into())));
        let error = Output::parse(Path::new("nul")).unwrap_err();
        assert!(error.message.ends_with("./nul"), "{error}");
        assert_eq!(Input::parse(Path::new("null")), Ok(Input::Null));
        assert!(
            Input::parse(Path::new("/no/such/file"))
                .unwrap_err()
                .message
                .contains("--input /no/such/file")
        );
    }
}
