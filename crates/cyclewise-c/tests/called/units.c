/* Sites of C and of Rust in the program and in two shared libraries, under load while confined mode is entered and left.

   Arguments: how often; `forget` for the twin, which has one unit forgotten while it is elided; the path of a copy of libcyclewise to load,
   where the program has its own. */
#define _GNU_SOURCE
#include <cyclewise/atomic.h>
#include <cyclewise/cyclewise.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include "check.h"

void library_add(uint64_t *word, int times);
int library_sites(int byte);
int library_forget(void);

enum { THREADS = 3, BATCH = 32, LOCKED = 4 };

static uint64_t of_program, of_library, rounds;
/* Counted under the lock, whose exchanges are sites of Rust. */
static uint64_t under_lock;
static cw_spinlock_t lock = CW_SPINLOCK_INIT;
static void (*lock_it)(cw_spinlock_t *) = cw_spin_lock;
static void (*unlock_it)(cw_spinlock_t *) = cw_spin_unlock;
static int stop;

static void *work(void *cpu)
{
    if (cpu) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(*(int *)cpu, &one);
        CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    }
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (int n = 0; n < BATCH; n++)
            cw_inc_u64(&of_program);
        library_add(&of_library, BATCH);
        for (int n = 0; n < LOCKED; n++) {
            lock_it(&lock);
            under_lock++;
            unlock_it(&lock);
        }
        __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void wait_us(long us)
{
    struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

/* The status of entering; retried while threads come and go. */
static int enter(int cpu)
{
    int status;
    do
        status = cw_confined_enter(cpu, NULL);
    while (status == CW_REFUSED_UNSTABLE);
    return status;
}

static void begin_threads(pthread_t *threads, int *cpus)
{
    for (int n = 0; n < THREADS; n++)
        CHECK(pthread_create(&threads[n], NULL, work, cpus ? &cpus[n % 2] : NULL) == 0);
}

static void end_threads(pthread_t *threads)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int n = 0; n < THREADS; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
}

static int all_are(int byte)
{
    struct cw_state state;
    cw_get_state(&state);
    CHECK(library_sites(-1) > 0);
    return library_sites(byte) == library_sites(-1) && state.elided == (byte == 0x3e ? state.sites : 0);
}

static void flip(long flips, const int *cpus)
{
    pthread_t threads[THREADS];
    struct sched_param parameter = {.sched_priority = 1};
    begin_threads(threads, NULL);
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0) {
        puts("SCHED_FIFO is not allowed here: 10 times fewer flips");
        flips /= 10;
    }
    for (long done = 0; done < flips || __atomic_load_n(&rounds, __ATOMIC_RELAXED) < 100; done++) {
        CHECK(enter(cpus[done % 2]) == 0);
        if (done % 16 == 0) {
            CHECK(all_are(0x3e));
            wait_us(50);
        }
        CHECK(cw_confined_leave(NULL) == 0);
        if (done % 16 == 8) {
            CHECK(all_are(0xf0));
            wait_us(50);
        }
    }
    parameter.sched_priority = 0;
    CHECK(sched_setscheduler(0, SCHED_OTHER, &parameter) == 0);
    end_threads(threads);
    printf("%ld flips, %lu rounds\n", flips, (unsigned long)rounds);
    CHECK(of_program == BATCH * rounds);
    CHECK(of_library == BATCH * rounds);
    CHECK(under_lock == LOCKED * rounds);
    CHECK(all_are(0xf0));
}

/* The unit that is forgotten while it is elided, and no other, loses updates. */
static void forget(int *cpus)
{
    CHECK(enter(cpus[0]) == 0);
    CHECK(all_are(0x3e));
    CHECK(library_forget() == 0);
    CHECK(cw_confined_leave(NULL) == 0);
    CHECK(library_sites(0x3e) == library_sites(-1));
    for (int attempt = 0; attempt < 100 && of_library == BATCH * rounds; attempt++) {
        pthread_t threads[THREADS];
        begin_threads(threads, cpus);
        wait_us(100000);
        end_threads(threads);
        CHECK(of_program == BATCH * rounds && under_lock == LOCKED * rounds);
    }
    printf("%lu updates lost\n", (unsigned long)(BATCH * rounds - of_library));
    CHECK(of_library < BATCH * rounds);
}

int main(int arguments, char **argument)
{
    int cpus[2], found = 0, is_twin = arguments > 2 && !strcmp(argument[2], "forget");
    cpu_set_t allowed;
    alarm(3000);
    CHECK(arguments > 1);
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus[found++] = cpu;
    if (found < 2) {
        puts("skipped: one CPU, so threads never run in parallel");
        return 0;
    }
    if (arguments > 3) {
        void *other = dlopen(argument[3], RTLD_NOW | RTLD_LOCAL);
        CHECK(other);
        *(void **)&lock_it = dlsym(other, "cw_spin_lock");
        *(void **)&unlock_it = dlsym(other, "cw_spin_unlock");
        CHECK(lock_it && lock_it != cw_spin_lock && unlock_it);
    }
    CHECK(cw_enable_single(NULL) == 0 && all_are(0x3e));
    CHECK(cw_restore_lock(NULL) == 0 && all_are(0xf0));
    int status = enter(cpus[0]);
    if (status == CW_REFUSED_SYSTEM) {
        puts("skipped: the kernel refuses what confined mode needs");
        return 0;
    }
    CHECK(status == 0 && cw_confined_leave(NULL) == 0);
    if (is_twin)
        forget(cpus);
    else
        flip(atol(argument[1]), cpus);
    return 0;
}
