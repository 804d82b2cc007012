/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reference counts that saturate: the kernel's refcount_t, in 32 and 64 bits.
 *
 * A copy of an object copies its count, and then counts for itself: set the copy's count. The compiler does not refuse it.
 *
 * Included by <cyclewise/atomic.h>. The object, and how it is freed, are the caller's. Where a plain counter would wrap and an
 * object in use be freed, these leak, permanently, and report the misuse. Layout, states, saturation and limits are those of the
 * Rust crate's Refcount and Refcount64: a count may be shared with Rust.
 *
 *     struct node { cw_refcount_t refs; ... };
 *
 *     struct node n = { CW_REFCOUNT_INIT(1) };
 *     cw_refcount_inc(&n.refs);
 *     if (cw_refcount_dec_and_test(&n.refs))
 *         node_free(&n);
 *
 * States. The stored number is one less than the number of references, so that zeroed memory is one reference. Read as a
 * signed number of w bits: -1 is no reference; 0 is one; n, up to the smallest number, n + 1; every other negative number is
 * saturated, and is set to CW_REFCOUNT_SATURATED, the middle of that range. With one less stored, the flags of one instruction
 * suffice for one branch: a signed comparison less or equal after an increment means that it came from zero or saturation, and
 * a negative number after a decrement means that it took the last reference, or none.
 *
 * Functions, for a count of 32 bits; cw_refcount64_* for 64. "Saturates" means: and reports, see below.
 *
 *   CW_REFCOUNT_INIT(n)         an initializer
 *   set(r, n)                   even a saturated count; the caller knows of no other users. relaxed
 *   set_release(r, n)           the same; pairs with the _acquire forms, for memory that is reused. release
 *   read(r)                     the count; above CW_REFCOUNT_MAX it is saturated. relaxed
 *   is_saturated(r)             relaxed
 *   inc(r), add(r, n)           by a caller that holds a reference. Saturates from zero and past the maximum. relaxed
 *   inc_not_zero(r), add_not_zero(r, n)
 *                               false, and unchanged, if the count is zero. Saturates past the maximum. relaxed
 *   .._acquire                  the same; acquire where it is true
 *   inc_not_zero_limited_acquire(r, limit), add_not_zero_limited_acquire(r, n, limit)
 *                               the same, and false where the count would pass the limit
 *   dec_and_test(r), sub_and_test(r, n)
 *                               true if that was the last reference: the caller frees. Saturates, and is false, if there were
 *                               fewer references. release, and acquire where true
 *   dec(r)                      of a reference known not to be the last. Saturates if it was. release
 *   dec_if_one(r)               gives up the only reference, or nothing. release and acquire where true
 *   dec_not_one(r)              unless it is the last: then false, and the reference is still held. release where true
 *   dec_and_lock(r, lock, unlock, arg)
 *                               the last reference under a lock, which is then held; else false
 *   inc_old, add_old, sub_and_test_old(r, n, &last) ..
 *                               the old count: the kernel's __refcount_*. XADD
 *
 * Misuse. The count is saturated, and stays so whatever is done to it: its object is never freed. Then
 * cw_refcount_warn_saturated is called if the program has it: libcyclewise does, and counts or passes on the report. Without the
 * library nothing is called.
 *
 * Bounds. An unconditional operation changes the count by at most 64 before its check; larger batches loop. So 2^24 operations
 * of 64 would have to be in flight on one count of 32 bits for a saturated one to become live again, and Linux has at most 2^22
 * threads. In 64 bits it cannot happen. Documentation of the Rust module refs::refcount has the proof.
 *
 * Cost. inc, dec and dec_and_test are one read-modify-write and one branch that is not taken; add and sub_and_test XADD, a
 * comparison and a branch. What may refuse (*_not_zero*, dec_not_one) and batches above 64 are loops of CMPXCHG.
 *
 * No operation waits: each may be used in signal handlers and after fork. dec_and_lock waits as its lock does.
 *
 * References: Linux include/linux/refcount.h, lib/refcount.c; Documentation/core-api/refcount-vs-atomic.rst. */
/* It includes this file, in its place. */
#include "atomic.h"

#ifndef CW_REFCOUNT_H
#define CW_REFCOUNT_H

#if defined(__cplusplus)
extern "C" {
#endif

/* Counts. One less is stored than there are references. */
typedef struct cw_refcount {
    uint32_t stored;
} cw_refcount_t;
typedef struct cw_refcount64 {
    CW_ALIGNED_(8) uint64_t stored;
} cw_refcount64_t;

#define CW_REFCOUNT_INIT(references) {CW_CAST_(uint32_t, (references) - 1U)}
#define CW_REFCOUNT64_INIT(references) {CW_CAST_(uint64_t, (references) - UINT64_C(1))}

/* The largest exact counts, and what a saturated one reads as. */
#define CW_REFCOUNT_MAX UINT32_C(0x80000001)
#define CW_REFCOUNT_SATURATED UINT32_C(0xc0000000)
#define CW_REFCOUNT64_MAX UINT64_C(0x8000000000000001)
#define CW_REFCOUNT64_SATURATED UINT64_C(0xc000000000000000)

/* The largest change by one unconditional operation. */
#define CW_REFCOUNT_BATCH 64

/* The kernel's enum refcount_saturation_type. */
enum cw_refcount_saturation_type {
    CW_REFCOUNT_ADD_NOT_ZERO_OVF = 0, /* inc_not_zero or a form of it passed the maximum, or the count was saturated */
    CW_REFCOUNT_ADD_OVF = 1,          /* inc or add passed the maximum, or the count was saturated */
    CW_REFCOUNT_ADD_UAF = 2,          /* inc or add of a count of zero */
    CW_REFCOUNT_SUB_UAF = 3,          /* more references were given up than there were, or the count was saturated */
    CW_REFCOUNT_DEC_LEAK = 4          /* dec of a count of one or less, or saturated: nobody will free the object */
};

/* The library's report: the count, which event, and where the operation returns to (its caller's caller, where the compiler made
 * a tail call). The count may be gone. */
#if CW_GNU_
void cw_refcount_warn_saturated(const volatile void *count, int event, const void *caller) __attribute__((__weak__));
#define CW_REPORT_(r, event)                                                               \
    do {                                                                                   \
        if (cw_refcount_warn_saturated)                                                    \
            cw_refcount_warn_saturated((r), (event), __builtin_return_address(0));         \
    } while (0)
#define CW_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#else
#define CW_REPORT_(r, event) ((void)(r), (void)(event))
#define CW_LIKELY_(condition) (condition)
#endif

/* Of one width: `name` the prefix, `w` the suffix of the word's operations. */
#define CW_REFCOUNT_DEFINE_(name, w, type, MAX, SATURATED)                                                     \
    CW_INLINE_ void name##_set(struct name *r, type n) { cw_set_##w(&r->stored, CW_CAST_(type, n - 1U)); }     \
    CW_INLINE_ void name##_set_release(struct name *r, type n) {                                               \
        cw_store_##w##_explicit(&r->stored, CW_CAST_(type, n - 1U), CW_RELEASE);                               \
    }                                                                                                          \
    CW_INLINE_ type name##_read(const struct name *r) { return CW_CAST_(type, cw_read_##w(&r->stored) + 1U); } \
    CW_INLINE_ cw_bool name##_is_saturated(const struct name *r) { return name##_read(r) > MAX; }              \
                                                                                                               \
    /* Relaxed: an object that is never freed needs no order. */                                               \
    CW_OUT_OF_LINE_ void name##_saturate_add_uaf_(struct name *r) {                                            \
        cw_set_##w(&r->stored, SATURATED - 1U);                                                                \
        CW_REPORT_(r, CW_REFCOUNT_ADD_UAF);                                                                    \
    }                                                                                                          \
    CW_OUT_OF_LINE_ void name##_saturate_add_ovf_(struct name *r) {                                            \
        cw_set_##w(&r->stored, SATURATED - 1U);                                                                \
        CW_REPORT_(r, CW_REFCOUNT_ADD_OVF);                                                                    \
    }                                                                                                          \
    CW_OUT_OF_LINE_ void name##_saturate_sub_uaf_(struct name *r) {                                            \
        cw_set_##w(&r->stored, SATURATED - 1U);                                                                \
        CW_REPORT_(r, CW_REFCOUNT_SUB_UAF);                                                                    \
    }                                                                                                          \
    CW_OUT_OF_LINE_ void name##_saturate_dec_leak_(struct name *r) {                                           \
        cw_set_##w(&r->stored, SATURATED - 1U);                                                                \
        CW_REPORT_(r, CW_REFCOUNT_DEC_LEAK);                                                                   \
    }                                                                                                          \
    CW_OUT_OF_LINE_ void name##_report_add_not_zero_(const struct name *r) {                                   \
        CW_REPORT_(r, CW_REFCOUNT_ADD_NOT_ZERO_OVF);                                                           \
    }                                                                                                          \
                                                                                                               \
    CW_INLINE_ void name##_inc(struct name *r) {                                                               \
        const int was = cw_fetch_inc_cmp_##w##_explicit(&r->stored, CW_RELAXED);                               \
        if (CW_LIKELY_(was > 0))                                                                               \
            return;                                                                                            \
        if (was == 0)                                                                                          \
            name##_saturate_add_uaf_(r);                                                                       \
        else                                                                                                   \
            name##_saturate_add_ovf_(r);                                                                       \
    }                                                                                                          \
    /* After a decrement to zero: a load and not a fence, because ThreadSanitizer does not model fences. */    \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_dec_and_test(struct name *r) {                                     \
        const int now = cw_dec_cmp_##w##_explicit(&r->stored, CW_RELEASE);                                     \
        if (CW_LIKELY_(now > 0))                                                                               \
            return 0;                                                                                          \
        if (now == 0) {                                                                                        \
            (void)cw_load_##w##_explicit(&r->stored, CW_ACQUIRE);                                              \
            return 1;                                                                                          \
        }                                                                                                      \
        name##_saturate_sub_uaf_(r);                                                                           \
        return 0;                                                                                              \
    }                                                                                                          \
    CW_INLINE_ void name##_dec(struct name *r) {                                                               \
        if (!CW_LIKELY_(cw_dec_cmp_##w##_explicit(&r->stored, CW_RELEASE) > 0))                                \
            name##_saturate_dec_leak_(r);                                                                      \
    }

CW_REFCOUNT_DEFINE_(cw_refcount, u32, uint32_t, CW_REFCOUNT_MAX, CW_REFCOUNT_SATURATED)
CW_REFCOUNT_DEFINE_(cw_refcount64, u64, uint64_t, CW_REFCOUNT64_MAX, CW_REFCOUNT64_SATURATED)

#if defined(__cplusplus)
}
#endif

#include "refcount_batch.h"

#endif /* CW_REFCOUNT_H */
