//! The guest's memory before it runs: tables, runtime, and the payload with its loops.
//!
//! The same bytes run as a VM of `/dev/kvm` and boot under qemu.

mod memory;
mod tables;

pub(crate) use memory::Memory;
pub(crate) use tables::idt_limit;

use crate::arch::payload::{Mode, Payload, Ring};
use crate::arch::{Code, Routines, boot, runtime32, runtime64};
use crate::error::{Error, Result};
use crate::layout::{self, mailbox};

/// Loops start on a block of the instruction cache, as in user mode.
const ALIGNMENT: usize = 64;
/// NOP, which fills what is between: it is executed once, before the loop.
const NOP: u8 = 0x90;

/// Memory with a payload in it.
pub struct Image {
    memory: Memory,
    mode: Mode,
    next: u64,
}

/// Where the loops of U, 2U and 4U copies begin.
pub type Loops = [u64; 3];

impl Image {
    /// The tables and the runtime of a mode, with nothing to run.
    fn empty(mode: Mode) -> Self {
        let mut memory = Memory::new();
        if mode == Mode::Long {
            tables::pages(&mut memory);
        }
        tables::segments(&mut memory, mode);
        tables::gates(&mut memory, mode);
        memory.put(layout::BOOT, &boot::header());
        let (routines, entry) = match mode {
            Mode::Long => (&runtime64::ROUTINES, boot::LONG),
            Mode::Protected => (&runtime32::ROUTINES, boot::PROTECTED),
        };
        memory.put(layout::BOOT + boot::HEADER_BYTES as u64, entry.bytes());
        runtime(&mut memory, routines);
        data(&mut memory);
        Self {
            memory,
            mode,
            next: layout::PAYLOAD,
        }
    }

    /// A payload with the loops around its copies.
    ///
    /// # Errors
    /// If the loops do not fit the guest's memory.
    pub fn with_loops(payload: &Payload) -> Result<(Self, Loops)> {
        let mut image = Self::empty(payload.mode);
        image.surround(payload)?;
        let mut loops = [0; 3];
        for (at, times) in loops.iter_mut().zip([1, 2, 4]) {
            *at = image.unrolled(payload, times * payload.copies as usize)?;
        }
        image.enter(payload.ring, loops[0], 1);
        Ok((image, loops))
    }

    /// A payload whose one copy is run once, without a loop.
    ///
    /// # Errors
    /// If it does not fit the guest's memory.
    pub fn once(payload: &Payload) -> Result<Self> {
        let mut image = Self::empty(payload.mode);
        image.surround(payload)?;
        let ret = [payload.setup.bytes(), payload.operation.bytes(), &[RET]].concat();
        let at = image.place(&ret)?;
        image.enter(payload.ring, at, 1);
        Ok(image)
    }

    /// Bytes that may be anything, in the place of a payload.
    ///
    /// # Errors
    /// If they do not fit the guest's memory.
    pub fn of_bytes(mode: Mode, ring: Ring, bytes: &[u8]) -> Result<Self> {
        let mut image = Self::empty(mode);
        let at = image.place(bytes)?;
        image.enter(ring, at, 1);
        Ok(image)
    }

    /// What is around the copies: handlers, and what is called before the stamps.
    fn surround(&mut self, payload: &Payload) -> Result<()> {
        for (vector, handler) in payload.gates {
            let at = self.place(handler.bytes())?;
            tables::own_gate(&mut self.memory, self.mode, *vector, at);
        }
        if let Some(handler) = payload.handler {
            let at = self.place(handler.bytes())?;
            self.memory.put_word(layout::MAILBOX + mailbox::HANDLER, at);
        }
        if let Some(prepare) = payload.prepare {
            let at = self.place(&[prepare.bytes(), &[RET]].concat())?;
            self.memory.put_word(layout::MAILBOX + mailbox::PREPARE, at);
        }
        Ok(())
    }

    /// A loop around a number of copies: setup, padding, copies, DEC, JNZ, RET.
    fn unrolled(&mut self, payload: &Payload, copies: usize) -> Result<u64> {
        let mut bytes = payload.setup.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), NOP);
        let start = bytes.len();
        for _ in 0..copies {
            bytes.extend_from_slice(payload.operation.bytes());
        }
        bytes.extend_from_slice(match payload.mode {
            Mode::Long => &[0x48, 0xff, 0xcf], // dec rdi
            Mode::Protected => &[0x4f],        // dec edi
        });
        let next = bytes.len() + 6;
        bytes.extend_from_slice(&[0x0f, 0x85]); // jnz
        bytes.extend_from_slice(&(start as i32 - next as i32).to_le_bytes());
        bytes.push(RET);
        self.place(&bytes)
    }

    /// Puts code behind what is there, on a block of its own.
    fn place(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.next;
        let end = at as usize + bytes.len();
        let limit = layout::BASE as usize + layout::SIZE;
        if end > limit {
            let least = end - limit;
            return Err(Error::usage(format!(
                "the payload is {least} bytes too long for the guest's {} of memory; use fewer copies",
                layout::SIZE
            )));
        }
        self.memory.put(at, bytes);
        self.next = (end as u64).next_multiple_of(ALIGNMENT as u64);
        Ok(at)
    }

    /// Sets what runs next.
    fn enter(&mut self, ring: Ring, at: u64, iterations: u64) {
        for (offset, word) in entry_words(ring, at, iterations) {
            self.memory.put_word(layout::MAILBOX + offset, word);
        }
    }

    /// Asks for the mailbox on the debug console.
    pub(crate) fn dump(&mut self) {
        self.memory.put_word(layout::MAILBOX + mailbox::DUMP, 1);
    }

    /// All of the memory, from [`layout::BASE`] on.
    pub fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }

    /// The mode that it runs in.
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

/// RET in both modes.
const RET: u8 = 0xc3;

/// The words of the mailbox that say what runs next.
pub(crate) fn entry_words(ring: Ring, at: u64, iterations: u64) -> [(u64, u64); 3] {
    let entry = match ring {
        Ring::Kernel => at,
        Ring::User => layout::ENTER_USER,
    };
    [
        (mailbox::ENTRY, entry),
        (mailbox::TARGET, at),
        (mailbox::ITERATIONS, iterations),
    ]
}

fn runtime(memory: &mut Memory, routines: &Routines) {
    let mut put = |at, code: Code| memory.put(at, code.bytes());
    put(layout::START, routines.start);
    put(layout::FINISH, routines.finish);
    put(layout::FAULT, routines.fault);
    put(layout::ENTER_USER, routines.enter_user);
    put(layout::USER_RETURN, routines.user_return);
    if let Some(stub) = routines.sysenter_stub {
        put(layout::SYSENTER_STUB, stub);
    }
}

/// What per-CPU accesses find: this is CPU 0, and its data are at [`layout::PERCPU`].
fn data(memory: &mut Memory) {
    memory.put_word(layout::STACK, 0);
    memory.put(layout::PERCPU_TABLE, &(layout::PERCPU as u32).to_le_bytes());
    memory.put(layout::PERCPU + 4, &0x1234_5678u32.to_le_bytes());
    memory.put(layout::USER_TLS + 4, &0x0bad_cafe_u32.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::popf;

    #[test]
    fn the_routines_do_not_reach_into_each_other() {
        for routines in [&runtime64::ROUTINES, &runtime32::ROUTINES] {
            for code in [routines.start, routines.finish, routines.fault, routines.enter_user] {
                assert!(code.bytes().len() <= 0x200);
            }
        }
        assert!(boot::HEADER_BYTES + boot::LONG.bytes().len() < layout::PAGE);
    }

    #[test]
    fn a_longer_loop_has_more_copies_and_the_same_rest() {
        let payload = &popf::PAYLOADS[0];
        let (image, loops) = Image::with_loops(payload).unwrap();
        let op = payload.operation.bytes();
        let count = |from: u64, to: u64| {
            let code = image.memory.get(from, (to - from) as usize);
            code.windows(op.len()).filter(|w| *w == op).count()
        };
        assert_eq!(count(loops[0], loops[1]), payload.copies as usize);
        assert_eq!(count(loops[1], loops[2]), 2 * payload.copies as usize);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let bytes = vec![NOP; layout::PAYLOAD_BYTES + 3];
        let error = Image::of_bytes(Mode::Long, Ring::Kernel, &bytes).err().unwrap();
        assert!(error.message.contains("3 bytes too long"), "{error}");
        assert!(Image::of_bytes(Mode::Long, Ring::Kernel, &bytes[3..]).is_ok());
    }
}
