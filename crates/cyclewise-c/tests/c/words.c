/* Each operation on words, compared with plain arithmetic on values at the edges and in between; then two threads. */
#include <cyclewise/atomic.h>
#ifdef ELIDED
#include <cyclewise/cyclewise.h>
#endif

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Broken twins: the test that compiles this defines one. */
#ifndef TWIN_INC
#define TWIN_INC cw_inc_u32
#endif
#ifndef TWIN_FETCH_ADD
#define TWIN_FETCH_ADD cw_fetch_add_u32
#endif

__attribute__((cold, noinline, noreturn)) static void failed(int line, const char *condition) {
    fprintf(stderr, "words.c:%d: %s\n", line, condition);
    exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : failed(__LINE__, #condition))

static const uint64_t VALUES[] = {
    0, 1, 2, 3, 7, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x12345, 0x7ffffffe, 0x7fffffff,
    0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, UINT64_C(0x100000000), UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000), UINT64_C(0x8000000000000001), UINT64_C(0xfffffffffffffffe), UINT64_C(0xffffffffffffffff),
};
#define COUNT (sizeof VALUES / sizeof VALUES[0])

/* `word` has neighbours that must not change. A function has one of them, and a result one check: there are hundreds. */
#define MARK(type) ((type)UINT64_C(0xa55aa55aa55aa55a))
#define WORD(type)                              \
    struct { type before, word, after; } m;     \
    type *const p = &m.word

#define RESULT(type, expression, result, left)                                                        \
    do {                                                                                              \
        m.before = m.after = MARK(type);                                                              \
        m.word = a;                                                                                   \
        CHECK((expression) == (result) && m.word == (type)(left) && m.before == MARK(type) && m.after == MARK(type)); \
    } while (0)
#define EFFECT(type, expression, left) RESULT(type, ((void)(expression), 0), 0, left)

#define TEST_WORD(w, type, signed_type)                                                                   \
    static int sign_##w(type x) { return (signed_type)x < 0; }                                            \
    static int three_##w(type x) { return sign_##w(x) ? (x == (type)~(type)0 ? 0 : -1) : 1; }             \
    static void test_##w(type a, type v) {                                                                \
        type old;                                                                                         \
        WORD(type);                                                                                       \
        EFFECT(type, cw_add_##w(p, v), a + v);                                                            \
        EFFECT(type, cw_sub_##w(p, v), a - v);                                                            \
        EFFECT(type, cw_and_##w(p, v), a & v);                                                            \
        EFFECT(type, cw_or_##w(p, v), a | v);                                                             \
        EFFECT(type, cw_xor_##w(p, v), a ^ v);                                                            \
        EFFECT(type, cw_inc_##w(p), a + 1);                                                               \
        EFFECT(type, cw_dec_##w(p), a - 1);                                                               \
        EFFECT(type, cw_add_##w##_explicit(p, v, CW_SEQ_CST), a + v);                                     \
        EFFECT(type, cw_inc_##w##_explicit(p, CW_RELEASE), a + 1);                                        \
        EFFECT(type, cw_store_##w(p, v), v);                                                              \
        EFFECT(type, cw_store_##w##_explicit(p, v, CW_RELEASE), v);                                       \
        EFFECT(type, cw_set_##w(p, v), v);                                                                \
        RESULT(type, cw_load_##w(p), a, a);                                                               \
        RESULT(type, cw_read_##w(p), a, a);                                                               \
        RESULT(type, cw_load_##w##_explicit(p, CW_ACQUIRE), a, a);                                        \
        RESULT(type, cw_xchg_##w(p, v), a, v);                                                            \
        RESULT(type, cw_xchg_##w##_explicit(p, v, CW_ACQ_REL), a, v);                                     \
        RESULT(type, cw_fetch_add_##w(p, v), a, a + v);                                                   \
        RESULT(type, cw_fetch_add_##w##_explicit(p, v, CW_RELAXED), a, a + v);                            \
        RESULT(type, cw_fetch_sub_##w(p, v), a, a - v);                                                   \
        RESULT(type, cw_add_return_##w(p, v), (type)(a + v), a + v);                                      \
        RESULT(type, cw_sub_return_##w(p, v), (type)(a - v), a - v);                                      \
        RESULT(type, cw_fetch_and_##w(p, v), a, a & v);                                                   \
        RESULT(type, cw_fetch_or_##w(p, v), a, a | v);                                                    \
        RESULT(type, cw_fetch_xor_##w(p, v), a, a ^ v);                                                   \
        RESULT(type, cw_fetch_nand_##w(p, v), a, ~(a & v));                                               \
        RESULT(type, cw_fetch_max_##w(p, v), a, a > v ? a : v);                                           \
        RESULT(type, cw_fetch_min_##w(p, v), a, a < v ? a : v);                                           \
        RESULT(type, cw_sub_and_test_##w(p, v), a == v, a - v);                                           \
        RESULT(type, cw_inc_and_test_##w(p), (type)(a + 1) == 0, a + 1);                                  \
        RESULT(type, cw_dec_and_test_##w(p), a == 1, a - 1);                                              \
        RESULT(type, cw_add_negative_##w(p, v), sign_##w((type)(a + v)), a + v);                          \
        RESULT(type, cw_sub_negative_##w(p, v), sign_##w((type)(a - v)), a - v);                          \
        RESULT(type, cw_inc_negative_##w(p), sign_##w((type)(a + 1)), a + 1);                             \
        RESULT(type, cw_dec_negative_##w(p), sign_##w((type)(a - 1)), a - 1);                             \
        RESULT(type, cw_dec_not_positive_##w(p), a <= 1 || sign_##w(a), a - 1);                           \
        RESULT(type, cw_fetch_inc_cmp_##w(p), three_##w(a), a + 1);                                       \
        RESULT(type, cw_dec_cmp_##w(p), three_##w((type)(a - 1)), a - 1);                                 \
        RESULT(type, cw_cmpxchg_##w(p, a, v), a, v);                                                      \
        RESULT(type, cw_cmpxchg_##w(p, (type)~a, v), a, a);                                               \
        old = a;                                                                                          \
        RESULT(type, cw_try_cmpxchg_##w(p, &old, v), 1, v);                                               \
        CHECK(old == a);                                                                                  \
        old = (type)~a;                                                                                   \
        RESULT(type, cw_try_cmpxchg_##w##_explicit(p, &old, v, CW_ACQ_REL, CW_ACQUIRE), 0, a);            \
        CHECK(old == a);                                                                                  \
    }

#define TEST_BITS(w, type)                                                                                \
    static void bits_##w(type a) {                                                                        \
        unsigned n;                                                                                       \
        WORD(type);                                                                                       \
        /* Also numbers past the width: modulo, and the neighbours stay as they are. */                   \
        for (n = 0; n < 2 * 8 * sizeof(type) + 3; n++) {                                                  \
            const type bit = (type)((type)1 << n % (8 * sizeof(type)));                                   \
            RESULT(type, cw_test_and_set_bit_##w(p, n), (a & bit) != 0, a | bit);                         \
            RESULT(type, cw_test_and_clear_bit_##w(p, n), (a & bit) != 0, a & (type)~bit);                \
            RESULT(type, cw_test_and_change_bit_##w(p, n), (a & bit) != 0, a ^ bit);                      \
        }                                                                                                 \
        RESULT(type, cw_test_and_set_bit_##w(p, 3), (a >> 3 & 1) != 0, a | 8);                            \
        RESULT(type, cw_test_and_clear_bit_##w##_explicit(p, 0, CW_RELEASE), (a & 1) != 0, a & (type)~(type)1);     \
    }

#define TEST_SIGNED(i, type)                                                                              \
    static void signed_##i(type a, type v) {                                                              \
        WORD(type);                                                                                       \
        RESULT(type, cw_fetch_max_##i(p, v), a, a > v ? a : v);                                           \
        RESULT(type, cw_fetch_min_##i(p, v), a, a < v ? a : v);                                           \
    }

TEST_WORD(u8, uint8_t, int8_t)
TEST_WORD(u16, uint16_t, int16_t)
TEST_WORD(u32, uint32_t, int32_t)
TEST_WORD(u64, uint64_t, int64_t)
TEST_WORD(usize, size_t, ptrdiff_t)
TEST_BITS(u16, uint16_t)
TEST_BITS(u32, uint32_t)
TEST_BITS(u64, uint64_t)
TEST_BITS(usize, size_t)
TEST_SIGNED(i8, int8_t)
TEST_SIGNED(i16, int16_t)
TEST_SIGNED(i32, int32_t)
TEST_SIGNED(i64, int64_t)

static void pointers(void) {
    int one, two;
    void *p = &one, *old = &one;
    CHECK(cw_load_ptr(&p) == &one && cw_read_ptr(&p) == &one);
    CHECK(cw_cmpxchg_ptr(&p, &two, &two) == &one && p == &one);
    CHECK(cw_cmpxchg_ptr(&p, &one, &two) == &one && p == &two);
    CHECK(!cw_try_cmpxchg_ptr(&p, &old, &one) && old == &two && p == &two);
    CHECK(cw_try_cmpxchg_ptr(&p, &old, &one) && p == &one);
    CHECK(cw_xchg_ptr(&p, NULL) == &one && p == NULL);
    cw_store_ptr(&p, &two);
    CHECK(p == &two);
    cw_set_ptr(&p, &one);
    CHECK(p == &one);
}

/* Constants are immediates of the instructions. */
static void constants(void) {
    uint8_t b = 1;
    uint16_t h = 1;
    uint32_t w = 1;
    uint64_t q = 1;
    cw_add_u8(&b, 200);
    cw_add_u16(&h, 40000);
    cw_add_u32(&w, 4000000000U);
    cw_add_u64(&q, UINT64_C(0xfedcba9876543210));
    CHECK(b == 201 && h == 40001 && w == 4000000001U && q == UINT64_C(0xfedcba9876543211));
    cw_sub_u64(&q, UINT64_C(0xffffffff80000000));
    CHECK(q == UINT64_C(0xfedcba9876543211) - UINT64_C(0xffffffff80000000));
    cw_and_u64(&q, UINT64_C(0xffffffff));
    CHECK(q == UINT32_C(0xf6543211));
    CHECK(cw_sub_and_test_u8(&b, 201) && b == 0);
}

/* A thread-local word has a segment, which the locked instruction must not. */
#if defined(__cplusplus)
static thread_local uint32_t local;
#else
static _Thread_local uint32_t local;
#endif
static uint32_t global;

enum { ROUNDS = 200000 };
static struct { uint32_t count, sum, bits, swaps; } shared;

static void *work(void *arg) {
    uint32_t i, old;
    (void)arg;
#ifdef TWIN_LOCK
    /* On a busy machine one thread may else have ended before another begins. */
    static uint32_t begun;
    cw_inc_u32(&begun);
    while (cw_load_u32(&begun) < 2)
        sched_yield();
#endif
    for (i = 0; i < ROUNDS; i++) {
#ifdef TWIN_LOCK
        /* Not atomic: what another thread adds between the two is lost. */
        old = cw_load_u32(&shared.count);
        if (i % 64 == 0)
            sched_yield();
        cw_store_u32(&shared.count, old + 1);
#else
        TWIN_INC(&shared.count);
#endif
        (void)TWIN_FETCH_ADD(&shared.sum, 2);
        old = cw_read_u32(&shared.swaps);
        while (!cw_try_cmpxchg_u32(&shared.swaps, &old, old + 3)) {
        }
        cw_inc_u32(&local);
    }
    CHECK(local == ROUNDS);
    return NULL;
}

#ifdef ELIDED
/* Whether every site of this unit has this prefix. */
static bool all_have(unsigned char prefix) {
    const int32_t *record;
    size_t sites = 0;
    for (record = CW_THIS_UNIT->lock_start; record < CW_THIS_UNIT->lock_stop; record++) {
        if (*record == 0)
            continue;
        sites++;
        if (*((const unsigned char *)record + *record) != prefix)
            return false;
    }
    return sites > 100;
}
#endif

int main(void) {
    size_t i, j;
    pthread_t threads[2];
    alarm(300);
#ifdef ELIDED
    CHECK(all_have(0xf0));
    CHECK(cw_enable_single(NULL) == 0);
    CHECK(all_have(0x3e));
#endif
    for (i = 0; i < COUNT; i++) {
        for (j = 0; j < COUNT; j++) {
            const uint64_t a = VALUES[i], v = VALUES[j];
            test_u8((uint8_t)a, (uint8_t)v);
            test_u16((uint16_t)a, (uint16_t)v);
            test_u32((uint32_t)a, (uint32_t)v);
            test_u64(a, v);
            test_usize((size_t)a, (size_t)v);
            signed_i8((int8_t)a, (int8_t)v);
            signed_i16((int16_t)a, (int16_t)v);
            signed_i32((int32_t)a, (int32_t)v);
            signed_i64((int64_t)a, (int64_t)v);
        }
        bits_u16((uint16_t)VALUES[i]);
        bits_u32((uint32_t)VALUES[i]);
        bits_u64(VALUES[i]);
        bits_usize((size_t)VALUES[i]);
    }
    pointers();
    constants();
    CHECK(TWIN_FETCH_ADD(&global, 5) == 0 && global == 5);
    for (i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
#ifdef ELIDED
    CHECK(all_have(0xf0));
#endif
    CHECK(shared.count == 2 * ROUNDS);
    CHECK(shared.sum == 4 * ROUNDS);
    CHECK(shared.swaps == 6 * ROUNDS);
    return 0;
}
