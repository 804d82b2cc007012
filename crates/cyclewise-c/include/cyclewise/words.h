/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What all architectures share: loads and stores, loops of CMPXCHG, and the forms with the default order.
 *
 * Included by <cyclewise/atomic.h>, which says what each does. */
/* It includes this file, in its place. */
#include "atomic.h"

#ifndef CW_WORDS_H
#define CW_WORDS_H

#if defined(__cplusplus)
extern "C" {
#endif

#define CW_ACCESS_(w, type)                                                                                    \
    CW_INLINE_ type cw_load_##w##_explicit(const volatile type *p, int order) {                                \
        return CW_LOAD_(type, p, order);                                                                       \
    }                                                                                                          \
    CW_INLINE_ void cw_store_##w##_explicit(volatile type *p, type v, int order) {                             \
        CW_STORE_(type, p, v, order);                                                                          \
    }                                                                                                          \
    CW_INLINE_ type cw_xchg_##w##_explicit(volatile type *p, type v, int order) {                              \
        return CW_SWAP_(type, p, v, order);                                                                    \
    }                                                                                                          \
    CW_INLINE_ type cw_load_##w(const volatile type *p) { return CW_LOAD_(type, p, CW_SEQ_CST); }              \
    CW_INLINE_ void cw_store_##w(volatile type *p, type v) { CW_STORE_(type, p, v, CW_SEQ_CST); }              \
    CW_INLINE_ type cw_read_##w(const volatile type *p) { return CW_LOAD_(type, p, CW_RELAXED); }              \
    CW_INLINE_ void cw_set_##w(volatile type *p, type v) { CW_STORE_(type, p, v, CW_RELAXED); }                \
    CW_INLINE_ type cw_xchg_##w(volatile type *p, type v) { return CW_SWAP_(type, p, v, CW_SEQ_CST); }

/* A read-modify-write without an instruction of its own. The first load may be relaxed: the last exchange orders everything. */
#define CW_LOOP_(op, w, type, plain, next)                                                                       \
    CW_INLINE_ type cw_fetch_##op##_##w##_explicit(volatile type *p, type v, int order) {                      \
        plain old = CW_LOAD_(type, p, CW_RELAXED);                                                             \
        while (!cw_try_cmpxchg_##w##_explicit(p, &old, CW_CAST_(type, next), order, CW_RELAXED)) {             \
        }                                                                                                      \
        return old;                                                                                            \
    }                                                                                                          \
    CW_FULL_OF_VALUE_(fetch_##op, w, type, type)

/* Other architectures may have an instruction. */
#if CW_HAS_SITES
#define CW_FETCH_BITS_(op, w, type, symbol) CW_LOOP_(op, w, type, type, old symbol v)
#else
#define CW_FETCH_BITS_(op, w, type, symbol)                                                                    \
    CW_INLINE_ type cw_fetch_##op##_##w##_explicit(volatile type *p, type v, int order) {                      \
        return CW_FETCH_(op, type, p, v, order);                                                               \
    }                                                                                                          \
    CW_FULL_OF_VALUE_(fetch_##op, w, type, type)
#endif

/* The same of a word that is read as signed; its bits are exchanged. */
#define CW_SIGNED_LOOP_(op, i, signed_type, w, type, comparison)                                               \
    CW_INLINE_ signed_type cw_fetch_##op##_##i##_explicit(volatile signed_type *p, signed_type v, int order) { \
        signed_type old = CW_LOAD_(signed_type, p, CW_RELAXED);                                                \
        for (;;) {                                                                                             \
            const signed_type next = old comparison v ? old : v;                                               \
            const type found = cw_cmpxchg_##w##_explicit(CW_UNSIGNED_(type, p), CW_CAST_(type, old),           \
                                                         CW_CAST_(type, next), order, CW_RELAXED);             \
            if (found == CW_CAST_(type, old))                                                                  \
                return old;                                                                                    \
            old = CW_CAST_(signed_type, found);                                                                \
        }                                                                                                      \
    }                                                                                                          \
    CW_FULL_OF_VALUE_(fetch_##op, i, signed_type, signed_type)

/* An object may be accessed as the unsigned type of its own. */
#if defined(__cplusplus)
#define CW_UNSIGNED_(type, p) reinterpret_cast<volatile type *>(p)
#else
#define CW_UNSIGNED_(type, p) ((volatile type *)(p))
#endif

/* The forms without an order. */
#define CW_FULL_OF_VALUE_(op, w, type, result)                                                                 \
    CW_INLINE_ result cw_##op##_##w(volatile type *p, type v) { return cw_##op##_##w##_explicit(p, v, CW_SEQ_CST); }
#define CW_FULL_(op, w, type, result)                                                                          \
    CW_INLINE_ result cw_##op##_##w(volatile type *p) { return cw_##op##_##w##_explicit(p, CW_SEQ_CST); }
#define CW_RELAXED_OF_VALUE_(op, w, type)                                                                      \
    CW_INLINE_ void cw_##op##_##w(volatile type *p, type v) { cw_##op##_##w##_explicit(p, v, CW_RELAXED); }
#define CW_RELAXED_FORM_(op, w, type)                                                                          \
    CW_INLINE_ void cw_##op##_##w(volatile type *p) { cw_##op##_##w##_explicit(p, CW_RELAXED); }
#define CW_FULL_BIT_(op, w, type)                                                                              \
    CW_INLINE_ cw_bool cw_##op##_##w(volatile type *p, unsigned bit) {                                         \
        return cw_##op##_##w##_explicit(p, bit, CW_SEQ_CST);                                                   \
    }
#define CW_FULL_BITS_(w, type)                                                                                 \
    CW_FULL_BIT_(test_and_set_bit, w, type)                                                                    \
    CW_FULL_BIT_(test_and_clear_bit, w, type)                                                                  \
    CW_FULL_BIT_(test_and_change_bit, w, type)

#define CW_WORD_(w, type, plain)                                                                                    \
    CW_ACCESS_(w, type)                                                                                        \
    CW_RELAXED_OF_VALUE_(add, w, type)                                                                         \
    CW_RELAXED_OF_VALUE_(sub, w, type)                                                                         \
    CW_RELAXED_OF_VALUE_(and, w, type)                                                                         \
    CW_RELAXED_OF_VALUE_(or, w, type)                                                                          \
    CW_RELAXED_OF_VALUE_(xor, w, type)                                                                         \
    CW_RELAXED_FORM_(inc, w, type)                                                                             \
    CW_RELAXED_FORM_(dec, w, type)                                                                             \
    CW_FULL_OF_VALUE_(sub_and_test, w, type, cw_bool)                                                          \
    CW_FULL_OF_VALUE_(add_negative, w, type, cw_bool)                                                          \
    CW_FULL_OF_VALUE_(sub_negative, w, type, cw_bool)                                                          \
    CW_FULL_(inc_and_test, w, type, cw_bool)                                                                   \
    CW_FULL_(dec_and_test, w, type, cw_bool)                                                                   \
    CW_FULL_(inc_negative, w, type, cw_bool)                                                                   \
    CW_FULL_(dec_negative, w, type, cw_bool)                                                                   \
    CW_FULL_(dec_not_positive, w, type, cw_bool)                                                               \
    CW_FULL_(fetch_inc_cmp, w, type, int)                                                                      \
    CW_FULL_(dec_cmp, w, type, int)                                                                            \
    CW_FULL_OF_VALUE_(fetch_add, w, type, type)                                                                \
    CW_INLINE_ type cw_fetch_sub_##w##_explicit(volatile type *p, type v, int order) {                         \
        return cw_fetch_add_##w##_explicit(p, CW_CAST_(type, 0U - v), order);                                  \
    }                                                                                                          \
    CW_FULL_OF_VALUE_(fetch_sub, w, type, type)                                                                \
    CW_INLINE_ type cw_add_return_##w##_explicit(volatile type *p, type v, int order) {                        \
        return CW_CAST_(type, cw_fetch_add_##w##_explicit(p, v, order) + v);                                   \
    }                                                                                                          \
    CW_FULL_OF_VALUE_(add_return, w, type, type)                                                               \
    CW_INLINE_ type cw_sub_return_##w##_explicit(volatile type *p, type v, int order) {                        \
        return CW_CAST_(type, cw_fetch_sub_##w##_explicit(p, v, order) - v);                                   \
    }                                                                                                          \
    CW_FULL_OF_VALUE_(sub_return, w, type, type)                                                               \
    CW_INLINE_ type cw_cmpxchg_##w(volatile type *p, type old, type desired) {                                 \
        return cw_cmpxchg_##w##_explicit(p, old, desired, CW_SEQ_CST, CW_RELAXED);                             \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_try_cmpxchg_##w(volatile type *p, plain *old, type desired) {                        \
        return cw_try_cmpxchg_##w##_explicit(p, old, desired, CW_SEQ_CST, CW_RELAXED);                         \
    }                                                                                                          \
    CW_FETCH_BITS_(and, w, type, &)                                                                            \
    CW_FETCH_BITS_(or, w, type, |)                                                                             \
    CW_FETCH_BITS_(xor, w, type, ^)                                                                            \
    CW_LOOP_(nand, w, type, plain, ~(old & v))                                                                     \
    CW_LOOP_(max, w, type, plain, old > v ? old : v)                                                               \
    CW_LOOP_(min, w, type, plain, old < v ? old : v)

CW_WORD_(u8, uint8_t, uint8_t)
CW_WORD_(u16, uint16_t, uint16_t)
CW_WORD_(u32, uint32_t, uint32_t)
CW_WORD_(u64, cw_u64_, uint64_t)
CW_WORD_(usize, size_t, size_t)
CW_FULL_BITS_(u16, uint16_t)
CW_FULL_BITS_(u32, uint32_t)
CW_FULL_BITS_(u64, cw_u64_)
CW_FULL_BITS_(usize, size_t)
CW_SIGNED_LOOP_(max, i8, int8_t, u8, uint8_t, >)
CW_SIGNED_LOOP_(min, i8, int8_t, u8, uint8_t, <)
CW_SIGNED_LOOP_(max, i16, int16_t, u16, uint16_t, >)
CW_SIGNED_LOOP_(min, i16, int16_t, u16, uint16_t, <)
CW_SIGNED_LOOP_(max, i32, int32_t, u32, uint32_t, >)
CW_SIGNED_LOOP_(min, i32, int32_t, u32, uint32_t, <)
CW_SIGNED_LOOP_(max, i64, cw_i64_, u64, cw_u64_, >)
CW_SIGNED_LOOP_(min, i64, cw_i64_, u64, cw_u64_, <)

/* A pointer. */
typedef void *cw_pointer_;
CW_INLINE_ void *cw_load_ptr_explicit(void *const volatile *p, int order) { return CW_LOAD_(cw_pointer_, p, order); }
CW_INLINE_ void cw_store_ptr_explicit(void *volatile *p, void *v, int order) { CW_STORE_(cw_pointer_, p, v, order); }
CW_INLINE_ void *cw_xchg_ptr_explicit(void *volatile *p, void *v, int order) { return CW_SWAP_(cw_pointer_, p, v, order); }
CW_INLINE_ void *cw_load_ptr(void *const volatile *p) { return cw_load_ptr_explicit(p, CW_SEQ_CST); }
CW_INLINE_ void cw_store_ptr(void *volatile *p, void *v) { cw_store_ptr_explicit(p, v, CW_SEQ_CST); }
CW_INLINE_ void *cw_read_ptr(void *const volatile *p) { return cw_load_ptr_explicit(p, CW_RELAXED); }
CW_INLINE_ void cw_set_ptr(void *volatile *p, void *v) { cw_store_ptr_explicit(p, v, CW_RELAXED); }
CW_INLINE_ void *cw_xchg_ptr(void *volatile *p, void *v) { return cw_xchg_ptr_explicit(p, v, CW_SEQ_CST); }
CW_INLINE_ void *cw_cmpxchg_ptr_explicit(void *volatile *p, void *old, void *desired, int success, int failure) {
#if CW_HAS_SITES
    (void)success;
    (void)failure;
    CW_CHECK_ADDRESS_(p);
    CW_ASM_(CW_LOCKED_WITH_("cmpxchg", "q", "qword", "%[v]")
            : "+a"(old)
            : CW_AT_(p), [v] "r"(desired)
            : "memory");
#else
    (void)CW_EXCHANGE_IF_(cw_pointer_, p, &old, desired, success, failure);
#endif
    return old;
}
CW_INLINE_ cw_bool cw_try_cmpxchg_ptr_explicit(void *volatile *p, void **old, void *desired, int success, int failure) {
    void *const found = cw_cmpxchg_ptr_explicit(p, *old, desired, success, failure);
    const cw_bool stored = found == *old;
    *old = found;
    return stored;
}
CW_INLINE_ void *cw_cmpxchg_ptr(void *volatile *p, void *old, void *desired) {
    return cw_cmpxchg_ptr_explicit(p, old, desired, CW_SEQ_CST, CW_RELAXED);
}
CW_INLINE_ cw_bool cw_try_cmpxchg_ptr(void *volatile *p, void **old, void *desired) {
    return cw_try_cmpxchg_ptr_explicit(p, old, desired, CW_SEQ_CST, CW_RELAXED);
}

#if defined(__cplusplus)
}
#endif

#endif /* CW_WORDS_H */
