//! Keys across fork: a child has its own text, and never inherits half a flip or a lock whose holder it does not have.

use crate::common::child::in_child;
use crate::common::harness::{Check, checks};
use crate::many::{MANY, all_say};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) const CHECKS: &[Check] = checks![children_forked_under_another_threads_flips_flip_their_own,];

fn children_forked_under_another_threads_flips_flip_their_own() {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flipper = scope.spawn(|| {
            let mut flips = 0;
            // Relaxed: the scope's join orders the rest.
            loop {
                MANY.enable().unwrap();
                MANY.disable().unwrap();
                flips += 2;
                if stop.load(Relaxed) {
                    return flips;
                }
            }
        });
        for _ in 0..100 {
            in_child(|| {
                // Whole, either way.
                assert!(all_say(true) || all_say(false));
                for _ in 0..3 {
                    MANY.enable().unwrap();
                    assert!(all_say(true));
                    MANY.disable().unwrap();
                    assert!(all_say(false));
                }
                // Left enabled: the parent must not see it.
                MANY.enable().unwrap();
            })
            .unwrap();
        }
        stop.store(true, Relaxed);
        assert!(flipper.join().unwrap() > 0);
    });
    assert!(all_say(false), "a child wrote its parent's text");
}
