/* Single and confined mode, with the hooks: LOCK is elided, and in force before a second thread runs. */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include <sys/wait.h>
#include <threads.h>
#include "check.h"

static struct cw_state now(void)
{
    struct cw_state state;
    cw_get_state(&state);
    return state;
}

static void *look(void *state)
{
    cw_get_state(state);
    return state;
}

static int look_c11(void *state)
{
    cw_get_state(state);
    return 7;
}

static void a_thread_runs_with_lock(void)
{
    struct cw_state seen;
    pthread_t thread;
    CHECK(now().mode == CW_MODE_SINGLE);
    CHECK(pthread_create(&thread, NULL, look, &seen) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(seen.mode == CW_MODE_LOCKED && seen.elided == 0);
}

static void a_thread_of_c11_runs_with_lock(void)
{
    struct cw_state seen;
    thrd_t thread;
    int result;
    CHECK(cw_reelide_lock(NULL) == 0 && now().mode == CW_MODE_SINGLE);
    CHECK(thrd_create(&thread, look_c11, &seen) == thrd_success);
    CHECK(thrd_join(thread, &result) == thrd_success && result == 7);
    CHECK(seen.mode == CW_MODE_LOCKED && seen.elided == 0);
}

static int ends;
static void *wait_for_end(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE))
        usleep(100);
    return NULL;
}

static void other_threads_are_a_reason(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_end, NULL) == 0);
    CHECK_REFUSED(cw_reelide_lock(&why), CW_REFUSED_OTHER_THREADS);
    CHECK(now().elided == 0);
    __atomic_store_n(&ends, 1, __ATOMIC_RELEASE);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(cw_reelide_lock(NULL) == 0 && now().mode == CW_MODE_SINGLE);
}

static void locking_restores(void)
{
    CHECK(cw_restore_lock(NULL) == 0 && now().mode == CW_MODE_LOCKED && now().elided == 0);
    CHECK(cw_restore_lock(NULL) == 0);
    CHECK(cw_reelide_lock(NULL) == 0 && now().elided == now().sites);
}

static void a_child_inherits_the_mode(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(now().mode == CW_MODE_SINGLE && now().elided == now().sites);
        a_thread_runs_with_lock();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(now().mode == CW_MODE_SINGLE);
}

static void confined_mode_is_entered_and_left_once(void)
{
    CHECK_REFUSED(cw_confined_leave(&why), CW_REFUSED_WRONG_MODE);
    CHECK(cw_confined_enter(-1, NULL) == 0);
    CHECK(now().mode == CW_MODE_CONFINED && now().elided == now().sites);
    CHECK(cw_confined_check(NULL) == 0 && cw_confined_audit(NULL) == 0);
    CHECK_REFUSED(cw_confined_enter(-1, &why), CW_REFUSED_WRONG_MODE);
    CHECK_REFUSED(cw_restore_lock(&why), CW_REFUSED_WRONG_MODE);
    CHECK(cw_confined_leave(NULL) == 0);
    CHECK(now().mode == CW_MODE_LOCKED && now().elided == 0);
    CHECK_REFUSED(cw_confined_leave(&why), CW_REFUSED_WRONG_MODE);
    /* No machine has this CPU. */
    struct cw_refusal why;
    CHECK(cw_confined_enter(1 << 30, &why) == why.code && why.code != 0);
    CHECK(now().mode == CW_MODE_LOCKED && now().elided == 0);
}

int main(void)
{
    begin();
    CHECK_REFUSED(cw_reelide_lock(&why), CW_REFUSED_NOT_ENABLED);
    CHECK_REFUSED(cw_confined_enter(-1, &why), CW_REFUSED_NOT_ENABLED);
    CHECK(cw_apply_alternatives(NULL) == 0);
    CHECK(cw_enable_single(NULL) == 0);
    struct cw_state state = now();
    CHECK(state.mode == CW_MODE_SINGLE && state.sites > 0 && state.elided == state.sites);
    cw_get_state(NULL);
    a_thread_runs_with_lock();
    a_thread_of_c11_runs_with_lock();
    other_threads_are_a_reason();
    locking_restores();
    a_child_inherits_the_mode();
    confined_mode_is_entered_and_left_once();
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", CW_VERSION_MAJOR, CW_VERSION_MINOR, CW_VERSION_PATCH);
    CHECK(strcmp(cw_version(), version) == 0);
    return 0;
}
