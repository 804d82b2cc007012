/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Read-modify-writes of a word by the compiler's builtins: the twin of rmw_x86_64.h, for units without sites.
 *
 * Included by <cyclewise/atomic.h>, which says what each does. Their order is the one that is passed.
 *
 * References: GCC, __atomic Builtins; C11, 7.17. */
#ifndef CW_RMW_BUILTINS_H
#define CW_RMW_BUILTINS_H

#include "site.h"

#if !CW_HAS_SITES

/* The sign of a word. */
#define CW_SIGN_(type, v) (((v) >> (sizeof(type) * 8 - 1)) != 0)

#define CW_RMW_EFFECT_(op, w, type)                                                                            \
    CW_INLINE_ void cw_##op##_##w##_explicit(volatile type *p, type v, int order) {                            \
        (void)CW_FETCH_(op, type, p, v, order);                                                                \
    }

/* `plain` is the type without an alignment of its own. Each result is computed in it: C promotes to int. */
#define CW_RMW_(w, type, plain)                                                                                     \
    CW_RMW_EFFECT_(add, w, type)                                                                               \
    CW_RMW_EFFECT_(sub, w, type)                                                                               \
    CW_RMW_EFFECT_(and, w, type)                                                                               \
    CW_RMW_EFFECT_(or, w, type)                                                                                \
    CW_RMW_EFFECT_(xor, w, type)                                                                               \
    CW_INLINE_ type cw_fetch_add_##w##_explicit(volatile type *p, type v, int order) {                         \
        return CW_FETCH_(add, type, p, v, order);                                                              \
    }                                                                                                          \
    CW_INLINE_ type cw_after_add_##w##_(volatile type *p, type v, int order) {                                 \
        return CW_CAST_(type, CW_FETCH_(add, type, p, v, order) + v);                                          \
    }                                                                                                          \
    CW_INLINE_ type cw_after_sub_##w##_(volatile type *p, type v, int order) {                                 \
        return CW_CAST_(type, CW_FETCH_(sub, type, p, v, order) - v);                                          \
    }                                                                                                          \
    CW_INLINE_ void cw_inc_##w##_explicit(volatile type *p, int order) { cw_add_##w##_explicit(p, 1, order); } \
    CW_INLINE_ void cw_dec_##w##_explicit(volatile type *p, int order) { cw_sub_##w##_explicit(p, 1, order); } \
    CW_INLINE_ cw_bool cw_sub_and_test_##w##_explicit(volatile type *p, type v, int order) {                   \
        return cw_after_sub_##w##_(p, v, order) == 0;                                                          \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_inc_and_test_##w##_explicit(volatile type *p, int order) {                           \
        return cw_after_add_##w##_(p, 1, order) == 0;                                                          \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_dec_and_test_##w##_explicit(volatile type *p, int order) {                           \
        return cw_after_sub_##w##_(p, 1, order) == 0;                                                          \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_add_negative_##w##_explicit(volatile type *p, type v, int order) {                   \
        return CW_SIGN_(type, cw_after_add_##w##_(p, v, order));                                               \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_sub_negative_##w##_explicit(volatile type *p, type v, int order) {                   \
        return CW_SIGN_(type, cw_after_sub_##w##_(p, v, order));                                               \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_inc_negative_##w##_explicit(volatile type *p, int order) {                           \
        return CW_SIGN_(type, cw_after_add_##w##_(p, 1, order));                                               \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_dec_negative_##w##_explicit(volatile type *p, int order) {                           \
        return CW_SIGN_(type, cw_after_sub_##w##_(p, 1, order));                                               \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_dec_not_positive_##w##_explicit(volatile type *p, int order) {                       \
        const type old = CW_FETCH_(sub, type, p, 1, order);                                                    \
        return old <= 1 || CW_SIGN_(type, old);                                                                \
    }                                                                                                          \
    CW_INLINE_ int cw_fetch_inc_cmp_##w##_explicit(volatile type *p, int order) {                              \
        const type old = CW_FETCH_(add, type, p, 1, order);                                                    \
        return !CW_SIGN_(type, old) ? 1 : CW_CAST_(type, old + 1) == 0 ? 0 : -1;                               \
    }                                                                                                          \
    CW_INLINE_ int cw_dec_cmp_##w##_explicit(volatile type *p, int order) {                                    \
        const type now = cw_after_sub_##w##_(p, 1, order);                                                     \
        return !CW_SIGN_(type, now) ? 1 : CW_CAST_(type, now + 1) == 0 ? 0 : -1;                               \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_try_cmpxchg_##w##_explicit(volatile type *p, plain *old, type desired, int success,  \
                                                  int failure) {                                               \
        type found = *old;                                                                                     \
        const cw_bool stored = CW_EXCHANGE_IF_(type, p, &found, desired, success, failure);                    \
        *old = found;                                                                                          \
        return stored;                                                                                         \
    }                                                                                                          \
    CW_INLINE_ type cw_cmpxchg_##w##_explicit(volatile type *p, type old, type desired, int success,           \
                                              int failure) {                                                   \
        (void)CW_EXCHANGE_IF_(type, p, &old, desired, success, failure);                                       \
        return old;                                                                                            \
    }

#define CW_BITS_(w, type, bits)                                                                                \
    CW_INLINE_ cw_bool cw_test_and_set_bit_##w##_explicit(volatile type *p, unsigned bit, int order) {         \
        const type mask = CW_CAST_(type, CW_CAST_(type, 1) << (bit % (bits)));                                 \
        return (CW_FETCH_(or, type, p, mask, order) & mask) != 0;                                              \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_test_and_clear_bit_##w##_explicit(volatile type *p, unsigned bit, int order) {       \
        const type mask = CW_CAST_(type, CW_CAST_(type, 1) << (bit % (bits)));                                 \
        return (CW_FETCH_(and, type, p, CW_CAST_(type, ~mask), order) & mask) != 0;                            \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_test_and_change_bit_##w##_explicit(volatile type *p, unsigned bit, int order) {      \
        const type mask = CW_CAST_(type, CW_CAST_(type, 1) << (bit % (bits)));                                 \
        return (CW_FETCH_(xor, type, p, mask, order) & mask) != 0;                                             \
    }

#endif /* !CW_HAS_SITES */
#endif /* CW_RMW_BUILTINS_H */
