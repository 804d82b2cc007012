//! How a run of a guest ended.

use crate::layout::{self, mailbox};
use std::fmt;

/// The mailbox after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox(pub(crate) Vec<u8>);

impl Mailbox {
    /// The word at an offset of [`mailbox`]; 0 behind its end.
    pub fn word(&self, offset: u64) -> u64 {
        let at = offset as usize;
        let bytes = self.0.get(at..at + 8).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    /// A word of the payload's results.
    pub fn result(&self, index: usize) -> u64 {
        self.word(mailbox::RESULTS + 8 * index as u64)
    }

    /// Ticks between the stamps.
    pub fn ticks(&self) -> u64 {
        self.word(mailbox::END).wrapping_sub(self.word(mailbox::BEGIN))
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The payload returned.
    Done(Mailbox),
    /// It raised an exception that it does not handle.
    Fault(Fault),
    /// It halted with nothing to wake it up.
    Halt {
        /// The address behind the instruction.
        address: u64,
    },
    /// The watchdog ended it.
    Watchdog {
        /// Where it was, if that is known.
        address: Option<u64>,
    },
    /// An exception in the delivery of an exception of one: the CPU shut down.
    TripleFault {
        /// Where it was, if that is known.
        address: Option<u64>,
    },
    /// The hypervisor gave up: it could not run or emulate an instruction.
    Refused {
        /// Where it was.
        address: u64,
        /// What the hypervisor says.
        why: String,
    },
    /// It reached for a port or for memory that the guest does not have.
    Outside {
        /// Where it was.
        address: u64,
        /// What it reached for.
        what: String,
    },
}

impl Outcome {
    /// How a run ended that has filled its mailbox.
    pub(crate) fn of_mailbox(mailbox: Mailbox) -> Self {
        match mailbox.word(mailbox::STATUS) {
            mailbox::DONE => Self::Done(mailbox),
            mailbox::FAULTED => Self::Fault(Fault::read(&mailbox)),
            other => Self::Outside {
                address: mailbox.word(mailbox::ADDRESS),
                what: format!(
                    "OUT to port {:#x} by its own code, with status {other}",
                    layout::EXIT_PORT
                ),
            },
        }
    }
}

/// An exception, as the guest's handler saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The vector.
    pub vector: u8,
    /// The error code; 0 where the exception has none.
    pub error: u32,
    /// The address of the instruction, or behind it for a trap.
    pub address: u64,
    /// CS, whose lowest bits are the privilege.
    pub cs: u16,
    /// CR2: what a page fault could not reach.
    pub cr2: u64,
}

impl Fault {
    /// What the mailbox says.
    pub(crate) fn read(mailbox: &Mailbox) -> Self {
        Self {
            vector: mailbox.word(mailbox::VECTOR) as u8,
            error: mailbox.word(mailbox::ERROR) as u32,
            address: mailbox.word(mailbox::ADDRESS),
            cs: mailbox.word(mailbox::CS) as u16,
            cr2: mailbox.word(mailbox::CR2),
        }
    }
}

/// The names of exceptions, as the manuals abbreviate them.
const NAMES: [&str; 22] = [
    "#DE", "#DB", "NMI", "#BP", "#OF", "#BR", "#UD", "#NM", "#DF", "", "#TS", "#NP", "#SS", "#GP", "#PF", "", "#MF",
    "#AC", "#MC", "#XM", "#VE", "#CP",
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.get(usize::from(self.vector)).filter(|name| !name.is_empty());
        write!(f, "vector {}", self.vector)?;
        if let Some(name) = name {
            write!(f, " ({name})")?;
        }
        write!(
            f,
            ", error code {:#x}, at {:#x} in ring {}",
            self.error,
            self.address,
            self.cs & 3
        )?;
        if self.vector == 14 {
            write!(f, ", reaching for {:#x}", self.cr2)?;
        }
        Ok(())
    }
}

/// An address that may not be known.
struct At(Option<u64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |address| write!(f, " at {address:#x}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(_) => write!(f, "returned"),
            Self::Fault(fault) => write!(f, "fault: {fault}"),
            Self::Halt { address } => write!(f, "halted at {address:#x}"),
            Self::Watchdog { address } => write!(f, "ended by the watchdog{}", At(*address)),
            Self::TripleFault { address } => write!(f, "triple fault{}: no handler could run", At(*address)),
            Self::Refused { address, why } => write!(f, "refused by the hypervisor at {address:#x}: {why}"),
            Self::Outside { address, what } => write!(f, "left its memory at {address:#x}: {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line_with_vector_error_code_and_address() {
        let mut fault = Fault {
            vector: 13,
            error: 0x18,
            address: 0x22_0040,
            cs: 8,
            cr2: 0,
        };
        assert_eq!(
            fault.to_string(),
            "vector 13 (#GP), error code 0x18, at 0x220040 in ring 0"
        );
        fault = Fault {
            vector: 14,
            cr2: 8,
            cs: 0x2b,
            ..fault
        };
        assert_eq!(
            fault.to_string(),
            "vector 14 (#PF), error code 0x18, at 0x220040 in ring 3, reaching for 0x8"
        );
        assert_eq!(
            Fault { vector: 200, ..fault }.to_string(),
            "vector 200, error code 0x18, at 0x220040 in ring 3"
        );
    }

    #[test]
    fn a_mailbox_that_was_cut_off_reads_as_zeroes() {
        let mailbox = Mailbox(vec![7; 12]);
        assert_eq!(mailbox.word(0), 0x0707_0707_0707_0707);
        assert_eq!((mailbox.word(8), mailbox.result(3)), (0, 0));
    }
}
