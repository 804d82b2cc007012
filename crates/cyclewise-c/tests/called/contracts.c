/* What programs do that contracts do not allow, or that they may do though it looks forbidden: what the first lines of the headers say.
 * The argument names the case. */
#define _GNU_SOURCE
#include <cyclewise/cyclewise.h>
#include <cyclewise/key.h>
#include <cyclewise/refcount.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include "check.h"

enum { JUMPS = 1000 };

static sigjmp_buf back;
static uint64_t word;
static volatile uint64_t added, jumps, ran;
static cw_refcount_t references = CW_REFCOUNT_INIT(1);
CW_KEY_DEFINE_STATIC_FALSE(key);

static void jump(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void count(const struct cw_signal_info *info, void *unused)
{
    (void)info;
    (void)unused;
    ran++;
}

static void jump_out(const struct cw_signal_info *info, void *unused)
{
    (void)unused;
    jump(info->signal);
}

static void jumps_by(int signal)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = jump;
    CHECK(sigaction(signal, &action, NULL) == 0);
}

/* Handlers of the program's own may leave by siglongjmp where they interrupt an inline operation or a test of a key, under a hold too. */
static void jumps_out_of_inline_functions(void)
{
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    cw_mask_hold();
    CHECK(cw_signal_on(SIGUSR2, count, NULL, 0, NULL) == 0 && raise(SIGUSR2) == 0);
    jumps_by(SIGALRM);
    if (sigsetjmp(back, 1))
        jumps++;
    else
        CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (jumps < JUMPS) {
        cw_inc_u64(&word);
        added++;
        cw_refcount_inc(&references);
        CHECK(!cw_refcount_dec_and_test(&references) && !cw_key_unlikely(&key));
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && cw_mask_is_held() && ran == 0);
    cw_mask_release();
    CHECK(ran == 1 && !cw_mask_is_held());
    const uint64_t counted = cw_refcount_read(&references);
    CHECK(added <= word && word <= added + JUMPS && counted >= 1 && counted <= 1 + JUMPS);
}

/* A hold outlives such a jump, and is released as always. */
static void jumps_under_a_hold(void)
{
    jumps_by(SIGUSR1);
    CHECK(cw_signal_on(SIGUSR2, count, NULL, 0, NULL) == 0);
    cw_mask_hold();
    if (!sigsetjmp(back, 1)) {
        raise(SIGUSR1);
        CHECK(0);
    }
    CHECK(cw_mask_is_held() && raise(SIGUSR2) == 0 && ran == 0);
    cw_mask_release();
    CHECK(ran == 1 && !cw_mask_is_held());
}

/* What is not allowed: out of a handler of cw_signal_on's. The thread stays held, and no release opens it. */
static void jumps_out_of_our_handler(void)
{
    CHECK(cw_signal_on(SIGUSR1, jump_out, NULL, 0, NULL) == 0 && cw_signal_on(SIGUSR2, count, NULL, 0, NULL) == 0);
    if (!sigsetjmp(back, 1)) {
        raise(SIGUSR1);
        CHECK(0);
    }
    cw_mask_release();
    cw_mask_release();
    CHECK(cw_mask_is_held() && raise(SIGUSR2) == 0);
    cw_mask_release();
    CHECK(cw_mask_is_held() && ran == 0);
}

static void raises(const struct cw_signal_info *info, void *unused)
{
    (void)info;
    (void)unused;
    raise(SIGUSR1);
}

/* Nor is a jump out of a release, by a handler of the program's own that interrupts what the release runs. */
static void jumps_out_of_a_release(void)
{
    jumps_by(SIGUSR1);
    CHECK(cw_signal_on(SIGUSR2, raises, NULL, 0, NULL) == 0);
    cw_mask_hold();
    CHECK(raise(SIGUSR2) == 0);
    if (!sigsetjmp(back, 1)) {
        cw_mask_release();
        CHECK(0);
    }
    cw_mask_release();
    CHECK(cw_mask_is_held());
}

/* A cancelled thread is not ended on the way to the line that says why the process ends. */
static void *unlocks_cancelled(void *unused)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    cw_masked_lock_unlock(cw_masked_lock_create());
    return unused;
}

static void not_taken_by_a_cancelled_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, unlocks_cancelled, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* A copy of a lock that is held is a lock that nobody releases. */
static void copies_of_locks(void)
{
    cw_spinlock_t lock = CW_SPINLOCK_INIT;
    cw_lockref_t entry = CW_LOCKREF_INIT(1);
    cw_spin_lock(&lock);
    cw_lockref_lock(&entry);
    cw_spinlock_t lock_copied = lock;
    cw_lockref_t entry_copied = entry;
    cw_spin_unlock(&lock);
    cw_lockref_unlock(&entry);
    CHECK(!cw_spin_is_locked(&lock) && cw_spin_is_locked(&lock_copied) && !cw_spin_trylock(&lock_copied));
    CHECK(cw_lockref_trylock(&entry) && !cw_lockref_trylock(&entry_copied));
}

static ucontext_t outside, inside;
static char stack[65536];
static struct cw_masked_lock *masked;
static int takes_the_lock;

/* Holds on one thread, and releases on the thread that resumes it. */
static void coroutine(void)
{
    if (takes_the_lock)
        CHECK(cw_masked_lock_trylock(masked));
    else
        cw_mask_hold();
    swapcontext(&inside, &outside);
    if (takes_the_lock)
        cw_masked_lock_unlock(masked);
    else
        cw_mask_release();
    CHECK(!cw_mask_is_held());
}

static void *resume(void *unused)
{
    CHECK(swapcontext(&outside, &inside) == 0);
    return unused;
}

/* Another thread's hold is its own: the coroutine's release ends it. */
static void *resume_under_a_hold(void *unused)
{
    cw_mask_hold();
    resume(NULL);
    CHECK(!cw_mask_is_held());
    return unused;
}

static void a_coroutine(int moves, void *(*resumes)(void *))
{
    pthread_t thread;
    CHECK(getcontext(&inside) == 0 && (masked = cw_masked_lock_create()));
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    resume(NULL);
    CHECK(cw_mask_is_held());
    if (moves) {
        CHECK(pthread_create(&thread, NULL, resumes, NULL) == 0 && pthread_join(thread, NULL) == 0);
        /* This thread still has its hold. */
        CHECK(cw_mask_is_held());
        cw_mask_release();
    } else {
        resume(NULL);
    }
    CHECK(!cw_mask_is_held());
    cw_masked_lock_destroy(masked);
}

/* A thread that forks has its locks in the child too, and their holds. */
static void in_a_child(void)
{
    int status = -1;
    CHECK((masked = cw_masked_lock_create()) && cw_masked_lock_trylock(masked));
    const pid_t child = fork();
    CHECK(child >= 0);
    cw_masked_lock_unlock(masked);
    CHECK(!cw_mask_is_held() && cw_masked_lock_trylock(masked));
    if (child == 0)
        _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "";
    begin();
    takes_the_lock = !strcmp(name, "lock moves") || !strcmp(name, "lock stays");
    if (!strcmp(name, "inline"))
        jumps_out_of_inline_functions();
    else if (!strcmp(name, "hold"))
        jumps_under_a_hold();
    else if (!strcmp(name, "ours"))
        jumps_out_of_our_handler();
    else if (!strcmp(name, "copies"))
        copies_of_locks();
    else if (!strcmp(name, "lock stays") || !strcmp(name, "hold stays"))
        a_coroutine(0, resume);
    else if (!strcmp(name, "lock moves") || !strcmp(name, "hold moves"))
        a_coroutine(1, resume);
    else if (!strcmp(name, "hold ends another"))
        a_coroutine(1, resume_under_a_hold);
    else if (!strcmp(name, "release"))
        jumps_out_of_a_release();
    else if (!strcmp(name, "cancelled"))
        not_taken_by_a_cancelled_thread();
    else if (!strcmp(name, "child"))
        in_a_child();
    else if (!strcmp(name, "not taken"))
        cw_masked_lock_unlock(cw_masked_lock_create());
    else
        return 2;
    return 0;
}
