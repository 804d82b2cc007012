//! What Rust's standard library locks for: counts, mutexes, once cells, channels, parking and plain atomics.
//! The names of the functions say what each atomic operation is for.

use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::*, fence,
};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use std::thread;

struct Tree {
    key: u64,
    children: [Option<Arc<Tree>>; 2],
}

#[inline(never)]
fn insert(tree: &Option<Arc<Tree>>, key: u64) -> Arc<Tree> {
    let Some(node) = tree else {
        return Arc::new(Tree {
            key,
            children: [None, None],
        });
    };
    let side = usize::from(key > node.key);
    let mut children = node.children.clone();
    children[side] = Some(insert(&node.children[side], key));
    Arc::new(Tree {
        key: node.key,
        children,
    })
}

#[inline(never)]
fn clone_text(text: &Arc<str>) -> Arc<str> {
    Arc::clone(text)
}
#[inline(never)]
fn drop_text(text: Arc<str>) {
    drop(text);
}
#[inline(never)]
fn downgrade(tree: &Arc<Tree>) -> Weak<Tree> {
    Arc::downgrade(tree)
}
#[inline(never)]
fn clone_weak(weak: &Weak<Tree>) -> Weak<Tree> {
    weak.clone()
}
#[inline(never)]
fn upgrade(weak: &Weak<Tree>) -> Option<Arc<Tree>> {
    weak.upgrade()
}
#[inline(never)]
fn unwrap(tree: Arc<Vec<u64>>) -> Result<Vec<u64>, Arc<Vec<u64>>> {
    Arc::try_unwrap(tree)
}
#[inline(never)]
fn into_inner(tree: Arc<Vec<u64>>) -> Option<Vec<u64>> {
    Arc::into_inner(tree)
}
#[inline(never)]
fn unique(tree: &mut Arc<Vec<u64>>) -> Option<&mut Vec<u64>> {
    Arc::get_mut(tree)
}
#[inline(never)]
fn make_mut(tree: &mut Arc<Vec<u64>>) -> &mut Vec<u64> {
    Arc::make_mut(tree)
}

static TOTAL: Mutex<u64> = Mutex::new(0);
static TABLE: RwLock<Vec<u64>> = RwLock::new(Vec::new());
static FIRST: OnceLock<u64> = OnceLock::new();
static LAZY: LazyLock<Vec<u64>> = LazyLock::new(|| vec![1, 2]);
static START: Once = Once::new();

#[inline(never)]
fn add(n: u64) {
    *TOTAL.lock().unwrap() += n;
}
#[inline(never)]
fn try_add(n: u64) -> bool {
    TOTAL.try_lock().map(|mut total| *total += n).is_ok()
}
#[inline(never)]
fn look_up(i: usize) -> Option<u64> {
    TABLE.read().unwrap().get(i).copied()
}
#[inline(never)]
fn try_look_up(i: usize) -> Option<u64> {
    TABLE.try_read().ok()?.get(i).copied()
}
#[inline(never)]
fn append(n: u64) {
    TABLE.write().unwrap().push(n);
}
#[inline(never)]
fn try_append(n: u64) -> bool {
    TABLE.try_write().map(|mut table| table.push(n)).is_ok()
}

static HITS: AtomicU64 = AtomicU64::new(0);
static BALANCE: AtomicI64 = AtomicI64::new(0);
static NEXT: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicUsize = AtomicUsize::new(0);
static STOP: AtomicBool = AtomicBool::new(false);
static STATE: AtomicU8 = AtomicU8::new(0);
static SPIN: AtomicBool = AtomicBool::new(false);
static PEAK: AtomicU64 = AtomicU64::new(0);
static MASK: AtomicU64 = AtomicU64::new(0);
static CONFIG: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());

#[inline(never)]
fn count_hit() {
    HITS.fetch_add(1, Relaxed);
}
#[inline(never)]
fn count_bytes(n: u64) {
    HITS.fetch_add(n, Relaxed);
}
#[inline(never)]
fn gauge_down() {
    BALANCE.fetch_sub(1, Relaxed);
}
#[inline(never)]
fn next_id() -> u32 {
    NEXT.fetch_add(1, Relaxed)
}
#[inline(never)]
fn one_less_left() -> bool {
    LEFT.fetch_sub(1, AcqRel) == 1
}
#[inline(never)]
fn took_last(n: usize) -> bool {
    LEFT.fetch_sub(n, AcqRel) == n
}
#[inline(never)]
fn ask_to_stop() {
    STOP.store(true, SeqCst);
}
#[inline(never)]
fn stopped_first() -> bool {
    !STOP.swap(true, AcqRel)
}
#[inline(never)]
fn begin() -> bool {
    STATE.compare_exchange(0, 1, AcqRel, Acquire).is_ok()
}
#[inline(never)]
fn set_state(state: u8) {
    STATE.store(state, SeqCst);
}
#[inline(never)]
fn spin_lock() {
    while SPIN.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
        std::hint::spin_loop();
    }
}
#[inline(never)]
fn spin_unlock() {
    SPIN.swap(false, Release);
}
#[inline(never)]
fn raise_peak(n: u64) {
    PEAK.fetch_max(n, Relaxed);
}
#[inline(never)]
fn add_saturating(n: u64) {
    let _ = PEAK.fetch_update(AcqRel, Relaxed, |old| Some(old.saturating_add(n)));
}
#[inline(never)]
fn claim_bit(bit: u32) -> bool {
    MASK.fetch_or(1 << bit, AcqRel) & (1 << bit) == 0
}
#[inline(never)]
fn clear_bit(bit: u32) {
    MASK.fetch_and(!(1 << bit), Release);
}
#[inline(never)]
fn toggle(mask: u64) {
    MASK.fetch_xor(mask, AcqRel);
}
#[inline(never)]
fn nand(mask: u64) -> u64 {
    MASK.fetch_nand(mask, AcqRel)
}
#[inline(never)]
fn replace_config(config: *mut u64) -> *mut u64 {
    CONFIG.swap(config, AcqRel)
}
#[inline(never)]
fn install_config(config: *mut u64) -> bool {
    CONFIG
        .compare_exchange(std::ptr::null_mut(), config, AcqRel, Acquire)
        .is_ok()
}
#[inline(never)]
fn dekker() -> bool {
    STOP.store(true, Relaxed);
    fence(SeqCst);
    SPIN.load(Relaxed)
}

fn worker(tree: Arc<Tree>, send: mpsc::Sender<u64>, bounded: mpsc::SyncSender<u64>, n: u64) {
    START.call_once(|| append(0));
    for i in 0..n {
        send.send(i + *FIRST.get_or_init(|| LAZY[0])).unwrap();
        if i % 50 == 0 {
            bounded.send(i).unwrap();
        }
        add(tree.key);
        try_add(1);
        look_up(0);
        try_look_up(0);
        try_append(i);
        count_hit();
        count_bytes(i);
        gauge_down();
        next_id();
        spin_lock();
        spin_unlock();
        raise_peak(i);
        add_saturating(i);
        if claim_bit(3) {
            clear_bit(3);
        }
        toggle(i);
    }
    thread::park_timeout(std::time::Duration::from_millis(1));
}

fn main() {
    let mut tree = None;
    for i in 0..200 {
        tree = Some(insert(&tree, i * 7919 % 1000));
    }
    let tree = tree.unwrap();
    let weak = downgrade(&tree);
    let (send, receive) = mpsc::channel();
    let (bounded, bounded_end) = mpsc::sync_channel(16);
    let barrier = Arc::new(Barrier::new(2));
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let (tree, send, bounded) = (Arc::clone(&tree), send.clone(), bounded.clone());
            let (barrier, pair) = (barrier.clone(), pair.clone());
            thread::spawn(move || {
                barrier.wait();
                worker(tree, send, bounded, 200);
                *pair.0.lock().unwrap() = true;
                pair.1.notify_all();
            })
        })
        .collect();
    drop((send, bounded));
    handles[0].thread().unpark();
    let sum: u64 = receive.iter().sum::<u64>() + bounded_end.iter().sum::<u64>();
    let mut done = pair.0.lock().unwrap();
    while !*done {
        done = pair.1.wait(done).unwrap();
    }
    drop(done);
    for handle in handles {
        handle.join().unwrap();
    }
    let text = clone_text(&Arc::from("text"));
    drop_text(text);
    let mut numbers = Arc::new(vec![sum]);
    make_mut(&mut numbers).push(1);
    unique(&mut numbers).unwrap().push(2);
    let numbers = unwrap(numbers.clone()).unwrap_err();
    LEFT.store(2, Relaxed);
    set_state(0);
    println!(
        "{sum} {:?} {}",
        into_inner(numbers),
        upgrade(&clone_weak(&weak)).is_some()
    );
    println!("{} {} {} {}", one_less_left(), took_last(1), begin(), stopped_first());
    ask_to_stop();
    println!("{} {}", nand(1), dekker());
    let config = Box::into_raw(Box::new(1));
    println!(
        "{} {}",
        install_config(config),
        replace_config(std::ptr::null_mut()).is_null()
    );
}
