/* Handlers and stacks without room for a signal's frame: a coroutine's, here, and with CW_GO a goroutine's. A coroutine's ends at a page
 * that nobody may touch. With the argument "twin" the handler has no SA_ONSTACK. */
#define _GNU_SOURCE
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "check.h"

#define PAGE 65536

static volatile int ran, depth;

static void handler(const struct cw_signal_info *info, void *argument)
{
    stack_t stack;
    (void)info;
    (void)argument;
    CHECK(sigaltstack(NULL, &stack) == 0);
    if (!(stack.ss_flags & SS_ONSTACK))
        _exit(7);
    __atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED);
}

static void registered(int signal, const char *twin)
{
    CHECK(cw_signal_on(signal, handler, NULL, 0, NULL) == 0);
    struct sigaction action;
    CHECK(sigaction(signal, NULL, &action) == 0 && action.sa_flags & SA_ONSTACK);
    if (!strcmp(twin, "twin")) {
        action.sa_flags &= ~SA_ONSTACK;
        CHECK(sigaction(signal, &action, NULL) == 0);
    }
}

#if defined(CW_GO)

/* Runs goroutines for a while; those that are preempted have stacks of 2 KiB. */
int run_goroutines(void);

static void *send(void *done)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    while (!__atomic_load_n((int *)done, __ATOMIC_RELAXED)) {
        CHECK(kill(getpid(), SIGRTMIN + 5) == 0);
        usleep(100);
    }
    return NULL;
}

static void run(const char *twin)
{
    int done = 0;
    pthread_t sender;
    sigset_t signals;
    /* Only threads of Go's take it. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGRTMIN + 5);
    CHECK(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
    /* Go's first thread, which starts with the program, has no alternate stack before. */
    CHECK(run_goroutines() == 8);
    registered(SIGRTMIN + 5, twin);
    CHECK(pthread_create(&sender, NULL, send, &done) == 0);
    while (__atomic_load_n(&ran, __ATOMIC_RELAXED) < 100)
        CHECK(run_goroutines() == 8);
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    CHECK(pthread_join(sender, NULL) == 0);
}

#else

static ucontext_t outside, inside;
static char *end;

/* Leaves 768 bytes of the stack: less than any frame, more than a system call takes. */
static void __attribute__((noinline)) near_the_end(void)
{
    const size_t room = (size_t)((char *)__builtin_frame_address(0) - end) - 768;
    volatile char *taken = __builtin_alloca(room);
    taken[0] = 1;
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
    cw_mask_hold();
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
    CHECK(cw_mask_is_pending());
}

static void coroutine(void)
{
    near_the_end();
    depth = ran;
    swapcontext(&inside, &outside);
}

static char *guarded(size_t size)
{
    char *at = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED && mprotect(at, PAGE, PROT_NONE) == 0);
    return at + PAGE;
}

static void run(const char *twin)
{
    /* As much as the header asks for, twice, as this may be an unoptimized build. */
    const size_t size = getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : 16384;
    stack_t alternate = {.ss_size = size + 2 * 1024};
    alternate.ss_sp = guarded(alternate.ss_size);
    CHECK(sigaltstack(&alternate, NULL) == 0);
    registered(SIGUSR1, twin);
    CHECK(raise(SIGUSR1) == 0 && ran == 1);
    CHECK(getcontext(&inside) == 0);
    end = guarded(PAGE);
    inside.uc_stack.ss_sp = end;
    inside.uc_stack.ss_size = PAGE;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    CHECK(swapcontext(&outside, &inside) == 0);
    /* Under its hold the second waits; the release, here, runs it on this stack, where the handler would leave with 7. */
    CHECK(depth == 2 && ran == 2 && cw_mask_is_pending());
    CHECK(cw_signal_off(SIGUSR1, NULL) == 0);
    cw_mask_release();
    CHECK(ran == 2 && !cw_mask_is_held());
}

#endif

int main(int count, char **arguments)
{
    begin();
    run(count > 1 ? arguments[1] : "");
    return 0;
}
