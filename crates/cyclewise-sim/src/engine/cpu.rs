//! The CPU that a program sees: it accesses lines, lets time pass, and reports to the meter.
//!
//! Programs are `async` functions, so that an exchange loop reads as it does in the library. An access puts itself into the
//! thread's mailbox and yields to the engine, which polls the program again when the reply is available. There is no waker: the
//! engine knows which program to poll.

use super::access::{Access, Reply};
use super::meter::Meter;
use super::random::Random;
use super::timing::{Picos, Timing};
use crate::workload::Relax;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A line of memory, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineId(pub(crate) u32);

/// All bits of a line.
pub(crate) const ALL: u64 = u64::MAX;

/// Passes accesses to the engine and replies to the program.
#[derive(Debug)]
pub(crate) struct Mailbox {
    /// The line and the access that the program waits for.
    pub(crate) access: Cell<Option<(LineId, Access)>>,
    pub(crate) reply: Cell<Reply>,
    /// The thread's clock: the engine's plus the work since the last access.
    pub(crate) clock: Cell<Picos>,
    random: RefCell<Random>,
}

/// The CPU that a program runs on.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    thread: u32,
    mailbox: Rc<Mailbox>,
    meter: Rc<Meter>,
    timing: Rc<Timing>,
}

impl Cpu {
    pub(crate) fn new(thread: u32, seed: u64, meter: Rc<Meter>, timing: Rc<Timing>) -> Self {
        // Seeds that differ by a multiple of this constant give independent streams.
        let seed = seed ^ u64::from(thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mailbox = Mailbox {
            access: Cell::new(None),
            reply: Cell::new(Reply::default()),
            clock: Cell::new(0),
            random: RefCell::new(Random::new(seed)),
        };
        Self {
            thread,
            mailbox: Rc::new(mailbox),
            meter,
            timing,
        }
    }

    /// The thread's number.
    pub(crate) fn thread(&self) -> u32 {
        self.thread
    }

    pub(crate) fn mailbox(&self) -> Rc<Mailbox> {
        Rc::clone(&self.mailbox)
    }

    /// Works for a time, with jitter.
    fn pass(&self, time: Picos) {
        let time = self.timing.vary(time, &mut self.mailbox.random.borrow_mut());
        self.mailbox.clock.set(self.mailbox.clock.get() + time);
    }

    /// Makes an access, after a plain step.
    fn access(&self, line: LineId, access: Access) -> Pending<'_> {
        self.pass(self.timing.alu);
        self.post(line, access)
    }

    fn post(&self, line: LineId, access: Access) -> Pending<'_> {
        self.mailbox.access.set(Some((line, access)));
        Pending {
            mailbox: &self.mailbox,
            posted: false,
        }
    }

    /// Reads; only the masked bits of the result are valid.
    pub(crate) async fn load(&self, line: LineId, mask: u64) -> u64 {
        self.access(line, Access::Load { mask }).await.value
    }

    /// Reads the masked bits of a line that will be written.
    pub(crate) async fn load_to_write(&self, line: LineId, mask: u64) -> u64 {
        self.access(line, Access::LoadToWrite { mask }).await.value
    }

    /// Reads with a reservation.
    pub(crate) async fn load_exclusive(&self, line: LineId) -> u64 {
        self.access(line, Access::LoadExclusive).await.value
    }

    /// Writes if the reservation still holds; returns whether it did.
    pub(crate) async fn store_exclusive(&self, line: LineId, value: u64) -> bool {
        self.access(line, Access::StoreExclusive { value }).await.done
    }

    /// Writes the masked bits.
    pub(crate) async fn store(&self, line: LineId, mask: u64, value: u64) {
        let store = Access::Store { mask, value };
        if self.timing.buffers_stores {
            // No later step waits for it.
            self.post(line, store).await;
        } else {
            self.access(line, store).await;
        }
    }

    /// Adds; returns the previous value.
    pub(crate) async fn add(&self, line: LineId, value: u64) -> u64 {
        self.access(line, Access::Add { value }).await.value
    }

    /// Adds, for a caller that does not need the previous value.
    pub(crate) async fn add_unused(&self, line: LineId, value: u64) {
        let add = if self.timing.posts_rmws {
            Access::PostedAdd { value }
        } else {
            Access::Add { value }
        };
        self.access(line, add).await;
    }

    /// Sets bits; returns the previous value.
    pub(crate) async fn or(&self, line: LineId, bits: u64) -> u64 {
        self.access(line, Access::Or { bits }).await.value
    }

    /// Clears bits; returns the previous value.
    pub(crate) async fn clear(&self, line: LineId, bits: u64) -> u64 {
        self.access(line, Access::Clear { bits }).await.value
    }

    /// Exchanges the masked bits; returns the previous value.
    pub(crate) async fn swap(&self, line: LineId, mask: u64, value: u64) -> u64 {
        self.access(line, Access::Swap { mask, value }).await.value
    }

    /// Exchanges the masked bits if they are as expected; returns the previous value in either case.
    pub(crate) async fn cas(&self, line: LineId, mask: u64, expected: u64, value: u64) -> Result<u64, u64> {
        let reply = self.access(line, Access::Cas { mask, expected, value }).await;
        if reply.done { Ok(reply.value) } else { Err(reply.value) }
    }

    /// Spins until `condition` holds for the line's value, of which only the masked bits matter.
    pub(crate) async fn wait_until(
        &self,
        line: LineId,
        mask: u64,
        relax: Relax,
        condition: impl Fn(u64) -> bool,
    ) -> u64 {
        let mut seen = self.load(line, mask).await;
        while !condition(seen) {
            let period = match relax {
                Relax::None => self.timing.alu + self.timing.hit,
                Relax::Pause | Relax::Exponential { .. } => self.timing.alu + self.timing.hit + self.timing.pause,
            };
            seen = self
                .access(line, Access::LoadChanged { seen, mask, period })
                .await
                .value;
        }
        seen
    }

    /// Works for a number of cycles, on nothing shared.
    pub(crate) fn work(&self, cycles: u32) {
        if cycles > 0 {
            self.pass(self.timing.cycles(cycles));
        }
    }

    /// Executes a number of PAUSE instructions.
    pub(crate) fn pause(&self, pauses: u32) {
        let time = self.timing.pause * Picos::from(pauses);
        let time = self.timing.vary(time, &mut self.mailbox.random.borrow_mut());
        self.mailbox.clock.set(self.mailbox.clock.get() + time);
    }

    /// Whether the run needs another operation.
    pub(crate) fn again(&self) -> bool {
        self.meter.again()
    }

    /// Reports the begin of an operation.
    pub(crate) fn begin(&self) {
        self.meter.begin(self.thread, self.mailbox.clock.get());
    }

    /// Reports the end of the operation.
    pub(crate) fn end(&self) {
        self.meter.end(self.thread, self.mailbox.clock.get());
    }

    /// Reports a failed try.
    pub(crate) fn retried(&self) {
        self.meter.retried();
    }

    /// Reports the success of a retry loop.
    pub(crate) fn won(&self) {
        self.meter.won();
    }

    /// Reports that a retry loop was given up and the lock taken.
    pub(crate) fn fell_back(&self) {
        self.meter.fell_back();
    }
}

/// An access without a reply.
struct Pending<'a> {
    mailbox: &'a Mailbox,
    posted: bool,
}

impl Future for Pending<'_> {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Reply> {
        if self.posted {
            return Poll::Ready(self.mailbox.reply.get());
        }
        self.posted = true;
        Poll::Pending
    }
}

/// The relax policy of one retry loop.
#[derive(Debug)]
pub(crate) struct Backoff {
    relax: Relax,
    pauses: u32,
}

impl Backoff {
    pub(crate) fn new(relax: Relax) -> Self {
        Self { relax, pauses: 1 }
    }

    /// Pauses; returns the number of pauses, at least one, like the library's `Relax`.
    pub(crate) fn relax(&mut self, cpu: &Cpu) -> u32 {
        let pauses = match self.relax {
            Relax::None => return 1,
            Relax::Pause => 1,
            Relax::Exponential { max } => self.pauses.min(max.max(1)),
        };
        self.pauses = self.pauses.saturating_mul(2);
        cpu.pause(pauses);
        pauses
    }
}
