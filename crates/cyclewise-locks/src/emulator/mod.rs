//! Exact counts of any program, by qemu's user-mode emulator and a plugin in it.
//!
//! The emulator runs the program; the plugin, which the command carries in itself, counts. Children and what they execute are
//! counted too, each process image in a file of its own in the run's folder.
//!
//! # What is exact
//! Executions of sites: each execution of each thread. One that faults has not been executed.
//!
//! Instructions: all, but for a block that a fault of another instruction leaves in its middle, which counts as if it had been left at
//! its end; and one more for each signal that interrupts a repeated string instruction, which is one otherwise.
//!
//! # What is not seen
//! Plain accesses to the words of sites. A word of which a second thread reads or writes only plainly counts as private.
//!
//! # Processes that change their user or their root
//! The run's folder is its owner's only, since it has the arguments and the code of whatever is run. A process that becomes another
//! user's, or that no longer sees the folder, is counted on, but for what the file of counts would have to grow for; what it forks
//! and executes runs uncounted, and is named.
//!
//! # After the program's end
//! Processes that outlive the program go on under the emulator, uncounted; what they execute runs without it. A command that is
//! killed by SIGKILL leaves the folder behind, below the system's folder for temporary files: it may be removed.

mod collect;
#[path = "../../plugin/command_line.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the plugin, which uses more of it")]
mod command_line;
#[cfg(test)]
#[path = "../../tests/common/executable.rs"]
mod executable;
mod find;
mod folder;
#[path = "../../plugin/layout.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the plugin, which uses more of it")]
pub(crate) mod layout;
mod plugin;
#[path = "../../plugin/program.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the plugin, which uses more of it")]
mod program;
mod reader;
mod resolve;
mod run;
mod running;
#[path = "../../plugin/sys.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the plugin, which uses more of it")]
mod sys;

pub use collect::collect;
pub use find::{Emulator, find};
pub use folder::{Folder, IMAGES, Runner, Settings, prepare_folder};
pub use reader::read_image;
pub use resolve::check_program;
pub use run::{Launch, Ran, run};
