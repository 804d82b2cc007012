/* No function changes errno, and none is a cancellation point: the first call of each in the process, where it finds things out, and
 * later ones; refused ones too.
 *
 * With an argument it is a twin: this program's own function changes errno, or is a cancellation point, and the check has to see it. */
#define _GNU_SOURCE
#include <cyclewise/cyclewise.h>
#include <cyclewise/key.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include "check.h"

enum { VALUE = 12345 };

/* Its value in a thread is the call that the thread makes; its destructor runs where the thread ends inside that. */
static pthread_key_t inside;

static void ended(void *call)
{
    fprintf(stderr, "%s: %s is a cancellation point\n", __FILE__, (const char *)call);
    _exit(4);
}

/* The calling thread is cancelled from now on, and ends in the first cancellation point that it comes to in a call below. */
static void cancel(void)
{
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    CHECK(pthread_cancel(pthread_self()) == 0);
}

/* Not inlined: there are more than a hundred calls. */
__attribute__((noinline)) static int starts(const char *call)
{
    int before;
    pthread_setspecific(inside, call);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    errno = VALUE;
    return before;
}

__attribute__((noinline)) static void ends(int before, int line, const char *call)
{
    const int left = errno;
    pthread_setcancelstate(before, NULL);
    pthread_setspecific(inside, NULL);
    if (left != VALUE) {
        fprintf(stderr, "%s:%d: %s sets errno to %d\n", __FILE__, line, call, left);
        exit(3);
    }
}

#define KEEPS(call)                         \
    do {                                    \
        const int before = starts(#call);   \
        call;                               \
        ends(before, __LINE__, #call);      \
    } while (0)

static uint64_t word;

static void release(void *argument)
{
    (void)argument;
    errno = EBUSY;
}

static void handle(const struct cw_signal_info *info, void *counter)
{
    (void)info;
    errno = ENOTTY;
    KEEPS(cw_percpu_counter_inc(counter));
}

/* What a signal handler may be the first to use. */
static void percpu(void)
{
    struct cw_percpu_counter *counter;
    struct cw_percpu_ring *ring;
    struct cw_percpu_free_list *list;
    struct cw_percpu_ref *count;
    void *object;
    bool is;
    KEEPS(counter = cw_percpu_counter_create(0, 0));
    KEEPS(cw_percpu_counter_inc(counter));
    KEEPS(cw_percpu_counter_add(counter, 1 << 20));
    KEEPS((void)!cw_percpu_counter_read(counter));
    KEEPS((void)!cw_percpu_counter_sum(counter));
    KEEPS((void)!cw_percpu_counter_compare(counter, 1));
    KEEPS(cw_percpu_counter_destroy(counter));
    struct cw_percpu_gauge *gauge;
    KEEPS(gauge = cw_percpu_gauge_create(0));
    KEEPS(cw_percpu_gauge_add(gauge, 1));
    KEEPS(cw_percpu_gauge_set(gauge, 7));
    KEEPS((void)!cw_percpu_gauge_get(gauge));
    KEEPS(cw_percpu_gauge_destroy(gauge));
    struct cw_percpu_histogram *histogram;
    KEEPS(histogram = cw_percpu_histogram_create());
    KEEPS(cw_percpu_histogram_record(histogram, 1));
    KEEPS(cw_percpu_histogram_record_u64(histogram, 1));
    KEEPS((void)!cw_percpu_histogram_count(histogram, NULL, NULL));
    KEEPS((void)!cw_percpu_histogram_quantile(histogram, 1, NULL, NULL));
    KEEPS((void)cw_percpu_histogram_buckets(histogram, NULL, 0));
    KEEPS(cw_percpu_histogram_destroy(histogram));
    KEEPS(ring = cw_percpu_ring_create(8));
    KEEPS((void)!cw_percpu_ring_push(ring, 1));
    KEEPS((void)!cw_percpu_ring_pop(ring, &word));
    KEEPS((void)!cw_percpu_ring_push(ring, 1));
    KEEPS(cw_percpu_ring_pop_or_steal(ring, &word, &is, NULL));
    KEEPS(cw_percpu_ring_pop_or_steal(ring, &word, &is, NULL));
    KEEPS(cw_percpu_ring_destroy(ring));
    KEEPS(list = cw_percpu_free_list_create(8, 0));
    KEEPS((void)!cw_percpu_free_list_pop(list));
    KEEPS(object = cw_percpu_free_list_grow(list));
    KEEPS((void)cw_percpu_free_list_push(list, object, NULL));
    KEEPS((void)cw_percpu_free_list_push(list, NULL, NULL));
    KEEPS((void)!cw_percpu_free_list_pop_or_steal(list));
    KEEPS((void)!cw_percpu_free_list_pop_or_steal(list));
    KEEPS(cw_percpu_free_list_destroy(list));
    KEEPS(count = cw_percpu_ref_create(release, NULL));
    KEEPS((void)!cw_percpu_ref_tryget(count));
    KEEPS(cw_percpu_ref_put(count));
    KEEPS((void)cw_percpu_ref_kill(count, &is, NULL));
    KEEPS((void)!cw_percpu_ref_reinit(count));
    KEEPS((void)!cw_percpu_ref_tryget(count));
    KEEPS((void)cw_percpu_ref_kill(count, &is, NULL));
    KEEPS(cw_percpu_ref_put(count));
    KEEPS(cw_percpu_ref_destroy(count));
}

/* The first use is an operation's, on a thread of its own. */
static void *first_use(void *counter)
{
    cancel();
    KEEPS(cw_percpu_counter_inc(counter));
    KEEPS(cw_mask_hold());
    KEEPS(cw_mask_release());
    KEEPS((void)!cw_clock_now());
    return NULL;
}

static void fences(void)
{
    for (int n = 0; n < 2; n++) {
        KEEPS(cw_fence_light());
        KEEPS((void)!cw_fence_heavy(NULL));
        KEEPS((void)!cw_fence_heavy_batched(NULL));
    }
}

static void read_and_wait(void)
{
    for (int n = 0; n < 70; n++) {
        KEEPS(cw_rcu_read_lock());
        KEEPS(cw_rcu_read_unlock());
        KEEPS(cw_rcu_synchronize());
        KEEPS(cw_rcu_defer(release, NULL));
    }
    /* The end of a section has to help with the closures of the one before. */
    for (int n = 0; n < 4; n++) {
        KEEPS(cw_rcu_read_lock());
        for (int m = 0; m < 100; m++) {
            KEEPS(cw_rcu_defer(release, NULL));
        }
        KEEPS(cw_rcu_read_unlock());
        KEEPS(cw_rcu_synchronize());
    }
    KEEPS(cw_rcu_barrier());
    KEEPS((void)!cw_rcu_pending());
}

static void clocks(void)
{
    struct cw_clock_conversion conversion;
    struct cw_clock_reading reading;
    for (int n = 0; n < 3; n++) {
        KEEPS((void)!cw_clock_now());
        KEEPS((void)!cw_clock_now_bracketed());
        KEEPS((void)!cw_clock_recent());
        KEEPS((void)!cw_ticks());
        KEEPS((void)!cw_ticks_ordered());
        for (int order = 0; order <= 5; order++)
            KEEPS(reading = cw_clock_read(order));
        KEEPS((void)!cw_clock_conversion_make(&conversion));
        KEEPS((void)!cw_clock_between(1, 2));
        usleep(2000);
    }
    (void)reading;
}

static cw_spinlock_t lock = CW_SPINLOCK_INIT;
static struct cw_lockref object = CW_LOCKREF_INIT(1);
static void *contend(void *unused)
{
    cancel();
    for (int n = 0; n < 2000; n++) {
        KEEPS(cw_spin_lock(&lock));
        if (n % 200 == 0)
            usleep(100);
        KEEPS(n % 2 ? cw_spin_unlock(&lock) : cw_spin_unlock_fair(&lock));
        KEEPS(cw_lockref_lock(&object));
        KEEPS(cw_lockref_unlock(&object));
        KEEPS((void)!cw_lockref_get_not_zero(&object));
        KEEPS((void)!cw_lockref_put_return(&object));
    }
    return unused;
}

static void locks(void)
{
    pthread_t threads[3];
    struct cw_masked_lock *masked;
    for (int n = 0; n < 3; n++)
        CHECK(pthread_create(&threads[n], NULL, contend, NULL) == 0);
    for (int n = 0; n < 3; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
    KEEPS(cw_spin_lock(&lock));
    KEEPS((void)!cw_spin_timedlock(&lock, 3000000));
    KEEPS((void)!cw_spin_trylock(&lock));
    KEEPS(cw_spin_unlock(&lock));
    KEEPS(masked = cw_masked_lock_create());
    KEEPS((void)!cw_masked_lock_lock(masked, NULL));
    KEEPS((void)!cw_masked_lock_lock(masked, NULL));
    KEEPS((void)!cw_masked_lock_trylock(masked));
    KEEPS(cw_masked_lock_unlock(masked));
    KEEPS(cw_masked_lock_destroy(masked));
}

static void signals(void)
{
    int woken;
    size_t ready;
    struct cw_percpu_counter *counter = cw_percpu_counter_create(0, 0);
    KEEPS(cw_signal_on(SIGUSR1, handle, counter, 0, NULL));
    KEEPS(cw_signal_on(SIGUSR1, handle, counter, 0, NULL));
    KEEPS(cw_signal_on(SIGSEGV, handle, counter, 0, NULL));
    KEEPS(cw_signal_on(-7, handle, counter, 0, NULL));
    KEEPS(raise(SIGUSR1));
    KEEPS(cw_mask_hold());
    KEEPS(raise(SIGUSR1));
    KEEPS(cw_mask_poll(NULL, 0, 1000000, &woken, &ready, NULL));
    KEEPS(cw_mask_release());
    CHECK(cw_percpu_counter_sum(counter) == 2);
    KEEPS(cw_mask_poll(NULL, 0, 0, &woken, &ready, NULL));
    KEEPS(cw_signal_off(SIGUSR1, NULL));
    KEEPS(cw_signal_off(SIGUSR1, NULL));
    cw_percpu_counter_destroy(counter);
}

CW_KEY_DEFINE_STATIC_FALSE(key);
static void *nothing(void *unused) { return unused; }

static void modes(void)
{
    struct cw_state state;
    pthread_t thread;
    KEEPS((void)!cw_key_enable(&key));
    KEEPS((void)!cw_key_disable(&key));
    KEEPS(cw_apply_alternatives(NULL));
    KEEPS(cw_enable_single(NULL));
    KEEPS(cw_get_state(&state));
    KEEPS((void)!pthread_create(&thread, NULL, nothing, NULL));
    CHECK(pthread_join(thread, NULL) == 0);
    KEEPS(cw_reelide_lock(NULL));
    KEEPS(cw_restore_lock(NULL));
    KEEPS(cw_reelide_lock(NULL));
    KEEPS(cw_confined_enter(-1, NULL));
    KEEPS(cw_confined_check(NULL));
    KEEPS(cw_confined_audit(NULL));
    KEEPS(cw_confined_leave(NULL));
    KEEPS(cw_confined_leave(NULL));
    KEEPS(cw_confined_enter(1 << 30, NULL));
}

static void without_memory(void)
{
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    for (int n = 0; n < 100; n++) {
        KEEPS((void)!cw_percpu_free_list_create(1 << 20, 0));
        KEEPS((void)!cw_percpu_ring_create(4096));
        KEEPS((void)!cw_percpu_ref_create(NULL, NULL));
        KEEPS((void)!cw_masked_lock_create());
    }
}

int main(int argc, char **argv)
{
    begin();
    CHECK(pthread_key_create(&inside, ended) == 0);
    cancel();
    if (argc > 1 && strcmp(argv[1], "twin") == 0) {
        KEEPS(release(NULL));
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "point") == 0) {
        KEEPS(usleep(1));
        return 0;
    }
    struct cw_percpu_counter *counter;
    pthread_t thread;
    KEEPS(counter = cw_percpu_counter_create(0, 0));
    CHECK(pthread_create(&thread, NULL, first_use, counter) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    cw_percpu_counter_destroy(counter);
    percpu();
    clocks();
    fences();
    read_and_wait();
    locks();
    signals();
    modes();
    if (argc == 1)
        without_memory();
    return 0;
}
