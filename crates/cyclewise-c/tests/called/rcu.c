/* RCU: readers beside a writer that poisons what it frees, threads that end, and functions that are called later. */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include "check.h"

enum { ROUNDS = 20000, ALIVE = 1, POISON = 2 };

struct value {
    uint32_t state;
    struct value *next;
};

static struct value *current;
static int over, freed;

/* The memory is freed by main, so that a late reader finds poison. */
static struct value *graves;

static void bury(void *argument)
{
    struct value *value = argument;
    __atomic_store_n(&value->state, POISON, __ATOMIC_RELAXED);
    value->next = graves;
    graves = value;
    freed++;
}

static struct value *make(void)
{
    struct value *value = malloc(sizeof *value);
    CHECK(value);
    value->state = ALIVE;
    value->next = NULL;
    return value;
}

static void *read_all(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        cw_rcu_read_lock();
        struct value *found = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
        cw_rcu_read_lock();
        CHECK(__atomic_load_n(&found->state, __ATOMIC_RELAXED) == ALIVE);
        cw_rcu_read_unlock();
        CHECK(__atomic_load_n(&found->state, __ATOMIC_RELAXED) == ALIVE);
        cw_rcu_read_unlock();
    }
    return unused;
}

int main(void)
{
    pthread_t readers[2];
    begin();
    cw_rcu_defer(NULL, NULL);
    current = make();
    for (int n = 0; n < 2; n++)
        CHECK(pthread_create(&readers[n], NULL, read_all, NULL) == 0);
    for (int n = 0; n < ROUNDS; n++) {
        struct value *old = __atomic_exchange_n(&current, make(), __ATOMIC_ACQ_REL);
        if (n % 10) {
            cw_rcu_defer(bury, old);
        } else {
            cw_rcu_barrier();
            cw_rcu_synchronize();
            bury(old);
        }
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int n = 0; n < 2; n++)
        CHECK(pthread_join(readers[n], NULL) == 0);
    cw_rcu_barrier();
    CHECK(freed == ROUNDS && cw_rcu_pending() == 0);
    while (graves) {
        struct value *next = graves->next;
        free(graves);
        graves = next;
    }
    free(current);
    return 0;
}
