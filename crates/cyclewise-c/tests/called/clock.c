/* The clock: every order, bounds, status, raw stamps and their conversion, threads, and a child. */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include "check.h"

static uint64_t monotonic(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Between two readings of the kernel's clock, but for the error. */
static void check_time(uint64_t before, uint64_t ns, uint64_t after, uint64_t error)
{
    CHECK(ns + error >= before && ns <= after + error);
}

/* A generous bound for a machine that is stopped at any moment: the functions without a bound are within it. */
static const uint64_t SLACK = 2000000;

static void every_order_follows_the_kernel(void)
{
    uint64_t (*const orders[])(void) = {cw_clock_now_per_task, cw_clock_now_load_ordered, cw_clock_now_dependent_load,
                                        cw_clock_now_bracketed, cw_clock_now_after_stores, cw_clock_recent};
    uint64_t last[6] = {0};
    for (int round = 0; round < 20000; round++) {
        uint64_t before = monotonic(), ns = cw_clock_now(), after = monotonic();
        check_time(before, ns, after, SLACK);
        for (int n = 0; n < 6; n++) {
            uint64_t now = orders[n]();
            CHECK(now >= last[n]);
            last[n] = now;
        }
    }
    check_time(last[0], last[5], last[0], SLACK);
}

static void bounds_hold(void)
{
    for (int round = 0; round < 20000; round++)
        for (int order = CW_CLOCK_PER_TASK; order <= CW_CLOCK_AFTER_STORES; order++) {
            uint64_t before = monotonic();
            struct cw_clock_reading reading = cw_clock_read(order);
            uint64_t after = monotonic();
            check_time(before, reading.ns, after, reading.error_ns);
        }
    /* Another number has an order, too. */
    CHECK(cw_clock_read(-1).ns >= 1 && cw_clock_read(99).ns >= 1);
}

static void the_status_says_why(void)
{
    struct cw_clock_status status;
    cw_get_clock_status(NULL);
    cw_get_clock_status(&status);
    CHECK(status.mode >= CW_CLOCK_MODE_STARTING && status.mode <= CW_CLOCK_MODE_KERNEL);
    CHECK((status.reason == CW_CLOCK_REASON_NO_FAULT) == (status.message[0] == '\0'));
    CHECK(status.mode != CW_CLOCK_MODE_COUNTER || status.hz > 1e6);
    CHECK(status.mode != CW_CLOCK_MODE_KERNEL || status.reason != CW_CLOCK_REASON_NO_FAULT);
}

static void stamps_are_converted(void)
{
    enum { STAMPS = 1000 };
    static uint64_t stamps[STAMPS], ns[STAMPS];
    struct cw_clock_conversion conversion;
    for (int attempt = 0; attempt < 2000; attempt++) {
        uint64_t before = monotonic();
        for (int n = 0; n < STAMPS; n++)
            stamps[n] = n % 2 ? cw_ticks() : cw_ticks_ordered();
        uint64_t after = monotonic();
        if (!cw_clock_conversion_make(&conversion)) {
            struct timespec while_learning = {0, 2000000};
            nanosleep(&while_learning, NULL);
            continue;
        }
        size_t converted = cw_clock_convert(&conversion, stamps, ns, STAMPS);
        if (converted < STAMPS)
            continue;
        /* The last, which is ordered or bare, after all others: the counter may be read early by some. */
        check_time(before, ns[0], after, cw_clock_conversion_error(&conversion, stamps[0]) + 1000);
        check_time(before, ns[STAMPS - 1], after, cw_clock_conversion_error(&conversion, stamps[STAMPS - 1]) + 1000);
        uint64_t between = cw_clock_between(stamps[0], stamps[STAMPS - 1]);
        CHECK(between != CW_CLOCK_UNKNOWN && between <= after - before + 1000);
        CHECK(cw_clock_between(stamps[STAMPS - 1], stamps[0]) == 0);
        /* Half of all ticks away: before the clock's first reading. In place. */
        uint64_t far = stamps[0] - (UINT64_MAX / 2 + 1);
        CHECK(cw_clock_convert(&conversion, &far, &far, 1) == 0 && far == CW_CLOCK_UNKNOWN);
        CHECK(cw_clock_convert(&conversion, NULL, NULL, 0) == 0 && cw_clock_convert(&conversion, NULL, NULL, 1) == 0);
        CHECK(cw_clock_convert(&conversion, &far, NULL, 1) == 0);
        /* Whether there is one, to nowhere. */
        (void)!cw_clock_conversion_make(NULL);
        return;
    }
    /* Where the counter is not used there is none. */
    struct cw_clock_status status;
    cw_get_clock_status(&status);
    CHECK(status.mode != CW_CLOCK_MODE_COUNTER);
}

/* Threads pass the time on: none sees one that is below what it was given. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t latest;
static void *pass(void *unused)
{
    for (int round = 0; round < 20000; round++) {
        pthread_mutex_lock(&mutex);
        uint64_t now = cw_clock_now();
        CHECK(now >= latest);
        latest = now;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void no_thread_steps_back(void)
{
    pthread_t threads[3];
    for (int n = 0; n < 3; n++)
        CHECK(pthread_create(&threads[n], NULL, pass, NULL) == 0);
    for (int n = 0; n < 3; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
}

int main(void)
{
    begin();
    every_order_follows_the_kernel();
    bounds_hold();
    the_status_says_why();
    stamps_are_converted();
    no_thread_steps_back();
    CHECK(cw_clock_segments(0) == NULL && cw_clock_segments(2) == NULL);
    pid_t child = fork();
    if (child == 0) {
        every_order_follows_the_kernel();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
