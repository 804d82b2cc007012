/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The operations of reference counts that add or remove several references, that may refuse, or that return the old count.
 *
 * Included by <cyclewise/refcount.h>, which says what each does. */
/* It includes this file, in its place. */
#include "atomic.h"

#ifndef CW_REFCOUNT_BATCH_H
#define CW_REFCOUNT_BATCH_H

/* Of one width, as CW_REFCOUNT_DEFINE_. The largest stored number that is exact is MAX - 1, and zero is stored as -1. */
#define CW_REFCOUNT_BATCH_DEFINE_(name, w, type, MAX, SATURATED)                                               \
    /* Stored plus n, or saturated. */                                                                         \
    CW_INLINE_ type name##_raised_(type stored, type n) {                                                      \
        return stored > MAX - 1U || n > MAX - 1U - stored ? SATURATED - 1U : CW_CAST_(type, stored + n);       \
    }                                                                                                          \
    CW_INLINE_ cw_bool name##_is_pinned_(type stored) { return stored == SATURATED - 1U; }                     \
                                                                                                               \
    CW_OUT_OF_LINE_ type name##_add_batch_(struct name *r, type n) {                                           \
        type stored = cw_read_##w(&r->stored), next;                                                           \
        do {                                                                                                   \
            next = name##_raised_(stored, n);                                                                  \
        } while (!cw_try_cmpxchg_##w##_explicit(&r->stored, &stored, next, CW_RELAXED, CW_RELAXED));           \
        if (name##_is_pinned_(next)) {                                                                         \
            if (CW_CAST_(type, stored + 1U) == 0)                                                              \
                name##_saturate_add_uaf_(r);                                                                   \
            else                                                                                               \
                name##_saturate_add_ovf_(r);                                                                   \
        }                                                                                                      \
        return CW_CAST_(type, stored + 1U);                                                                    \
    }                                                                                                          \
    CW_OUT_OF_LINE_ type name##_sub_batch_(struct name *r, type n, cw_bool *last) {                            \
        type stored = cw_read_##w(&r->stored), next;                                                           \
        cw_bool is_bad;                                                                                        \
        do {                                                                                                   \
            const type old = CW_CAST_(type, stored + 1U);                                                      \
            is_bad = old > MAX || n > old;                                                                     \
            next = is_bad ? SATURATED - 1U : CW_CAST_(type, stored - n);                                       \
        } while (!cw_try_cmpxchg_##w##_explicit(&r->stored, &stored, next, CW_RELEASE, CW_RELAXED));           \
        if (is_bad)                                                                                            \
            name##_saturate_sub_uaf_(r);                                                                       \
        *last = CW_CAST_(type, next + 1U) == 0;                                                                \
        if (*last)                                                                                             \
            (void)cw_load_##w##_explicit(&r->stored, CW_ACQUIRE);                                              \
        return CW_CAST_(type, stored + 1U);                                                                    \
    }                                                                                                          \
                                                                                                               \
    CW_INLINE_ type name##_add_old(struct name *r, type n) {                                                   \
        type stored;                                                                                           \
        if (n > CW_REFCOUNT_BATCH)                                                                             \
            return name##_add_batch_(r, n);                                                                    \
        stored = cw_fetch_add_##w##_explicit(&r->stored, n, CW_RELAXED);                                       \
        /* Zero or saturated before, or past the maximum now. */                                               \
        if (!CW_LIKELY_(stored <= MAX - 1U - n)) {                                                             \
            if (CW_CAST_(type, stored + 1U) == 0)                                                              \
                name##_saturate_add_uaf_(r);                                                                   \
            else                                                                                               \
                name##_saturate_add_ovf_(r);                                                                   \
        }                                                                                                      \
        return CW_CAST_(type, stored + 1U);                                                                    \
    }                                                                                                          \
    CW_INLINE_ void name##_add(struct name *r, type n) { (void)name##_add_old(r, n); }                         \
    CW_INLINE_ type name##_inc_old(struct name *r) { return name##_add_old(r, 1); }                            \
                                                                                                               \
    CW_INLINE_ type name##_sub_and_test_old(struct name *r, type n, cw_bool *last) {                           \
        type stored, now;                                                                                      \
        if (n > CW_REFCOUNT_BATCH)                                                                             \
            return name##_sub_batch_(r, n, last);                                                              \
        stored = cw_fetch_sub_##w##_explicit(&r->stored, n, CW_RELEASE);                                       \
        now = CW_CAST_(type, stored - n);                                                                      \
        *last = 0;                                                                                             \
        /* Zero or saturated before, or zero now, or too many given up: those wrap to above. */                \
        if (!CW_LIKELY_(now <= MAX - 1U - n)) {                                                                \
            if (CW_CAST_(type, now + 1U) == 0 && n > 0) {                                                      \
                *last = 1;                                                                                     \
                (void)cw_load_##w##_explicit(&r->stored, CW_ACQUIRE);                                          \
            } else {                                                                                           \
                name##_saturate_sub_uaf_(r);                                                                   \
            }                                                                                                  \
        }                                                                                                      \
        return CW_CAST_(type, stored + 1U);                                                                    \
    }                                                                                                          \
    CW_INLINE_ type name##_dec_and_test_old(struct name *r, cw_bool *last) {                                   \
        return name##_sub_and_test_old(r, 1, last);                                                            \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_sub_and_test(struct name *r, type n) {                             \
        cw_bool last;                                                                                          \
        (void)name##_sub_and_test_old(r, n, &last);                                                            \
        return last;                                                                                           \
    }                                                                                                          \
    CW_INLINE_ type name##_dec_old(struct name *r) {                                                           \
        const type stored = cw_fetch_sub_##w##_explicit(&r->stored, 1, CW_RELEASE);                            \
        /* One, zero, or saturated: the first two wrap to above the limit. */                                  \
        if (!CW_LIKELY_(CW_CAST_(type, stored - 1U) <= MAX - 2U))                                              \
            name##_saturate_dec_leak_(r);                                                                      \
        return CW_CAST_(type, stored + 1U);                                                                    \
    }                                                                                                          \
                                                                                                               \
    /* The loop of all *_not_zero*: 1 if references were added; the old count in any case. One less is stored, \
     * so the limit compares stored + 1 + n; saturated ones are above every limit. */                          \
    CW_INLINE_ cw_bool name##_add_unless_(struct name *r, type n, type limit, int success, type *old) {        \
        type stored = cw_read_##w(&r->stored), next;                                                           \
        do {                                                                                                   \
            *old = CW_CAST_(type, stored + 1U);                                                                \
            if (*old == 0 || (limit < MAX && (n >= limit || stored >= limit - n)))                             \
                return 0;                                                                                      \
            next = name##_raised_(stored, n);                                                                  \
        } while (!cw_try_cmpxchg_##w##_explicit(&r->stored, &stored, next, success, CW_RELAXED));              \
        if (!CW_LIKELY_(!name##_is_pinned_(next)))                                                             \
            name##_report_add_not_zero_(r);                                                                    \
        return 1;                                                                                              \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_add_not_zero_old(struct name *r, type n, type *old) {              \
        return name##_add_unless_(r, n, MAX, CW_RELAXED, old);                                                 \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_inc_not_zero_old(struct name *r, type *old) {                      \
        return name##_add_unless_(r, 1, MAX, CW_RELAXED, old);                                                 \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_add_not_zero_acquire_old(struct name *r, type n, type *old) {      \
        return name##_add_unless_(r, n, MAX, CW_ACQUIRE, old);                                                 \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_inc_not_zero_acquire_old(struct name *r, type *old) {              \
        return name##_add_unless_(r, 1, MAX, CW_ACQUIRE, old);                                                 \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_add_not_zero_limited_acquire_old(struct name *r, type n, type limit, type *old) { \
        return name##_add_unless_(r, n, limit, CW_ACQUIRE, old);                                               \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_inc_not_zero_limited_acquire_old(struct name *r, type limit, type *old) { \
        return name##_add_unless_(r, 1, limit, CW_ACQUIRE, old);                                               \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_add_not_zero(struct name *r, type n) {                             \
        type old;                                                                                              \
        return name##_add_unless_(r, n, MAX, CW_RELAXED, &old);                                                \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_inc_not_zero(struct name *r) { return name##_add_not_zero(r, 1); } \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_add_not_zero_acquire(struct name *r, type n) {                     \
        type old;                                                                                              \
        return name##_add_unless_(r, n, MAX, CW_ACQUIRE, &old);                                                \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_inc_not_zero_acquire(struct name *r) {                             \
        return name##_add_not_zero_acquire(r, 1);                                                              \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_add_not_zero_limited_acquire(struct name *r, type n, type limit) { \
        type old;                                                                                              \
        return name##_add_unless_(r, n, limit, CW_ACQUIRE, &old);                                              \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_inc_not_zero_limited_acquire(struct name *r, type limit) {         \
        return name##_add_not_zero_limited_acquire(r, 1, limit);                                               \
    }                                                                                                          \
                                                                                                               \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_dec_if_one(struct name *r) {                                       \
        type one = 0;                                                                                          \
        return cw_try_cmpxchg_##w##_explicit(&r->stored, &one, CW_CAST_(type, 0U - CW_CAST_(type, 1)),         \
                                             CW_ACQ_REL, CW_RELAXED);                                          \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_dec_not_one(struct name *r) {                                      \
        type stored = cw_read_##w(&r->stored), next;                                                           \
        cw_bool is_bad;                                                                                        \
        do {                                                                                                   \
            if (stored == 0)                                                                                   \
                return 0;                                                                                      \
            is_bad = stored > MAX - 1U;                                                                        \
            next = is_bad ? SATURATED - 1U : CW_CAST_(type, stored - 1U);                                      \
        } while (!cw_try_cmpxchg_##w##_explicit(&r->stored, &stored, next, CW_RELEASE, CW_RELAXED));           \
        if (!CW_LIKELY_(!is_bad))                                                                              \
            name##_saturate_sub_uaf_(r);                                                                       \
        return 1;                                                                                              \
    }                                                                                                          \
    CW_INLINE_ CW_MUST_CHECK cw_bool name##_dec_and_lock(struct name *r, void (*lock)(void *), void (*unlock)(void *), \
                                        void *arg) {                                                           \
        if (name##_dec_not_one(r))                                                                             \
            return 0;                                                                                          \
        lock(arg);                                                                                             \
        if (name##_dec_and_test(r))                                                                            \
            return 1;                                                                                          \
        unlock(arg);                                                                                           \
        return 0;                                                                                              \
    }

#if defined(__cplusplus)
extern "C" {
#endif

CW_REFCOUNT_BATCH_DEFINE_(cw_refcount, u32, uint32_t, CW_REFCOUNT_MAX, CW_REFCOUNT_SATURATED)
CW_REFCOUNT_BATCH_DEFINE_(cw_refcount64, u64, uint64_t, CW_REFCOUNT64_MAX, CW_REFCOUNT64_SATURATED)

#if defined(__cplusplus)
}
#endif

#endif /* CW_REFCOUNT_BATCH_H */
