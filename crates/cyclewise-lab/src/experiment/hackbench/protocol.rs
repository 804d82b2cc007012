//! What every task does, whether process or thread: get ready, wait for the wake-up, send or receive.
//!
//! Nothing here allocates or panics: forked children run it.

use crate::sys::channel::{ChannelKind, Pair, wait_readable};
use std::fs::File;
use std::io::{self, Read, Write};

/// Bytes of a message: rt-tests' default.
pub(super) const MESSAGE: usize = 100;

/// The two channels that start a run.
pub(super) struct Gate {
    ready: Pair,
    wake: Pair,
}

impl Gate {
    pub(super) fn new(kind: ChannelKind) -> io::Result<Self> {
        Ok(Self {
            ready: Pair::new(kind)?,
            wake: Pair::new(kind)?,
        })
    }

    /// Reports a task as ready and waits. No task reads the wake-up byte, so one byte wakes all.
    pub(super) fn pass(&self) -> io::Result<()> {
        (&self.ready.write).write_all(b"*")?;
        wait_readable(&self.wake.read, None).map(drop)
    }

    /// Waits until `tasks` tasks are ready; calls `check` after each second without one.
    pub(super) fn gather<E: From<io::Error>>(
        &self,
        tasks: u32,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        for _ in 0..tasks {
            while !wait_readable(&self.ready.read, Some(std::time::Duration::from_secs(1)))? {
                check()?;
            }
            (&self.ready.read).read_exact(&mut [0])?;
        }
        Ok(())
    }

    /// Wakes all tasks.
    pub(super) fn open(&self) -> io::Result<()> {
        (&self.wake.write).write_all(b"*")
    }
}

/// A sender: `loops` messages to each of `outs`, round robin.
pub(super) fn send(outs: &[File], loops: u32) -> io::Result<()> {
    let message = [b'-'; MESSAGE];
    for _ in 0..loops {
        for mut out in outs {
            out.write_all(&message)?;
        }
    }
    Ok(())
}

/// A receiver of `messages` messages, one read each unless a message arrives in parts. Returns the number received.
pub(super) fn receive(mut input: &File, messages: u64) -> io::Result<u64> {
    let mut message = [0; MESSAGE];
    for _ in 0..messages {
        input.read_exact(&mut message)?;
    }
    Ok(messages)
}
