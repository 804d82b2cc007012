/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* GLib's atomic operations by instructions whose LOCK prefix can be patched away.
 *
 * before-after.sh appends an #include of this to glib/gatomic.h of a copy of GLib's source. Types are checked less than
 * GLib's own macros do: the unchanged build beside this one has checked them. GLib promises sequential consistency for all of
 * them. Loads, stores and exchanges stay GLib's: they have no LOCK prefix. */
#ifndef GATOMIC_CYCLEWISE_H
#define GATOMIC_CYCLEWISE_H

#include <cyclewise/atomic.h>

/* A gint's address, and an address-sized word's, as those of the unsigned types that cyclewise works on. */
#define CW_INT(p) ((volatile uint32_t *)(p))
#define CW_WORD(p) ((volatile uint64_t *)(p))

#undef g_atomic_int_inc
#define g_atomic_int_inc(p) cw_inc_u32_explicit(CW_INT(p), CW_SEQ_CST)
#undef g_atomic_int_dec_and_test
#define g_atomic_int_dec_and_test(p) (cw_dec_and_test_u32_explicit(CW_INT(p), CW_SEQ_CST) ? TRUE : FALSE)
#undef g_atomic_int_add
#define g_atomic_int_add(p, v) ((gint)cw_fetch_add_u32_explicit(CW_INT(p), (uint32_t)(v), CW_SEQ_CST))
#undef g_atomic_int_and
#define g_atomic_int_and(p, v) ((guint)cw_fetch_and_u32_explicit(CW_INT(p), (uint32_t)(v), CW_SEQ_CST))
#undef g_atomic_int_or
#define g_atomic_int_or(p, v) ((guint)cw_fetch_or_u32_explicit(CW_INT(p), (uint32_t)(v), CW_SEQ_CST))
#undef g_atomic_int_xor
#define g_atomic_int_xor(p, v) ((guint)cw_fetch_xor_u32_explicit(CW_INT(p), (uint32_t)(v), CW_SEQ_CST))
#undef g_atomic_int_compare_and_exchange
#define g_atomic_int_compare_and_exchange(p, old, desired)                                           \
    (G_GNUC_EXTENSION({                                                                              \
        uint32_t cw_old = (uint32_t)(old);                                                           \
        cw_try_cmpxchg_u32_explicit(CW_INT(p), &cw_old, (uint32_t)(desired), CW_SEQ_CST, CW_SEQ_CST) ? TRUE : FALSE; \
    }))
#undef g_atomic_int_compare_and_exchange_full
#define g_atomic_int_compare_and_exchange_full(p, old, desired, found)                               \
    (*(found) = (old),                                                                               \
     cw_try_cmpxchg_u32_explicit(CW_INT(p), (uint32_t *)(found), (uint32_t)(desired), CW_SEQ_CST, CW_SEQ_CST) ? TRUE : FALSE)

#undef g_atomic_pointer_compare_and_exchange
#define g_atomic_pointer_compare_and_exchange(p, old, desired)                                       \
    (G_GNUC_EXTENSION({                                                                              \
        uint64_t cw_old = (uint64_t)(gsize)(old);                                                    \
        cw_try_cmpxchg_u64_explicit(CW_WORD(p), &cw_old, (uint64_t)(gsize)(desired), CW_SEQ_CST, CW_SEQ_CST) ? TRUE : FALSE; \
    }))
#undef g_atomic_pointer_compare_and_exchange_full
#define g_atomic_pointer_compare_and_exchange_full(p, old, desired, found)                           \
    (*(gpointer *)(found) = (gpointer)(old),                                                         \
     cw_try_cmpxchg_u64_explicit(CW_WORD(p), (uint64_t *)(found), (uint64_t)(gsize)(desired), CW_SEQ_CST, CW_SEQ_CST) ? TRUE \
                                                                                                      : FALSE)
#undef g_atomic_pointer_add
#define g_atomic_pointer_add(p, v) ((gssize)cw_fetch_add_u64_explicit(CW_WORD(p), (uint64_t)(gssize)(v), CW_SEQ_CST))
#undef g_atomic_pointer_and
#define g_atomic_pointer_and(p, v) ((gsize)cw_fetch_and_u64_explicit(CW_WORD(p), (uint64_t)(v), CW_SEQ_CST))
#undef g_atomic_pointer_or
#define g_atomic_pointer_or(p, v) ((gsize)cw_fetch_or_u64_explicit(CW_WORD(p), (uint64_t)(v), CW_SEQ_CST))
#undef g_atomic_pointer_xor
#define g_atomic_pointer_xor(p, v) ((gsize)cw_fetch_xor_u64_explicit(CW_WORD(p), (uint64_t)(v), CW_SEQ_CST))

#endif /* GATOMIC_CYCLEWISE_H */
