/* Sequence counts and latches: a reader beside a writer finds whole values, and a handler that interrupts the writer of a latch too. */
#define _GNU_SOURCE
#include <cyclewise/seq.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include "check.h"

enum { WORDS = 4, ROUNDS = 200000 };

static struct cw_seqcount count;
static struct cw_seqlatch latch;
static uint64_t data[WORDS], copies[2 * WORDS];
static int over;

static int is_whole(const uint64_t *found)
{
    for (int n = 1; n < WORDS; n++)
        if (found[n] != found[0] + (uint64_t)n)
            return 0;
    return 1;
}

static void make(uint64_t *value, uint64_t n)
{
    for (int word = 0; word < WORDS; word++)
        value[word] = n + (uint64_t)word;
}

static void *write_all(void *unused)
{
    uint64_t value[WORDS];
    for (uint64_t n = 1; n <= ROUNDS; n++) {
        make(value, n * WORDS);
        cw_seqcount_write_begin(&count);
        cw_seq_store(data, value, WORDS);
        cw_seqcount_write_end(&count);
        cw_seqlatch_write(&latch, copies, value, WORDS);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    return unused;
}

static void handler(int signal)
{
    uint64_t found[WORDS];
    (void)signal;
    cw_seqlatch_read(&latch, found, copies, WORDS);
    CHECK(is_whole(found));
}

int main(void)
{
    uint64_t found[WORDS], last = 0, begun;
    pthread_t writer;
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    begin();
    make(data, 0);
    make(copies, 0);
    make(copies + WORDS, 0);
    begun = cw_seqcount_begin(&count);
    CHECK(!cw_seqcount_retry(&count, begun));
    cw_seqcount_write_begin(&count);
    CHECK(cw_seqcount_retry(&count, begun) && cw_seqcount_retry(&count, cw_seqcount_begin(&count)));
    cw_seqcount_write_end(&count);
    CHECK(cw_seqcount_retry(&count, begun) && !cw_seqcount_retry(&count, cw_seqcount_begin(&count)));
    CHECK(signal(SIGPROF, handler) != SIG_ERR && setitimer(ITIMER_PROF, &often, NULL) == 0);
    CHECK(pthread_create(&writer, NULL, write_all, NULL) == 0);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        do {
            begun = cw_seqcount_begin(&count);
            cw_seq_load(found, data, WORDS);
        } while (cw_seqcount_retry(&count, begun));
        CHECK(is_whole(found) && found[0] >= last);
        last = found[0];
        cw_seqlatch_read(&latch, found, copies, WORDS);
        CHECK(is_whole(found));
    }
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
    cw_seqlatch_read(&latch, found, copies, WORDS);
    CHECK(found[0] == (uint64_t)ROUNDS * WORDS);
    return 0;
}
