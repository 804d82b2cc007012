/* Executes locked instructions that fault first, and succeed when a handler has given the page back.

   faults READ THREADS: with READ the page may be read, so that the store alone faults */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOPS = 100 };

static char *page;
static volatile int faults;

static void on_fault(int signal) {
    (void)signal;
    faults++;
    mprotect(page, 8192, PROT_READ | PROT_WRITE);
}

static void *idle(void *argument) {
    pause();
    return argument;
}

#define SITE(name) ".globl " name "\n" name ": "

int main(int argc, char **argv) {
    int protection = argc > 1 && atoi(argv[1]) ? PROT_READ : PROT_NONE;
    pthread_t thread;
    page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_fault);
    if (argc > 2 && atoi(argv[2]) > 1 && pthread_create(&thread, NULL, idle, NULL))
        return 97;
    int *word = (int *)page, *unaligned = (int *)(page + 4094);
    long *pair = (long *)(page + 64);
    for (int i = 0; i < LOOPS; i++) {
        int one = 1, old = 7;
        long low = 0, high = 0;
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_inc") "lock incl %0" : "+m"(*word)::"cc");
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_xchg") "xchgl %1, %0" : "+m"(*word), "+r"(one)::"memory");
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_failing") "lock cmpxchgl %2, %0" : "+m"(*word), "+a"(old) : "r"(9) : "cc", "memory");
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_pair") "lock cmpxchg16b %0"
                         : "+m"(*(__int128 *)pair), "+a"(low), "+d"(high)
                         : "b"(0l), "c"(0l)
                         : "cc", "memory");
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_unaligned") "lock incl %0" : "+m"(*unaligned)::"cc");
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_neg") "lock negl %0" : "+m"(*word)::"cc");
        mprotect(page, 8192, protection);
        __asm__ volatile(SITE("site_neg_unaligned") "lock negl %0" : "+m"(*unaligned)::"cc");
    }
    printf("site_neg %d\nsite_neg_unaligned %d\n", LOOPS, LOOPS);
    printf("site_inc %d\nsite_xchg %d\nsite_failing %d\nsite_pair %d\nsite_unaligned %d\n", LOOPS, LOOPS, LOOPS, LOOPS, LOOPS);
    return faults != 7 * LOOPS;
}
