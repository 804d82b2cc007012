//! The protocol of [`Ref`](super::Ref), over parts that a model can put others in place of.
//!
//! # States
//! *Guard*: [`OPEN`], references are counted in the slots; [`SHUT`], in the shared word. *Shared word*: a count in its low
//! 62 bits, above it two flags:
//!
//! | shared word | guard | meaning |
//! |---|---|---|
//! | [`BIAS`] + 1, and what came while it was shut | `OPEN` | live; the slots' counts are to be added |
//! | [`DEAD`] + `BIAS` + ... | `OPEN`, then `SHUT` | being killed |
//! | `DEAD` + n | `SHUT` | killed, n references are left |
//! | `DEAD` + [`AGAIN`] | `SHUT`, then `OPEN` | being made live again |
//! | 1 + n | `SHUT` | live and shared, where slots cannot be stopped |
//!
//! # Invariants
//! 1. `kill` sets `DEAD` before it shuts the guard, and adds the slots' counts after it has waited for everybody who
//!    found the guard open. From the shutting on all count in the shared word; the bias keeps that from 0 until then.
//! 2. So the count that is left is exact: each reference is in it once, taken or put wherever.
//! 3. Who finds `DEAD` gets no live reference, and who finds it not, in the shared word's exchange, got it before the kill.
//! 4. One caller wins each change of life: `DEAD` is set by one, `AGAIN` by one.

use crate::error::Refusal;

pub(super) const OPEN: u64 = 0; // the slots count
pub(super) const SHUT: u64 = 1; // the shared word counts

pub(super) const DEAD: u64 = 1 << 63; // killed
pub(super) const AGAIN: u64 = 1 << 62; // somebody makes it live again
const COUNT: u64 = AGAIN - 1; // the count's bits
pub(super) const BIAS: u64 = 1 << 61; // half of them: as far from none as from too many

/// What the protocol is made of.
pub(super) trait Parts {
    /// Adds to the calling thread's slot where the guard is open; else says no. As one: see `wait_for_slots`.
    fn add_in_slot(&self, amount: i64) -> bool;
    /// Sets the guard. Release, or more.
    fn set_guard(&self, guard: u64);
    /// Returns when everybody who found the guard open has added.
    fn wait_for_slots(&self) -> Result<(), Refusal>;
    /// The slots' sum, which is set to 0. While the guard is shut and the slots have been waited for.
    fn take_slots(&self) -> i64;
    /// The shared word. Acquire.
    fn shared(&self) -> u64;
    /// Exchanges it, `Err` with what it was. `AcqRel`: pairs with itself, so that who puts the last reference sees what all others did
    /// before they put theirs.
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64>;
}

/// Changes the shared word by what `change` makes of it; `Err` with what it was where that is nothing.
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

/// One more where there is one: too many, and none, stay.
fn more(word: u64) -> Option<u64> {
    (word & COUNT != 0 && word & COUNT != COUNT).then(|| word + 1)
}

/// Takes a reference; not where there is none left.
#[inline(always)]
pub(super) fn try_get(parts: &impl Parts) -> bool {
    parts.add_in_slot(1) || update(parts, more).is_ok()
}

/// Takes a reference; not once it is killed.
#[inline(always)]
pub(super) fn try_get_live(parts: &impl Parts) -> bool {
    let live = |word| if word & DEAD == 0 { more(word) } else { None };
    parts.add_in_slot(1) || update(parts, live).is_ok()
}

/// Gives a reference back. True where it was the last.
#[inline(always)]
pub(super) fn put(parts: &impl Parts) -> bool {
    !parts.add_in_slot(-1) && put_shared(parts)
}

/// The same in the shared word, for a reference that is counted there: the first one's, after a kill.
pub(super) fn put_shared(parts: &impl Parts) -> bool {
    // Fewer than none would be a put too many: then nothing, since nobody can say what is left.
    let less = |word: u64| (word & COUNT != 0).then(|| word - 1);
    update(parts, less).is_ok_and(|before| before & COUNT == 1)
}

/// Kills; `false` where it was dead. When this returns nobody will get a live reference any more, and whoever has killed puts
/// the first reference, by [`put_shared`].
pub(super) fn kill(parts: &impl Parts) -> Result<bool, Refusal> {
    let Ok(before) = update(parts, |word| (word & DEAD == 0).then_some(word | DEAD)) else {
        return Ok(false);
    };
    // Far from what a shared one comes to, and from what a biased one falls to.
    if before & COUNT > BIAS / 2 {
        parts.set_guard(SHUT);
        if let Err(refusal) = parts.wait_for_slots() {
            // As if nothing had been; who asked for a live reference meanwhile was told no.
            parts.set_guard(OPEN);
            let _ = update(parts, |word| Some(word & !DEAD));
            return Err(refusal);
        }
        let slots = parts.take_slots();
        let _ = update(parts, |word| Some(word & !COUNT | without_bias(word & COUNT, slots)));
    }
    Ok(true)
}

/// The count with the slots' in it. Without even the first reference somebody has put too many: it never comes to 0 then.
fn without_bias(count: u64, slots: i64) -> u64 {
    // Puts may have been counted here already whose gets are in the slots: less than the bias.
    let sum = count as i64 - BIAS as i64 + slots;
    if (1..BIAS as i64).contains(&sum) {
        sum as u64
    } else {
        BIAS
    }
}

/// Makes it live again, with the first reference; `false` where it is live, or references are left.
pub(super) fn reinit(parts: &impl Parts, counts_in_slots: bool) -> bool {
    if parts.exchange(DEAD, DEAD | AGAIN).is_err() {
        return false;
    }
    if counts_in_slots {
        parts.set_guard(OPEN);
    }
    let first = if counts_in_slots { BIAS + 1 } else { 1 };
    // Nobody changes the word meanwhile: its count is none.
    parts.exchange(DEAD | AGAIN, first).is_ok()
}
