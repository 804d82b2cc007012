/* Every state of a reference count against every operation: the result, the count after, and the report. */
#include <cyclewise/atomic.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "refcount.c:%d: %s\n", __LINE__, #condition);          \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

static int reported = -1;
void cw_refcount_warn_saturated(const volatile void *count, int event, const void *caller) {
    CHECK(count != NULL && caller != NULL && reported == -1);
    reported = event;
}

/* From a count, an operation gives a result and a count, and reports an event or -1. */
#define CASE(name, from, expression, result, after, event)                         \
    do {                                                                           \
        struct name count = {0};                                                   \
        struct name *const r = &count;                                             \
        name##_set(r, from);                                                       \
        reported = -1;                                                             \
        CHECK((expression) == (result));                                           \
        CHECK(name##_read(r) == (after));                                          \
        CHECK(reported == (event));                                                \
    } while (0)
#define EFFECT(name, from, expression, after, event) CASE(name, from, ((void)(expression), 0), 0, after, event)

#define TEST(name, MAX, SATURATED)                                                                        \
    static void test_##name(void) {                                                                       \
        EFFECT(name, 1, name##_inc(r), 2, -1);                                                            \
        EFFECT(name, MAX - 1, name##_inc(r), MAX, -1);                                                    \
        EFFECT(name, 0, name##_inc(r), SATURATED, CW_REFCOUNT_ADD_UAF);                                   \
        EFFECT(name, MAX, name##_inc(r), SATURATED, CW_REFCOUNT_ADD_OVF);                                 \
        EFFECT(name, SATURATED, name##_inc(r), SATURATED, CW_REFCOUNT_ADD_OVF);                           \
        EFFECT(name, 1, name##_add(r, 64), 65, -1);                                                       \
        EFFECT(name, 0, name##_add(r, 2), SATURATED, CW_REFCOUNT_ADD_UAF);                                \
        EFFECT(name, MAX - 3, name##_add(r, 4), SATURATED, CW_REFCOUNT_ADD_OVF);                          \
        EFFECT(name, 1, name##_add(r, 1000), 1001, -1);                                                   \
        EFFECT(name, 0, name##_add(r, 1000), SATURATED, CW_REFCOUNT_ADD_UAF);                             \
        EFFECT(name, MAX, name##_add(r, 1000), SATURATED, CW_REFCOUNT_ADD_OVF);                           \
        CASE(name, 2, name##_dec_and_test(r), 0, 1, -1);                                                  \
        CASE(name, 1, name##_dec_and_test(r), 1, 0, -1);                                                  \
        CASE(name, MAX, name##_dec_and_test(r), 0, MAX - 1, -1);                                          \
        CASE(name, 0, name##_dec_and_test(r), 0, SATURATED, CW_REFCOUNT_SUB_UAF);                         \
        CASE(name, SATURATED, name##_dec_and_test(r), 0, SATURATED, CW_REFCOUNT_SUB_UAF);                 \
        CASE(name, 5, name##_sub_and_test(r, 5), 1, 0, -1);                                               \
        CASE(name, 5, name##_sub_and_test(r, 6), 0, SATURATED, CW_REFCOUNT_SUB_UAF);                      \
        CASE(name, 500, name##_sub_and_test(r, 500), 1, 0, -1);                                           \
        CASE(name, 499, name##_sub_and_test(r, 500), 0, SATURATED, CW_REFCOUNT_SUB_UAF);                  \
        EFFECT(name, 2, name##_dec(r), 1, -1);                                                            \
        EFFECT(name, 1, name##_dec(r), SATURATED, CW_REFCOUNT_DEC_LEAK);                                  \
        EFFECT(name, 0, name##_dec(r), SATURATED, CW_REFCOUNT_DEC_LEAK);                                  \
        CASE(name, 0, name##_inc_not_zero(r), 0, 0, -1);                                                  \
        CASE(name, 1, name##_inc_not_zero_acquire(r), 1, 2, -1);                                          \
        CASE(name, MAX, name##_inc_not_zero(r), 1, SATURATED, CW_REFCOUNT_ADD_NOT_ZERO_OVF);              \
        CASE(name, SATURATED, name##_add_not_zero(r, 9), 1, SATURATED, CW_REFCOUNT_ADD_NOT_ZERO_OVF);     \
        CASE(name, 7, name##_inc_not_zero_limited_acquire(r, 8), 1, 8, -1);                               \
        CASE(name, 8, name##_inc_not_zero_limited_acquire(r, 8), 0, 8, -1);                               \
        CASE(name, 5, name##_add_not_zero_limited_acquire(r, 9, 8), 0, 5, -1);                            \
        CASE(name, 1, name##_dec_if_one(r), 1, 0, -1);                                                    \
        CASE(name, 2, name##_dec_if_one(r), 0, 2, -1);                                                    \
        CASE(name, 1, name##_dec_not_one(r), 0, 1, -1);                                                   \
        CASE(name, 2, name##_dec_not_one(r), 1, 1, -1);                                                   \
        CASE(name, 0, name##_dec_not_one(r), 1, SATURATED, CW_REFCOUNT_SUB_UAF);                          \
        CASE(name, 3, name##_inc_old(r), 3, 4, -1);                                                       \
        CASE(name, 3, name##_dec_old(r), 3, 2, -1);                                                       \
        CASE(name, SATURATED, name##_is_saturated(r), 1, SATURATED, -1);                                  \
    }

TEST(cw_refcount, CW_REFCOUNT_MAX, CW_REFCOUNT_SATURATED)
TEST(cw_refcount64, CW_REFCOUNT64_MAX, CW_REFCOUNT64_SATURATED)

int main(void) {
    cw_refcount_t one = CW_REFCOUNT_INIT(1);
    CHECK(one.stored == 0 && cw_refcount_read(&one) == 1);
    test_cw_refcount();
    test_cw_refcount64();
    return 0;
}
