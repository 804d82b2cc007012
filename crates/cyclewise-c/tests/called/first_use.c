/* The first use of each function that signal handlers may call, in a handler that interrupts the allocator: there no memory can be had.
 *
 * Each operation is tried in processes of its own: on the main thread and on a new one; in a handler of the program's, in one that
 * cw_signal_on registered, and in a program whose threads glibc does not register for restartable sequences. The operation "twin"
 * allocates, which ends its process.
 *
 * With LOADER it is the part with the allocator, which loads the other part, with OBJECT, by dlopen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include "check.h"

int first_uses(int count, char **arguments);

/* The thread's next allocation is interrupted; and one was, so that the allocator's locks are taken. */
extern __thread volatile int interrupt_the_next, interrupted;

#if !defined(OBJECT)
__thread volatile int interrupt_the_next, interrupted;

static void enter(void)
{
    static const char line[] = "the allocator is used in a handler that interrupted it\n";
    if (interrupted) {
        (void)!write(2, line, sizeof line - 1);
        abort();
    }
    if (interrupt_the_next) {
        interrupt_the_next = 0;
        interrupted = 1;
        raise(SIGUSR1);
        interrupted = 0;
    }
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *at);

void *malloc(size_t size) { return enter(), __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return enter(), __libc_calloc(count, size); }
void *realloc(void *at, size_t size) { return enter(), __libc_realloc(at, size); }
void *memalign(size_t alignment, size_t size) { return enter(), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **to, size_t alignment, size_t size)
{
    *to = memalign(alignment, size);
    return *to ? 0 : ENOMEM;
}

void free(void *at)
{
    if (at)
        enter();
    __libc_free(at);
}
#endif

#if defined(LOADER)

int main(int count, char **arguments)
{
    begin();
    void *object = dlopen(arguments[1], RTLD_NOW);
    if (!object)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(object);
    void *found = dlsym(object, "first_uses");
    CHECK(found);
    int (*run)(int, char **);
    memcpy(&run, &found, sizeof run);
    return run(count, arguments);
}

#else

#include <cyclewise/cyclewise.h>
#include <cyclewise/key.h>
#include <cyclewise/refcount.h>

/* A check without memory. */
#define MUST(condition)                                                         \
    do {                                                                        \
        if (!(condition)) {                                                     \
            static const char line[] = #condition " does not hold\n";           \
            (void)!write(2, line, sizeof line - 1);                             \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

static struct cw_percpu_counter *counter;
static struct cw_percpu_ring *ring;
static struct cw_percpu_free_list *list, *other_list;
static struct cw_percpu_ref *ref;
static struct cw_masked_lock *masked;
static cw_spinlock_t spin = CW_SPINLOCK_INIT;
static cw_lockref_t entry = CW_LOCKREF_INIT(1);
static cw_refcount_t references = CW_REFCOUNT_INIT(1), gone = CW_REFCOUNT_INIT(0);
CW_KEY_DEFINE_STATIC_FALSE(key);
static void *object;
static uint64_t words[4];
static volatile int called, taken;
static struct cw_refusal why;

static void nothing(void) {}
static void a_counter(void) { MUST((counter = cw_percpu_counter_create(0, 0))); }
static void a_ring(void) { MUST((ring = cw_percpu_ring_create(8))); }
static void a_masked_lock(void) { MUST((masked = cw_masked_lock_create())); }

static void a_list(void)
{
    MUST((list = cw_percpu_free_list_create(8, 0)) && (other_list = cw_percpu_free_list_create(8, 0)));
    MUST((object = cw_percpu_free_list_grow(list)));
}

static void count_call(void *unused)
{
    (void)unused;
    called++;
}

static void a_ref(void) { MUST((ref = cw_percpu_ref_create(count_call, NULL))); }

static void a_killed_ref(void)
{
    a_ref();
    MUST(cw_percpu_ref_tryget(ref) && cw_percpu_ref_kill(ref, NULL, NULL) == 0);
}

static void on_misuse(const struct cw_refcount_misuse *misuse)
{
    (void)misuse;
    called++;
}

static void a_hook(void) { cw_refcount_set_hook(on_misuse); }

static void deferred(const struct cw_signal_info *info, void *unused)
{
    (void)info;
    (void)unused;
    called++;
}

static void a_deferred_signal(void) { MUST(cw_signal_on(SIGUSR2, deferred, NULL, 0, NULL) == 0); }

/* Another thread has each lock for a while; the handler, or the thread that it interrupts, waits for it. */
static void *holds(void *unused)
{
    const struct timespec a_while = {0, 20000000};
    cw_spin_lock(&spin);
    cw_lockref_lock(&entry);
    MUST(cw_masked_lock_lock(masked, NULL) == 0);
    taken = 1;
    nanosleep(&a_while, NULL);
    cw_masked_lock_unlock(masked);
    cw_lockref_unlock(&entry);
    cw_spin_unlock(&spin);
    return unused;
}

static void held_locks(void)
{
    pthread_t thread;
    a_masked_lock();
    MUST(pthread_create(&thread, NULL, holds, NULL) == 0);
    while (!taken)
        sched_yield();
}

static void conversions(void)
{
    struct cw_clock_conversion conversion;
    uint64_t ns;
    if (cw_clock_conversion_make(&conversion)) {
        MUST(cw_clock_convert(&conversion, words, &ns, 1) <= 1);
        MUST(cw_clock_conversion_error(&conversion, words[0]) > 0);
    }
}

static void of_a_lockref(void)
{
    cw_lockref_get(&entry);
    MUST(cw_lockref_get_not_zero(&entry) && cw_lockref_get_not_dead(&entry) && cw_lockref_count(&entry) == 4);
    MUST(cw_lockref_put_return(&entry) == 3 && cw_lockref_put_or_lock(&entry) && cw_lockref_trylock(&entry));
    cw_lockref_get_locked(&entry);
    MUST(cw_lockref_put_locked(&entry) == 2 && cw_lockref_put_locked(&entry) == 1);
    cw_lockref_mark_dead(&entry);
    cw_lockref_unlock(&entry);
    MUST(cw_lockref_is_dead(&entry));
    cw_lockref_init(&entry, 1);
    cw_lockref_lock(&entry);
    cw_lockref_unlock(&entry);
    MUST(!cw_lockref_put_or_lock(&entry));
    cw_lockref_unlock(&entry);
}

static void a_signal_under_a_hold(void)
{
    /* In a handler of cw_signal_on's signals are blocked and there is a hold: the signal waits for the handler's end. */
    const int inside = cw_mask_is_held();
    cw_mask_hold();
    raise(SIGUSR2);
    MUST(called == 0 && (inside || (cw_mask_is_pending() && cw_mask_is_pending_called())));
    cw_mask_release();
    MUST(called == !inside);
}

/* OPERATION(name, what is made before, what the handler does, what holds afterwards). */
#define OPERATIONS(OPERATION)                                                                                           \
    OPERATION(version, nothing, MUST(cw_version()[0] == '0'), 1)                                                        \
    OPERATION(clock_now, nothing, MUST(cw_clock_now() > 0), 1)                                                          \
    OPERATION(clock_now_load_ordered, nothing, MUST(cw_clock_now_load_ordered() > 0), 1)                                \
    OPERATION(clock_now_per_task, nothing, MUST(cw_clock_now_per_task() > 0), 1)                                        \
    OPERATION(clock_now_dependent_load, nothing, MUST(cw_clock_now_dependent_load() > 0), 1)                            \
    OPERATION(clock_now_bracketed, nothing, MUST(cw_clock_now_bracketed() > 0), 1)                                      \
    OPERATION(clock_now_after_stores, nothing, MUST(cw_clock_now_after_stores() > 0), 1)                                \
    OPERATION(clock_recent, nothing, MUST(cw_clock_recent() > 0), 1)                                                    \
    OPERATION(clock_read, nothing, for (int n = 0; n < 6; n++) MUST(cw_clock_read(n).ns > 0), 1)                        \
    OPERATION(clock_status, nothing, struct cw_clock_status status; cw_get_clock_status(&status), 1)                    \
    OPERATION(clock_segments, nothing, MUST(!cw_clock_segments(0)); (void)!cw_clock_segments(1), 1)                     \
    OPERATION(clock_conversion, nothing, conversions(), 1)                                                              \
    OPERATION(clock_between, nothing, MUST(cw_clock_between(1, 2) > 0), 1)                                              \
    OPERATION(ticks, nothing, MUST(cw_ticks() > 0), 1)                                                                  \
    OPERATION(ticks_ordered, nothing, MUST(cw_ticks_ordered() > 0), 1)                                                  \
    OPERATION(ticks_called, nothing, MUST(cw_ticks_called() > 0), 1)                                                    \
    OPERATION(ticks_as, nothing, for (int n = 0; n < 6; n++) MUST(cw_ticks_as(n) > 0), 1)                               \
    OPERATION(ticks_sequence, nothing, MUST(cw_ticks_sequence() >= 0), 1)                                               \
    OPERATION(spin_lock, nothing, cw_spin_lock(&spin); cw_spin_unlock(&spin), !cw_spin_is_locked(&spin))                \
    OPERATION(spin_trylock, nothing, MUST(cw_spin_trylock(&spin)); cw_spin_unlock_fair(&spin), 1)                       \
    OPERATION(spin_timedlock, nothing, MUST(cw_spin_timedlock(&spin, 1)); cw_spin_unlock(&spin), 1)                     \
    OPERATION(spin_held, held_locks, cw_spin_lock(&spin); cw_spin_unlock(&spin), 1)                                     \
    OPERATION(spin_timed, held_locks, (void)!cw_spin_timedlock(&spin, 1000), 1)                                         \
    OPERATION(lockref, nothing, of_a_lockref(), 1)                                                                      \
    OPERATION(lockref_held, held_locks, cw_lockref_lock(&entry); cw_lockref_unlock(&entry), 1)                          \
    OPERATION(lockref_get_held, held_locks, cw_lockref_get(&entry), cw_lockref_count(&entry) == 2)                      \
    OPERATION(lockref_misused, nothing, MUST(cw_lockref_put_return(&entry) <= 0); cw_lockref_get(&entry), 1)            \
    OPERATION(refcount, nothing, cw_refcount_inc(&references), !cw_refcount_dec_and_test(&references))                  \
    OPERATION(refcount_misused, nothing, cw_refcount_inc(&gone),                                                     \
              cw_refcount_misuses(CW_REFCOUNT_ADD_UAF) == 1)                                                             \
    OPERATION(refcount_hook, a_hook, cw_refcount_inc(&gone), called)     \
    OPERATION(refcount_misuses, nothing, MUST(cw_refcount_misuses(0) == 0), 1)                                          \
    OPERATION(atomic, nothing, cw_inc_u64(&words[0]), words[0] == 1)                                                        \
    OPERATION(static_key, nothing, MUST(!cw_key_unlikely(&key) && !cw_key_likely(&key)), 1)                             \
    OPERATION(counter_add, a_counter, cw_percpu_counter_add(counter, 1), cw_percpu_counter_sum(counter) == 1)           \
    OPERATION(counter_add_a_batch, a_counter, cw_percpu_counter_add(counter, 1 << 20), cw_percpu_counter_sum(counter))  \
    OPERATION(counter_inc, a_counter, cw_percpu_counter_inc(counter), cw_percpu_counter_sum(counter) == 1)              \
    OPERATION(counter_dec, a_counter, cw_percpu_counter_dec(counter), cw_percpu_counter_sum(counter) == -1)             \
    OPERATION(counter_read, a_counter, MUST(cw_percpu_counter_read(counter) == 0), 1)                                   \
    OPERATION(counter_read_positive, a_counter, MUST(cw_percpu_counter_read_positive(counter) == 0), 1)                 \
    OPERATION(counter_error, a_counter, MUST(cw_percpu_counter_error(counter) > 0), 1)                                  \
    OPERATION(list_push, a_list, MUST(cw_percpu_free_list_push(list, object, &why) == 0), 1)                            \
    OPERATION(list_pop, a_list, MUST(!cw_percpu_free_list_pop(list)), 1)                                                \
    OPERATION(list_push_null, a_list, MUST(cw_percpu_free_list_push(list, NULL, &why)), why.code)                       \
    OPERATION(list_push_others, a_list, MUST(cw_percpu_free_list_push(other_list, object, &why)), why.message[0])       \
    OPERATION(ring_push, a_ring, MUST(cw_percpu_ring_push(ring, 1)), 1)                                                 \
    OPERATION(ring_push_many, a_ring, MUST(cw_percpu_ring_push_many(ring, words, 4) == 4), 1)                           \
    OPERATION(ring_pop, a_ring, MUST(!cw_percpu_ring_pop(ring, words)), 1)                                              \
    OPERATION(ring_pop_many, a_ring, MUST(cw_percpu_ring_pop_many(ring, words, 4) == 0), 1)                             \
    OPERATION(ref_tryget, a_ref, MUST(cw_percpu_ref_tryget(ref)), 1)                                                    \
    OPERATION(ref_tryget_live, a_ref, MUST(cw_percpu_ref_tryget_live(ref)), 1)                                          \
    OPERATION(ref_get, a_ref, cw_percpu_ref_get(ref); cw_percpu_ref_put(ref), 1)                                        \
    OPERATION(ref_asked, a_ref, MUST(!cw_percpu_ref_is_dying(ref) && !cw_percpu_ref_is_zero(ref)), 1)                   \
    OPERATION(ref_last_put, a_killed_ref, cw_percpu_ref_put(ref), called == 1 && cw_percpu_ref_is_zero(ref))            \
    OPERATION(fences, nothing, cw_fence_light(); MUST(!cw_fence_heavy(&why) && !cw_fence_heavy_batched(&why)), 1)      \
    OPERATION(mask_hold, nothing, cw_mask_hold(); MUST(cw_mask_is_held()); cw_mask_release(), !cw_mask_is_held())       \
    OPERATION(mask_hold_called, nothing, cw_mask_hold_called(); MUST(cw_mask_is_held_called());                         \
              cw_mask_release_called(), !cw_mask_is_held_called())                                                      \
    OPERATION(mask_save, nothing, cw_mask_restore(cw_mask_save()), !cw_mask_is_held())                                  \
    OPERATION(mask_replay, nothing, cw_mask_replay(), !cw_mask_is_held())                                               \
    OPERATION(mask_counts, nothing, MUST(cw_mask_overflows() == 0 && cw_mask_lost() == 0), 1)                           \
    OPERATION(mask_pending, nothing, MUST(!cw_mask_is_pending() && !cw_mask_is_pending_called()), 1)                    \
    OPERATION(mask_offset, nothing, (void)!cw_mask_offset(1), 1)                                                        \
    OPERATION(mask_deferred, a_deferred_signal, a_signal_under_a_hold(), called == 1)                                   \
    OPERATION(masked_lock, a_masked_lock, MUST(cw_masked_lock_lock(masked, &why) == 0); cw_masked_lock_unlock(masked),  \
              !cw_mask_is_held())                                                                                       \
    OPERATION(masked_trylock, a_masked_lock, MUST(cw_masked_lock_trylock(masked)); cw_masked_lock_unlock(masked), 1)    \
    OPERATION(masked_timedlock, a_masked_lock, MUST(cw_masked_lock_timedlock(masked, 1));                               \
              cw_masked_lock_unlock(masked), 1)                                                                         \
    OPERATION(masked_refused, a_masked_lock, MUST(cw_masked_lock_trylock(masked));                                      \
              MUST(cw_masked_lock_lock(masked, &why) == CW_REFUSED_DEADLOCK); cw_masked_lock_unlock(masked),            \
              strlen(why.message) > 10)                                                                                 \
    OPERATION(masked_held, held_locks, MUST(cw_masked_lock_lock(masked, &why) == 0); cw_masked_lock_unlock(masked), 1)  \
    OPERATION(twin, nothing, void *volatile memory = malloc(1); free(memory), 1)

#define DEFINE(name, before, inside, holds)                                     \
    static void in_##name(void) { inside; }                                     \
    static int after_##name(void) { return (holds) != 0; }
OPERATIONS(DEFINE)

static const struct operation {
    const char *name;
    void (*before)(void);
    void (*inside)(void);
    int (*holds)(void);
} operations[] = {
#define ROW(name, before, inside, holds) {#name, before, in_##name, after_##name},
    OPERATIONS(ROW)
};
enum { COUNT = sizeof operations / sizeof *operations };

static const struct operation *operation;
static volatile int ran;

static void handler(int signal)
{
    (void)signal;
    operation->inside();
    ran = interrupted;
}

static void registered(const struct cw_signal_info *info, void *unused)
{
    (void)unused;
    handler(info->signal);
}

/* Allocates; the allocation is interrupted. */
static void *interrupted_thread(void *unused)
{
    interrupt_the_next = 1;
    void *volatile memory = malloc(1);
    free(memory);
    return unused;
}

static int one(const char *name, const char *place, const char *of)
{
    pthread_t thread;
    for (operation = operations; strcmp(operation->name, name) != 0; operation++)
        CHECK(operation < operations + COUNT);
    operation->before();
    if (of[0] == 'l') {
        CHECK(cw_signal_on(SIGUSR1, registered, NULL, 0, NULL) == 0);
    } else {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    }
    if (place[0] == 'm') {
        interrupted_thread(NULL);
    } else {
        CHECK(pthread_create(&thread, NULL, interrupted_thread, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(ran && operation->holds());
    return 0;
}

/* Starts the program again for each operation, at each place. */
static int all(char *loaded)
{
    static char *const places[] = {"main", "thread"}, *const handlers[] = {"program's", "library's", "unregistered"};
    int failed = 0;
    for (int n = 0; n < COUNT * 6; n++) {
        char *name = (char *)operations[n / 6].name, *place = places[n % 6 / 3], *of = handlers[n % 3];
        char *arguments[] = {"first_use", loaded, name, place, of, NULL};
        const int twin = strcmp(name, "twin") == 0;
        const pid_t child = fork();
        if (child == 0) {
            if (twin)
                close(2);
            if (of[0] == 'u')
                setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
            execv("/proc/self/exe", arguments);
            _exit(127);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        const int right = twin ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT : status == 0;
        if (!right)
            fprintf(stderr, "%s, %s, %s handler: status %#x\n", name, place, of, (unsigned)status);
        failed += !right;
    }
    return failed != 0;
}

int first_uses(int count, char **arguments)
{
    return count == 5 ? one(arguments[2], arguments[3], arguments[4]) : all(count > 1 ? arguments[1] : "");
}

#if !defined(OBJECT)
int main(int count, char **arguments)
{
    begin();
    return first_uses(count, arguments);
}
#endif
#endif
