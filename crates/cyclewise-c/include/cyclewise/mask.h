/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The soft mask: defers signal handlers for the price of two stores, without a system call.
 *
 * From cw_mask_hold to cw_mask_release no handler that cw_signal_on registered runs on this thread; those of signals that arrive
 * meanwhile run in the release, on its stack. Holds nest. Each release matches a hold; one too many does nothing, in a handler too.
 * Accesses under a hold stay inside it, as seen by handlers on this thread; nothing is ordered towards other threads.
 *
 * A hold, and a cw_masked_lock with it, is the thread's, not a coroutine's or a goroutine's: it is released on the same thread, and in cgo
 * between two calls only under runtime.LockOSThread. On another thread a release does nothing, or ends a hold of that
 * thread's own, and an unlock aborts. No handler leaves by siglongjmp where it interrupts a hold, a release or another handler of
 * cw_signal_on's: the thread would stay held. Under a hold the program's own may ("Jumps" in called.h).
 *
 * cw_mask_save and cw_mask_restore are the kernel's local_irq_save and local_irq_restore.
 *
 * A thread's mask is at a constant distance from its thread pointer, which the first call in each link unit asks the library for.
 * Where there is none, or the library has another layout, and elsewhere than on x86-64 and AArch64, or with
 * CW_NO_INLINE defined, everything is called.
 *
 * References: Linux arch/powerpc/include/asm/hw_irq.h (irq_soft_mask). */
#ifndef CYCLEWISE_MASK_H
#define CYCLEWISE_MASK_H

#include "called.h"
#include "site.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(CW_NO_INLINE) && (defined(__x86_64__) && !defined(__ILP32__) || defined(__aarch64__))

/* Weak, so that all files of a link unit share one. 0 until it is known, and where there is none. */
extern ptrdiff_t cw_mask_offset_;
__attribute__((__weak__, __visibility__("hidden"))) ptrdiff_t cw_mask_offset_;

/* The words are of one thread: its handlers see memory in program order, so only the compiler has to keep the order. */
#if defined(__x86_64__)
static inline uint32_t cw_mask_load_(ptrdiff_t at)
{
    uint32_t word;
    __asm__ __volatile__("{movl %%fs:(%1), %0|mov %0, dword ptr fs:[%1]}" : "=r"(word) : "r"(at) : "memory");
    return word;
}

static inline void cw_mask_store_(ptrdiff_t at, uint32_t word)
{
    __asm__ __volatile__("{movl %1, %%fs:(%0)|mov dword ptr fs:[%0], %1}" : : "r"(at), "ri"(word) : "memory");
}
#else
static inline uint32_t cw_mask_load_(ptrdiff_t at)
{
    uint32_t word;
    char *pointer;
    __asm__ __volatile__("mrs %0, tpidr_el0" : "=r"(pointer));
    word = *(volatile uint32_t *)(void *)(pointer + at);
    __asm__ __volatile__("" : : : "memory");
    return word;
}

static inline void cw_mask_store_(ptrdiff_t at, uint32_t word)
{
    char *pointer;
    __asm__ __volatile__("mrs %0, tpidr_el0" : "=r"(pointer));
    __asm__ __volatile__("" : : : "memory");
    *(volatile uint32_t *)(void *)(pointer + at) = word;
    __asm__ __volatile__("" : : : "memory");
}
#endif

static inline ptrdiff_t cw_mask_at_(void) { return __atomic_load_n(&cw_mask_offset_, __ATOMIC_RELAXED); }

/* What a call does, which also finds the offset: every thread finds the same one. */
__attribute__((__cold__, __unused__)) static inline void cw_mask_find_(void)
{
    if (!cw_mask_at_())
        __atomic_store_n(&cw_mask_offset_, cw_mask_offset(1), __ATOMIC_RELAXED);
}

__attribute__((__cold__, __unused__)) static inline void cw_mask_hold_slow_(void)
{
    cw_mask_find_();
    cw_mask_hold_called();
}

/* Holds signals off. Kernel: local_irq_disable, and it nests. */
static inline void cw_mask_hold(void)
{
    const ptrdiff_t at = cw_mask_at_();
    if (__builtin_expect(at && cw_mask_load_(at) == 0, 1))
        cw_mask_store_(at, 1);
    else
        cw_mask_hold_slow_();
}

/* Removes a hold. The last one runs the handlers of signals that have arrived, oldest first, before it returns. */
static inline void cw_mask_release(void)
{
    const ptrdiff_t at = cw_mask_at_();
    if (__builtin_expect(!at || cw_mask_load_(at) != 1, 0)) {
        cw_mask_release_called();
        return;
    }
    cw_mask_store_(at, 0);
    if (__builtin_expect(cw_mask_load_(at + 4) != 0, 0))
        cw_mask_replay();
}

/* Whether the calling thread is held. */
static inline cw_bool cw_mask_is_held(void)
{
    const ptrdiff_t at = cw_mask_at_();
    return __builtin_expect(!!at, 1) ? cw_mask_load_(at) != 0 : cw_mask_is_held_called();
}

/* Whether a recorded signal waits for the calling thread's release. */
static inline cw_bool cw_mask_is_pending(void)
{
    const ptrdiff_t at = cw_mask_at_();
    return __builtin_expect(!!at, 1) ? cw_mask_load_(at + 4) != 0 : cw_mask_is_pending_called();
}

#else

static inline void cw_mask_hold(void) { cw_mask_hold_called(); }
static inline void cw_mask_release(void) { cw_mask_release_called(); }
static inline cw_bool cw_mask_is_held(void) { return cw_mask_is_held_called(); }
static inline cw_bool cw_mask_is_pending(void) { return cw_mask_is_pending_called(); }

#endif

/* Holds if the thread is not held, and returns whether it was not: what cw_mask_restore takes. */
static inline cw_bool cw_mask_save(void)
{
    const cw_bool open = !cw_mask_is_held();
    if (open)
        cw_mask_hold();
    return open;
}

/* Restores what cw_mask_save has returned: "held" does nothing. */
static inline void cw_mask_restore(cw_bool open)
{
    if (open)
        cw_mask_release();
}

#ifdef __cplusplus
}
#endif

#endif
