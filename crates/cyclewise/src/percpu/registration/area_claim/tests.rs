//! The protocol under loom, or under threads; an entry that changes owner between the check and the exchange; and the twin that
//! compares only the owner.

use super::{AreaEntry, claim};
use crate::primitive::threads::{Arc, AtomicU64, model, thread};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// An entry. Without `COUNTED` only its owner is compared: the twin.
struct Model<const COUNTED: bool> {
    claims: AtomicU64,
    owner: AtomicU64,
}

impl<const COUNTED: bool> Model<COUNTED> {
    fn new(owner: u64) -> Self {
        Self {
            claims: AtomicU64::new(0),
            owner: AtomicU64::new(owner),
        }
    }
}

impl<const COUNTED: bool> AreaEntry for Model<COUNTED> {
    fn claims(&self) -> u64 {
        // The twin's count is the owner, doubled so that it is never odd.
        if COUNTED {
            self.claims.load(Acquire)
        } else {
            self.owner.load(Acquire) * 2
        }
    }
    fn owner(&self) -> u64 {
        self.owner.load(Acquire)
    }
    fn begin(&self, claims: u64) -> bool {
        let (word, from, to) = if COUNTED {
            (&self.claims, claims, claims + 1)
        } else {
            (&self.owner, claims / 2, claims / 2)
        };
        word.compare_exchange(from, to, Acquire, Relaxed).is_ok()
    }
    fn set_owner(&self, who: u64) {
        self.owner.store(who, Relaxed);
    }
    fn end(&self, claims: u64) {
        if COUNTED {
            self.claims.store(claims, Release);
        }
    }
}

/// A thread finds that thread 7 has ended. Before it continues, another thread takes the entry and ends; then a new thread gets
/// the id 7, takes the entry and lives. Returns whether the first thread takes the entry from the new one.
fn takes_it_from_a_live_thread<const COUNTED: bool>() -> bool {
    let entry = Model::<COUNTED>::new(7);
    claim(&entry, 1, |who| {
        assert_eq!(who, 7);
        assert!(claim(&entry, 2, |_| true));
        assert!(claim(&entry, 7, |who| who == 2));
        true
    })
}

#[test]
fn a_reused_id_is_not_mistaken_for_the_thread_that_ended() {
    model(|| assert!(!takes_it_from_a_live_thread::<true>()));
}

#[test]
fn the_twin_that_compares_only_the_owner_takes_it_from_a_live_thread() {
    model(|| assert!(takes_it_from_a_live_thread::<false>()));
}

/// Two threads claim an entry whose owner has ended: one gets it.
#[test]
fn one_of_two_claims_succeeds() {
    model(|| {
        let entry = Arc::new(Model::<true>::new(7));
        let other = {
            let entry = entry.clone();
            thread::spawn(move || claim(&*entry, 2, |who| who == 7))
        };
        let mine = claim(&*entry, 1, |who| who == 7);
        assert_ne!(mine, other.join().unwrap());
        assert_eq!(entry.owner(), if mine { 1 } else { 2 });
    });
}

/// Who claims a released entry sees everything its owner did to the area.
#[test]
fn a_claim_sees_what_the_previous_owner_wrote() {
    model(|| {
        let (entry, area) = (Arc::new(Model::<true>::new(0)), Arc::new(AtomicU64::new(0)));
        let other = {
            let (entry, area) = (entry.clone(), area.clone());
            thread::spawn(move || {
                if claim(&*entry, 2, |who| who == 0) {
                    area.store(5, Relaxed);
                    entry.owner.store(0, Release);
                    return true;
                }
                false
            })
        };
        let mut mine = false;
        if entry.claims() == 2 && claim(&*entry, 1, |who| who == 0) {
            assert_eq!(area.load(Relaxed), 5);
            mine = true;
        }
        assert!(other.join().unwrap());
        assert_eq!(entry.claims(), if mine { 4 } else { 2 });
    });
}

/// An entry that another thread is claiming, or was claiming when the process forked, is left alone.
#[test]
fn an_entry_that_is_changing_hands_is_left_alone() {
    model(|| {
        let entry = Model::<true>::new(7);
        assert!(entry.begin(0));
        assert!(!claim(&entry, 1, |_| true));
        assert_eq!(entry.owner(), 7);
    });
}
