/*
 * The functions of cyclewise that are called, and their types. Include <cyclewise/cyclewise.h>, which has the inline ones too.
 *
 * Written by cbindgen from crates/cyclewise-c/src; a test compares the two. Functions that return an int return 0, or an
 * enum cw_refused where their comment says so.
 *
 * Results: a place for a result may be null where it is not wanted. It is written to only as the function's comment says.
 *
 * Errno: no function changes it, except that a hooked function of the C library does what the C library's does.
 *
 * Cancellation: no function is a cancellation point of pthread_cancel(3), cw_mask_poll neither: a cancelled thread ends in the next point
 * that the program calls. A hooked function is one where the C library's is. A thread with PTHREAD_CANCEL_ASYNCHRONOUS calls none; it may use
 * the inline read-modify-writes of <cyclewise/atomic.h> and test keys. What a thread that ends has locked, held or taken stays so, unless a
 * cleanup handler or a destructor of C++ gives it back.
 *
 * Callbacks: a function of the program that the library calls returns. Its thread is not cancelled meanwhile. One that leaves by
 * pthread_exit(3) or by a C++ exception ends the process with a line on stderr. One that leaves by longjmp(3) is not noticed, and what the
 * library had begun stays half done: undefined behaviour.
 *
 * Jumps: a signal handler of the program's own may leave by siglongjmp(3) where it interrupts the program's code or an inline
 * read-modify-write or key test, under a hold too, which stays. Out of cw_mask_hold, cw_mask_release, any called function and a handler of
 * cw_signal_on's it may not: what had begun stays half done, and the thread held. Block such signals around them.
 *
 * Inner functions: cw_clock_segments, cw_ticks_sequence, cw_mask_offset, cw_mask_replay and those whose names end in _called are for the
 * inline functions. Programs do not call them, and they may change with the layout that they ask for.
 *
 * Copies: one link unit of a process links the archive, and the others are bound to its functions, or all use the shared library. Locks do
 * not work between two copies.
 *
 * What threads, signal handlers and children of fork(2) may do with each group:
 *
 * Modes: Any thread may call them; entering and leaving are one at a time. Signal handlers may not. A child of fork(2) inherits single
 * mode.
 *
 * Clock: Any thread and any signal handler may read it. A child that was forked while another thread followed the kernel's clock reads
 * the kernel's: correct, but slower. In another time namespace the clock jumps by its offset, and may go back, 4 ms late at most.
 *
 * Queued spinlock: A signal handler may take a lock that its thread neither holds nor waits for. A lock that another thread held at a
 * fork stays held in the child; trylock and timedlock return there. One process, and one copy of the library.
 *
 * Lockref: As the spinlock. A signal handler may call trylock and put_return on any object; the gets and put_or_lock may wait for the
 * lock. References of the parent's other threads stay counted in a child. One process, and one copy of the library.
 *
 * Reference counts: The hook is called on the thread that misuses a count, also in signal handlers.
 *
 * Fences: Any thread and any signal handler may make them. A child of fork(2) has its parent's kind.
 *
 * RCU: Any thread may call all of it. A signal handler may begin and end sections, on a thread that has begun one before or called
 * cw_rcu_register. A child of fork(2) has the sections of the thread that forked, and runs its own copy of the functions that wait.
 *
 * Static keys: Any thread may change one; signal handlers may only test one. A child of fork(2) has them as they were.
 *
 * Per-CPU counters: Any thread and any signal handler may add. Creating, destroying, sum and compare are not for handlers. Sums stay exact
 * in a child, but for what other threads were about to add.
 *
 * Per-CPU gauges: Any thread and any signal handler may add. Creating, destroying, get and set are not for handlers. A child goes on from the
 * number as it was.
 *
 * Per-CPU histograms: Any thread and any signal handler may record. Creating, destroying and reading are not for handlers. A child goes on
 * from the counts as they were.
 *
 * Per-CPU free lists: Any thread and any signal handler may push and pop. A handler may not grow, nor pop_or_steal, which may wait for the
 * thread that it interrupted. A child has all objects that were on lists.
 *
 * Per-CPU rings: Any thread and any signal handler may push and pop. A handler may not pop_or_steal. A child has all words that were in
 * rings, but for those of a CPU that was being stolen from at the fork.
 *
 * Per-CPU reference counts: Any thread and any signal handler may get and put, so that a release may run in a handler. A handler may not
 * kill. A count with references of threads that a child does not have never drops to 0 there.
 *
 * Soft mask: Holds are the calling thread's, and handlers may hold and release. A handler may not poll. A child has the holds of the thread
 * that forked.
 *
 * Signals and what they share: cw_signal_on and cw_signal_off are not for handlers. Handlers may take a masked lock. In a child, a lock that
 * another thread had is refused with CW_REFUSED_DEADLOCK. One process, and one copy of the library.
 *
 * The library: Any thread and any signal handler may ask for its version.
 */

#ifndef CYCLEWISE_CALLED_H
#define CYCLEWISE_CALLED_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include "bool.h"

/**
 * The time that stands for a stamp which cannot be converted.
 */
#define CW_CLOCK_UNKNOWN UINT64_MAX

/**
 * The bytes of a message, with its final NUL.
 */
#define CW_MESSAGE_SIZE 224

/**
 * For cw_signal_on: system calls that the signal interrupts fail with EINTR, also where the signal is only recorded. Otherwise they
 * are restarted where that is possible.
 */
#define CW_SIGNAL_INTERRUPTS 1

/**
 * The version of the headers, to be compared in `#if`: it is the library's of the same package. cw_version tells the one that was
 * loaded.
 */
#define CW_VERSION_MAJOR 0

/**
 * Its second number.
 */
#define CW_VERSION_MINOR 1

/**
 * Its third number.
 */
#define CW_VERSION_PATCH 0

/**
 * What functions return that can be refused: 0, or one of these. Nothing was done then, except as
 * CW_REFUSED_HALF_WRITTEN and CW_REFUSED_STILL_WRITABLE say.
 */
enum cw_refused {
  CW_OK = 0,
  /**
   * The process has threads besides the caller: `number` of them, the caller included.
   */
  CW_REFUSED_OTHER_THREADS = 1,
  /**
   * The call comes from a signal handler that interrupted a change of the text on the same thread.
   */
  CW_REFUSED_BUSY = 2,
  /**
   * A breakpoint is on the site at `address`.
   */
  CW_REFUSED_BREAKPOINT = 3,
  /**
   * The byte at `address` is `number`, which is neither the old value nor the new one.
   */
  CW_REFUSED_UNEXPECTED_BYTE = 4,
  /**
   * `address` is not in a mapping that is readable, executable, not writable and private to the process.
   */
  CW_REFUSED_NOT_TEXT = 5,
  /**
   * The edit at `address` crosses a page or overlaps another.
   */
  CW_REFUSED_MISSHAPEN = 6,
  /**
   * Other threads run, and the edit at `address` is not one aligned store.
   */
  CW_REFUSED_NOT_ONE_STORE = 7,
  /**
   * The text at `address` did not read back as written, and was rolled back.
   */
  CW_REFUSED_NOT_VERIFIED = 8,
  /**
   * Writing failed, and so did rolling back at `address`: some sites are old and some new.
   */
  CW_REFUSED_HALF_WRITTEN = 9,
  /**
   * The text is unchanged, but its pages could not be made read-only again.
   */
  CW_REFUSED_STILL_WRITABLE = 10,
  /**
   * The instruction at `address` tests two keys: the linker folded identical code.
   */
  CW_REFUSED_SHARED_SITE = 11,
  /**
   * The key or the site is in another executable or shared object.
   */
  CW_REFUSED_OTHER_UNIT = 12,
  /**
   * A key was released more often than it was taken.
   */
  CW_REFUSED_NO_USERS = 13,
  /**
   * The key has as many users as can be counted.
   */
  CW_REFUSED_TOO_MANY_USERS = 14,
  /**
   * There is no LOCK prefix to patch on this architecture.
   */
  CW_REFUSED_NO_LOCK_PREFIX = 15,
  /**
   * Thread creation cannot be hooked: no glibc, or a static program.
   */
  CW_REFUSED_UNWATCHED = 16,
  /**
   * cw_enable_single has not succeeded in finding its hooks in force.
   */
  CW_REFUSED_NOT_ENABLED = 17,
  /**
   * The process is bound to another definition than the program's hook.
   */
  CW_REFUSED_NOT_IN_FORCE = 18,
  /**
   * A thread is being created.
   */
  CW_REFUSED_CREATING = 19,
  /**
   * The C library may have helper threads that create others.
   */
  CW_REFUSED_HELPER_THREADS = 20,
  /**
   * A thread was created without a hook.
   */
  CW_REFUSED_UNHOOKED = 21,
  /**
   * Another mode is in force.
   */
  CW_REFUSED_WRONG_MODE = 22,
  /**
   * Threads started and ended faster than they could be listed.
   */
  CW_REFUSED_UNSTABLE = 23,
  /**
   * /proc belongs to another pid namespace.
   */
  CW_REFUSED_FOREIGN_PROC = 24,
  /**
   * The affinity of thread `number` did not read back as set.
   */
  CW_REFUSED_AFFINITY_NOT_KEPT = 25,
  /**
   * Thread `number` could run on another CPU while LOCK was elided: updates may be lost.
   */
  CW_REFUSED_LET_OUT = 26,
  /**
   * The base of GS cannot be set.
   */
  CW_REFUSED_NO_GS = 27,
  /**
   * The base of GS is in use: `address`.
   */
  CW_REFUSED_GS_IN_USE = 28,
  /**
   * Out of memory.
   */
  CW_REFUSED_NO_MEMORY = 29,
  /**
   * A thread holds a locked slot of per-CPU data and makes no progress.
   */
  CW_REFUSED_SLOT_HELD = 30,
  /**
   * sigaction refused a handler for signal `number`.
   */
  CW_REFUSED_SIGNAL = 31,
  /**
   * Signal `number` is a fault and cannot be held.
   */
  CW_REFUSED_FAULT = 32,
  /**
   * There is a handler of this library for signal `number` already.
   */
  CW_REFUSED_SIGNAL_TAKEN = 33,
  /**
   * There is none, or another was installed over it.
   */
  CW_REFUSED_SIGNAL_NOT_OURS = 34,
  /**
   * Another thread has been registering or removing a handler for a second.
   */
  CW_REFUSED_SIGNALS_BUSY = 35,
  /**
   * A system call failed with `error`.
   */
  CW_REFUSED_SYSTEM = 36,
  /**
   * The descriptor of a link unit at `address` is of another version, or describes no table.
   */
  CW_REFUSED_BAD_UNIT = 37,
  /**
   * The program's hook has no function behind it to forward to.
   */
  CW_REFUSED_NOTHING_BEHIND = 38,
  /**
   * What is written at `address` is not what runs: a tool moved or copied the code after it was linked (llvm-bolt, a code cache).
   */
  CW_REFUSED_MOVED_TEXT = 39,
  /**
   * The program was linked without the hooks of thread creation.
   */
  CW_REFUSED_NOT_HOOKED = 64,
  /**
   * An argument has no meaning here; the message names it.
   */
  CW_REFUSED_ARGUMENT = 65,
  /**
   * The calling thread would wait for itself, or for a thread that a fork has left behind.
   */
  CW_REFUSED_DEADLOCK = 66,
  /**
   * The sites of a link unit keep LOCK until the program elides the next time.
   */
  CW_REFUSED_NOT_NOW = 67,
  /**
   * The hooks of thread creation in the program are of another version of the library: relink the program.
   */
  CW_REFUSED_HOOKS_VERSION = 68,
  /**
   * A reason that this version of the header does not name; the message says it.
   */
  CW_REFUSED_OTHER = 127,
};

/**
 * Why LOCK prefixes may be elided.
 */
enum cw_mode {
  /**
   * They are not: LOCK is in force everywhere.
   */
  CW_MODE_LOCKED = 0,
  /**
   * No other thread of the process can run.
   */
  CW_MODE_SINGLE = 1,
  /**
   * All threads of the process are confined to one CPU.
   */
  CW_MODE_CONFINED = 2,
};

/**
 * What a reading of the counter is ordered with.
 */
enum cw_clock_order {
  /**
   * Times of one thread never go back; those of two may be off by what a CPU reorders, tens of nanoseconds.
   */
  CW_CLOCK_PER_TASK = 0,
  /**
   * After every earlier load, as the kernel's rdtsc_ordered(): for stamps that threads compare.
   */
  CW_CLOCK_LOAD_ORDERED = 1,
  /**
   * The same, and before every later load: for a stamp before something is read.
   */
  CW_CLOCK_DEPENDENT_LOAD = 2,
  /**
   * After every earlier instruction and before every later one: for timing a section.
   */
  CW_CLOCK_BRACKETED = 3,
  /**
   * The same, and after every CPU sees what this thread stored before.
   */
  CW_CLOCK_AFTER_STORES = 4,
};

/**
 * The source of a clock's readings.
 */
enum cw_clock_mode {
  /**
   * The kernel's clock, while the counter's rate is being learnt or after nobody has read the clock for some time.
   */
  CW_CLOCK_MODE_STARTING = 0,
  /**
   * The counter.
   */
  CW_CLOCK_MODE_COUNTER = 1,
  /**
   * The kernel's clock, permanently.
   */
  CW_CLOCK_MODE_KERNEL = 2,
};

/**
 * The last fault of the counter, or why it is not used.
 */
enum cw_clock_reason {
  /**
   * There was none.
   */
  CW_CLOCK_REASON_NO_FAULT = 0,
  /**
   * This build reads no counter.
   */
  CW_CLOCK_REASON_NO_COUNTER = 1,
  /**
   * The CPU does not promise that its counter runs at one rate.
   */
  CW_CLOCK_REASON_NOT_INVARIANT = 2,
  /**
   * The kernel's clock source cannot be read.
   */
  CW_CLOCK_REASON_UNKNOWN_CLOCKSOURCE = 3,
  /**
   * The kernel's clock source is not this counter.
   */
  CW_CLOCK_REASON_OTHER_CLOCKSOURCE = 4,
  /**
   * The counter went back.
   */
  CW_CLOCK_REASON_COUNTER_WENT_BACK = 5,
  /**
   * The counter advanced by more or less than CLOCK_MONOTONIC_RAW.
   */
  CW_CLOCK_REASON_COUNTER_JUMPED = 6,
  /**
   * The rate of CLOCK_MONOTONIC changed by more than 977 ppm.
   */
  CW_CLOCK_REASON_RATE_STEP = 7,
  /**
   * The machine was suspended.
   */
  CW_CLOCK_REASON_SUSPENDED = 8,
  /**
   * The hypervisor moved or restored the machine.
   */
  CW_CLOCK_REASON_DISRUPTED = 9,
  /**
   * There were too many faults to trust the counter again.
   */
  CW_CLOCK_REASON_UNSTEADY = 10,
  /**
   * The clock source could not be read for lack of a descriptor or of memory.
   */
  CW_CLOCK_REASON_NOT_EXAMINED = 11,
  /**
   * A reason that this version of the header does not name; the message says it.
   */
  CW_CLOCK_REASON_OTHER = 127,
};

/**
 * Why cw_mask_poll ended.
 */
enum cw_mask_woken {
  /**
   * A signal is recorded; its handler runs at the release.
   */
  CW_MASK_SIGNAL = 0,
  /**
   * Descriptors are ready.
   */
  CW_MASK_READY = 1,
  /**
   * The time has passed.
   */
  CW_MASK_TIMEOUT = 2,
  /**
   * A handler ran that is not the library's.
   */
  CW_MASK_INTERRUPTED = 3,
};

/**
 * A lock that is taken under a hold of the soft mask, so that no handler waits for the thread that it interrupted. It is for one
 * process and one copy of the library, whose holds it takes.
 */
struct cw_masked_lock;

/**
 * A sum that every CPU can add to cheaply.
 */
struct cw_percpu_counter;

/**
 * Reusable objects of one size, on a list for each CPU.
 */
struct cw_percpu_free_list;

/**
 * A number that every CPU can change cheaply.
 */
struct cw_percpu_gauge;

/**
 * Counts of values by their size. The numbers between two powers of two are divided into 32 buckets of one width, from above 2^-32 to 2^64.
 */
struct cw_percpu_histogram;

/**
 * A reference count. It only counts; the object is the program's. A shared pointer is made of it as percpu::Arc is in Rust: whoever has a reference
 * calls cw_percpu_ref_get for another and cw_percpu_ref_put; the owner calls cw_percpu_ref_kill; the release frees the object.
 */
struct cw_percpu_ref;

/**
 * A queue of words of 64 bits for each CPU.
 */
struct cw_percpu_ring;

/**
 * A time and its error bound.
 */
struct cw_clock_reading {
  /**
   * Nanoseconds of CLOCK_MONOTONIC.
   */
  uint64_t ns;
  /**
   * The largest distance from CLOCK_MONOTONIC, in either direction.
   */
  uint64_t error_ns;
};

/**
 * The clock's state.
 */
struct cw_clock_status {
  /**
   * An enum cw_clock_mode.
   */
  int mode;
  /**
   * An enum cw_clock_reason.
   */
  int reason;
  /**
   * The number of faults.
   */
  uint64_t faults;
  /**
   * The number of times that the kernel's clock was read beside the counter.
   */
  uint64_t anchors;
  /**
   * The counter's ticks per second, as far as known; else 0.
   */
  double hz;
  /**
   * One line on the reason; empty without one.
   */
  char message[CW_MESSAGE_SIZE];
  /**
   * 0; for later versions.
   */
  uint64_t reserved[4];
};

/**
 * Converts stamps of the counter to times. Its contents are the library's.
 */
struct cw_clock_conversion {
  /**
   * A line: a reading of the kernel's clock at a tick, and the rate that the clock has learnt.
   */
  uint64_t words[8];
};

/**
 * Why a call was refused. Functions take a pointer to one, or null; they write to it only if they return a refusal.
 */
struct cw_refusal {
  /**
   * An enum cw_refused.
   */
  int code;
  /**
   * The errno of a system call, or 0.
   */
  int error;
  /**
   * The address of a site, or 0.
   */
  size_t address;
  /**
   * A number of threads, a thread, a signal or a byte, as the code says; or 0.
   */
  int64_t number;
  /**
   * One line, without a newline: what failed, how that is known, and what to do.
   */
  char message[CW_MESSAGE_SIZE];
  /**
   * 0; for later versions.
   */
  uint64_t reserved[2];
};

/**
 * A lock and a reference count in one word, and contention statistics. Its members are the library's; CW_LOCKREF_INIT and
 * cw_lockref_init initialize it.
 *
 * It is for one process and one copy of the library, as struct cw_spinlock is: elsewhere a waiter may sleep for ever.
 */
struct cw_lockref {
  /**
   * The lock above, the count below.
   */
  uint64_t lock_count;
  /**
   * How many operations queue for the lock.
   */
  uint32_t waiting;
  /**
   * For how many turns in a row few did.
   */
  uint32_t calm;
};

/**
 * A bucket of a histogram.
 */
struct cw_percpu_bucket {
  /**
   * Its values are above this,
   */
  double lower;
  /**
   * and at most this.
   */
  double upper;
  /**
   * How many there are.
   */
  uint64_t count;
};

/**
 * A misuse of a reference count, or of a lockref.
 */
struct cw_refcount_misuse {
  /**
   * An enum cw_refcount_saturation_type of <cyclewise/refcount.h>.
   */
  int event;
  /**
   * The count, as an identity: it may be gone.
   */
  const void *count;
  /**
   * The code that misused it, or null where that is not known.
   */
  const void *caller;
};

/**
 * A signal: what of its siginfo_t the kernel fills.
 */
struct cw_signal_info {
  /**
   * Its number.
   */
  int signal;
  /**
   * si_code: SI_USER, SI_QUEUE, SI_TIMER.
   */
  int code;
  /**
   * si_pid: the process that sent it, if one did.
   */
  int sender;
  /**
   * si_uid: the user of that process.
   */
  uint32_t user;
  /**
   * si_value, of sigqueue, a timer or a message queue; si_status of SIGCHLD is its low half.
   */
  size_t value;
};

/**
 * What cw_get_state found.
 */
struct cw_state {
  /**
   * The mode in force: an enum cw_mode.
   */
  int mode;
  /**
   * Sites in the link unit of the library.
   */
  size_t sites;
  /**
   * Those that are elided.
   */
  size_t elided;
  /**
   * Other link units, such as a program with sites of its own beside the shared library, whose sites are elided and restored
   * together with these.
   */
  size_t units;
  /**
   * Sites in those.
   */
  size_t unit_sites;
  /**
   * Those of them that are elided.
   */
  size_t unit_elided;
  /**
   * Link units with a descriptor that were there when LOCK was last elided or one registered, the coordinator's own among them.
   */
  size_t units_seen;
  /**
   * Those of them in which LOCK stays, as they are of another version or their text cannot be patched.
   */
  size_t units_refused;
  /**
   * 0; for later versions.
   */
  uint64_t reserved[2];
};

/**
 * A queued spinlock. Its members are the library's. CW_SPINLOCK_INIT is a free one, and so are 8 bytes of zeroes.
 *
 * It is for one process and one copy of the library: its waiters are in a table of that copy. In memory that processes share, or used
 * through the archive in one link unit and another copy in another, a waiter may sleep for ever.
 */
struct cw_spinlock {
  /**
   * Whether it is held, and by which rule it is given on.
   */
  uint32_t bits;
  /**
   * The last waiter.
   */
  uint16_t tail;
  /**
   * For how long the first waiter has been passed.
   */
  uint16_t turn;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The time: nanoseconds of CLOCK_MONOTONIC, load-ordered. Never below an earlier reading on any thread, if that happened before
 * this one.
 */
CW_MUST_CHECK
uint64_t cw_clock_now_load_ordered(void);

/**
 * The time by a bare read of the counter: times of one thread never go back.
 */
CW_MUST_CHECK uint64_t cw_clock_now_per_task(void);

/**
 * The time, load-ordered and before every later load.
 */
CW_MUST_CHECK uint64_t cw_clock_now_dependent_load(void);

/**
 * The time, after every earlier instruction and before every later one.
 */
CW_MUST_CHECK uint64_t cw_clock_now_bracketed(void);

/**
 * The time, as cw_clock_now_bracketed, and after every CPU sees what this thread stored before. No fence before another order
 * ensures that.
 */
CW_MUST_CHECK
uint64_t cw_clock_now_after_stores(void);

/**
 * A time that may be old if a thread keeps it up to date, at the cost of one load; else the time. On each thread it never goes back.
 */
CW_MUST_CHECK
uint64_t cw_clock_recent(void);

/**
 * The time in this order, an enum cw_clock_order, and a bound of its distance from CLOCK_MONOTONIC. The bound holds while the counter is
 * steady and the kernel changes the rate of its clock by less than 977 ppm between two anchors.
 *
 * Another number counts as CW_CLOCK_AFTER_STORES, which is ordered with all that the others are.
 */
CW_MUST_CHECK
struct cw_clock_reading cw_clock_read(int order);

/**
 * The state of the clock, and the reason for it.
 */
void cw_get_clock_status(struct cw_clock_status *status);

/**
 * The counter, by a bare read. <cyclewise/clock.h> reads it inline where it can.
 */
CW_MUST_CHECK uint64_t cw_ticks_called(void);

/**
 * The clock's segments, for the inline reading in <cyclewise/clock.h>; null if they are laid out otherwise than as `layout` says.
 */
CW_MUST_CHECK
const void *cw_clock_segments(int layout);

/**
 * The instructions that read the counter after every earlier load, on this CPU: 1 for LFENCE and RDTSC, 2 for RDTSCP, 0 for others.
 * The first call finds out, in about 0.1 ms.
 */
CW_MUST_CHECK
int cw_ticks_sequence(void);

/**
 * The counter, in this order: an enum cw_clock_order. Another number counts as CW_CLOCK_AFTER_STORES.
 */
CW_MUST_CHECK uint64_t cw_ticks_as(int order);

/**
 * Makes a conversion of stamps that were taken since the clock was first read; take it after the stamps. False while the rate is
 * unknown, and where the counter is not used or has not kept its rate; nothing is written then.
 *
 * Its calls, a millisecond or more apart, also let a clock learn the rate that nobody reads otherwise: the third succeeds.
 */
CW_MUST_CHECK
cw_bool cw_clock_conversion_make(struct cw_clock_conversion *conversion);

/**
 * Converts `count` stamps to nanoseconds of CLOCK_MONOTONIC; returns how many could be. The others are CW_CLOCK_UNKNOWN: they are from
 * before the clock's first reading, or before the last fault of the counter. Times of one conversion are in the order of
 * their stamps, or equal. 0 where an array is null.
 */
size_t cw_clock_convert(const struct cw_clock_conversion *conversion,
                        const uint64_t *ticks,
                        uint64_t *ns,
                        size_t count);

/**
 * A bound of the distance of a stamp's time from CLOCK_MONOTONIC at the stamp, in nanoseconds.
 */
CW_MUST_CHECK uint64_t cw_clock_conversion_error(const struct cw_clock_conversion *conversion, uint64_t ticks);

/**
 * The nanoseconds between two stamps, at the counter's present rate; 0 if `to` is not later. CW_CLOCK_UNKNOWN while the rate is
 * unknown. Accurate to a few ppm.
 */
CW_MUST_CHECK
uint64_t cw_clock_between(uint64_t from,
                          uint64_t to);

/**
 * Confines every thread of the process to `cpu`, or to the caller's if that is negative, and elides LOCK prefixes.
 *
 * Until cw_confined_leave has returned 0: nobody sets the affinity of a thread of this process that exists, by system call, by cpuset
 * or by taking its CPU offline. A thread that is created with an affinity of its own (pthread_attr_setaffinity_np, as libgomp
 * does) restores LOCK until the mode is left and entered again. No other process shares this one's memory map, except children
 * of vfork and posix_spawn. And what cw_enable_single says, whose hooks must be in force.
 *
 * Returns 0, or why LOCK stays; affinities are unchanged then. CW_REFUSED_WRONG_MODE if the mode is in force already.
 */
int cw_confined_enter(int cpu,
                      struct cw_refusal *why);

/**
 * Restores LOCK, makes every CPU fetch it, and restores each thread's affinity.
 *
 * Returns 0, or why the mode stays in force; then it can be called again. CW_REFUSED_LET_OUT: the mode was left, but a
 * thread could run on another CPU before, and updates may be lost. CW_REFUSED_WRONG_MODE: it is not in force, or another
 * thread is entering or leaving it.
 */
int cw_confined_leave(struct cw_refusal *why);

/**
 * Whether the calling thread is on the mode's CPU and no violation was noticed since the mode was entered: a few loads.
 *
 * Returns 0, or CW_REFUSED_LET_OUT; LOCK was restored then, and updates may be lost.
 */
int cw_confined_check(struct cw_refusal *why);

/**
 * Whether every thread's affinity is the mode's CPU: reads the list of threads and makes a system call for each.
 *
 * Returns 0, or CW_REFUSED_LET_OUT as cw_confined_check; others if affinities cannot be read.
 */
int cw_confined_audit(struct cw_refusal *why);

/**
 * Pairs with every cw_fence_light of this process: interrupts each CPU that runs another of its threads, which takes some microseconds.
 * Refused where a filter that was installed after the first fence forbids membarrier(2); then no fence was made.
 */
CW_MUST_CHECK
int cw_fence_heavy(struct cw_refusal *why);

/**
 * The same for many callers at once, who share one membarrier(2).
 */
CW_MUST_CHECK int cw_fence_heavy_batched(struct cw_refusal *why);

/**
 * Whether light fences are free in this process; the same at each call.
 */
CW_MUST_CHECK cw_bool cw_fence_is_asymmetric(void);

/**
 * Initializes an object with `count` references, saturated past INT32_MAX - 1.
 */
void cw_lockref_init(struct cw_lockref *lockref, uint32_t count);

/**
 * Adds a reference; the caller has one. Misuse is reported: without a reference, an idle count is saturated, and a dead one
 * stays dead. Orders nothing.
 */
void cw_lockref_get(struct cw_lockref *lockref);

/**
 * Adds a reference unless there is none, or the object is dead; false then. Acquire if added.
 */
CW_MUST_CHECK cw_bool cw_lockref_get_not_zero(struct cw_lockref *lockref);

/**
 * Adds a reference unless the object is dead; false then. Acquire if added.
 */
CW_MUST_CHECK cw_bool cw_lockref_get_not_dead(struct cw_lockref *lockref);

/**
 * Removes a reference if that is possible without the lock. The new count, or -1: the caller still has its reference.
 * Release; Acquire if the count is 0.
 */
CW_MUST_CHECK int cw_lockref_put_return(struct cw_lockref *lockref);

/**
 * Removes a reference unless it is the last. False: it is the last and still there, and the caller holds the lock; it then
 * puts the reference, or marks the object dead, and unlocks. Release; Acquire with the lock.
 */
CW_MUST_CHECK
cw_bool cw_lockref_put_or_lock(struct cw_lockref *lockref);

/**
 * Locks: until cw_lockref_unlock nobody else changes the count. A thread that holds the lock waits for ever. Not in memory that
 * processes share, and not between two copies of the library: see struct cw_lockref. Acquire.
 */
void cw_lockref_lock(struct cw_lockref *lockref);

/**
 * Locks if the lock is free. Acquire on success.
 */
CW_MUST_CHECK cw_bool cw_lockref_trylock(struct cw_lockref *lockref);

/**
 * Unlocks what the caller holds. Without the lock the behaviour is undefined; the process may be aborted. Release.
 */
void cw_lockref_unlock(struct cw_lockref *lockref);

/**
 * Adds a reference under the lock, also to an idle object. A dead one stays dead, and that is reported.
 */
void cw_lockref_get_locked(struct cw_lockref *lockref);

/**
 * Removes a reference under the lock; the new count. 0: the object is idle. Misuse is reported.
 */
int cw_lockref_put_locked(struct cw_lockref *lockref);

/**
 * Marks the object dead under the lock: from here on nobody gets a reference. The only reference is the caller's.
 */
void cw_lockref_mark_dead(struct cw_lockref *lockref);

/**
 * The count at some moment: negative if the object is dead, INT32_MAX if it is saturated. Exact under the lock.
 */
CW_MUST_CHECK int cw_lockref_count(const struct cw_lockref *lockref);

/**
 * Whether the object is dead. Once true, always true.
 */
CW_MUST_CHECK cw_bool cw_lockref_is_dead(const struct cw_lockref *lockref);

/**
 * The distance of a thread's mask from its thread pointer, for the inline functions in <cyclewise/mask.h>; 0 where it is not the
 * same for all threads, and where the mask is laid out otherwise than as `layout` says.
 */
CW_MUST_CHECK
ptrdiff_t cw_mask_offset(int layout);

/**
 * Adds a hold.
 */
void cw_mask_hold_called(void);

/**
 * Removes a hold; runs the handlers of recorded signals if it was the last.
 */
void cw_mask_release_called(void);

/**
 * Runs the handlers of recorded signals; the thread holds nothing.
 */
void cw_mask_replay(void);

/**
 * Sleeps, under a hold, until a descriptor is ready, a signal is recorded, or `timeout_ns` nanoseconds have passed; -1 for no limit.
 * Returns at once if a signal is already recorded, which no test before a poll(2) ensures. The handlers run at the release.
 * `polled` are poll(2)'s, and a negative descriptor is left out. Not for handlers. No cancellation point: pthread_cancel(3) does not end
 * the sleep, a signal does.
 *
 * Returns 0 and sets `*woken` to an enum cw_mask_woken and `*ready` to the number of descriptors, or why it did not sleep.
 * CW_REFUSED_ARGUMENT without a hold, or without an array.
 */
int cw_mask_poll(struct pollfd *polled,
                 size_t count,
                 int64_t timeout_ns,
                 int *woken,
                 size_t *ready,
                 struct cw_refusal *why);

/**
 * How often the calling thread ran out of room for records, so that the kernel kept further signals until the release.
 */
CW_MUST_CHECK uint64_t cw_mask_overflows(void);

/**
 * How many signals of the calling thread were lost: its room for records and the kernel's queue were full.
 */
CW_MUST_CHECK uint64_t cw_mask_lost(void);

/**
 * Whether the calling thread is held.
 */
CW_MUST_CHECK cw_bool cw_mask_is_held_called(void);

/**
 * Whether a recorded signal waits for the calling thread's release.
 */
CW_MUST_CHECK cw_bool cw_mask_is_pending_called(void);

/**
 * A free lock. Null without memory.
 */
CW_MUST_CHECK struct cw_masked_lock *cw_masked_lock_create(void);

/**
 * Frees a lock that nobody has, or does nothing if it is null. A thread that has taken the lock may unlock and destroy it while the
 * unlock of the owner before is still to return: an unlock uses nothing of the lock once another thread can take it.
 */
void cw_masked_lock_destroy(struct cw_masked_lock *lock);

/**
 * Holds the thread and takes the lock; waits while another thread has it. Acquire. Handlers may call it.
 *
 * Returns 0, or CW_REFUSED_DEADLOCK, without the hold: this thread has the lock; or a thread that exists only in the parent of a
 * fork; or, after a second, a thread that has ended.
 */
CW_MUST_CHECK
int cw_masked_lock_lock(struct cw_masked_lock *lock,
                        struct cw_refusal *why);

/**
 * As cw_masked_lock_lock, if the lock is free; false, without the hold, if it is not.
 */
CW_MUST_CHECK cw_bool cw_masked_lock_trylock(struct cw_masked_lock *lock);

/**
 * As cw_masked_lock_lock, unless that takes longer than `timeout_ns` nanoseconds; false then, without the hold, and at once where
 * cw_masked_lock_lock is refused.
 */
CW_MUST_CHECK
cw_bool cw_masked_lock_timedlock(struct cw_masked_lock *lock,
                              uint64_t timeout_ns);

/**
 * Releases the lock, then the hold; handlers of signals that arrived meanwhile run before this returns. Release. Only the thread that
 * took the lock may call it, and a coroutine may have moved to another: there, and without the lock, the process is aborted with a line.
 * Not in a handler of the program's own that has interrupted a call on this lock.
 */
void cw_masked_lock_unlock(struct cw_masked_lock *lock);

/**
 * A counter that starts at `value`. With `batch` 0 its batch is the kernel's: 32, or twice the number of CPUs if that is more. A larger
 * one makes additions faster and cw_percpu_counter_read less exact. Null without memory.
 */
CW_MUST_CHECK
struct cw_percpu_counter *cw_percpu_counter_create(int64_t value,
                                                   uint64_t batch);

/**
 * Frees a counter, or does nothing if it is null.
 */
void cw_percpu_counter_destroy(struct cw_percpu_counter *counter);

/**
 * Adds, and wraps around. Orders nothing. A signal handler may call it.
 */
void cw_percpu_counter_add(struct cw_percpu_counter *counter, int64_t amount);

/**
 * Adds one. As cw_percpu_counter_add.
 */
void cw_percpu_counter_inc(struct cw_percpu_counter *counter);

/**
 * Subtracts one. As cw_percpu_counter_add.
 */
void cw_percpu_counter_dec(struct cw_percpu_counter *counter);

/**
 * The approximate sum, by one load: it differs from the sum by at most cw_percpu_counter_error while no thread adds.
 */
CW_MUST_CHECK int64_t cw_percpu_counter_read(const struct cw_percpu_counter *counter);

/**
 * The approximate sum, or 0 if that is negative.
 */
CW_MUST_CHECK int64_t cw_percpu_counter_read_positive(const struct cw_percpu_counter *counter);

/**
 * The sum: exact for all additions that happened before. A walk over all CPUs.
 */
CW_MUST_CHECK int64_t cw_percpu_counter_sum(const struct cw_percpu_counter *counter);

/**
 * The sum, or 0 if that is negative.
 */
CW_MUST_CHECK int64_t cw_percpu_counter_sum_positive(const struct cw_percpu_counter *counter);

/**
 * The sum compared with `value`: -1, 0 or 1. Reads all CPUs only if the approximate sum is close.
 */
CW_MUST_CHECK int cw_percpu_counter_compare(const struct cw_percpu_counter *counter, int64_t value);

/**
 * The largest difference between cw_percpu_counter_read and the sum while no thread adds.
 */
CW_MUST_CHECK uint64_t cw_percpu_counter_error(const struct cw_percpu_counter *counter);

/**
 * An empty list of objects of `size` bytes, aligned to `alignment`: a power of two, or 0 for malloc's. Null for a size of 0, for
 * sizes that no memory has, and without memory.
 */
CW_MUST_CHECK
struct cw_percpu_free_list *cw_percpu_free_list_create(size_t size,
                                                       size_t alignment);

/**
 * Frees a list and all its objects, those that are held too; or does nothing if it is null.
 */
void cw_percpu_free_list_destroy(struct cw_percpu_free_list *list);

/**
 * A new object of zeroes, held by the caller. Null without memory. Not for signal handlers.
 */
CW_MUST_CHECK void *cw_percpu_free_list_grow(struct cw_percpu_free_list *list);

/**
 * Pops the last object that was pushed on this CPU, with the contents it had; null if there is none. It sees what happened before
 * the push. A signal handler may call it.
 */
CW_MUST_CHECK
void *cw_percpu_free_list_pop(struct cw_percpu_free_list *list);

/**
 * As cw_percpu_free_list_pop; if this CPU's list is empty, takes the first list that is not: one object for the caller, the others for
 * this CPU's list. Not for signal handlers.
 */
CW_MUST_CHECK
void *cw_percpu_free_list_pop_or_steal(struct cw_percpu_free_list *list);

/**
 * Pushes an object that the caller holds to this CPU's list. A signal handler may call it.
 *
 * Returns 0, or CW_REFUSED_ARGUMENT if `object` is null or of another list; nothing was done then.
 */
int cw_percpu_free_list_push(struct cw_percpu_free_list *list, void *object, struct cw_refusal *why);

/**
 * A gauge that starts at `value`. Null without memory.
 */
CW_MUST_CHECK struct cw_percpu_gauge *cw_percpu_gauge_create(int64_t value);

/**
 * Frees a gauge, or does nothing if it is null.
 */
void cw_percpu_gauge_destroy(struct cw_percpu_gauge *gauge);

/**
 * Adds, and wraps around. Orders nothing. A signal handler may call it.
 */
void cw_percpu_gauge_add(struct cw_percpu_gauge *gauge, int64_t amount);

/**
 * The number: exact for all additions that happened before. Reads all CPUs.
 */
CW_MUST_CHECK int64_t cw_percpu_gauge_get(const struct cw_percpu_gauge *gauge);

/**
 * Sets the number; an addition at the same time is before or after it. Reads all CPUs.
 */
void cw_percpu_gauge_set(struct cw_percpu_gauge *gauge, int64_t value);

/**
 * A histogram of nothing. Null without memory.
 */
CW_MUST_CHECK struct cw_percpu_histogram *cw_percpu_histogram_create(void);

/**
 * Frees a histogram, or does nothing if it is null.
 */
void cw_percpu_histogram_destroy(struct cw_percpu_histogram *histogram);

/**
 * Counts a value, by one addition on the CPU. Orders nothing. A signal handler may call it.
 */
void cw_percpu_histogram_record(struct cw_percpu_histogram *histogram, double value);

/**
 * Counts a whole number; from 2^53 on the nearest double. As cw_percpu_histogram_record.
 */
void cw_percpu_histogram_record_u64(struct cw_percpu_histogram *histogram, uint64_t value);

/**
 * How many values were recorded; of them, 2^-32 or less in `*below`, and above 2^64 or not a number in `*above`, which may be
 * null. Reads all CPUs, as do the next two. Not for signal handlers.
 */
uint64_t cw_percpu_histogram_count(const struct cw_percpu_histogram *histogram,
                                   uint64_t *below,
                                   uint64_t *above);

/**
 * Between which numbers the value is that a share of `q` of all values does not exceed: above `*lower`, and at most `*upper`, which is at
 * most 1/32 more. Infinite for values outside of the buckets. 0.5 is the median. False without values; nothing is written then.
 */
CW_MUST_CHECK
cw_bool cw_percpu_histogram_quantile(const struct cw_percpu_histogram *histogram,
                                  double q,
                                  double *lower,
                                  double *upper);

/**
 * Writes the first `length` buckets in which there is a value, in ascending order, and returns how many such buckets there are.
 */
size_t cw_percpu_histogram_buckets(const struct cw_percpu_histogram *histogram,
                                   struct cw_percpu_bucket *buckets,
                                   size_t length);

/**
 * A live count with one initial reference, which cw_percpu_ref_kill puts. `release` is called with `argument` when the last
 * reference was put after a kill, on the thread that put it, once for each life; it may destroy the count. Null without memory.
 */
CW_MUST_CHECK
struct cw_percpu_ref *cw_percpu_ref_create(void (*release)(void*),
                                           void *argument);

/**
 * Frees a count, or does nothing if it is null. It does not call the release.
 */
void cw_percpu_ref_destroy(struct cw_percpu_ref *count);

/**
 * Takes a reference; false if the count is killed and no reference is left.
 */
CW_MUST_CHECK cw_bool cw_percpu_ref_tryget(struct cw_percpu_ref *count);

/**
 * Takes a reference; may be false once a kill has begun, and always is once it has returned.
 */
CW_MUST_CHECK cw_bool cw_percpu_ref_tryget_live(struct cw_percpu_ref *count);

/**
 * Takes a reference; the caller knows that there is one, so that this does not fail.
 */
void cw_percpu_ref_get(struct cw_percpu_ref *count);

/**
 * Puts a reference that a get took. After a kill, the last put calls the release.
 */
void cw_percpu_ref_put(struct cw_percpu_ref *count);

/**
 * Ends live references, waits until no thread can take one, and puts the initial reference. Sets `*killed` to whether this call
 * killed it, before the release can run: false if it was killed before; another thread's kill may then be in progress. `killed` may
 * be null. Not for signal handlers.
 *
 * Returns 0, or why the count stays live: the kernel forbids membarrier(2) by now.
 */
int cw_percpu_ref_kill(struct cw_percpu_ref *count,
                       cw_bool *killed,
                       struct cw_refusal *why);

/**
 * As cw_percpu_ref_kill, and calls `confirm` with `argument` when no thread can take a live reference any more, before the initial
 * reference is put.
 */
int cw_percpu_ref_kill_and_confirm(struct cw_percpu_ref *count,
                                   void (*confirm)(void*),
                                   void *argument,
                                   cw_bool *killed,
                                   struct cw_refusal *why);

/**
 * Makes the count live again, with one initial reference. False if it is live, or references are left. The release may still be
 * running: wait for its effect.
 */
CW_MUST_CHECK
cw_bool cw_percpu_ref_reinit(struct cw_percpu_ref *count);

/**
 * Whether it is killed.
 */
CW_MUST_CHECK cw_bool cw_percpu_ref_is_dying(const struct cw_percpu_ref *count);

/**
 * Whether it is killed and no reference is left.
 */
CW_MUST_CHECK cw_bool cw_percpu_ref_is_zero(const struct cw_percpu_ref *count);

/**
 * Empty rings of at least `capacity` words for each CPU: the next power of two, at most 4096. Null for more or for 0, and without
 * memory.
 */
CW_MUST_CHECK
struct cw_percpu_ring *cw_percpu_ring_create(size_t capacity);

/**
 * Frees a ring and the words in it, or does nothing if it is null.
 */
void cw_percpu_ring_destroy(struct cw_percpu_ring *ring);

/**
 * Pushes a word to this CPU's ring; false if that is full. A signal handler may call it.
 */
CW_MUST_CHECK cw_bool cw_percpu_ring_push(struct cw_percpu_ring *ring, uint64_t word);

/**
 * Pushes as many of the `count` words as there is room for, in order; returns how many.
 */
CW_MUST_CHECK size_t cw_percpu_ring_push_many(struct cw_percpu_ring *ring, const uint64_t *from, size_t count);

/**
 * Pops the oldest word of this CPU's ring into `word`; false if the ring is empty. It sees what happened before the push. A
 * signal handler may call it.
 */
CW_MUST_CHECK
cw_bool cw_percpu_ring_pop(struct cw_percpu_ring *ring,
                        uint64_t *word);

/**
 * Pops at most `count` words of this CPU's ring, the oldest first; returns how many.
 */
CW_MUST_CHECK size_t cw_percpu_ring_pop_many(struct cw_percpu_ring *ring, uint64_t *to, size_t count);

/**
 * Pops the oldest word of this CPU's ring, or of the first CPU's that has any. `*found` says whether there was one. Not for signal
 * handlers.
 *
 * Returns 0, or why other CPUs' rings cannot be reached: the kernel forbids membarrier(2).
 */
int cw_percpu_ring_pop_or_steal(struct cw_percpu_ring *ring,
                                uint64_t *word,
                                cw_bool *found,
                                struct cw_refusal *why);

/**
 * Begins a section of reads; sections nest. What is loaded by an acquiring or consuming load in a section is not freed before its end, if
 * writers free it by cw_rcu_defer or after cw_rcu_synchronize. Two stores with the end, where membarrier(2) is allowed.
 */
void cw_rcu_read_lock(void);

/**
 * Ends the calling thread's innermost section.
 */
void cw_rcu_read_unlock(void);

/**
 * Registers the calling thread, as its first section would: then its signal handlers may begin sections.
 */
void cw_rcu_register(void);

/**
 * Returns when every section has ended that was open at the call. In a section it ends the process, with a line.
 */
void cw_rcu_synchronize(void);

/**
 * Has `function` called with `argument` after every section has ended that is open now, on any thread that calls this function or
 * cw_rcu_barrier. Its library stays mapped from now on. It takes no lock that is held around calls of this function. Where more than 4096 wait,
 * the call waits.
 */
void cw_rcu_defer(void (*function)(void*),
                  void *argument);

/**
 * Returns when all functions that were deferred before have been called. In a section, and in such a function, it ends the process.
 */
void cw_rcu_barrier(void);

/**
 * How many functions wait, about.
 */
CW_MUST_CHECK size_t cw_rcu_pending(void);

/**
 * Sets what is called when a count is misused, for the whole process; null for nothing. The count is saturated before,
 * and its object leaks. The hook is called on the thread, or in the signal handler, that misused the count. It may end the process.
 *
 * The hook stays set: an object that contains it is not closed by dlclose, unless it has set another and no thread is in it any more.
 * This call happens before the calls of the hook that it causes.
 */
void cw_refcount_set_hook(void (*hook)(const struct cw_refcount_misuse*));

/**
 * How often a misuse of this kind has occurred in this process: an enum cw_refcount_saturation_type. 0 for another number.
 */
CW_MUST_CHECK
size_t cw_refcount_misuses(int event);

/**
 * Registers a handler: `handler` is called with the signal and `argument`, on the thread that received it, and under a hold at its
 * release. No other handler of this library runs on that thread meanwhile. Each signal has one.
 *
 * A handler that was installed before is called first, at once, even under a hold. `flags` is 0 or CW_SIGNAL_INTERRUPTS. What a call
 * that succeeds allocates, about 224 bytes, is never freed: a signal on another thread may be in the handler. cw_signal_off frees none
 * of it.
 *
 * The handler is async-signal-safe, signal-safety(7). It does not leave by siglongjmp, nor by an exception: the thread would stay held
 * and run no handler any more. The object that contains the handler stays mapped after a dlclose, also after cw_signal_off, which does
 * not wait for calls on other threads; the object that contains `argument` does so only if it is the same.
 *
 * The handler runs on the thread's alternate stack (SA_ONSTACK, sigaltstack(2)) if it has one, and at a release on the stack of the
 * code that releases. The stack needs getauxval(AT_MINSIGSTKSZ) bytes for the kernel, 1 KiB for this library and what the handler takes.
 * A thread whose stack is small or not its own, such as a goroutine's or a coroutine's, needs an alternate one.
 *
 * Returns 0, or CW_REFUSED_FAULT, CW_REFUSED_SIGNAL_TAKEN, CW_REFUSED_SIGNAL, CW_REFUSED_SIGNALS_BUSY, CW_REFUSED_ARGUMENT.
 */
int cw_signal_on(int signal,
                 void (*handler)(const struct cw_signal_info*, void*),
                 void *argument,
                 int flags,
                 struct cw_refusal *why);

/**
 * Removes a handler and restores the action before it. Signals that are recorded already are dropped at the release.
 *
 * Returns 0, or CW_REFUSED_SIGNAL_NOT_OURS.
 */
int cw_signal_off(int signal, struct cw_refusal *why);

/**
 * Opts the program into single mode, and elides LOCK prefixes while it has one thread. Call it once, at the start of
 * main.
 *
 * The program is linked with cyclewise-hooks.o, whose functions restore LOCK before a second thread exists.
 *
 * For the rest of the process: threads are created by the C library's functions only, not by clone(2) with CLONE_VM, nor
 * by a second copy of the C library; and what cyclewise's atomics change is memory of this process alone, and nothing
 * relies on them to order accesses of other processes, the kernel or devices.
 *
 * Returns 0, or why LOCK stays: CW_REFUSED_NOT_HOOKED without the hooks, CW_REFUSED_UNWATCHED in a static program,
 * CW_REFUSED_OTHER_THREADS if there are other threads; then cw_reelide_lock may succeed later.
 */
int cw_enable_single(struct cw_refusal *why);

/**
 * Elides again, after cw_enable_single, when the other threads were joined.
 *
 * Returns 0, or why LOCK stays.
 */
int cw_reelide_lock(struct cw_refusal *why);

/**
 * Restores LOCK until cw_reelide_lock is called. Call it before a sandbox is entered.
 *
 * Returns 0, or why the text could not be written; CW_REFUSED_WRONG_MODE in confined mode.
 */
int cw_restore_lock(struct cw_refusal *why);

/**
 * Selects the instruction sequences that this CPU supports, in the code of the library. Call it at the start of main, not
 * in a signal handler. A second call changes nothing.
 *
 * Returns 0, or why the defaults stay: CW_REFUSED_OTHER_THREADS if there is a second thread.
 */
int cw_apply_alternatives(struct cw_refusal *why);

/**
 * The mode in force and a count of sites. Another thread may change both at any time.
 */
void cw_get_state(struct cw_state *state);

/**
 * Locks. Waiters spin, then sleep, in the order of arrival; a thread that holds the lock waits for ever. Not in memory that processes
 * share, and not between two copies of the library: see struct cw_spinlock.
 *
 * Acquire: pairs with the unlock before.
 */
void cw_spin_lock(struct cw_spinlock *lock);

/**
 * Locks if the lock is free. Acquire on success.
 */
CW_MUST_CHECK cw_bool cw_spin_trylock(struct cw_spinlock *lock);

/**
 * Locks, unless that takes longer than `timeout_ns` nanoseconds; false then. Acquire on success.
 */
CW_MUST_CHECK cw_bool cw_spin_timedlock(struct cw_spinlock *lock, uint64_t timeout_ns);

/**
 * Unlocks what the caller holds. The lock may be freed as soon as another thread can have it. Without the lock the behaviour is
 * undefined. Release.
 */
void cw_spin_unlock(struct cw_spinlock *lock);

/**
 * As cw_spin_unlock, and hands the lock to the first waiter: no other thread takes it before. Release.
 */
void cw_spin_unlock_fair(struct cw_spinlock *lock);

/**
 * Whether the lock was held at some moment of the call. Orders nothing.
 */
CW_MUST_CHECK cw_bool cw_spin_is_locked(struct cw_spinlock *lock);

/**
 * The version of the library that was loaded: `"0.1.0"`. The string is static.
 */
const char *cw_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CYCLEWISE_CALLED_H */
