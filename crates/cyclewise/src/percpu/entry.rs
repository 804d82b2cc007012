//! Who has an entry of the pages of areas: how it changes hands, over parts that a test can put others in place of.
//!
//! # States
//! *Claims* counts how often an entry began or ended to change hands: odd while somebody is at it. *Owner* is a process and a
//! thread of it, or 0.
//!
//! # Invariants
//! 1. Claims never falls, and 64 bits do not come round. So who finds it as it was knows that the entry has not changed hands in
//!    between, whatever the owner looks like: the ids of threads come round.
//! 2. Between two claims the owner is changed by its own thread alone: to 0 when it gives the entry back, or to its name in a child
//!    of a fork.
//! 3. So who has found an owner gone, and then exchanges the claims that it found before it looked, takes the entry from
//!    that owner and from no other. With the owner alone to compare, another could have taken the entry in between, and ended, and a
//!    thread that lives could have been given the id of the first, and the entry.
//! 4. A child of a fork may find an entry odd for ever, whose claimer it does not have. Nobody claims that one: it is 256
//!    bytes that are lost.

#[cfg(test)]
mod tests;

/// What the protocol is made of.
pub(super) trait Entry {
    /// Claims. Acquire: pairs with `end`, for the owner.
    fn claims(&self) -> u64;
    /// The owner. Acquire: pairs with the Release by which it gives the entry back.
    fn owner(&self) -> u64;
    /// Exchanges claims for one more; false where they are others. Acquire: as `claims`.
    fn begin(&self, claims: u64) -> bool;
    /// Stores the owner. Relaxed: `end` shows it.
    fn set_owner(&self, who: u64);
    /// Stores claims. Release: pairs with `claims` and `begin`.
    fn end(&self, claims: u64);
}

/// Takes an entry whose owner `is_free` says is none; false where it is not, or somebody was quicker.
pub(super) fn claim(entry: &impl Entry, me: u64, is_free: impl Fn(u64) -> bool) -> bool {
    let claims = entry.claims();
    if claims % 2 == 1 || !is_free(entry.owner()) || !entry.begin(claims) {
        return false;
    }
    entry.set_owner(me);
    entry.end(claims + 2);
    true
}
