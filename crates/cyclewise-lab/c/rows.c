/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The loops of the lab's rows in C: the header's operations beside C11's, as src/runner/bench.rs has Rust's.
 *
 * Each row is three functions, NAME_4, NAME_8 and NAME_16: a loop of so many copies, so that the slope between them is the cost of
 * the operation without the loop's and without the call's. The count is hidden from the compiler, which would unroll further.
 *
 * A function takes the number of iterations and the lab's page, and sets up its own words there. It returns 0. */
#include <cyclewise/atomic.h>
#include <cyclewise/clock.h>
#include <stdatomic.h>
#include <stdint.h>

#define TIMES_4(op) op op op op
#define TIMES_8(op) TIMES_4(op) TIMES_4(op)
#define TIMES_16(op) TIMES_8(op) TIMES_8(op)

/* The same number, hidden from the compiler. */
#define OPAQUE(n) __asm__ __volatile__("/* %0 */" : "+r"(n))
/* The value is used: stored to the stack, as Rust's black_box does. */
#define USED(value) __asm__ __volatile__("/* %0 */" : : "r"(&(value)) : "memory")
/* All memory is read, through this address. */
#define OBSERVED(at) __asm__ __volatile__("/* %0 */" : : "r"(at) : "memory")

#define LOOP(name, copies, words, setup, op)                        \
    uint64_t cyclewise_lab_##name##_##copies(uint64_t n, uint64_t *page); \
    uint64_t cyclewise_lab_##name##_##copies(uint64_t n, uint64_t *page)  \
    {                                                               \
        words = (void *)page;                                       \
        setup;                                                      \
        while (n > 0) {                                             \
            OPAQUE(n);                                              \
            n -= 1;                                                 \
            TIMES_##copies(op)                                       \
        }                                                           \
        return 0;                                                   \
    }
#define ROW(name, words, setup, op)   \
    LOOP(name, 4, words, setup, op)   \
    LOOP(name, 8, words, setup, op)   \
    LOOP(name, 16, words, setup, op)

/* Called after the last reference is put, which never happens here. */
__attribute__((__cold__, __noinline__)) static void released(void)
{
    __asm__ __volatile__("");
}

/* Additions. */

ROW(inc, uint64_t *word, *word = 0, { cw_inc_u64(word); })
ROW(c11_inc, _Atomic uint64_t *word, atomic_init(word, 0),
    { atomic_fetch_add_explicit(word, 1, memory_order_relaxed); })

ROW(fetch_add, uint64_t *word, *word = 0, {
    uint64_t old = cw_fetch_add_u64_explicit(word, 1, CW_RELAXED);
    USED(old);
})
ROW(c11_fetch_add, _Atomic uint64_t *word, atomic_init(word, 0), {
    uint64_t old = atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
    USED(old);
})

/* A reference is taken and dropped. */

ROW(refcount, cw_refcount_t *count, cw_refcount_set(count, 1), {
    cw_refcount_inc(count);
    if (cw_refcount_dec_and_test(count))
        released();
})
ROW(refcount64, cw_refcount64_t *count, cw_refcount64_set(count, 1), {
    cw_refcount64_inc(count);
    if (cw_refcount64_dec_and_test(count))
        released();
})
ROW(c11_count, _Atomic uint32_t *count, atomic_init(count, 1), {
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(count, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        released();
    }
})
ROW(c11_count64, _Atomic uint64_t *count, atomic_init(count, 1), {
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(count, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        released();
    }
})

/* The same of an object with a value, which is looked at between. */

struct object {
    cw_refcount64_t count;
    uint64_t value;
};
struct c11_object {
    _Atomic uint64_t count;
    uint64_t value;
};

ROW(object, struct object *object, cw_refcount64_set(&object->count, 1), {
    cw_refcount64_inc(&object->count);
    OBSERVED(&object->value);
    if (cw_refcount64_dec_and_test(&object->count))
        released();
})
ROW(c11_object, struct c11_object *object, atomic_init(&object->count, 1), {
    atomic_fetch_add_explicit(&object->count, 1, memory_order_relaxed);
    OBSERVED(&object->value);
    if (atomic_fetch_sub_explicit(&object->count, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        released();
    }
})

/* Sixty-four additions, eight to an iteration: to one word, and to each of 64 in turn. */

#define ROUND(add)                      \
    uint64_t at = 64;                   \
    while (at > 0) {                    \
        OPAQUE(at);                     \
        at -= 8;                        \
        add(0) add(1) add(2) add(3) add(4) add(5) add(6) add(7) \
    }
#define ADD_ONE(n) cw_inc_u64(&words[0]);
#define ADD_ALL(n) cw_inc_u64(&words[(at + (n)) % 64]);
#define C11_ADD_ONE(n) atomic_fetch_add_explicit(&words[0], 1, memory_order_relaxed);
#define C11_ADD_ALL(n) atomic_fetch_add_explicit(&words[(at + (n)) % 64], 1, memory_order_relaxed);

ROW(inc_round, uint64_t *words, words[0] = 0, { ROUND(ADD_ONE) })
ROW(inc_64, uint64_t *words, words[0] = 0, { ROUND(ADD_ALL) })
ROW(c11_inc_round, _Atomic uint64_t *words, words[0] = 0, { ROUND(C11_ADD_ONE) })
ROW(c11_inc_64, _Atomic uint64_t *words, words[0] = 0, { ROUND(C11_ADD_ALL) })

/* The clock. */

ROW(clock_now, uint64_t *page_, (void)page_, {
    uint64_t now = cw_clock_now();
    USED(now);
})
ROW(ticks, uint64_t *page_, (void)page_, {
    uint64_t ticks = cw_ticks();
    USED(ticks);
})
ROW(ticks_ordered, uint64_t *page_, (void)page_, {
    uint64_t ticks = cw_ticks_ordered();
    USED(ticks);
})
