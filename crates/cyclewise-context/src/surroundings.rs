//! The code around an operation: the columns of the matrix.
//!
//! A column is a type whose [`Surrounding::step`] is one repetition. What it works with stays in registers, as in a
//! caller of the operation.

use crate::arch::{Bits, Chain, Lines, Position, adds, adds_in_4_chains, opaque};
use crate::cell::{self, Cell, Loop, Op, Surrounding};
use std::cell::Cell as Shared;
use std::rc::Rc;

/// Sizes of the caches that a pointer chase must miss, in bytes; `None` where they cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSizes {
    /// The second-level cache.
    pub l2: Option<u64>,
    /// The last-level cache.
    pub l3: Option<u64>,
}

/// What the second-level cache is taken for where its size cannot be read: that of the cores of 2023 with the most.
const L2_ASSUMED: u64 = 2 << 20;
/// The most lines that the second-level cache's chase touches: 32 MiB of them, in a buffer of 64 MiB.
const MOST_LINES: u64 = 1 << 19;

impl CacheSizes {
    /// Lines that the second-level cache's chase goes through: four times what that holds, so that not much of a cycle stays
    /// in it whatever it evicts, but at most half of the last-level cache, where that is known.
    pub(crate) fn lines(self) -> u64 {
        let l2 = self.l2.unwrap_or(L2_ASSUMED) / LINE;
        let half = self.l3.map_or(u64::MAX, |l3| l3 / LINE / 2);
        // A last-level cache that is hardly larger leaves the chase what just does not fit the second level.
        (4 * l2).min(half.max(l2 + l2 / 4)).clamp(1024, MOST_LINES)
    }

    pub(crate) fn describe(self) -> String {
        let size = |bytes: u64| {
            if bytes < 1 << 20 {
                format!("{} KiB", bytes >> 10)
            } else {
                format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
            }
        };
        let known = match self.l2 {
            Some(l2) => format!("the L2 has {}", size(l2)),
            None => format!("the L2's size cannot be read, {} assumed", size(L2_ASSUMED)),
        };
        let chased = self.lines() * LINE;
        let missed = match self.l3 {
            Some(l3) if l3 < chased => "; the L3 is smaller, so that many loads miss that too",
            Some(_) => "",
            None => "; whether it fits an L3 is not known",
        };
        format!(
            "one load of a pointer chase through every other cache line of a buffer, {} of lines in all ({known}{missed}); the \
             pages are loaded into the TLB before",
            size(chased)
        )
    }
}

const LINE: u64 = 64;

/// Surroundings whose repetitions need no preparation: what each loop begins with, and one repetition.
macro_rules! repeated {
    ($($(#[$meta:meta])* $name:ident $(<const $n:ident>)? $(($held:ty))?: $registers:ty = |$this:ident| $begin:expr, |$at:pat_param| $step:expr;)*) => { $(
        $(#[$meta])*
        pub(crate) struct $name $(<const $n: usize>)? $(($held))?;

        impl $(<const $n: usize>)? Surrounding for $name $(<$n>)? {
            type Registers = $registers;
            fn begin(&self, _: u64) -> $registers {
                let $this = self;
                $begin
            }
            #[inline(always)]
            fn step($at: &mut $registers) {
                $step;
            }
        }
    )* };
}

repeated! {
    /// No instruction. Operations are kept apart for the compiler all the same.
    Nothing: () = |_this| (), |()| opaque(0);
    /// `N` dependent additions.
    Adds<const N>: (u64, u64) = |_this| (opaque(0), opaque(1)), |(x, one)| adds::<N>(x, *one);
    /// Four chains of 30 additions.
    Adds4x30: ([u64; 4], u64) = |_this| ([opaque(0); 4], opaque(1)), |(x, one)| adds_in_4_chains::<30>(x, *one);
    /// Eight loads that hit the nearest cache, each of which waits for the one before.
    LoadChain8(Chain): Position = |this| this.0.start(), |at| at.follow::<8>();
    /// Thirty-two independent loads.
    Loads32(Lines): Lines = |this| this.0, |lines| lines.load_32();
    /// Sixteen stores to four lines.
    Stores16(Lines): (Lines, u64) = |this| (this.0, opaque(1)), |(lines, value)| lines.store_16(*value);
    /// A word that is loaded, incremented and stored eight times.
    LoadAddStore8(Lines): (Lines, [u64; 3], u64) = |this| (this.0, [opaque(0); 3], opaque(1)),
        |(lines, beside, one)| lines.load_add_store_8(beside, *one);
}

/// A load that misses the second-level cache. All loops go on where the last one stopped, so that a node is old when it
/// is met again.
///
/// A buffer of that size needs more pages than a TLB holds, and in a guest a miss of the TLB costs several times one of the
/// cache. So the pages of a batch are touched before it, at other lines.
pub(crate) struct L2Miss {
    nodes: Vec<Position>,
    at: Shared<usize>,
}

impl L2Miss {
    pub(crate) fn new(chain: Chain) -> Self {
        Self {
            nodes: chain.nodes(),
            at: Shared::new(0),
        }
    }
}

impl Surrounding for L2Miss {
    type Registers = Position;
    fn begin(&self, repetitions: u64) -> Position {
        let next = self.nodes.iter().cycle().skip(self.at.get());
        next.take(repetitions as usize).for_each(|node| node.touch_page());
        let begin = self.nodes[self.at.get()];
        self.at.set((self.at.get() + repetitions as usize) % self.nodes.len());
        begin
    }
    #[inline(always)]
    fn step(at: &mut Position) {
        at.follow::<1>();
    }
}

/// A load that misses every cache, because its line was evicted before.
///
/// A buffer larger than the last-level cache would have to be of gigabytes on some machines, would miss the TLB with each
/// load, and a guest does not know its share of that cache. Evicted lines need none of it.
pub(crate) struct L3Miss(Shared<Position>);

/// Lines whose eviction is prepared at most; 128 KiB of addresses, which a TLB holds.
const EVICTED: u64 = 512;

impl Surrounding for L3Miss {
    type Registers = Position;
    fn begin(&self, repetitions: u64) -> Position {
        let at = self.0.get();
        at.evict(repetitions.min(EVICTED));
        at
    }
    #[inline(always)]
    fn step(at: &mut Position) {
        at.follow::<1>();
    }
    fn end(&self, at: Position) {
        self.0.set(at);
    }
}

/// A branch on random bits. All loops go on where the last one stopped, so that no bit is met often.
pub(crate) struct Mispredict(Bits, Shared<u64>);

impl Surrounding for Mispredict {
    type Registers = (Bits, u64, u64, u64);
    fn begin(&self, _: u64) -> Self::Registers {
        (self.0, self.1.get(), opaque(0), opaque(1))
    }
    #[inline(always)]
    fn step((bits, index, sum, one): &mut Self::Registers) {
        bits.branch(index, sum, *one);
    }
    fn end(&self, (_, index, ..): Self::Registers) {
        self.1.set(index);
    }
}

pub struct Column {
    /// The name scripts use.
    pub name: &'static str,
    /// A heading of at most five letters.
    pub short: &'static str,
    pub what: String,
    /// The most repetitions of a batch, if its preparation limits them.
    pub most: Option<u64>,
    /// The surroundings alone, twice the same code: the second is the control.
    pub alone: [Box<dyn Loop>; 2],
}

macro_rules! columns {
    ($($field:ident: $type:ty, $name:literal, $short:literal, $most:expr, $what:expr;)*) => {
        pub(crate) struct Surroundings {
            caches: CacheSizes,
            $($field: Rc<$type>,)*
        }

        impl Surroundings {
            /// The loops of an operation, in the order of the columns.
            pub(crate) fn around<O: Op>(&self, operation: O) -> Vec<Box<dyn Loop>> {
                vec![$(Box::new(Cell { surrounding: Rc::clone(&self.$field), operation }),)*]
            }

            pub(crate) fn columns(&self) -> Vec<Column> {
                let what: fn(CacheSizes) -> Vec<String> = |caches| {
                    let _ = caches;
                    vec![$(($what as fn(CacheSizes) -> String)(caches),)*]
                };
                let [once, again] = [self.around(cell::alone), self.around(cell::alone)];
                let heads = [$(($name, $short, $most),)*];
                heads
                    .into_iter()
                    .zip(what(self.caches))
                    .zip(once.into_iter().zip(again))
                    .map(|(((name, short, most), what), alone)| Column { name, short, what, most, alone: alone.into() })
                    .collect()
            }
        }
    };
}

columns! {
    nothing: Nothing, "nothing", "none", None, |_| "no instruction: operations back to back".to_string();
    adds_30: Adds<30>, "adds-30", "a30", None, |_| "a chain of 30 dependent additions".to_string();
    adds_120: Adds<120>, "adds-120", "a120", None, |_| "a chain of 120 dependent additions".to_string();
    adds_4x30: Adds4x30, "adds-4x30", "4x30", None, |_| "120 additions in four chains".to_string();
    load_chain_8: LoadChain8, "load-chain-8", "chain", None, |_| "a chain of 8 loads that hit the L1".to_string();
    loads_32: Loads32, "loads-32", "ld32", None, |_| "32 independent loads that hit the L1".to_string();
    stores_16: Stores16, "stores-16", "st16", None, |_| "16 stores to four lines".to_string();
    load_add_store_8: LoadAddStore8, "load-add-store-8", "las8", None,
        |_| "8 times load, add and store of one word, with three additions beside each".to_string();
    l2_miss: L2Miss, "l2-miss", "L2", None, CacheSizes::describe;
    l3_miss: L3Miss, "l3-miss", "L3", Some(EVICTED),
        |_| "one load of a pointer chase through lines that were evicted from all caches before, 256 bytes apart".to_string();
    mispredict: Mispredict, "mispredict", "misp", None,
        |_| "a branch on one of 262144 random bits: every other time it is mispredicted".to_string();
}

impl Surroundings {
    pub(crate) fn new(caches: CacheSizes) -> Self {
        let lines = Lines::new();
        Self {
            caches,
            nothing: Rc::new(Nothing),
            adds_30: Rc::new(Adds),
            adds_120: Rc::new(Adds),
            adds_4x30: Rc::new(Adds4x30),
            load_chain_8: Rc::new(LoadChain8(Chain::new(8, 64))),
            loads_32: Rc::new(Loads32(lines)),
            stores_16: Rc::new(Stores16(lines)),
            load_add_store_8: Rc::new(LoadAddStore8(lines)),
            // Every other line, since CPUs fetch lines in pairs.
            l2_miss: Rc::new(L2Miss::new(Chain::new(caches.lines() as usize, 2 * LINE as usize))),
            l3_miss: Rc::new(L3Miss(Shared::new(
                Chain::new(EVICTED as usize, 4 * LINE as usize).start(),
            ))),
            mispredict: Rc::new(Mispredict(Bits::new(), Shared::new(0))),
        }
    }
}
