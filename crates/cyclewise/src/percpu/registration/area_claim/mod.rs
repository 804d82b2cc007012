//! How an rseq area gets a new owner: the protocol, over a trait that the models implement too.
//!
//! # States
//! *Claims* counts the beginnings and ends of changes of the owner: it is odd during a change. *Owner* is a process generation and a
//! thread of it, or 0.
//!
//! # Invariants
//! 1. Claims never decreases, and 64 bits do not wrap around. A thread that finds it unchanged knows that the entry had
//!    the same owner all the time. The owner word alone does not tell that, because tids are reused.
//! 2. Between two claims only the owner's own thread changes the owner: to 0 when it gives the entry back, or to its new id in a child
//!    of a fork.
//! 3. A thread that finds an owner gone, and then exchanges the claims that it read before, takes the entry from
//!    that owner and from no other. If it compared the owner alone, another thread could have taken the entry in between and ended,
//!    and a live thread could have the tid of the first owner, and the entry.
//! 4. A child of a fork may find an entry whose claims stay odd, because it does not have the claiming thread. Nobody claims that
//!    entry any more: 256 bytes are lost.

#[cfg(test)]
mod tests;

/// The words of an entry.
pub(super) trait AreaEntry {
    /// Claims. Acquire: pairs with `end`, for the owner.
    fn claims(&self) -> u64;
    /// The owner. Acquire: pairs with the Release by which it gives the entry back.
    fn owner(&self) -> u64;
    /// Adds 1 to claims; false where it is not `claims` any more. Acquire: as `claims`.
    fn begin(&self, claims: u64) -> bool;
    /// Stores the owner. Relaxed: `end` publishes it.
    fn set_owner(&self, owner: u64);
    /// Stores claims. Release: pairs with `claims` and `begin`.
    fn end(&self, claims: u64);
}

/// Takes an entry whose owner `is_free` accepts; false where it does not, or another thread was faster.
pub(super) fn claim(entry: &impl AreaEntry, me: u64, is_free: impl Fn(u64) -> bool) -> bool {
    let claims = entry.claims();
    if claims % 2 == 1 || !is_free(entry.owner()) || !entry.begin(claims) {
        return false;
    }
    entry.set_owner(me);
    entry.end(claims + 2);
    true
}
