//! A plugin for qemu's user-mode emulators that counts locked instructions exactly.
//!
//! The emulator calls it for each block that it translates. The plugin finds the sites in it and asks to be called when they, and
//! the blocks, are executed. It counts in a file that is mapped, so that the counts are there whatever becomes of the process.
//!
//! It is built by the package's build script, is a part of the command, and has no dependencies. `api` calls the emulator, and
//! `install` is called by it; `block`, `blocks` and `sites` are about translation, `thread`, `callers`, `words` and `lines` about
//! execution; `syscalls`, `exec`, `descriptor`, `handover` and `fork` follow the program; `image`, `memory` and `layout` are the
//! file. The command uses `layout`, `program`, `command_line` and `sys` too.
#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod api;
pub mod block;
pub mod blocks;
pub mod callers;
pub mod command_line;
pub mod decode;
pub mod descriptor;
pub mod exec;
pub mod fork;
pub mod handover;
pub mod image;
pub mod install;
pub mod layout;
pub mod lines;
pub mod maps;
pub mod memory;
pub mod program;
pub mod sites;
pub mod sys;
pub mod syscalls;
pub mod thread;
pub mod words;
