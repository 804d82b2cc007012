/* Begins threads one after the other; each executes ten locked instructions. With OVERLAP each begins before the one before it has
   ended.

   many_threads THREADS [OVERLAP] */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static long word;

__attribute__((noinline, noclone)) static void work(void) {
    /* The compiler does not know how many, so it makes one loop of it. */
    for (volatile int i = 0; i < 5; i++)
        __asm__ volatile(".globl site_thread\nsite_thread: lock incq %0" : "+m"(word)::"cc");
}

/* getppid, without the dynamic linker, which would execute locked instructions of its own on the way. */
static void ask(void) {
    long result = SYS_getppid;
    __asm__ volatile("syscall" : "+a"(result)::"rcx", "r11", "memory");
}

static void *run(void *argument) {
    long *may_end = argument;
    sched_yield();
    for (int i = 0; i < 2; i++) {
        /* One function, so that there is one site. */
        work();
        if (i == 0)
            ask();
    }
    while (may_end && !*(volatile long *)may_end)
        sched_yield();
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    long *may_end = argc > 2 ? calloc((size_t)threads, sizeof *may_end) : NULL;
    pthread_t before, thread;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread, NULL, run, may_end ? &may_end[i] : NULL))
            return 1;
        if (may_end && i > 0) {
            *(volatile long *)&may_end[i - 1] = 1;
            pthread_join(before, NULL);
        }
        before = thread;
        if (!may_end)
            pthread_join(thread, NULL);
    }
    if (may_end) {
        *(volatile long *)&may_end[threads - 1] = 1;
        pthread_join(before, NULL);
    }
    printf("site_thread %d\n", threads * 10);
    return 0;
}
