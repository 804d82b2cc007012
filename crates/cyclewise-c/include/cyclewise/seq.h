/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sequence counts: readers store nothing, and see by a number whether a writer changed the data meanwhile.
 *
 * The data are words, copied by cw_seq_load and cw_seq_store: a plain access beside a writer is a data race. A copy is used only after
 * cw_seqcount_retry has returned 0. A reader that waits for a writer which it interrupted, in a signal handler, waits for ever: it gives
 * up after some attempts, or the data are in a struct cw_seqlatch, whose readers never wait.
 *
 *     writer, under a lock of yours: cw_seqcount_write_begin(&count); cw_seq_store(data, from, 4); cw_seqcount_write_end(&count);
 *     reader: do { begun = cw_seqcount_begin(&count); cw_seq_load(to, data, 4); } while (cw_seqcount_retry(&count, begun));
 *
 * Header only.
 *
 * References: Linux include/linux/seqlock.h. */
#ifndef CYCLEWISE_SEQ_H
#define CYCLEWISE_SEQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)

/* Zeroed at first. */
struct cw_seqcount {
    uint64_t number;
};

/* Which of two copies is read: zeroed at first, with both copies equal. */
struct cw_seqlatch {
    uint64_t number;
};

/* Copies words that may change meanwhile. */
static inline void cw_seq_load(uint64_t *to, const uint64_t *from, size_t words)
{
    for (size_t n = 0; n < words; n++)
        to[n] = __atomic_load_n(&from[n], __ATOMIC_RELAXED);
}

/* Changes words that may be read meanwhile. */
static inline void cw_seq_store(uint64_t *to, const uint64_t *from, size_t words)
{
    for (size_t n = 0; n < words; n++)
        __atomic_store_n(&to[n], from[n], __ATOMIC_RELAXED);
}

/* Begins a section of loads, without waiting for a writer. */
static inline uint64_t cw_seqcount_begin(const struct cw_seqcount *count)
{
    return __atomic_load_n(&count->number, __ATOMIC_ACQUIRE) & ~UINT64_C(1);
}

/* Not 0 if there was a writer since, and the section has to be repeated. */
static inline int cw_seqcount_retry(const struct cw_seqcount *count, uint64_t begun)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&count->number, __ATOMIC_RELAXED) != begun;
}

/* Begins a section of stores, of one writer at a time. */
static inline void cw_seqcount_write_begin(struct cw_seqcount *count)
{
    __atomic_store_n(&count->number, __atomic_load_n(&count->number, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void cw_seqcount_write_end(struct cw_seqcount *count)
{
    __atomic_store_n(&count->number, __atomic_load_n(&count->number, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

/* Copies the value: `copies` are two arrays of as many words, one behind the other. Waits for nobody, in no handler. */
static inline void cw_seqlatch_read(const struct cw_seqlatch *latch, uint64_t *to, const uint64_t *copies, size_t words)
{
    uint64_t number;
    do {
        number = __atomic_load_n(&latch->number, __ATOMIC_ACQUIRE);
        cw_seq_load(to, copies + (number & 1) * words, words);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&latch->number, __ATOMIC_RELAXED) != number);
}

/* Replaces the value. One writer at a time. */
static inline void cw_seqlatch_write(struct cw_seqlatch *latch, uint64_t *copies, const uint64_t *from, size_t words)
{
    for (size_t copy = 0; copy < 2; copy++) {
        __atomic_store_n(&latch->number, __atomic_load_n(&latch->number, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        cw_seq_store(copies + copy * words, from, words);
    }
}

#endif

#ifdef __cplusplus
}
#endif

#endif
