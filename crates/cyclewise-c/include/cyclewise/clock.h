/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The clock, read inline: nanoseconds of CLOCK_MONOTONIC by the CPU's counter.
 *
 * cw_clock_now is load-ordered, as the kernel's: a time that is read after another thread's store was seen is not below a time which
 * that thread read before it stored. It is never below an earlier reading on any thread that happened before. The functions
 * cw_clock_now_* have the other orders, cw_clock_read an error bound, and cw_get_clock_status the reason where the kernel's clock is read.
 *
 * Where the process enters another time namespace, also as a child that is forked, or is restored from a checkpoint, CLOCK_MONOTONIC jumps,
 * and may go back. The clock follows it after 4 ms at most.
 *
 * cw_ticks and cw_ticks_ordered are the counter itself, bare and load-ordered: the cheapest stamps, for cw_clock_convert. They are not
 * checked, and go back where the counter does.
 *
 * The time is computed from the current one of four segments, each a line over a range of ticks, which the library writes; words that
 * change meanwhile are noticed by the segment's number. Where the library has another layout of them, and elsewhere than on x86-64 and
 * AArch64, under ThreadSanitizer, or with CW_NO_INLINE defined, everything is called.
 *
 * References: Linux arch/x86/include/asm/tsc.h (rdtsc_ordered); Intel SDM vol. 2, RDTSC, RDTSCP, LFENCE. */
#ifndef CYCLEWISE_CLOCK_H
#define CYCLEWISE_CLOCK_H

#include "called.h"
#include "site.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(CW_NO_INLINE) && !CW_TSAN_ && (defined(__x86_64__) && !defined(__ILP32__) || defined(__aarch64__))

/* A segment, and all of them: version 1. */
struct cw_clock_segment_ {
    uint64_t number, start, base, mult, fast, rest[11];
};

struct cw_clock_segments_ {
    uint64_t current, rest[7];
    struct cw_clock_segment_ segments[4];
};

/* Weak, so that all files of a link unit share one. Null until the first reading. */
extern const struct cw_clock_segments_ *cw_clock_segments_;
__attribute__((__weak__, __visibility__("hidden"))) const struct cw_clock_segments_ *cw_clock_segments_;

/* The time by a call; finds the segments. */
__attribute__((__cold__, __unused__)) static inline uint64_t cw_clock_now_slow_(void)
{
    if (!__atomic_load_n(&cw_clock_segments_, __ATOMIC_RELAXED))
        __atomic_store_n(&cw_clock_segments_, CW_CAST_(const struct cw_clock_segments_ *, cw_clock_segments(1)), __ATOMIC_RELEASE);
    return cw_clock_now_load_ordered();
}

#if defined(__x86_64__)

/* 1: LFENCE; RDTSC. 2: RDTSCP. 3: called. 0: not known yet. */
extern unsigned char cw_ticks_sequence_;
__attribute__((__weak__, __visibility__("hidden"))) unsigned char cw_ticks_sequence_;

__attribute__((__cold__, __unused__)) static inline uint64_t cw_ticks_ordered_slow_(void)
{
    if (!__atomic_load_n(&cw_ticks_sequence_, __ATOMIC_RELAXED)) {
        const int found = cw_ticks_sequence();
        __atomic_store_n(&cw_ticks_sequence_, CW_CAST_(unsigned char, found ? found : 3), __ATOMIC_RELAXED);
    }
    return cw_ticks_as(CW_CLOCK_LOAD_ORDERED);
}

/* The counter. Orders nothing. */
static inline uint64_t cw_ticks(void)
{
    uint64_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return high << 32 | low;
}

/* The counter, after every earlier load. */
static inline uint64_t cw_ticks_ordered(void)
{
    uint64_t low, high;
    const unsigned char sequence = __atomic_load_n(&cw_ticks_sequence_, __ATOMIC_RELAXED);
    if (__builtin_expect(sequence == 1, 1))
        __asm__ __volatile__("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    else if (sequence == 2)
        __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
    else
        return cw_ticks_ordered_slow_();
    return high << 32 | low;
}

#else

static inline uint64_t cw_ticks(void)
{
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline uint64_t cw_ticks_ordered(void)
{
    uint64_t ticks;
    __asm__ __volatile__("dsb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

#endif

/* The time: nanoseconds of CLOCK_MONOTONIC, load-ordered. */
static inline uint64_t cw_clock_now(void)
{
    const struct cw_clock_segments_ *all = __atomic_load_n(&cw_clock_segments_, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!!all, 1)) {
        /* Before the counter: a segment that began after a counter that went back must not be found with an older tick. */
        const uint64_t number = __atomic_load_n(&all->current, __ATOMIC_ACQUIRE);
        const struct cw_clock_segment_ *segment = &all->segments[number % 4];
        const uint64_t ticks = cw_ticks_ordered();
        const uint64_t start = __atomic_load_n(&segment->start, __ATOMIC_RELAXED);
        const uint64_t base = __atomic_load_n(&segment->base, __ATOMIC_RELAXED);
        const uint64_t mult = __atomic_load_n(&segment->mult, __ATOMIC_RELAXED);
        const uint64_t fast = __atomic_load_n(&segment->fast, __ATOMIC_RELAXED);
        /* A segment has fewer than 2^32 ticks, so the lower half of the difference is all of it. */
        const uint32_t low = CW_CAST_(uint32_t, __atomic_load_n(&segment->start, __ATOMIC_RELAXED));
        const uint64_t delta = CW_CAST_(uint32_t, CW_CAST_(uint32_t, ticks) - low);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__builtin_expect(ticks - start < fast && __atomic_load_n(&segment->number, __ATOMIC_RELAXED) == number, 1))
            return base + (delta * mult >> 32);
    }
    return cw_clock_now_slow_();
}

#else

static inline uint64_t cw_ticks(void) { return cw_ticks_called(); }
static inline uint64_t cw_ticks_ordered(void) { return cw_ticks_as(CW_CLOCK_LOAD_ORDERED); }
static inline uint64_t cw_clock_now(void) { return cw_clock_now_load_ordered(); }

#endif

#ifdef __cplusplus
}
#endif

#endif
