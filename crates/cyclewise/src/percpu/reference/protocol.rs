//! The protocol of [`Ref`](super::Ref), generic over its words, which the models replace.
//!
//! # States
//! *Guard*: [`OPEN`], references are counted in the slots; [`SHUT`], in the shared word. *Shared word*: a count in its low
//! 62 bits, above it two flags:
//!
//! | shared word | guard | meaning |
//! |---|---|---|
//! | [`BIAS`] + 1 + n | `OPEN` | live; n counted while the guard was shut, the slots' counts to be added |
//! | [`DEAD`] + `BIAS` + ... | `OPEN`, then `SHUT` | being killed |
//! | `DEAD` + n | `SHUT` | killed, n references are left |
//! | `DEAD` + [`REVIVING`] | `SHUT`, then `OPEN` | being made live again |
//! | 1 + n | `SHUT` | live and shared, where sequences cannot be restarted |
//!
//! # Invariants
//! 1. `kill` sets `DEAD` before it shuts the guard, and adds the slots' counts after it has waited for all threads that
//!    found the guard open. Once the guard is shut, all threads count in the shared word; the bias keeps that above 0 until the slots' counts are added.
//! 2. So the remaining count is exact: it includes each reference once, wherever that was taken or put.
//! 3. A thread that finds `DEAD` gets no live reference; one whose exchange of the shared word finds it clear got its reference before the kill.
//! 4. One caller wins each transition: one sets `DEAD`, one sets `REVIVING`.

use crate::error::Refusal;

pub(in crate::percpu) const OPEN: u64 = 0; // the slots count
pub(in crate::percpu) const SHUT: u64 = 1; // the shared word counts

pub(super) const DEAD: u64 = 1 << 63; // killed
pub(super) const REVIVING: u64 = 1 << 62; // being made live again
const COUNT: u64 = REVIVING - 1; // the count's bits
pub(in crate::percpu) const BIAS: u64 = 1 << 61; // half of the range: as far from 0 as from an overflow

/// The words of the protocol.
pub(in crate::percpu) trait Parts {
    /// Adds to the calling thread's slot if the guard is open, in one step; else returns false.
    fn add_in_slot(&self, amount: i64) -> bool;
    /// Sets the guard. Release, or more.
    fn set_guard(&self, guard: u64);
    /// Returns when every thread that found the guard open has added.
    fn wait_for_slots(&self) -> Result<(), Refusal>;
    /// The slots' sum, which it sets to 0. Only after the guard was shut and `wait_for_slots` has returned.
    fn take_slots(&self) -> i64;
    /// The shared word. Acquire.
    fn shared(&self) -> u64;
    /// Exchanges it; `Err` with the value found. `AcqRel`: pairs with itself, so that the last put sees what happened before all others.
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64>;
}

/// Exchanges the shared word for `change` of it; `Err` with the value found if that is `None`.
fn update(parts: &impl Parts, change: impl Fn(u64) -> Option<u64>) -> Result<u64, u64> {
    let mut found = parts.shared();
    loop {
        let to = change(found).ok_or(found)?;
        match parts.exchange(found, to) {
            Ok(()) => return Ok(found),
            Err(other) => found = other,
        }
    }
}

/// One reference more, unless there are none or too many.
fn more(word: u64) -> Option<u64> {
    (word & COUNT != 0 && word & COUNT != COUNT).then(|| word + 1)
}

/// Takes a reference, if any is left.
#[inline(always)]
pub(in crate::percpu) fn try_get(parts: &impl Parts) -> bool {
    parts.add_in_slot(1) || update(parts, more).is_ok()
}

/// Takes a reference, unless the count is killed.
#[inline(always)]
pub(super) fn try_get_live(parts: &impl Parts) -> bool {
    let live = |word| if word & DEAD == 0 { more(word) } else { None };
    parts.add_in_slot(1) || update(parts, live).is_ok()
}

/// Puts a reference. True if it was the last.
#[inline(always)]
pub(in crate::percpu) fn put(parts: &impl Parts) -> bool {
    !parts.add_in_slot(-1) && put_shared(parts)
}

/// The same for a reference that is counted in the shared word, as the initial one after a kill.
pub(in crate::percpu) fn put_shared(parts: &impl Parts) -> bool {
    // A put below 0 is one too many: ignored, since the true count is unknown.
    let less = |word: u64| (word & COUNT != 0).then(|| word - 1);
    update(parts, less).is_ok_and(|before| before & COUNT == 1)
}

/// Kills the count; `false` if it was dead. When this returns, no thread can take a live reference any more, and the caller puts
/// the initial reference by [`put_shared`].
pub(in crate::percpu) fn kill(parts: &impl Parts) -> Result<bool, Refusal> {
    let Ok(before) = update(parts, |word| (word & DEAD == 0).then_some(word | DEAD)) else {
        return Ok(false);
    };
    // Half the bias separates shared counts from biased ones.
    if before & COUNT > BIAS / 2 {
        parts.set_guard(SHUT);
        if let Err(refusal) = parts.wait_for_slots() {
            // Undoes the kill; concurrent `try_get_live` calls have returned false.
            parts.set_guard(OPEN);
            let _ = update(parts, |word| Some(word & !DEAD));
            return Err(refusal);
        }
        let slots = parts.take_slots();
        let _ = update(parts, |word| Some(word & !COUNT | without_bias(word & COUNT, slots)));
    }
    Ok(true)
}

/// The count with the slots' counts and without the bias. If even the initial reference is missing, there was a put too many: the count
/// then never drops to 0.
fn without_bias(count: u64, slots: i64) -> u64 {
    // Below the bias if puts were counted here whose gets are in the slots.
    let sum = count as i64 - BIAS as i64 + slots;
    if (1..BIAS as i64).contains(&sum) {
        sum as u64
    } else {
        BIAS
    }
}

/// Makes the count live again, with the initial reference; `false` if it is live, or references are left.
pub(super) fn reinit(parts: &impl Parts, counts_in_slots: bool) -> bool {
    if parts.exchange(DEAD, DEAD | REVIVING).is_err() {
        return false;
    }
    if counts_in_slots {
        parts.set_guard(OPEN);
    }
    let first = if counts_in_slots { BIAS + 1 } else { 1 };
    // No other thread changes the word meanwhile: its count is 0.
    parts.exchange(DEAD | REVIVING, first).is_ok()
}
