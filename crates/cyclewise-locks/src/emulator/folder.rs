//! The run's folder: the plugin, and a file of counts for each process image.

use super::command_line::{Launcher, Origin, comma};
use super::find::Emulator;
use super::layout::{self, Control};
use super::plugin;
use super::resolve::resolve;
use crate::counts::Arch;
use crate::error::{Error, Result, cannot_write};
use std::ffi::{OsStr, OsString};
use std::mem::offset_of;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

/// Process images that are counted unless more are asked for: more than most programs start, and few enough that a program that
/// starts others without end does not fill the disk.
pub const IMAGES: u32 = 512;
/// The file that says how the emulator is called, for other processes that start programs into the folder.
const RUNNER: &str = "runner";
/// An emulator begins within milliseconds. One that was killed before it had begun is waited for in vain.
const BEGINS_WITHIN: Duration = Duration::from_secs(2);

/// What a run can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many process images are counted. A fork makes one, and so does a program that is executed.
    pub images: u32,
    /// Whether calls are followed, for the callers of sites.
    pub callers: bool,
    /// Where the dynamic linker and libraries of another architecture are: qemu's -L.
    pub interpreter_root: Option<PathBuf>,
    /// Forms of instruction that the plugin leaves out, as bits; for tests that have to catch a plugin that misses some.
    #[doc(hidden)]
    pub leave_out: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            images: IMAGES,
            callers: true,
            interpreter_root: None,
            leave_out: 0,
        }
    }
}

/// A folder that programs are run into; the run ends, and it is removed, when this is dropped.
#[derive(Debug)]
pub struct Folder {
    temporary: tempfile::TempDir,
}

/// How programs are started into a folder, by this process or another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    launcher: Launcher,
    pub arch: Arch,
    /// What the emulator says of its version.
    pub version: String,
}

/// Makes a folder below the system's folder for temporary files.
pub fn prepare_folder(emulator: &Emulator, settings: &Settings) -> Result<Folder> {
    let below = std::env::temp_dir();
    let temporary = tempfile::Builder::new()
        .prefix("cyclewise-locks-")
        // It holds the arguments and the code of whatever is run, for its owner only.
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(&below)
        .map_err(|error| cannot_write(&below, &error))?;
    let path = std::path::absolute(temporary.path()).map_err(|error| cannot_write(temporary.path(), &error))?;
    let write = |name: &str, bytes: &[u8]| {
        let file = path.join(name);
        std::fs::write(&file, bytes).map_err(|error| cannot_write(&file, &error))
    };
    write(layout::PLUGIN, &plugin::for_version(emulator.interface)?)?;
    write(layout::CONTROL, &control(settings))?;
    let runner = Runner {
        launcher: Launcher {
            emulator: emulator.path.clone(),
            folder: path.clone(),
            cpu: emulator.cpu.clone(),
            root: settings.interpreter_root.clone(),
        },
        arch: emulator.arch,
        version: emulator.version.clone(),
    };
    write(RUNNER, &runner.to_bytes())?;
    Ok(Folder { temporary })
}

fn control(settings: &Settings) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<Control>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(Control, magic), &layout::CONTROL_MAGIC.to_le_bytes());
    put(offset_of!(Control, limit), &settings.images.to_le_bytes());
    put(offset_of!(Control, leave_out), &settings.leave_out.to_le_bytes());
    put(offset_of!(Control, callers), &u32::from(settings.callers).to_le_bytes());
    bytes
}

impl Folder {
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Ends the run: nothing begins in the folder any more, and what was beginning has begun.
    ///
    /// A program that goes on is not disturbed by it: what it executes runs without the emulator.
    pub fn close(&self) {
        let path = self.path().join(layout::CONTROL);
        let Ok(control) = std::fs::File::options().read(true).write(true).open(path) else {
            return;
        };
        if control
            .write_all_at(&1_u32.to_ne_bytes(), offset_of!(Control, closed) as u64)
            .is_err()
        {
            return;
        }
        // SeqCst: pairs with the plugin's, which looks at `closed` after it has added to `starting`.
        fence(Ordering::SeqCst);
        let deadline = Instant::now() + BEGINS_WITHIN;
        let mut starting = [0; 4];
        while control
            .read_exact_at(&mut starting, offset_of!(Control, starting) as u64)
            .is_ok()
            && starting != [0; 4]
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// How programs are started into it.
    pub fn runner(&self) -> Result<Runner> {
        Runner::open(self.path())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.close();
    }
}

impl Runner {
    /// How programs are started into a folder that another process has prepared.
    pub fn open(folder: &Path) -> Result<Self> {
        let file = folder.join(RUNNER);
        let unreadable = |why: &str| {
            Error::usage(format!(
                "{} is not the folder of a run: {} {why}",
                folder.display(),
                file.display()
            ))
        };
        let bytes = std::fs::read(&file).map_err(|error| unreadable(&error.to_string()))?;
        let folder = std::path::absolute(folder).map_err(|error| unreadable(&error.to_string()))?;
        Self::from_bytes(folder, &bytes).ok_or_else(|| unreadable("was not written by this version"))
    }

    /// The command that runs a program in place of the program itself. Its environment is that of this process.
    ///
    /// A program that cannot be counted is an error that says why.
    pub fn command(&self, program: &OsStr, arguments: &[OsString]) -> Result<Command> {
        let root = self.launcher.root.as_deref();
        let program = resolve(program, self.arch, root)?;
        let environment = std::env::vars_os().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name
        });
        let call = self
            .launcher
            .call(Origin::Command, &program, arguments.iter().cloned(), environment)
            .map_err(|variable| Error::unsupported(format!("{}; unset it", comma(&variable))))?;
        let mut command = Command::new(&self.launcher.emulator);
        command.args(call.arguments).env_clear();
        for variable in call.environment {
            // A variable's name may begin with the sign that ends it.
            let bytes = variable.as_bytes();
            let end = bytes
                .iter()
                .skip(1)
                .position(|b| *b == b'=')
                .map_or(bytes.len(), |at| at + 1);
            let value = bytes.get(end + 1..).unwrap_or_default();
            command.env(OsStr::from_bytes(&bytes[..end]), OsStr::from_bytes(value));
        }
        Ok(command)
    }

    /// The emulator and the options that load the plugin, to be put before a program: what a cargo runner is.
    ///
    /// [`Runner::command`] is better where it can be used: it resolves `#!` lines, and keeps variables from the emulator.
    pub fn prefix(&self) -> Vec<OsString> {
        let mut words = vec![self.launcher.emulator.clone().into_os_string()];
        words.extend(self.launcher.options(Origin::Command));
        words
    }

    fn to_bytes(&self) -> Vec<u8> {
        let none = OsString::new;
        let arch = match self.arch {
            Arch::X86_64 => "x86_64",
            Arch::Aarch64 => "aarch64",
        };
        let fields = [
            self.launcher.emulator.clone().into_os_string(),
            self.launcher.cpu.clone().map_or_else(none, OsString::from),
            self.launcher.root.clone().map_or_else(none, OsString::from),
            arch.into(),
            self.version.clone().into(),
        ];
        fields.join(OsStr::new("\0")).into_vec()
    }

    fn from_bytes(folder: PathBuf, bytes: &[u8]) -> Option<Self> {
        let fields: Vec<OsString> = bytes
            .split(|b| *b == 0)
            .map(|f| OsString::from_vec(f.to_vec()))
            .collect();
        let [emulator, cpu, root, arch, version] = <[OsString; 5]>::try_from(fields).ok()?;
        let some = |field: OsString| (!field.is_empty()).then_some(field);
        Some(Self {
            launcher: Launcher {
                emulator: emulator.into(),
                folder,
                cpu: some(cpu).and_then(|c| c.into_string().ok()),
                root: some(root).map(PathBuf::from),
            },
            arch: match arch.as_bytes() {
                b"x86_64" => Arch::X86_64,
                b"aarch64" => Arch::Aarch64,
                _ => return None,
            },
            version: version.into_string().ok()?,
        })
    }
}
