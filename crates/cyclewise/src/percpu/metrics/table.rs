//! What is counted, by key: shards, each a table under a lock of its own.
//!
//! The key brings its hash, which nobody computes again. Two keys of one hash are in one bucket.

use super::counter::Counter;
use super::locked;
use core::hash::{BuildHasherDefault, Hasher};
use metrics::{Key, Level, Metadata};
use std::boxed::Box;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::vec::Vec;

/// A power of two.
const SHARDS: usize = 32;

pub(super) struct Table<R>([Shard<R>; SHARDS]);

type Shard<R> = RwLock<HashMap<u64, Vec<Arc<R>>, BuildHasherDefault<Unchanged>>>;

pub(super) trait Keyed {
    fn key(&self) -> &Key;
}

/// A counter of ours, and the next recorder's of the same key.
pub(super) struct Registered {
    pub(super) key: Key,
    pub(super) counter: Arc<Counter>,
    metadata: Owned,
    exported: Mutex<Exported>,
}

struct Exported {
    next: metrics::Counter,
    /// What it was last set to.
    sum: u64,
    /// Whether a publication left it out since, so that the exporter may have dropped it.
    is_idle: bool,
}

/// A [`Metadata`] that owns its strings.
pub(super) struct Owned {
    target: Box<str>,
    level: Level,
    module_path: Option<Box<str>>,
}

impl Owned {
    pub(super) fn new(metadata: &Metadata<'_>) -> Self {
        Self {
            target: metadata.target().into(),
            level: *metadata.level(),
            module_path: metadata.module_path().map(Box::from),
        }
    }

    pub(super) fn metadata(&self) -> Metadata<'_> {
        Metadata::new(&self.target, self.level, self.module_path.as_deref())
    }
}

impl<R: Keyed> Table<R> {
    pub(super) fn new() -> Self {
        Self(core::array::from_fn(|_| Shard::default()))
    }

    fn shard(&self, key: &Key) -> &Shard<R> {
        // The tables use the lowest and the highest bits.
        &self.0[(key.get_hash() >> 32) as usize % SHARDS]
    }

    pub(super) fn find(&self, key: &Key) -> Option<Arc<R>> {
        let shard = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        let mut bucket = shard.get(&key.get_hash())?.iter();
        bucket.find(|registered| registered.key() == key).cloned()
    }

    /// Adds it, unless another thread has added one of this key.
    pub(super) fn add(&self, new: R) -> Arc<R> {
        let mut shard = self.shard(new.key()).write().unwrap_or_else(PoisonError::into_inner);
        let bucket = shard.entry(new.key().get_hash()).or_default();
        if let Some(registered) = bucket.iter().find(|registered| registered.key() == new.key()) {
            return Arc::clone(registered);
        }
        let new = Arc::new(new);
        bucket.push(Arc::clone(&new));
        new
    }

    /// All of them. No lock is held when it returns.
    pub(super) fn all(&self) -> Vec<Arc<R>> {
        let mut all = Vec::new();
        for shard in &self.0 {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            all.extend(shard.values().flatten().cloned());
        }
        all
    }
}

impl Keyed for Registered {
    fn key(&self) -> &Key {
        &self.key
    }
}

impl Registered {
    pub(super) fn new(key: &Key, metadata: &Metadata<'_>, next: metrics::Counter) -> Self {
        Self {
            key: key.clone(),
            counter: Arc::new(Counter::new()),
            metadata: Owned::new(metadata),
            exported: Mutex::new(Exported {
                next,
                sum: 0,
                is_idle: false,
            }),
        }
    }

    /// Sets the next recorder's counter to the sum, if that has changed. No lock of this counter is held while its code runs.
    pub(super) fn publish(&self, recorder: &impl metrics::Recorder) {
        let sum = self.counter.sum();
        let (is_changed, was_idle) = {
            let mut exported = locked(&self.exported);
            let is_changed = exported.sum != sum;
            (is_changed, core::mem::replace(&mut exported.is_idle, !is_changed))
        };
        if !is_changed {
            return;
        }
        if was_idle {
            let next = recorder.register_counter(&self.key, &self.metadata.metadata());
            locked(&self.exported).next = next;
        }
        let next = locked(&self.exported).next.clone();
        next.absolute(sum);
        locked(&self.exported).sum = sum;
    }
}

/// A hasher of numbers that are hashes.
#[derive(Default)]
struct Unchanged(u64);

impl Hasher for Unchanged {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// For other numbers, of which there are none here.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}
