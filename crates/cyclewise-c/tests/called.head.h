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
