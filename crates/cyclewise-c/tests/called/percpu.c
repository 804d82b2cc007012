/* Counters, lists, rings and references of each CPU: every function, threads, a child, and bad arguments. */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "check.h"

enum { THREADS = 4, ROUNDS = 50000 };

static void all(void *(*run)(void *), void *argument)
{
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; n++)
        CHECK(pthread_create(&threads[n], NULL, run, argument) == 0);
    for (int n = 0; n < THREADS; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
}

static void *add(void *counter)
{
    for (int n = 0; n < ROUNDS; n++) {
        cw_percpu_counter_add(counter, 3);
        cw_percpu_counter_inc(counter);
        cw_percpu_counter_dec(counter);
    }
    return NULL;
}

static void counters_lose_nothing(void)
{
    struct cw_percpu_counter *counter = cw_percpu_counter_create(7, 0);
    CHECK(counter);
    CHECK(cw_percpu_counter_sum(counter) == 7 && cw_percpu_counter_read(counter) == 7);
    all(add, counter);
    int64_t sum = 7 + 3LL * THREADS * ROUNDS;
    CHECK(cw_percpu_counter_sum(counter) == sum && cw_percpu_counter_sum_positive(counter) == sum);
    uint64_t error = cw_percpu_counter_error(counter);
    int64_t about = cw_percpu_counter_read(counter);
    CHECK(about <= sum + (int64_t)error && about >= sum - (int64_t)error && cw_percpu_counter_read_positive(counter) == about);
    CHECK(cw_percpu_counter_compare(counter, sum) == 0);
    CHECK(cw_percpu_counter_compare(counter, sum + 1) == -1 && cw_percpu_counter_compare(counter, sum - 1) == 1);
    CHECK(cw_percpu_counter_compare(counter, INT64_MAX) == -1 && cw_percpu_counter_compare(counter, INT64_MIN) == 1);
    cw_percpu_counter_add(counter, -2 * sum);
    CHECK(cw_percpu_counter_sum(counter) == -sum && cw_percpu_counter_sum_positive(counter) == 0);
    CHECK(cw_percpu_counter_read_positive(counter) == 0);
    cw_percpu_counter_destroy(counter);
    cw_percpu_counter_destroy(NULL);
    counter = cw_percpu_counter_create(0, UINT64_MAX);
    CHECK(counter);
    cw_percpu_counter_destroy(counter);
}

static void *move_up(void *gauge)
{
    for (int n = 0; n < ROUNDS; n++)
        cw_percpu_gauge_add(gauge, n % 2 ? 5 : -2);
    return NULL;
}

static void gauges_lose_nothing(void)
{
    struct cw_percpu_gauge *gauge = cw_percpu_gauge_create(-3);
    CHECK(gauge && cw_percpu_gauge_get(gauge) == -3);
    cw_percpu_gauge_set(gauge, 7);
    all(move_up, gauge);
    CHECK(cw_percpu_gauge_get(gauge) == 7 + 3LL * THREADS * ROUNDS / 2);
    cw_percpu_gauge_destroy(gauge);
    cw_percpu_gauge_destroy(NULL);
}

static void *record(void *histogram)
{
    for (int n = 1; n <= ROUNDS; n++) {
        cw_percpu_histogram_record(histogram, n);
        cw_percpu_histogram_record_u64(histogram, (uint64_t)n);
    }
    return NULL;
}

static void histograms_lose_nothing(void)
{
    struct cw_percpu_histogram *histogram = cw_percpu_histogram_create();
    double lower = -1, upper = -1;
    uint64_t below = 1, above = 1;
    CHECK(histogram && !cw_percpu_histogram_quantile(histogram, 0.5, &lower, &upper) && lower == -1 && upper == -1);
    CHECK(cw_percpu_histogram_count(histogram, &below, &above) == 0 && below == 0 && above == 0);
    all(record, histogram);
    uint64_t count = 2ULL * THREADS * ROUNDS;
    CHECK(cw_percpu_histogram_count(histogram, NULL, NULL) == count);
    CHECK(cw_percpu_histogram_quantile(histogram, 0.5, &lower, &upper));
    CHECK(lower < ROUNDS / 2 && upper >= ROUNDS / 2 && upper <= lower * 33 / 32);
    struct cw_percpu_bucket buckets[1000];
    size_t used = cw_percpu_histogram_buckets(histogram, buckets, 1000);
    CHECK(used > 100 && used < 1000 && cw_percpu_histogram_buckets(histogram, NULL, 0) == used);
    for (size_t n = 0; n < used; n++) {
        CHECK(buckets[n].count > 0 && buckets[n].lower < buckets[n].upper);
        CHECK(n == 0 || buckets[n - 1].upper <= buckets[n].lower);
        count -= buckets[n].count;
    }
    CHECK(count == 0);
    cw_percpu_histogram_record(histogram, 0);
    cw_percpu_histogram_record(histogram, 1e30);
    cw_percpu_histogram_record_u64(histogram, UINT64_MAX);
    CHECK(cw_percpu_histogram_count(histogram, &below, &above) == 3 + 2ULL * THREADS * ROUNDS && below == 1 && above == 1);
    cw_percpu_histogram_destroy(histogram);
    cw_percpu_histogram_destroy(NULL);
}

struct object {
    long owner;
    char bytes[40];
};

static void *pop_and_push(void *list)
{
    for (int n = 0; n < ROUNDS; n++) {
        struct object *object = cw_percpu_free_list_pop(list);
        if (!object)
            object = n % 2 ? cw_percpu_free_list_pop_or_steal(list) : cw_percpu_free_list_grow(list);
        if (!object)
            object = cw_percpu_free_list_grow(list);
        CHECK(object && __atomic_exchange_n(&object->owner, 1, __ATOMIC_RELAXED) == 0);
        object->bytes[39]++;
        CHECK(__atomic_exchange_n(&object->owner, 0, __ATOMIC_RELAXED) == 1);
        CHECK(cw_percpu_free_list_push(list, object, NULL) == 0);
    }
    return NULL;
}

static void objects_have_one_owner(void)
{
    struct cw_percpu_free_list *list = cw_percpu_free_list_create(sizeof(struct object), 64);
    struct cw_percpu_free_list *other = cw_percpu_free_list_create(1, 0);
    CHECK(list && other && cw_percpu_free_list_pop(list) == NULL && cw_percpu_free_list_pop_or_steal(list) == NULL);
    struct object *object = cw_percpu_free_list_grow(list);
    CHECK(object && (uintptr_t)object % 64 == 0 && object->owner == 0);
    memset(object->bytes, 9, sizeof object->bytes);
    CHECK_REFUSED(cw_percpu_free_list_push(other, object, &why), CW_REFUSED_ARGUMENT);
    CHECK_REFUSED(cw_percpu_free_list_push(list, NULL, &why), CW_REFUSED_ARGUMENT);
    CHECK(cw_percpu_free_list_push(list, object, NULL) == 0);
    /* With its contents, wherever this thread runs by now. */
    CHECK(cw_percpu_free_list_pop_or_steal(list) == object && object->bytes[0] == 9);
    CHECK(cw_percpu_free_list_push(list, object, NULL) == 0);
    all(pop_and_push, list);
    char *small = cw_percpu_free_list_grow(other);
    CHECK(small && (uintptr_t)small % 16 == 0);
    /* Held, and freed all the same. */
    cw_percpu_free_list_destroy(other);
    cw_percpu_free_list_destroy(list);
    cw_percpu_free_list_destroy(NULL);
    CHECK(cw_percpu_free_list_create(0, 0) == NULL && cw_percpu_free_list_create(8, 3) == NULL);
    CHECK(cw_percpu_free_list_create(SIZE_MAX, 0) == NULL && cw_percpu_free_list_create(SIZE_MAX / 2, 16) == NULL);
}

static uint64_t pushed, popped;
static void *push_and_pop(void *ring)
{
    uint64_t words[3] = {1, 2, 3}, found[3], in = 0, out = 0;
    for (int n = 0; n < ROUNDS; n++) {
        if (cw_percpu_ring_push(ring, 10))
            in += 10;
        size_t some = cw_percpu_ring_push_many(ring, words, 3);
        for (size_t k = 0; k < some; k++)
            in += words[k];
        if (cw_percpu_ring_pop(ring, &found[0]))
            out += found[0];
        some = cw_percpu_ring_pop_many(ring, found, 3);
        for (size_t k = 0; k < some; k++)
            out += found[k];
    }
    __atomic_add_fetch(&pushed, in, __ATOMIC_RELAXED);
    __atomic_add_fetch(&popped, out, __ATOMIC_RELAXED);
    return NULL;
}

static void words_come_out_once(void)
{
    struct cw_percpu_ring *ring = cw_percpu_ring_create(100);
    CHECK(ring);
    all(push_and_pop, ring);
    uint64_t word;
    bool found = true;
    struct cw_refusal why;
    while (found) {
        if (cw_percpu_ring_pop_or_steal(ring, &word, &found, &why) != 0) {
            printf("not checked: %s\n", why.message);
            pushed = popped;
            break;
        }
        if (found)
            popped += word;
    }
    CHECK(pushed == popped);
    /* What nobody wants is dropped. */
    CHECK(cw_percpu_ring_push(ring, 1) && cw_percpu_ring_pop_or_steal(ring, NULL, NULL, NULL) == 0);
    CHECK(cw_percpu_ring_pop_or_steal(ring, &word, &found, NULL) != 0 || !found);
    CHECK(cw_percpu_ring_push_many(ring, NULL, 5) == 0 && cw_percpu_ring_pop_many(ring, NULL, 5) == 0);
    cw_percpu_ring_destroy(ring);
    cw_percpu_ring_destroy(NULL);
    CHECK(cw_percpu_ring_create(0) == NULL && cw_percpu_ring_create(4097) == NULL);
    for (size_t capacity = 1; capacity <= 4096; capacity = capacity * 2 + 1) {
        ring = cw_percpu_ring_create(capacity);
        CHECK(ring && !cw_percpu_ring_pop(ring, &word));
        CHECK(cw_percpu_ring_push(ring, UINT64_MAX));
        cw_percpu_ring_destroy(ring);
    }
}

static int released;
static void release(void *count)
{
    __atomic_add_fetch(&released, 1, __ATOMIC_RELAXED);
    if (count)
        cw_percpu_ref_destroy(*(struct cw_percpu_ref **)count);
}

static void confirm(void *seen) { *(int *)seen = released + 1; }

static void *take(void *count)
{
    for (int n = 0; n < ROUNDS; n++) {
        if (!cw_percpu_ref_tryget(count))
            break;
        cw_percpu_ref_get(count);
        cw_percpu_ref_put(count);
        if (cw_percpu_ref_tryget_live(count))
            cw_percpu_ref_put(count);
        cw_percpu_ref_put(count);
    }
    return NULL;
}

/* A count in an object: the release destroys the count, and its memory, and where `killed` is, have other contents at once. */
struct counted {
    struct cw_percpu_ref *count;
    bool killed;
};

static int reused;
static void reuse(void *argument)
{
    struct counted *object = argument;
    reused += object->killed ? 1 : 100;
    cw_percpu_ref_destroy(object->count);
    memset(object, 0xff, sizeof *object);
    free(object);
    /* The blocks that were freed, whatever their size was. */
    char *blocks[256];
    for (size_t n = 0; n < 256; n++) {
        size_t size = 16 * (n / 8 + 1);
        blocks[n] = malloc(size);
        CHECK(blocks[n]);
        memset(blocks[n], 0xff, size);
    }
    for (size_t n = 0; n < 256; n++)
        free(blocks[n]);
}

static void the_release_may_destroy_and_reuse(void)
{
    for (int by_put = 0; by_put < 2; by_put++) {
        struct counted *object = calloc(1, sizeof *object);
        CHECK(object && (object->count = cw_percpu_ref_create(reuse, object)));
        struct cw_percpu_ref *count = object->count;
        if (by_put)
            CHECK(cw_percpu_ref_tryget(count));
        CHECK(cw_percpu_ref_kill(count, &object->killed, NULL) == 0 && reused == 1);
        if (by_put)
            cw_percpu_ref_put(count);
        CHECK(reused == by_put + 1);
    }
}

static void the_last_reference_releases(void)
{
    struct cw_percpu_ref *count = cw_percpu_ref_create(release, NULL);
    CHECK(count);
    all(take, count);
    CHECK(released == 0 && !cw_percpu_ref_is_dying(count) && !cw_percpu_ref_is_zero(count) && !cw_percpu_ref_reinit(count));
    CHECK(cw_percpu_ref_tryget(count));
    int seen = 0;
    CHECK(cw_percpu_ref_kill_and_confirm(count, confirm, &seen, NULL, NULL) == 0);
    CHECK(seen == 1 && released == 0 && cw_percpu_ref_is_dying(count) && !cw_percpu_ref_is_zero(count));
    CHECK(!cw_percpu_ref_tryget_live(count) && cw_percpu_ref_tryget(count));
    cw_percpu_ref_put(count);
    bool killed = true;
    CHECK(cw_percpu_ref_kill(count, &killed, NULL) == 0 && !killed && released == 0);
    cw_percpu_ref_put(count);
    CHECK(released == 1 && cw_percpu_ref_is_zero(count) && !cw_percpu_ref_tryget(count));
    CHECK(cw_percpu_ref_reinit(count) && cw_percpu_ref_tryget_live(count));
    cw_percpu_ref_put(count);
    CHECK(cw_percpu_ref_kill_and_confirm(count, NULL, NULL, &killed, NULL) == 0 && killed && released == 2);
    cw_percpu_ref_destroy(count);
    cw_percpu_ref_destroy(NULL);
    /* A count that its own release destroys, by a kill and by a put. */
    count = cw_percpu_ref_create(release, &count);
    CHECK(count && cw_percpu_ref_kill(count, NULL, NULL) == 0 && released == 3);
    count = cw_percpu_ref_create(release, &count);
    CHECK(count && cw_percpu_ref_tryget(count) && cw_percpu_ref_kill(count, NULL, NULL) == 0 && released == 3);
    cw_percpu_ref_put(count);
    CHECK(released == 4);
    the_release_may_destroy_and_reuse();
    count = cw_percpu_ref_create(NULL, NULL);
    CHECK(count && cw_percpu_ref_kill(count, NULL, NULL) == 0);
    cw_percpu_ref_destroy(count);
}

/* Without address space the functions that make something return null. */
static void no_memory_is_null(void)
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        CHECK(setrlimit(RLIMIT_AS, &none) == 0);
        int made = 0;
        /* What is mapped already has room for some. */
        while (made < 1000000 && cw_percpu_counter_create(0, 0))
            made++;
        CHECK(made < 1000000);
        CHECK(!cw_percpu_counter_create(0, 0));
        made = 0;
        while (made < 1000000 && cw_percpu_free_list_create(1 << 20, 0))
            made++;
        while (made < 1000000 && cw_percpu_ring_create(4096))
            made++;
        while (made < 1000000 && cw_percpu_ref_create(NULL, NULL))
            made++;
        CHECK(made < 1000000);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_child_has_its_own_copies(void)
{
    struct cw_percpu_counter *counter = cw_percpu_counter_create(1, 0);
    CHECK(counter);
    cw_percpu_counter_add(counter, 41);
    pid_t child = fork();
    if (child == 0) {
        CHECK(cw_percpu_counter_sum(counter) == 42);
        cw_percpu_counter_inc(counter);
        CHECK(cw_percpu_counter_sum(counter) == 43);
        all(add, counter);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(cw_percpu_counter_sum(counter) == 42);
    cw_percpu_counter_destroy(counter);
}

int main(int argc, char **argv)
{
    (void)argv;
    begin();
    counters_lose_nothing();
    gauges_lose_nothing();
    histograms_lose_nothing();
    objects_have_one_owner();
    words_come_out_once();
    the_last_reference_releases();
    a_child_has_its_own_copies();
    /* A sanitizer needs the address space. */
    if (argc == 1)
        no_memory_is_null();
    return 0;
}
