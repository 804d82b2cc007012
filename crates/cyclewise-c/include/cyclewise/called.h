/*
 * The functions of cyclewise that are called, and their types. Include <cyclewise/cyclewise.h>, which has the inline ones too.
 *
 * Written by cbindgen from crates/cyclewise-c/src; a test compares the two. Functions that return an int return 0, or an
 * enum cw_refused where their comment says so.
 */

#ifndef CYCLEWISE_CALLED_H
#define CYCLEWISE_CALLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The bytes of a message, with its final NUL.
 */
#define CW_MESSAGE_SIZE 224

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
   * `address` is not in a mapping that is readable, executable and not writable.
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
   * The program was linked without the hooks of thread creation.
   */
  CW_REFUSED_NOT_HOOKED = 64,
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
};

/**
 * What cw_state found.
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
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Confines every thread of the process to `cpu`, or to the caller's if that is negative, and elides LOCK prefixes.
 *
 * Until cw_confined_leave has returned 0: nobody sets the affinity of a thread of this process, by system call, by cpuset or
 * by taking its CPU offline; no other process shares this one's memory map, except children of vfork and posix_spawn. And
 * what cw_enable_single says, whose hooks must be in force.
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
 * CW_REFUSED_OTHER_THREADS if there are other threads; then cw_reelide may succeed later.
 */
int cw_enable_single(struct cw_refusal *why);

/**
 * Elides again, after cw_enable_single, when the other threads were joined.
 *
 * Returns 0, or why LOCK stays.
 */
int cw_reelide(struct cw_refusal *why);

/**
 * Restores LOCK until cw_reelide is called. Call it before a sandbox is entered.
 *
 * Returns 0, or why the text could not be written; CW_REFUSED_WRONG_MODE in confined mode.
 */
int cw_lock(struct cw_refusal *why);

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
void cw_state(struct cw_state *state);

/**
 * The version of the library that was loaded: `"0.1.0"`. The string is static.
 */
const char *cw_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CYCLEWISE_CALLED_H */
