// Callbacks that leave in other ways than by returning, and locks of threads that end: `unwinding CALLBACK WAY` has a thread call the
// callback, which leaves that way; `unwinding locks` has threads end that hold locks.
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <cyclewise/atomic.h>
#include <cyclewise/cyclewise.h>
#include "check.h"

static std::string callback, way;
static bool has_returned;

static void leave()
{
    if (way == "exit")
        pthread_exit(nullptr);
    if (way == "throw")
        throw std::runtime_error("thrown");
    CHECK(way == "cancel");
    CHECK(pthread_cancel(pthread_self()) == 0);
    pthread_testcancel();
    usleep(1);
    has_returned = true;
}

static void released(void *) { leave(); }
static void handle(const cw_signal_info *, void *) { leave(); }
static void misused(const cw_refcount_misuse *) { leave(); }

static void call()
{
    cw_percpu_ref *count = cw_percpu_ref_create(callback == "confirm" ? nullptr : released, nullptr);
    cw_refcount_t dead = CW_REFCOUNT_INIT(0U);
    if (callback == "kill")
        cw_percpu_ref_kill(count, nullptr, nullptr);
    else if (callback == "confirm")
        cw_percpu_ref_kill_and_confirm(count, released, nullptr, nullptr, nullptr);
    else if (callback == "put") {
        cw_percpu_ref_get(count);
        cw_percpu_ref_kill(count, nullptr, nullptr);
        cw_percpu_ref_put(count);
    } else if (callback == "handler" || callback == "replay") {
        CHECK(cw_signal_on(SIGUSR1, handle, nullptr, 0, nullptr) == 0);
        if (callback == "handler") {
            raise(SIGUSR1);
        } else {
            cw_mask_hold();
            raise(SIGUSR1);
            cw_mask_release();
        }
    } else if (callback == "misuse") {
        cw_refcount_set_hook(misused);
        cw_refcount_inc(&dead);
    } else {
        CHECK(callback == "none");
        leave();
    }
    cw_percpu_ref_destroy(count);
}

static void *run(void *)
{
    try {
        call();
    } catch (std::runtime_error &) {
        return nullptr;
    }
    // Cancelled in a callback, so it ends here.
    CHECK(has_returned);
    pthread_testcancel();
    CHECK(false);
    return nullptr;
}

static cw_spinlock_t lock = CW_SPINLOCK_INIT;
static cw_masked_lock *masked;
static std::jmp_buf place;

struct Both {
    Both()
    {
        cw_spin_lock(&lock);
        CHECK(cw_masked_lock_lock(masked, nullptr) == 0);
    }
    ~Both()
    {
        cw_masked_lock_unlock(masked);
        cw_spin_unlock(&lock);
    }
};

static void *end_with_guard(void *)
{
    Both both;
    CHECK(pthread_cancel(pthread_self()) == 0);
    pthread_testcancel();
    return nullptr;
}

static void unlock(void *) { cw_spin_unlock(&lock); }
static void *end_with_cleanup(void *)
{
    cw_spin_lock(&lock);
    pthread_cleanup_push(unlock, nullptr);
    pthread_exit(nullptr);
    pthread_cleanup_pop(1);
    return nullptr;
}

static void *end_without(void *)
{
    cw_spin_lock(&lock);
    pthread_exit(nullptr);
    return nullptr;
}

static void join(void *(*start)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, nullptr, start, nullptr) == 0);
    CHECK(pthread_join(thread, nullptr) == 0);
}

static void locks()
{
    masked = cw_masked_lock_create();
    join(end_with_guard);
    CHECK(!cw_spin_is_locked(&lock) && cw_masked_lock_trylock(masked));
    cw_masked_lock_unlock(masked);
    cw_masked_lock_destroy(masked);
    join(end_with_cleanup);
    CHECK(!cw_spin_is_locked(&lock));
    // What nobody gives back stays taken: by a jump over the unlock, and by a thread that ends.
    if (setjmp(place) == 0) {
        cw_spin_lock(&lock);
        std::longjmp(place, 1);
    }
    CHECK(cw_spin_is_locked(&lock) && !cw_spin_timedlock(&lock, 1000));
    cw_spin_unlock(&lock);
    join(end_without);
    CHECK(cw_spin_is_locked(&lock));
}

int main(int argc, char **argv)
{
    begin();
    callback = argc > 1 ? argv[1] : "";
    way = argc > 2 ? argv[2] : "";
    if (callback == "locks")
        locks();
    else
        join(run);
    return 0;
}
