//! A signal at every instruction of the portable backend, by the trap flag: the handler uses the same data, and nothing is
//! lost or duplicated.
//!
//! Restartable sequences cannot be stepped: each trap is a signal, which restarts them for ever. The library's own tests
//! cover them with injection points. Here a filter refuses rseq(2), so that the locked slots run.

use crate::common::filter;
use crate::common::sanitizer::is_asan;
use crate::common::trap_flag::{self, turn};
use crate::parts::{NOT_BY_LIBC, again};
use cyclewise::percpu::{Backend, Counter, FreeList, PerCpu, Ref, Ring, backend};
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering::SeqCst};

/// The handler works at every `STRIDE`-th instruction; each step runs `STRIDE` times, with another offset each time.
const STRIDE: i64 = 64; // few rounds of many instructions: a trap takes microseconds
/// Instructions so far, and the first at which to work.
static STEPS: AtomicI64 = AtomicI64::new(0);
static FIRST: AtomicI64 = AtomicI64::new(0);
/// All data, on the test's stack.
static DATA: AtomicPtr<Data> = AtomicPtr::new(std::ptr::null_mut());

struct Data {
    word: PerCpu<u64>,
    /// The twin: loaded and stored without a lock.
    twin: AtomicU64,
    counter: Counter,
    list: FreeList<u64>,
    ring: Ring<u64, 8>,
    users: Ref<fn()>,
    worked: AtomicU64,
}

const THEIRS: u64 = 1 << 32;

impl Data {
    /// The handler's work, inside the same operations.
    fn work(&self) {
        self.word.add(THEIRS);
        self.twin.store(self.twin.load(SeqCst) + THEIRS, SeqCst);
        self.counter.add(THEIRS as i64);
        // Reverses the list: a pop that only compares pointers would not notice (ABA).
        drop((self.list.pop(), self.list.pop()));
        let (first, second) = (self.ring.pop(), self.ring.pop());
        for word in second.into_iter().chain(first) {
            assert_eq!(self.ring.push(word), Ok(()));
        }
        if self.users.try_get_live() {
            self.users.put();
        }
        self.worked.fetch_add(1, SeqCst);
    }
}

extern "C" fn on_trap(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    if STEPS.fetch_add(1, SeqCst) % STRIDE == FIRST.load(SeqCst) {
        // SAFETY: set while the data lives, and only the stepping thread uses it.
        unsafe { &*DATA.load(SeqCst) }.work();
    }
}

/// Runs `step` [`STRIDE`] times, so that the handler works at each of its instructions; returns the least number of them.
fn at_every_instruction(step: impl Fn()) -> i64 {
    let instructions = |first: i64| {
        STEPS.store(0, SeqCst);
        FIRST.store(first, SeqCst);
        turn();
        step();
        turn();
        STEPS.load(SeqCst)
    };
    (0..STRIDE).map(instructions).min().unwrap_or(0)
}

fn check() {
    filter::refuse(libc::SYS_rseq, &[], libc::ENOSYS);
    assert_eq!(backend().backend, Backend::Portable);
    let data = Data {
        word: PerCpu::new(),
        twin: AtomicU64::new(0),
        counter: Counter::with_batch(0, 2),
        list: FreeList::new(),
        ring: Ring::new(),
        users: Ref::new(|| ()),
        worked: AtomicU64::new(0),
    };
    (0..6).for_each(|n| data.list.grow(n).push());
    (0..6).for_each(|n| assert_eq!(data.ring.push(n), Ok(())));
    DATA.store((&raw const data).cast_mut(), SeqCst);
    trap_flag::step_by(on_trap);

    let words = at_every_instruction(|| data.word.add(1));
    let worked = || data.worked.load(SeqCst) * THEIRS;
    assert_eq!(data.word.sum(), worked() + STRIDE as u64, "additions");
    let before = data.word.sum() - worked();
    let exchanges = at_every_instruction(|| data.word.add(data.word.xchg(0) + 1));
    assert_eq!(data.word.sum(), worked() + before + STRIDE as u64, "exchanges");

    let before = data.counter.sum() - worked() as i64;
    let counts = at_every_instruction(|| data.counter.add(1));
    assert_eq!(data.counter.sum(), before + worked() as i64 + STRIDE, "counter");

    let lists = at_every_instruction(|| {
        let (first, second) = (data.list.pop(), data.list.pop());
        drop(first);
        drop(second);
        data.list.pop_all().push();
    });
    let mut nodes: Vec<u64> = data.list.drain().unwrap().map(|node| *node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, [0, 1, 2, 3, 4, 5], "list");

    let rings = at_every_instruction(|| {
        let mut words = [0; 3];
        let many = data.ring.pop_many(&mut words);
        assert_eq!(data.ring.push_many(&words[..many]), many);
        data.ring.pop().map_or(Ok(()), |word| data.ring.push(word)).unwrap();
    });
    let mut left = Vec::new();
    data.ring.drain(&mut left).unwrap();
    left.sort_unstable();
    assert_eq!(left, [0, 1, 2, 3, 4, 5], "ring");

    let references = at_every_instruction(|| {
        assert!(data.users.try_get_live());
        data.users.put();
    });
    assert!(data.users.kill().unwrap() && data.users.is_zero(), "references");

    // The twin: the handler's work between load and store is lost.
    let lost = || worked() - (data.twin.load(SeqCst) & !(THEIRS - 1));
    let before = lost();
    let twins = at_every_instruction(|| data.twin.store(data.twin.load(SeqCst) + 1, SeqCst));
    assert!(
        lost() > before,
        "the twin loses nothing: no instruction was interrupted"
    );
    let instructions = [words, exchanges, counts, lists, rings, references, twins];
    assert!(
        data.worked.load(SeqCst) as i64 >= instructions.iter().sum(),
        "{instructions:?}"
    );
    println!("instructions: {words} {exchanges} {counts} {lists} {rings} {references} {twins}");
}

#[test]
fn every_instruction_is_a_point_of_interruption() {
    if is_asan() {
        return println!("skipped: AddressSanitizer adds thousands of instructions to each step");
    }
    again(&[("stepped", NOT_BY_LIBC)], |_| check());
}
