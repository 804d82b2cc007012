//! Runs an image as a VM of `/dev/kvm`.

mod registers;

use crate::arch::payload::Ring;
use crate::error::{Error, Result};
use crate::image::{Image, entry_words};
use crate::layout::{self, mailbox};
use crate::machine::Machine;
use crate::outcome::{Mailbox, Outcome};
use crate::sys::kvm::{Exit, Vm};
use crate::sys::watchdog::Watchdog;
use registers::{general, special};
use std::time::Duration;

/// Exits of a guest by kind, as KVM_RUN reported them; those that the kernel handled are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitCounts {
    /// The write by which a payload ends.
    pub finished: u64,
    /// Other ports.
    pub ports: u64,
    /// Memory that the guest does not have.
    pub memory: u64,
    /// HLT.
    pub halts: u64,
    /// Triple faults.
    pub shutdowns: u64,
    /// Signals, of the watchdog or of others.
    pub signals: u64,
    /// What the hypervisor could not run.
    pub refusals: u64,
}

/// A guest that runs images on `/dev/kvm`.
pub struct Guest {
    vm: Vm,
    limit: Duration,
    counts: ExitCounts,
    /// Where it was left: nothing of an image has run, or the last batch has returned.
    can_go_on: bool,
}

impl Guest {
    /// A guest whose runs are ended after `limit`. With `apic` it has a local APIC, and then HLT waits for the limit.
    ///
    /// # Errors
    /// Where there is no `/dev/kvm`, it may not be opened, or lacks a capability.
    pub fn new(apic: bool, limit: Duration) -> Result<Self> {
        Ok(Self {
            vm: Vm::new(apic)?,
            limit,
            counts: ExitCounts::default(),
            can_go_on: false,
        })
    }

    /// What KVM_RUN returned for so far.
    pub fn counts(&self) -> ExitCounts {
        self.counts
    }

    /// All exits so far, those among them that the kernel handled; `None` where the kernel does not count them.
    ///
    /// # Errors
    /// Where the counter cannot be read.
    pub fn exits(&self) -> Result<Option<u64>> {
        self.vm.exits()
    }

    /// Loads an image, and sets the registers to run it from its start.
    ///
    /// # Errors
    /// Where the vCPU does not take them.
    pub fn load(&mut self, image: &Image) -> Result<()> {
        self.vm.complete();
        self.vm.memory().write(0, image.bytes());
        self.vm.wake();
        let special = special(self.vm.special()?, image.mode());
        self.vm.set(&special, &general())?;
        self.can_go_on = true;
        Ok(())
    }

    /// Sets what the next run calls, of an image that is loaded.
    pub fn enter(&mut self, ring: Ring, at: u64, iterations: u64) {
        for (offset, word) in entry_words(ring, at, iterations) {
            let at = (layout::MAILBOX - layout::BASE + offset) as usize;
            self.vm.memory().write(at, &word.to_le_bytes());
        }
    }

    /// Runs what is loaded until it ends, or the limit is over, or `stop` says so after a signal.
    ///
    /// # Errors
    /// Where a signal asked to end, the vCPU is gone, or the image has ended before in another way than by returning.
    pub fn run(&mut self, stop: &dyn Fn() -> bool) -> Result<Outcome> {
        if !std::mem::take(&mut self.can_go_on) {
            return Err(Error::usage(
                "the image has ended, so it cannot run again; load it first",
            ));
        }
        let watchdog = Watchdog::after(self.limit).map_err(|e| {
            Error::failed(format!(
                "the watchdog's timer: {e}; see whether the program uses its signal"
            ))
        })?;
        loop {
            let exit = self.vm.run()?;
            match exit {
                Exit::Signal => {
                    self.counts.signals += 1;
                    if stop() {
                        return Err(Error::interrupted());
                    }
                    if watchdog.is_over() {
                        return self.timed_out();
                    }
                }
                exit => return self.ended(exit),
            }
        }
    }

    fn timed_out(&self) -> Result<Outcome> {
        let address = self.vm.address()?;
        Ok(match self.vm.is_halted() {
            true => Outcome::Halt { address },
            false => Outcome::Watchdog { address: Some(address) },
        })
    }

    fn ended(&mut self, exit: Exit) -> Result<Outcome> {
        let address = self.vm.address()?;
        let outside = |what: String| Outcome::Outside { address, what };
        let counts = &mut self.counts;
        Ok(match exit {
            Exit::Out(layout::EXIT_PORT) => {
                counts.finished += 1;
                return Ok(self.finished());
            }
            Exit::Out(port) => {
                counts.ports += 1;
                outside(format!("OUT to port {port:#x}"))
            }
            Exit::In(port) => {
                counts.ports += 1;
                outside(format!("IN from port {port:#x}"))
            }
            Exit::Memory(at) => {
                counts.memory += 1;
                outside(format!("memory at {at:#x}"))
            }
            Exit::Halt => {
                counts.halts += 1;
                Outcome::Halt { address }
            }
            Exit::Shutdown => {
                counts.shutdowns += 1;
                Outcome::TripleFault { address: Some(address) }
            }
            Exit::Refused(why) => {
                counts.refusals += 1;
                Outcome::Refused { address, why }
            }
            // Handled by the caller.
            Exit::Signal => Outcome::Watchdog { address: Some(address) },
        })
    }

    /// The payload has written to the port by which it ends.
    fn finished(&mut self) -> Outcome {
        let mut bytes = vec![0; mailbox::BYTES];
        self.vm
            .memory()
            .read((layout::MAILBOX - layout::BASE) as usize, &mut bytes);
        let outcome = Outcome::of_mailbox(Mailbox(bytes));
        self.can_go_on = matches!(outcome, Outcome::Done(_));
        if self.can_go_on {
            let status = (layout::MAILBOX - layout::BASE + mailbox::STATUS) as usize;
            self.vm.memory().write(status, &mailbox::RUNNING.to_le_bytes());
        }
        outcome
    }
}

/// `/dev/kvm` for images that run once, with a new VM for those that need a local APIC.
pub struct Kvm {
    plain: Guest,
    limit: Duration,
}

impl Kvm {
    /// Runs are ended after `limit`.
    ///
    /// # Errors
    /// As [`Guest::new`].
    pub fn new(limit: Duration) -> Result<Self> {
        Ok(Self {
            plain: Guest::new(false, limit)?,
            limit,
        })
    }
}

impl Machine for Kvm {
    fn run_once(&mut self, image: Image, apic: bool) -> Result<Outcome> {
        // What a payload leaves in registers that an image does not set is gone with the VM.
        self.plain = Guest::new(apic, self.limit)?;
        self.plain.load(&image)?;
        self.plain.run(&|| false)
    }
}
