// A count that is reached by known calls: from two functions, in a recursion, after longjmp and a signal, across coroutines, and on another
// thread.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static long count;
static jmp_buf back;

__attribute__((noinline, noclone)) void leaf(void) {
    __asm__ volatile(".globl site_leaf\nsite_leaf: lock incq %0" : "+m"(count)::"cc", "memory");
}

// Nothing is a tail call, which has no caller of its own.
__attribute__((noinline, noclone)) void middle(void) {
    leaf();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) void often(void) {
    for (int i = 0; i < 30; i++)
        middle();
}

__attribute__((noinline, noclone)) void seldom(void) {
    for (int i = 0; i < 10; i++)
        leaf();
}

__attribute__((noinline, noclone)) void jumps(int depth) {
    if (depth == 0)
        longjmp(back, 1);
    jumps(depth - 1);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) void lands(void) {
    if (!setjmp(back))
        jumps(5);
    for (int i = 0; i < 5; i++)
        leaf();
}

__attribute__((noinline, noclone)) void handler(int signal) {
    (void)signal;
    leaf();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) void interrupted(void) {
    for (int i = 0; i < 4; i++) {
        raise(SIGUSR1);
        leaf();
    }
}

static ucontext_t driver, coroutine;

__attribute__((noinline, noclone)) void yields(void) {
    for (int i = 0; i < 3; i++) {
        middle();
        swapcontext(&coroutine, &driver);
    }
}

__attribute__((noinline, noclone)) void drives(void) {
    static char stack[1 << 16];
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &driver;
    makecontext(&coroutine, yields, 0);
    for (int i = 0; i < 3; i++) {
        swapcontext(&driver, &coroutine);
        leaf();
    }
}

__attribute__((noinline, noclone)) void *thread(void *unused) {
    (void)unused;
    for (int i = 0; i < 7; i++)
        middle();
    return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, noclone)) void guarded(void) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        count += 2;
        pthread_mutex_unlock(&mutex);
    }
}

__attribute__((noinline, noclone)) void reads(FILE *file) {
    char one[2];
    for (int i = 0; i < 20; i++)
        if (!fgets(one, sizeof one, file))
            exit(1);
}

int main(void) {
    pthread_t other;
    often();
    seldom();
    lands();
    seldom();
    signal(SIGUSR1, handler);
    interrupted();
    drives();
    if (pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL))
        return 1;
    guarded();
    FILE *zeros = fopen("/dev/zero", "r");
    if (!zeros)
        return 1;
    reads(zeros);
    return 0;
}
