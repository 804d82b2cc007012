//! A model kernel with one thread: signals are sent at chosen steps, queued while blocked, and delivered once
//! unblocked.
//!
//! At each step the kernel delivers every deliverable signal, as a frame on top of the running code. A plan says which
//! signal is sent at which step; the models try every plan of up to three signals. A thread has no other source of
//! nondeterminism, so this covers every order.

use crate::mask::siginfo::Info;
use crate::mask::thread_mask::{Env, ThreadMask};
use std::cell::{Cell, RefCell};
use std::vec::Vec;

/// A protocol under test: the real [`ThreadMask`], or a twin with one fault.
pub(super) trait Protocol {
    fn new() -> Self;
    fn hold(&self, env: &impl Env);
    fn release(&self, env: &impl Env);
    fn arrive(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env);
    fn is_held(&self) -> bool;
    fn is_pending(&self) -> bool;
}

impl Protocol for ThreadMask {
    fn new() -> Self {
        Self::default()
    }
    fn hold(&self, env: &impl Env) {
        self.hold(env);
    }
    fn release(&self, env: &impl Env) {
        self.release(env);
    }
    fn arrive(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        self.arrive(info, ours, mask, env);
    }
    fn is_held(&self) -> bool {
        self.is_held()
    }
    fn is_pending(&self) -> bool {
        self.is_pending()
    }
}

/// The first fault found, if any.
pub(super) type Verdict = Result<(), &'static str>;

/// A signal of the plan: the step at which it is sent, its number, its value.
pub(super) type Sent = (u32, i32, u64);

/// All signals of the models.
pub(super) const OURS: u64 = u64::MAX;

/// The signals blocked in a frame.
#[derive(Clone, Copy)]
pub(super) enum Frames {
    /// All, as when the kernel calls us.
    BlockAll,
    /// Its own signal, as when a handler installed over ours with an empty mask calls us.
    BlockTheirOwn,
    /// All; but their end restores the mask from before, whatever the handler has written there, as under Valgrind.
    KeepToNoMask,
}

/// Frames at one step after which nothing else is going to happen.
const FRAMES: u32 = 100_000;

pub(super) struct Kernel<'a, P> {
    pub(super) thread: &'a P,
    plan: &'a [Sent],
    frames: Frames,
    step: Cell<u32>,
    blocked: Cell<u64>,
    queue: RefCell<Vec<Info>>,
    /// Mainline's critical section, and handlers in progress.
    critical: Cell<bool>,
    handling: Cell<u32>,
    pub(super) delivered: RefCell<Vec<(i32, u64)>>,
    pub(super) wrong: Cell<Option<&'static str>>,
}

pub(super) fn information(signal: i32, value: u64) -> Info {
    Info([signal as u64, 0, 0, value, 0, 0])
}

impl<'a, P: Protocol> Kernel<'a, P> {
    pub(super) fn new(thread: &'a P, plan: &'a [Sent]) -> Self {
        Self::with(thread, plan, Frames::BlockAll)
    }

    pub(super) fn with(thread: &'a P, plan: &'a [Sent], frames: Frames) -> Self {
        Self {
            thread,
            plan,
            frames,
            step: Cell::new(0),
            blocked: Cell::new(0),
            queue: RefCell::default(),
            critical: Cell::new(false),
            handling: Cell::new(0),
            delivered: RefCell::default(),
            wrong: Cell::new(None),
        }
    }

    pub(super) fn steps(&self) -> u32 {
        self.step.get()
    }

    /// A held section of mainline, with steps in it, and one under a nested hold.
    pub(super) fn section(&self, nested: bool) {
        self.thread.hold(self);
        self.critical.set(true);
        self.step();
        if nested {
            self.thread.hold(self);
            self.step();
            self.thread.release(self);
            self.step();
        }
        self.critical.set(false);
        self.thread.release(self);
    }

    /// Checks that every signal was delivered once, in order for each number.
    pub(super) fn conclude(&self) -> Verdict {
        if let Some(wrong) = self.wrong.get() {
            return Err(wrong);
        }
        if self.thread.is_held() {
            return Err("held at the end");
        }
        if self.thread.is_pending() || !self.queue.borrow().is_empty() {
            return Err("a signal waits at the end");
        }
        if self.blocked.get() != 0 {
            return Err("blocked at the end");
        }
        let delivered = self.delivered.borrow();
        for number in self.plan.iter().map(|sent| sent.1) {
            let sent = self.plan.iter().filter(|s| s.0 < self.steps() && s.1 == number);
            let sent: Vec<_> = sent.map(|s| s.2).collect();
            let got: Vec<_> = delivered.iter().filter(|d| d.0 == number).map(|d| d.1).collect();
            if number >= 32 && sent != got {
                return Err("a real-time signal lost, doubled or out of order");
            }
            // A standard signal may be merged into a pending one, and must arrive at least once.
            if number < 32 && (got.is_empty() != sent.is_empty() || !got.is_sorted_by(|a, b| a < b)) {
                return Err("a standard signal lost or doubled");
            }
        }
        Ok(())
    }

    fn send(&self, info: Info) {
        let mut queue = self.queue.borrow_mut();
        let merged = info.is_standard() && queue.iter().any(|other| other.signal() == info.signal());
        if !merged {
            queue.push(info);
        }
    }

    /// Delivers unblocked signals, lowest number first, as a return to user mode does.
    fn deliver_all(&self) {
        for frame in 0.. {
            if frame == FRAMES {
                self.wrong.set(Some("a signal that is delivered for ever"));
                self.queue.borrow_mut().clear();
            }
            let next = {
                let mut queue = self.queue.borrow_mut();
                let open = queue
                    .iter()
                    .enumerate()
                    .filter(|(_, i)| self.blocked.get() & i.bit() == 0);
                let next = open.min_by_key(|(at, i)| (i.signal(), *at)).map(|(at, _)| at);
                next.map(|at| queue.remove(at))
            };
            let Some(info) = next else { return };
            // The end of a frame restores the mask it was given.
            let before = self.blocked.get();
            let mut mask = before;
            self.blocked.set(match self.frames {
                Frames::BlockAll | Frames::KeepToNoMask => u64::MAX,
                Frames::BlockTheirOwn => mask | info.bit(),
            });
            if let Frames::BlockTheirOwn = self.frames {
                // The caller is a foreign handler, which may hold too.
                self.thread.hold(self);
                self.thread.release(self);
            }
            self.thread.arrive(&info, OURS, &mut mask, self);
            self.blocked.set(match self.frames {
                Frames::KeepToNoMask => before,
                _ => mask,
            });
        }
    }
}

impl<P: Protocol> Env for Kernel<'_, P> {
    fn deliver(&self, info: &Info) {
        if self.critical.get() {
            self.wrong.set(Some("a handler inside a hold"));
        }
        if self.handling.get() != 0 {
            self.wrong.set(Some("a handler inside a handler"));
        }
        self.handling.set(self.handling.get() + 1);
        self.step();
        self.delivered.borrow_mut().push((info.signal(), info.0[3]));
        // Handlers hold too.
        self.thread.hold(self);
        self.step();
        self.thread.release(self);
        self.handling.set(self.handling.get() - 1);
    }

    fn unblock(&self, signals: u64) {
        self.blocked.set(self.blocked.get() & !signals);
        self.deliver_all();
    }

    fn requeue(&self, info: &Info) -> bool {
        self.queue.borrow_mut().push(*info);
        true
    }

    fn step_in_frame(&self) {
        if let Frames::BlockTheirOwn = self.frames {
            self.step();
        }
    }

    fn step(&self) {
        let step = self.step.get();
        self.step.set(step + 1);
        for &(_, signal, value) in self.plan.iter().filter(|sent| sent.0 == step) {
            self.send(information(signal, value));
        }
        self.deliver_all();
    }
}
