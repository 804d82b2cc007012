/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Atomic operations on words, whose LOCK prefixes the library patches away while the process has one thread.
 *
 * An elided read-modify-write orders nothing for other processes, the kernel or devices, seq_cst or not. Where a protocol with one of them
 * needs a full fence (the flags of an io_uring's ring, queues in shared memory), use C11's fence, which is no site, and C11's atomics.
 *
 * A word is a plain integer, so `n++` beside cw_inc_u32(&n) compiles, and loses updates without a word. A struct of one member keeps it from
 * being taken for a number, as cw_refcount_t does; ThreadSanitizer reports it; in C++ cyclewise::atomic (atomic.hpp) has no plain access.
 *
 * Header only: without the library LOCK stays. The prefixes are the same sites, in the same table, as those of the Rust crate;
 * site.h says where there are any, and what there is elsewhere.
 *
 * Words are plain objects of type uint8_t (u8), uint16_t (u16), uint32_t (u32), uint64_t (u64) and size_t (usize), aligned to
 * their size; ptr is void *. Every access that may race with another goes through one of these functions. There is no state
 * beside the word: zero-initialized memory is a word of zero.
 *
 * Names are the kernel's. W is a suffix of the above; arithmetic wraps; "negative" reads the result as signed.
 *
 *   cw_fetch_{add,sub,and,or,xor}_W(p, v)   the old value. XADD for add and sub; a CMPXCHG loop for the others
 *   cw_fetch_{nand,max,min}_W(p, v)         the same, each a CMPXCHG loop; fetch_max_i32 .. read the word as signed
 *   cw_{add,sub,and,or,xor}_W(p, v)         no result: one instruction, which costs least where LOCK is patched away
 *   cw_{inc,dec}_W(p)                       the same
 *   cw_{add,sub}_return_W(p, v)             the new value
 *   cw_sub_and_test_W(p, v), cw_dec_and_test_W(p), cw_inc_and_test_W(p)
 *                                           whether the result is zero
 *   cw_{add,sub}_negative_W(p, v), cw_{inc,dec}_negative_W(p)
 *                                           whether the result is negative
 *   cw_dec_not_positive_W(p)                decrements; whether the result is zero or less, without wrapping
 *   cw_fetch_inc_cmp_W(p), cw_dec_cmp_W(p)  -1, 0 or 1: how the old value, or the result, compares with minus one
 *   cw_cmpxchg_W(p, old, new)               stores `new` if the word is `old`; the old value
 *   cw_try_cmpxchg_W(p, &old, new)          whether it stored; if not, `old` is now what was found. Never fails spuriously
 *   cw_xchg_W(p, v)                         stores; the old value. XCHG, which locks without a prefix: never elided
 *   cw_test_and_{set,clear,change}_bit_W(p, nr)
 *                                           the old bit; `nr` modulo the width. Not for u8
 *   cw_load_W(p), cw_store_W(p, v)          C11's; cw_read_W and cw_set_W are the kernel's, relaxed
 *
 * Memory ordering. Each also exists as name_explicit(.., order), C11's orders being CW_RELAXED .. CW_SEQ_CST. Without:
 *
 *   relaxed    what has no result (the kernel's rule), cw_read_W, cw_set_W
 *   seq_cst    everything else: the kernel's "fully ordered"
 *   relaxed    cmpxchg and try_cmpxchg where they do not store: also the kernel's rule
 *
 * On x86-64 each read-modify-write is a full barrier while LOCK is in force, and a compiler barrier in any case: no access moves
 * across it. While it is elided no other CPU runs this process. Loads and stores are compiler barriers as C11's are. Nothing
 * here is volatile: the compiler may merge or drop what it may of C11's, which is loads.
 *
 * Not for memory that another process, the kernel or a device also accesses, nor to order such accesses, as said first. Addresses must be
 * aligned: elsewhere x86 locks the bus, or faults.
 *
 * References: Linux Documentation/atomic_t.txt, Documentation/atomic_bitops.txt; C11, 7.17. */
#ifndef CW_ATOMIC_H
#define CW_ATOMIC_H

#include "unit.h"

#if CW_GNU_
#define CW_RELAXED __ATOMIC_RELAXED
#define CW_ACQUIRE __ATOMIC_ACQUIRE
#define CW_RELEASE __ATOMIC_RELEASE
#define CW_ACQ_REL __ATOMIC_ACQ_REL
#define CW_SEQ_CST __ATOMIC_SEQ_CST
#define CW_LOAD_(type, p, order) __atomic_load_n(p, order)
#define CW_STORE_(type, p, v, order) __atomic_store_n(p, v, order)
#define CW_SWAP_(type, p, v, order) __atomic_exchange_n(p, v, order)
#define CW_FETCH_(op, type, p, v, order) __atomic_fetch_##op(p, v, order)
#define CW_EXCHANGE_IF_(type, p, old, desired, success, failure) \
    __atomic_compare_exchange_n(p, old, desired, 0, success, failure)
#else
#include <stdatomic.h>
#define CW_RELAXED memory_order_relaxed
#define CW_ACQUIRE memory_order_acquire
#define CW_RELEASE memory_order_release
#define CW_ACQ_REL memory_order_acq_rel
#define CW_SEQ_CST memory_order_seq_cst
#define CW_ATOMIC_(type, p) ((volatile _Atomic(type) *)(p))
#define CW_LOAD_(type, p, order) atomic_load_explicit(CW_ATOMIC_(type, p), (memory_order)(order))
#define CW_STORE_(type, p, v, order) atomic_store_explicit(CW_ATOMIC_(type, p), v, (memory_order)(order))
#define CW_SWAP_(type, p, v, order) atomic_exchange_explicit(CW_ATOMIC_(type, p), v, (memory_order)(order))
#define CW_FETCH_(op, type, p, v, order) atomic_fetch_##op##_explicit(CW_ATOMIC_(type, p), v, (memory_order)(order))
#define CW_EXCHANGE_IF_(type, p, old, desired, success, failure)                                     \
    atomic_compare_exchange_strong_explicit(CW_ATOMIC_(type, p), old, desired, (memory_order)(success), \
                                            (memory_order)(failure))
#endif

#if CW_HAS_SITES
#include "rmw_x86_64.h"
#else
#include "rmw_builtins.h"
#endif

/* Aligned to its size, which an object of a 32-bit ABI need not be: the contract says that it is. */
#if CW_GNU_
typedef CW_ALIGNED_(8) uint64_t cw_u64_;
typedef CW_ALIGNED_(8) int64_t cw_i64_;
#else
typedef uint64_t cw_u64_;
typedef int64_t cw_i64_;
#endif

#if defined(__cplusplus)
extern "C" {
#endif

#if CW_HAS_SITES
CW_RMW_(u8, uint8_t, "b", "byte", "ir")
CW_RMW_(u16, uint16_t, "w", "word", "ir")
CW_RMW_(u32, uint32_t, "l", "dword", "ir")
CW_RMW_(u64, cw_u64_, "q", "qword", "er")
CW_RMW_(usize, size_t, "q", "qword", "er")
CW_BITS_(u16, uint16_t, 16, "w", "word")
CW_BITS_(u32, uint32_t, 32, "l", "dword")
CW_BITS_(u64, cw_u64_, 64, "q", "qword")
CW_BITS_(usize, size_t, 64, "q", "qword")
#else
CW_RMW_(u8, uint8_t, uint8_t)
CW_RMW_(u16, uint16_t, uint16_t)
CW_RMW_(u32, uint32_t, uint32_t)
CW_RMW_(u64, cw_u64_, uint64_t)
CW_RMW_(usize, size_t, size_t)
CW_BITS_(u16, uint16_t, 16)
CW_BITS_(u32, uint32_t, 32)
CW_BITS_(u64, cw_u64_, 64)
CW_BITS_(usize, size_t, sizeof(size_t) * 8)
#endif

#if defined(__cplusplus)
}
#endif

#include "words.h"

#include "refcount.h"

#endif /* CW_ATOMIC_H */
