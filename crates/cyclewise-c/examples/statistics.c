/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A statistics counter: threads count requests and their times without sharing a cache line, and one reads the sums.
 *
 *     cc -O2 -pthread statistics.c $(pkg-config --cflags --libs cyclewise) && ./a.out */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, REQUESTS = 100000 };

static struct cw_percpu_counter *requests, *nanoseconds;

static void *serve(void *unused)
{
    for (int n = 0; n < REQUESTS; n++) {
        const uint64_t begin = cw_clock_now();
        /* A request is served here. */
        cw_percpu_counter_inc(requests);
        cw_percpu_counter_add(nanoseconds, (int64_t)(cw_clock_now() - begin));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    /* With the kernel's batch: cw_percpu_counter_read is off by less than that for each CPU. */
    requests = cw_percpu_counter_create(0, 0);
    nanoseconds = cw_percpu_counter_create(0, 1 << 20);
    if (!requests || !nanoseconds) {
        fputs("statistics: out of memory\n", stderr);
        return 1;
    }
    for (int n = 0; n < THREADS; n++)
        if (pthread_create(&threads[n], NULL, serve, NULL) != 0) {
            fputs("statistics: no thread\n", stderr);
            return 1;
        }
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    const int64_t served = cw_percpu_counter_sum(requests);
    printf("%lld requests of %d threads, each counted once without a shared cache line; %.0f ns each\n", (long long)served, THREADS,
           (double)cw_percpu_counter_sum(nanoseconds) / (double)served);
    cw_percpu_counter_destroy(requests);
    cw_percpu_counter_destroy(nanoseconds);
    return served != THREADS * REQUESTS;
}
