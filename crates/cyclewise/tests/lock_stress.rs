//! The lock under far more threads than CPUs, with holders that are preempted, and each promise broken on purpose.
//!
//! `CYCLEWISE_LOCK_SECONDS` sets how long the crowd runs.

mod process;

use cyclewise::atomic::AtomicU32;
use cyclewise::lock::{Exponential, Futex, Moment, Park, RawSpinLock};
use lock_api::{RawMutex, RawMutexFair, RawMutexTimed};
use process::{cpus, in_child, pin};
use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// How long the crowd runs, unless the environment says otherwise.
const SECONDS: u64 = 2;
/// How long may pass without an operation by a thread before that counts as a hang: this machine may be frozen for a while.
const HANG_S: u32 = 600;
/// Threads of the crowd.
const THREADS: u64 = 64;
/// How often memory is freed behind a release.
const FREES: u32 = 2_000;

fn main() {
    process::run(&[
        ("a_crowd_is_exclusive_and_nobody_hangs", || {
            crowd::<RawSpinLock<Counting>>();
            println!("  {} waits, {} wakes", WAITS.load(Relaxed), WAKES.load(Relaxed));
            assert!(
                WAITS.load(Relaxed) > 0 && WAKES.load(Relaxed) > 0,
                "nobody slept: the crowd shows nothing"
            );
        }),
        ("a_crowd_with_deadlines_is_exclusive_too", crowd::<RawSpinLock<Futex>>),
        ("twin_two_inside_are_seen", twin_two_inside_are_seen),
        ("a_sleeping_head_is_woken", || assert!(wakes_its_waiter::<Counting>())),
        ("twin_a_wake_that_is_lost_is_seen", || {
            assert!(!wakes_its_waiter::<Sleepless>());
        }),
        ("a_released_lock_may_be_freed", || {
            frees_behind_a_release(|lock, _| unlock(lock))
        }),
        (
            "twin_a_touch_after_the_release_is_seen",
            twin_a_touch_after_the_release_is_seen,
        ),
        (
            "a_handler_locks_while_its_thread_waits",
            a_handler_locks_while_its_thread_waits,
        ),
        ("a_deadline_is_kept_while_others_come_and_go", a_deadline_is_kept),
        #[cfg(target_arch = "x86_64")]
        ("confined_to_one_cpu_all_come_to_their_turn", confined),
    ]);
}

/// Ends the process where a check hangs.
fn alarm() {
    // SAFETY: takes a number; the default action of SIGALRM is to kill.
    unsafe { libc::alarm(HANG_S) };
}

fn unlock<R: RawMutex>(lock: &R) {
    // SAFETY: each caller holds it.
    unsafe { lock.unlock() };
}

static WAITS: AtomicUsize = AtomicUsize::new(0);
static WAKES: AtomicUsize = AtomicUsize::new(0);

/// A futex that counts.
struct Counting;

impl Park for Counting {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        WAITS.fetch_add(1, Relaxed);
        Futex::wait(word, expected, until);
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        Futex::nap(word, expected, until);
    }

    fn wake(word: &AtomicU32) {
        WAKES.fetch_add(1, Relaxed);
        Futex::wake(word);
    }

    fn is_past(until: Moment) -> bool {
        Futex::is_past(until)
    }

    fn light() {
        Futex::light();
    }

    fn heavy() -> bool {
        Futex::heavy()
    }
}

/// What the crowd does with a lock: some of them fair, some of them for a while only.
trait Lock: RawMutex + Send + Sync + 'static {
    fn lock_for(&self, timeout: Duration) -> bool;
    fn unlock_fair(&self);
}

impl Lock for RawSpinLock<Counting> {
    fn lock_for(&self, _: Duration) -> bool {
        self.lock();
        true
    }

    fn unlock_fair(&self) {
        // SAFETY: each caller holds it.
        unsafe { RawMutexFair::unlock_fair(self) };
    }
}

impl Lock for RawSpinLock<Futex> {
    fn lock_for(&self, timeout: Duration) -> bool {
        self.try_lock_for(timeout)
    }

    fn unlock_fair(&self) {
        // SAFETY: each caller holds it.
        unsafe { RawMutexFair::unlock_fair(self) };
    }
}

/// What is guarded, and whether two were in there.
#[derive(Default)]
struct Room {
    inside: AtomicUsize,
    visits: AtomicU64,
    trespass: AtomicBool,
}

impl Room {
    /// A visit, during which `stay` passes the time.
    fn visit(&self, stay: impl FnOnce()) {
        if self.inside.fetch_add(1, SeqCst) != 0 {
            self.trespass.store(true, SeqCst);
        }
        // Two steps: an addition is lost where two do this at once.
        let visits = self.visits.load(Relaxed);
        stay();
        self.visits.store(visits + 1, Relaxed);
        self.inside.fetch_sub(1, SeqCst);
    }
}

/// xorshift: a sequence for each thread.
fn random(state: &Cell<u64>) -> u64 {
    let mut x = state.get();
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    state.set(x);
    x
}

fn spin_for(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// The calling thread runs when nobody else wants its CPU, and is preempted wherever it stands otherwise.
fn idle() {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: one parameter block, of the calling thread.
    let rc = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameter) };
    assert_eq!(rc, 0, "every thread may lower itself");
}

/// 64 threads on two CPUs for some seconds: a quarter of them hold the lock for long and are preempted there.
fn crowd<L: Lock>() {
    let seconds = std::env::var("CYCLEWISE_LOCK_SECONDS");
    let seconds = seconds.map_or(SECONDS, |s| s.parse().expect("CYCLEWISE_LOCK_SECONDS is a number"));
    let (lock, room, stop) = (L::INIT, Room::default(), AtomicBool::new(false));
    let cpus = cpus();
    let two = &cpus[..cpus.len().min(2)];
    let visits: u64 = thread::scope(|scope| {
        let (lock, room, stop) = (&lock, &room, &stop);
        let member = move |number: u64| {
            pin(two[number as usize % two.len()]);
            let idles = number % 4 == 3;
            if idles {
                idle();
            }
            let state = Cell::new(number + 1);
            let mut visits = 0;
            while !stop.load(Relaxed) {
                alarm();
                let dice = random(&state);
                let timeout = Duration::from_micros(dice >> 8 & 0x3ff);
                let locked = match dice % 4 {
                    0 => lock.lock_for(timeout),
                    1 => lock.try_lock(),
                    _ => {
                        lock.lock();
                        true
                    }
                };
                if !locked {
                    continue;
                }
                visits += 1;
                room.visit(|| {
                    if idles {
                        spin_for(Duration::from_micros(dice >> 20 & 0xff));
                    }
                });
                match dice >> 4 & 7 {
                    0 => lock.unlock_fair(),
                    _ => unlock(lock),
                }
                // Work of its own, so that the idle ones wait for a CPU.
                if dice >> 30 & 0x3f == 0 {
                    spin_for(Duration::from_micros(200));
                }
            }
            visits
        };
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || member(number))).collect();
        thread::sleep(Duration::from_secs(seconds));
        stop.store(true, Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("  {visits} visits in {seconds} s");
    assert!(!room.trespass.load(SeqCst), "two were inside at once");
    assert_eq!(room.visits.load(SeqCst), visits, "visits were lost");
    assert!(!lock.is_locked());
}

/// A lock that is none, and visitors who wait for each other inside.
fn twin_two_inside_are_seen() {
    let (room, both) = (Room::default(), Barrier::new(2));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                room.visit(|| {
                    both.wait();
                })
            });
        }
    });
    assert!(room.trespass.load(SeqCst), "two were inside");
    assert_eq!(room.visits.load(SeqCst), 1, "of two visits one was lost");
}

static ABOUT_TO_SLEEP: AtomicBool = AtomicBool::new(false);
static GIVE_UP: AtomicBool = AtomicBool::new(false);

/// A futex whose wakes are lost, until everybody is told to give up sleeping.
struct Sleepless;

impl Park for Sleepless {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, _: Option<Moment>) {
        let found = word.load(cyclewise::atomic::Ordering::SeqCst);
        ABOUT_TO_SLEEP.store(found == expected, SeqCst);
        while found == expected && !GIVE_UP.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        Futex::nap(word, expected, until);
    }

    fn wake(_: &AtomicU32) {}

    fn is_past(until: Moment) -> bool {
        Futex::is_past(until)
    }
}

/// Whether a head that sleeps gets the lock once it is given up.
fn wakes_its_waiter<P: Park>() -> bool {
    alarm();
    let (lock, got) = (RawSpinLock::<P, Exponential>::INIT, AtomicBool::new(false));
    let slept = || WAITS.load(SeqCst) > 0 || ABOUT_TO_SLEEP.load(SeqCst);
    lock.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            lock.lock();
            got.store(true, SeqCst);
            unlock(&lock);
        });
        while !slept() {
            thread::sleep(Duration::from_millis(1));
        }
        unlock(&lock);
        // The right one is woken in microseconds, and waited for as long as it takes. One that nobody wakes never comes.
        let lost = ABOUT_TO_SLEEP.load(SeqCst);
        if lost {
            thread::sleep(Duration::from_millis(50));
        } else {
            while !got.load(SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let woken = got.load(SeqCst);
        GIVE_UP.store(true, SeqCst);
        woken
    })
}

/// A page of its own, for a lock that is freed.
fn page() -> *mut libc::c_void {
    // SAFETY: a new private mapping.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(page, libc::MAP_FAILED);
    page
}

/// Two threads, one lock, on a page that the second holder unmaps as soon as it has given the lock up. A release that
/// touches the lock afterwards is a fault.
fn frees_behind_a_release(release: fn(&RawSpinLock, &AtomicBool)) {
    alarm();
    let (place, turn, freed) = (AtomicUsize::new(0), Barrier::new(2), AtomicBool::new(false));
    let at = |address: usize| {
        let lock = std::ptr::with_exposed_provenance::<RawSpinLock>(address);
        // SAFETY: mapped until the second holder is done; the first one's borrow ends at its release.
        unsafe { &*lock }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..FREES {
                turn.wait();
                let address = place.load(SeqCst);
                let lock = at(address);
                // Until the first one has it.
                turn.wait();
                lock.lock();
                unlock(lock);
                // SAFETY: the page is ours, and nobody uses the lock in it any more: that is the promise.
                unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address), 4096) };
                freed.store(true, SeqCst);
                turn.wait();
            }
        });
        for _ in 0..FREES {
            freed.store(false, SeqCst);
            let page = page();
            // All zeroes is a lock that is free, but this says so.
            // SAFETY: mapped, aligned, and nobody else's yet.
            unsafe { page.cast::<RawSpinLock>().write(RawSpinLock::INIT) };
            place.store(page.expose_provenance(), SeqCst);
            turn.wait();
            let lock = at(page.addr());
            lock.lock();
            turn.wait();
            release(lock, &freed);
            turn.wait();
        }
    });
}

fn twin_a_touch_after_the_release_is_seen() {
    let status = in_child(|| {
        frees_behind_a_release(|lock, freed| {
            unlock(lock);
            while !freed.load(SeqCst) {
                thread::yield_now();
            }
            let _ = std::hint::black_box(lock.is_locked());
        });
    });
    assert_eq!(status, 128 + libc::SIGSEGV, "a fault at the page that is gone");
}

static OUTER: RawSpinLock<Counting> = RawSpinLock::INIT;
static INNER: RawSpinLock<Counting> = RawSpinLock::INIT;
static HANDLED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, SeqCst);
    INNER.lock();
    unlock(&INNER);
    HANDLED.fetch_add(1, SeqCst);
}

/// A thread sleeps in one queue; its handler sleeps in another, and is let go first.
fn a_handler_locks_while_its_thread_waits() {
    alarm();
    let action = libc::sigaction {
        sa_sigaction: handler as extern "C" fn(libc::c_int) as *const () as usize,
        // SAFETY: all zeroes is an empty mask and no flags.
        ..unsafe { std::mem::zeroed() }
    };
    // SAFETY: installs a handler that uses atomics, and locks that this thread's code does not hold.
    let rc = unsafe { libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    let waits = |n: usize| {
        while WAITS.load(SeqCst) < n {
            thread::sleep(Duration::from_millis(1));
        }
    };
    OUTER.lock();
    INNER.lock();
    thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let waiter = scope.spawn(move || {
            // SAFETY: takes nothing.
            send.send(unsafe { libc::pthread_self() }).unwrap();
            OUTER.lock();
            unlock(&OUTER);
        });
        let thread = receive.recv().unwrap();
        waits(1);
        let before = WAITS.load(SeqCst);
        // SAFETY: the thread runs until it has the lock, which is held here.
        assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGUSR1) }, 0);
        waits(before + 1);
        assert_eq!(HANDLED.load(SeqCst), 1, "the handler waits");
        unlock(&INNER);
        while HANDLED.load(SeqCst) < 2 {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!waiter.is_finished());
        unlock(&OUTER);
    });
}

/// Waiters with short deadlines among waiters without, at a lock that is hardly ever free.
fn a_deadline_is_kept() {
    alarm();
    let (lock, room) = (RawSpinLock::<Futex>::INIT, Room::default());
    let (locked, late) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for number in 0..12_u64 {
            let (lock, room, locked, late) = (&lock, &room, &locked, &late);
            scope.spawn(move || {
                let state = Cell::new(number + 1);
                for _ in 0..200 {
                    let timeout = Duration::from_micros(random(&state) & 0x1ff);
                    let until = Instant::now() + timeout;
                    if number % 3 == 0 {
                        lock.lock();
                    } else if !lock.try_lock_until(until) {
                        assert!(Instant::now() >= until, "gave up before its time");
                        late.fetch_add(1, Relaxed);
                        continue;
                    }
                    locked.fetch_add(1, Relaxed);
                    room.visit(|| spin_for(Duration::from_micros(50)));
                    unlock(lock);
                }
            });
        }
    });
    assert_eq!(locked.load(Relaxed) + late.load(Relaxed), 12 * 200);
    assert_eq!(room.visits.load(SeqCst), locked.load(Relaxed));
    assert!(!room.trespass.load(SeqCst));
    // As good as new: nobody is left in the queue, and nobody is kept a place.
    assert!(lock.try_lock());
    unlock(&lock);
}

/// On one CPU, with LOCK away: whoever spins there spins in vain, and all come to their turn.
#[cfg(target_arch = "x86_64")]
fn confined() {
    use cyclewise::patch::{self, confined};
    alarm();
    // SAFETY: this check creates threads through the C library only.
    let _ = unsafe { cyclewise::enable_single!() };
    patch::lock().unwrap();
    // SAFETY: nobody else sets affinities here, and no atomics are shared with other processes.
    let guard = unsafe { confined::enter(None) }.unwrap();
    assert_eq!(patch::state().mode, patch::Mode::Confined);
    let (lock, room) = (RawSpinLock::<Futex>::INIT, Room::default());
    let (lock, room) = (&lock, &room);
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for round in 0..2000 {
                    lock.lock();
                    room.visit(|| {
                        // Now and then somebody else has the CPU in the middle of it.
                        if (round + number) % 64 == 0 {
                            thread::yield_now();
                        }
                    });
                    unlock(lock);
                }
            });
        }
    });
    assert_eq!(room.visits.load(SeqCst), 8000);
    assert!(!room.trespass.load(SeqCst));
    guard.leave().map_err(|stuck| stuck.refusal).unwrap();
}
