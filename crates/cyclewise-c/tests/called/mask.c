/* The soft mask: handlers wait for the release; nesting, save and restore, the lock for data, polling, threads, a child. */
#define _GNU_SOURCE
#if defined(NO_OFFSET)
/* A library whose mask is laid out otherwise, or at another distance in each thread. */
#include <cyclewise/called.h>
#define cw_mask_offset(layout) 0
#endif
#include <cyclewise/cyclewise.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "check.h"

static volatile int ran;
static volatile size_t values[8];
static volatile int held_inside;

static void handler(const struct cw_signal_info *info, void *argument)
{
    CHECK(argument == (void *)&ran && info->signal == SIGRTMIN + 1);
    held_inside = cw_mask_is_held();
    if (ran < 8)
        values[ran] = info->value;
    ran++;
}

static void send(int signal, int value)
{
    union sigval with;
    memset(&with, 0, sizeof with);
    with.sival_int = value;
    CHECK(sigqueue(getpid(), signal, with) == 0);
}

static void handlers_wait_for_the_release(void)
{
    ran = 0;
    send(SIGRTMIN + 1, 1);
    CHECK(ran == 1 && held_inside && !cw_mask_is_held());
    cw_mask_hold();
    CHECK(cw_mask_is_held() && !cw_mask_is_pending());
    send(SIGRTMIN + 1, 2);
    send(SIGRTMIN + 1, 3);
    CHECK(ran == 1 && cw_mask_is_pending());
    cw_mask_release();
    CHECK(ran == 3 && (int)values[1] == 2 && (int)values[2] == 3 && !cw_mask_is_held() && !cw_mask_is_pending());
}

/* The twin: without a hold a handler runs at once. */
static void without_a_hold_nothing_waits(void)
{
    ran = 0;
    send(SIGRTMIN + 1, 1);
    CHECK(ran == 1);
}

static void holds_nest(void)
{
    ran = 0;
    for (int n = 0; n < 5; n++)
        cw_mask_hold();
    send(SIGRTMIN + 1, 1);
    for (int n = 0; n < 4; n++) {
        cw_mask_release();
        CHECK(ran == 0 && cw_mask_is_held());
    }
    cw_mask_release();
    CHECK(ran == 1 && !cw_mask_is_held());
    /* One too many does nothing. */
    cw_mask_release();
    cw_mask_release();
    CHECK(!cw_mask_is_held());
    cw_mask_hold();
    send(SIGRTMIN + 1, 1);
    CHECK(ran == 1);
    cw_mask_release();
    CHECK(ran == 2);
}

static volatile int inside, nested;

static void releases_too_often(const struct cw_signal_info *info, void *argument)
{
    (void)argument;
    nested += inside++;
    cw_mask_release();
    cw_mask_hold();
    cw_mask_release();
    cw_mask_release();
    cw_mask_restore(1);
    CHECK(cw_mask_is_held());
    /* Let through here, it waits for the end of this handler. */
    if (info->value == 1) {
        sigset_t none;
        sigemptyset(&none);
        CHECK(pthread_sigmask(SIG_SETMASK, &none, NULL) == 0);
        send(SIGRTMIN + 3, 2);
    }
    inside--;
    ran++;
}

static void one_too_many_does_nothing_in_a_handler(void)
{
    CHECK(cw_signal_on(SIGRTMIN + 3, releases_too_often, NULL, 0, NULL) == 0);
    for (int held = 0; held < 2; held++) {
        ran = 0;
        if (held)
            cw_mask_hold();
        send(SIGRTMIN + 3, 1);
        send(SIGRTMIN + 3, 3);
        if (held)
            cw_mask_release();
        CHECK(ran == 3 && nested == 0 && !cw_mask_is_held() && !cw_mask_is_pending());
    }
    CHECK(cw_signal_off(SIGRTMIN + 3, NULL) == 0);
}

static void saving_and_restoring(void)
{
    ran = 0;
    bool outer = cw_mask_save();
    CHECK(outer);
    bool inner = cw_mask_save();
    CHECK(!inner);
    send(SIGRTMIN + 1, 1);
    cw_mask_restore(inner);
    CHECK(ran == 0 && cw_mask_is_held());
    cw_mask_restore(outer);
    CHECK(ran == 1 && !cw_mask_is_held());
}

static void many_are_all_delivered(void)
{
    ran = 0;
    cw_mask_hold();
    for (int n = 0; n < 100; n++)
        send(SIGRTMIN + 1, n);
    CHECK(ran == 0 && cw_mask_overflows() > 0);
    cw_mask_release();
    CHECK(ran == 100 && cw_mask_lost() == 0);
}

static void registering_is_refused(void)
{
    CHECK_REFUSED(cw_signal_on(SIGRTMIN + 1, handler, NULL, 0, &why), CW_REFUSED_SIGNAL_TAKEN);
    CHECK_REFUSED(cw_signal_on(SIGSEGV, handler, NULL, 0, &why), CW_REFUSED_FAULT);
    CHECK_REFUSED(cw_signal_on(SIGKILL, handler, NULL, 0, &why), CW_REFUSED_SIGNAL);
    CHECK_REFUSED(cw_signal_on(0, handler, NULL, 0, &why), CW_REFUSED_SIGNAL);
    CHECK_REFUSED(cw_signal_on(1000, handler, NULL, 0, &why), CW_REFUSED_SIGNAL);
    CHECK_REFUSED(cw_signal_on(SIGUSR1, NULL, NULL, 0, &why), CW_REFUSED_ARGUMENT);
    CHECK_REFUSED(cw_signal_on(SIGUSR1, handler, NULL, 2, &why), CW_REFUSED_ARGUMENT);
    CHECK_REFUSED(cw_signal_off(SIGUSR1, &why), CW_REFUSED_SIGNAL_NOT_OURS);
    CHECK_REFUSED(cw_signal_off(-1, &why), CW_REFUSED_SIGNAL_NOT_OURS);
    struct cw_refusal why;
    CHECK(cw_signal_off(65, &why) && strstr(why.message, "there is no signal 65"));
}

/* Data that a handler and the program share. */
static struct cw_masked_lock *journal;
static long entries, refused;
static void log_entry(const struct cw_signal_info *info, void *unused)
{
    (void)info;
    (void)unused;
    if (cw_masked_lock_timedlock(journal, 1000000000)) {
        entries++;
        cw_masked_lock_unlock(journal);
    } else {
        __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
    }
}

static void *log_entries(void *unused)
{
    for (int n = 0; n < 20000; n++) {
        CHECK(cw_masked_lock_lock(journal, NULL) == 0);
        entries++;
        cw_masked_lock_unlock(journal);
        if (n % 100 == 0)
            pthread_kill(pthread_self(), SIGRTMIN + 2);
    }
    return unused;
}

static void data_is_shared_with_handlers(void)
{
    journal = cw_masked_lock_create();
    CHECK(journal && cw_signal_on(SIGRTMIN + 2, log_entry, NULL, 0, NULL) == 0);
    CHECK(cw_masked_lock_lock(journal, NULL) == 0 && cw_mask_is_held());
    CHECK_REFUSED(cw_masked_lock_lock(journal, &why), CW_REFUSED_DEADLOCK);
    CHECK(!cw_masked_lock_trylock(journal) && !cw_masked_lock_timedlock(journal, 1000));
    raise(SIGRTMIN + 2);
    CHECK(entries == 0);
    cw_masked_lock_unlock(journal);
    CHECK(entries == 1 && !cw_mask_is_held());
    CHECK(cw_masked_lock_trylock(journal) && cw_mask_is_held());
    cw_masked_lock_unlock(journal);
    pthread_t threads[3];
    for (int n = 0; n < 3; n++)
        CHECK(pthread_create(&threads[n], NULL, log_entries, NULL) == 0);
    for (int n = 0; n < 3; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
    CHECK(entries + refused == 1 + 3 * (20000 + 200));
    CHECK(cw_signal_off(SIGRTMIN + 2, NULL) == 0);
    cw_masked_lock_destroy(journal);
    cw_masked_lock_destroy(NULL);
}

static void *ends_with_it(void *lock)
{
    CHECK(cw_masked_lock_lock(lock, NULL) == 0);
    return NULL;
}

static void a_lock_whose_owner_has_ended_is_refused(void)
{
    pthread_t thread;
    struct cw_masked_lock *lock = cw_masked_lock_create();
    CHECK(lock && pthread_create(&thread, NULL, ends_with_it, lock) == 0 && pthread_join(thread, NULL) == 0);
    CHECK_REFUSED(cw_masked_lock_lock(lock, &why), CW_REFUSED_DEADLOCK);
    CHECK(!cw_mask_is_held());
    cw_masked_lock_destroy(lock);
}

static void polling_misses_no_signal(void)
{
    int woken = -1, ends[2];
    size_t ready = 99;
    CHECK(pipe(ends) == 0);
    struct pollfd polled[3] = {{ends[0], POLLIN, 7}, {-1, POLLIN, 7}, {ends[1], POLLOUT, 7}};
    CHECK_REFUSED(cw_mask_poll(polled, 1, 0, &woken, &ready, &why), CW_REFUSED_ARGUMENT);
    cw_mask_hold();
    CHECK(cw_mask_poll(NULL, 0, 1000000, &woken, &ready, NULL) == 0 && woken == CW_MASK_TIMEOUT);
    CHECK(cw_mask_poll(NULL, 0, 0, NULL, NULL, NULL) == 0);
    CHECK_REFUSED(cw_mask_poll(NULL, 1, 0, &woken, &ready, &why), CW_REFUSED_ARGUMENT);
    CHECK(cw_mask_poll(polled, 1, 1000000, &woken, &ready, NULL) == 0 && woken == CW_MASK_TIMEOUT);
    CHECK(cw_mask_poll(polled, 3, -1, &woken, &ready, NULL) == 0 && woken == CW_MASK_READY && ready == 1);
    CHECK(polled[0].revents == 0 && polled[1].revents == 0 && polled[2].revents == POLLOUT);
    ran = 0;
    send(SIGRTMIN + 1, 1);
    /* Recorded before the sleep, which would be for ever. */
    CHECK(cw_mask_poll(polled, 1, -1, &woken, &ready, NULL) == 0 && woken == CW_MASK_SIGNAL && ran == 0);
    cw_mask_release();
    CHECK(ran == 1);
    close(ends[0]);
    close(ends[1]);
}

static void *in_a_thread(void *unused)
{
    CHECK(!cw_mask_is_held());
    cw_mask_hold();
    CHECK(cw_mask_is_held());
    cw_mask_release();
    return unused;
}

int main(void)
{
    begin();
#if !defined(NO_OFFSET)
    CHECK(cw_mask_offset(1) != 0 && cw_mask_offset(0) == 0 && cw_mask_offset(2) == 0);
#endif
    CHECK(cw_signal_on(SIGRTMIN + 1, handler, (void *)&ran, 0, NULL) == 0);
    handlers_wait_for_the_release();
    without_a_hold_nothing_waits();
    holds_nest();
    one_too_many_does_nothing_in_a_handler();
    saving_and_restoring();
    many_are_all_delivered();
    registering_is_refused();
    data_is_shared_with_handlers();
    a_lock_whose_owner_has_ended_is_refused();
    polling_misses_no_signal();
    pthread_t thread;
    cw_mask_hold();
    CHECK(pthread_create(&thread, NULL, in_a_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(cw_mask_is_held());
        cw_mask_release();
        handlers_wait_for_the_release();
        _exit(0);
    }
    cw_mask_release();
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(cw_signal_off(SIGRTMIN + 1, NULL) == 0);
    /* And one that interrupts what cannot be restarted, or can. */
    CHECK(cw_signal_on(SIGUSR1, log_entry, NULL, CW_SIGNAL_INTERRUPTS, NULL) == 0 && cw_signal_off(SIGUSR1, NULL) == 0);
    return 0;
}
