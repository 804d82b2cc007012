/* The queued lock and the lockref: each function, threads, and what is refused. */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include "check.h"

enum { THREADS = 4, ROUNDS = 50000 };

static void all(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; n++)
        CHECK(pthread_create(&threads[n], NULL, run, NULL) == 0);
    for (int n = 0; n < THREADS; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
}

static cw_spinlock_t lock = CW_SPINLOCK_INIT;
static long plain;

static void *count(void *unused)
{
    for (int n = 0; n < ROUNDS; n++) {
        switch (n % 3) {
        case 0:
            cw_spin_lock(&lock);
            break;
        case 1:
            while (!cw_spin_trylock(&lock))
                ;
            break;
        default:
            while (!cw_spin_timedlock(&lock, 1000000))
                ;
        }
        plain++;
        if (n % 5)
            cw_spin_unlock(&lock);
        else
            cw_spin_unlock_fair(&lock);
    }
    return unused;
}

static void the_lock_excludes(void)
{
    CHECK(sizeof lock == 8);
    CHECK(!cw_spin_is_locked(&lock));
    CHECK(cw_spin_trylock(&lock) && cw_spin_is_locked(&lock));
    CHECK(!cw_spin_trylock(&lock) && !cw_spin_timedlock(&lock, 0) && !cw_spin_timedlock(&lock, 100000));
    cw_spin_unlock(&lock);
    CHECK(!cw_spin_is_locked(&lock));
    all(count);
    CHECK(plain == (long)THREADS * ROUNDS && !cw_spin_is_locked(&lock));
    static const cw_spinlock_t zero;
    CHECK(memcmp(&lock, &zero, 4) == 0);
}

static cw_lockref_t entry = CW_LOCKREF_INIT(1);
static long gets, deaths;

static void *get_and_put(void *unused)
{
    for (int n = 0; n < ROUNDS; n++) {
        if (!cw_lockref_get_not_dead(&entry))
            continue;
        __atomic_add_fetch(&gets, 1, __ATOMIC_RELAXED);
        cw_lockref_get(&entry);
        if (cw_lockref_put_return(&entry) < 0 && !cw_lockref_put_or_lock(&entry))
            exit(2);
        if (n % 7 == 0) {
            cw_lockref_lock(&entry);
            int before = cw_lockref_count(&entry);
            cw_lockref_get_locked(&entry);
            CHECK(cw_lockref_count(&entry) == before + 1);
            CHECK(cw_lockref_put_locked(&entry) == before);
            cw_lockref_unlock(&entry);
        }
        CHECK(cw_lockref_put_or_lock(&entry));
    }
    return unused;
}

static void references_are_counted(void)
{
    CHECK(cw_lockref_count(&entry) == 1 && !cw_lockref_is_dead(&entry));
    all(get_and_put);
    CHECK(gets == (long)THREADS * ROUNDS && cw_lockref_count(&entry) == 1);
    /* The last one: the lock comes with it. */
    CHECK(!cw_lockref_put_or_lock(&entry));
    CHECK(!cw_lockref_trylock(&entry));
    cw_lockref_mark_dead(&entry);
    cw_lockref_unlock(&entry);
    CHECK(cw_lockref_is_dead(&entry) && cw_lockref_count(&entry) < 0);
    CHECK(!cw_lockref_get_not_dead(&entry) && !cw_lockref_get_not_zero(&entry) && cw_lockref_put_return(&entry) == -1);
    deaths++;
    /* An idle one. */
    struct cw_lockref other;
    cw_lockref_init(&other, 0);
    CHECK(!cw_lockref_get_not_zero(&other) && cw_lockref_get_not_dead(&other));
    CHECK(cw_lockref_put_return(&other) == 0);
    CHECK(cw_lockref_trylock(&other));
    cw_lockref_unlock(&other);
    /* A saturated one is never idle. */
    cw_lockref_init(&other, UINT32_MAX);
    CHECK(cw_lockref_count(&other) == INT32_MAX && cw_lockref_put_or_lock(&other) && cw_lockref_count(&other) == INT32_MAX);
}

static int events[8];
static const void *misused;
static void hook(const struct cw_refcount_misuse *misuse)
{
    events[misuse->event]++;
    misused = misuse->count;
}

static void misuse_is_reported(void)
{
    size_t before = cw_refcount_misuses(2);
    cw_refcount_set_hook(hook);
    struct cw_lockref idle = CW_LOCKREF_INIT(0);
    cw_lockref_get(&idle); /* An increment from zero: CW_REFCOUNT_ADD_UAF. */
    CHECK(events[2] == 1 && misused == &idle && cw_refcount_misuses(2) == before + 1);
    CHECK(cw_lockref_count(&idle) == INT32_MAX);
    cw_refcount_set_hook(NULL);
    struct cw_lockref another = CW_LOCKREF_INIT(0);
    cw_lockref_get(&another);
    CHECK(events[2] == 1 && cw_refcount_misuses(2) == before + 2);
    CHECK(cw_refcount_misuses(-1) == 0 && cw_refcount_misuses(99) == 0);
}

int main(void)
{
    begin();
    the_lock_excludes();
    references_are_counted();
    misuse_is_reported();
    return 0;
}
