//! What the code after a site does, as far as the rules ask: tests of the word, calls, waits, the way back.

use super::value::Value;
use crate::decode::Cond;
use std::collections::HashMap;

/// Within how many instructions a slow path begins: what comes later is about something else.
const SOON: u32 = 20;

/// By how many instructions a side that leads to the other's slow path as well has to be longer: it comes by another way.
const LATER: u32 = 8;

/// Which number the word's value was compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tested {
    /// The value, plus the first number, with the second.
    Number(i64, i64),
    /// The new value with zero, by the flags of the instruction itself.
    New,
    /// The value with something that was loaded from other memory.
    Loaded,
    /// A bit, by a bit test.
    Bit,
    /// Something computed from it.
    Derived,
    /// Whether the exchange was made.
    Swap,
}

/// A test of the word's value.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) tested: Tested,
    pub(super) cond: Cond,
    /// What follows where the branch is taken; nothing for a test without a branch.
    pub(super) taken: Reach,
    /// What follows where it is not.
    pub(super) fall: Reach,
    /// For [`Tested::Swap`]: whether the branch is taken when the exchange was made.
    pub(super) taken_if_swapped: bool,
}

impl Test {
    /// What follows where an exchange failed, and where it was made.
    pub(super) fn failed_and_made(&self) -> (&Reach, &Reach) {
        if self.taken_if_swapped {
            (&self.fall, &self.taken)
        } else {
            (&self.taken, &self.fall)
        }
    }

    /// Whether it only guards against a number that cannot be, and ends the program there. Where the other side unwinds as well, the
    /// program was about to end before.
    pub(super) fn is_guard(&self) -> bool {
        let guards = |(dead, other): &(&Reach, &Reach)| dead.only_dies() && other.any(&|r| r.goes_on());
        self.sides().iter().any(guards)
    }

    /// Each side, with the other one.
    pub(super) fn sides(&self) -> [(&Reach, &Reach); 2] {
        [(&self.taken, &self.fall), (&self.fall, &self.taken)]
    }
}

/// What a thread does on one side of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A call, or a jump out of the function: a call whose return is the caller's.
    Call(Call),
    SystemCall,
    /// PAUSE and its like.
    Pause,
    /// A test is made again, of a newly loaded value.
    Wait,
}

/// A call, and what is handed over in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Where it leads, if that is known.
    pub(super) target: Option<u64>,
    /// No argument is the address of the word or of what it lies in: the call is about something else.
    pub(super) is_elsewhere: bool,
    /// The first argument is what the exchange would have put into the word.
    pub(super) has_new: bool,
}

/// The site, reached again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) expected: Value,
    pub(super) new: Value,
    /// Whether it works on another word by then.
    pub(super) moved: bool,
}

/// What is reached within some instructions, over all paths, before the next test of the word.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// The site is reached again.
    pub(super) again: Option<Again>,
    /// What happens, and at which address.
    pub(super) events: Vec<(u64, Event)>,
    /// Addresses of the instructions, and how many were executed before.
    pub(super) visited: Vec<(u64, u32)>,
    pub(super) returns: Vec<Value>,
    /// The word's value is stored somewhere else than on the stack.
    pub(super) keeps: bool,
    /// What is stored in the word later.
    pub(super) stored: Vec<Value>,
    /// Masks by which bits of the word are cleared later.
    pub(super) masks: Vec<i64>,
    /// Numbers that locked instructions add later, to whatever word.
    pub(super) added: Vec<i64>,
    /// Where the word is changed by a copy of the site, and how.
    pub(super) copies: Vec<(u64, Again)>,
    /// Some path is not followed to its end: it is too long, or its code is not known.
    pub(super) cut: bool,
    /// Some path ends the program or unwinds.
    pub(super) dies: bool,
    /// How many instructions are executed up to the nearest return.
    pub(super) returns_after: Option<u32>,
    /// Other locked instructions.
    pub(super) locked: u32,
    /// Tests of the word's value.
    pub(super) tests: Vec<Test>,
}

impl Reach {
    /// Every test, those behind others included.
    pub(super) fn all_tests(&self) -> Vec<&Test> {
        let mut all = Vec::new();
        for test in &self.tests {
            all.push(test);
            all.extend(test.taken.all_tests());
            all.extend(test.fall.all_tests());
        }
        all
    }

    /// This, and what is behind its tests.
    pub(super) fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        for test in &self.tests {
            all.extend(test.taken.all());
            all.extend(test.fall.all());
        }
        all
    }

    /// Whether this or what is behind its tests fulfils the condition.
    pub(super) fn any(&self, condition: &dyn Fn(&Self) -> bool) -> bool {
        self.all().into_iter().any(condition)
    }

    /// Whether the site is reached again, and works on the same word.
    pub(super) fn again(&self) -> Option<Again> {
        self.all().iter().find_map(|r| r.again.filter(|a| !a.moved))
    }

    /// A copy of the site that is reached here, and not on the other side.
    pub(super) fn copy(&self, other: &Self) -> Option<Again> {
        let theirs = other.distances();
        let mut copies = self.all().into_iter().flat_map(|r| &r.copies);
        copies.find(|(at, _)| !theirs.contains_key(at)).map(|(_, again)| *again)
    }

    /// The slow path: what happens here, and not, or only much later, where the other side leads to.
    pub(super) fn beside(&self, other: &Self) -> Vec<Event> {
        let (mine, theirs) = (self.distances(), other.distances());
        let start = mine.values().min().copied().unwrap_or(0);
        let is_slow = |at: &u64| match (mine.get(at), theirs.get(at)) {
            (Some(mine), Some(theirs)) => mine + LATER < *theirs && mine - start <= SOON,
            (Some(mine), None) => mine - start <= SOON,
            // A jump out of the function by the test's own branch.
            (None, _) => true,
        };
        let events = self.all().into_iter().flat_map(|r| &r.events);
        events.filter(|(at, _)| is_slow(at)).map(|(_, e)| *e).collect()
    }

    /// Whether some path does not end the program, as far as it is followed.
    fn goes_on(&self) -> bool {
        let jumps_out = self.events.iter().any(|(_, e)| matches!(e, Event::Call(_))) && !self.dies;
        self.cut || self.again.is_some() || !self.returns.is_empty() || jumps_out
    }

    /// Whether nothing follows here but the end of the program.
    pub(super) fn only_dies(&self) -> bool {
        let nothing = self.returns.is_empty() && self.events.is_empty() && self.again.is_none();
        self.dies && nothing && !self.cut && self.tests.is_empty()
    }

    /// The shortest way to each instruction.
    pub(super) fn distances(&self) -> HashMap<u64, u32> {
        let mut distances = HashMap::new();
        for (at, distance) in self.all().into_iter().flat_map(|r| &r.visited) {
            let shortest = distances.entry(*at).or_insert(*distance);
            *shortest = (*shortest).min(*distance);
        }
        distances
    }

    /// Whether a thread waits here by PAUSE, and does nothing else than wait.
    pub(super) fn pauses(&self) -> bool {
        let all = self.all();
        let mut events = all.iter().flat_map(|r| &r.events).map(|(_, e)| e);
        let has_pause = events.clone().any(|e| *e == Event::Pause);
        has_pause && events.all(|e| matches!(e, Event::Pause | Event::Wait))
    }
}
