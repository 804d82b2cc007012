/* Counts what it executes: threads run known loops over each form of locked instruction, whose label is a symbol. It prints
   each label with the number of its executions.

   counter THREADS LOOPS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INC, DEC, ADD, SUB, XADD, CMPXCHG, CMPXCHG16B, XCHG, XCHG_BYTE, BTS, OR, MFENCE, STACK, UNALIGNED, FORMS };

static const char *const names[FORMS] = {
    "site_inc", "site_dec", "site_add", "site_sub", "site_xadd", "site_cmpxchg", "site_cmpxchg16b",
    "site_xchg", "site_xchg_byte", "site_bts", "site_or", "site_mfence", "site_stack", "site_unaligned",
};

static uint64_t word, other, flag;
static uint64_t pair[2] __attribute__((aligned(16)));
/* Its second half lies in another cache line. */
static char unaligned[128] __attribute__((aligned(64)));

struct thread {
    pthread_t thread;
    unsigned long loops;
    unsigned long executed[FORMS];
};

#define SITE(name) ".globl " name "\n" name ": "

__attribute__((noinline, noclone)) static void *run(void *argument) {
    struct thread *me = argument;
    uint64_t one, old, new;
    for (unsigned long i = 0; i < me->loops; i++) {
        __asm__ volatile(SITE("site_inc") "lock incq %0" : "+m"(word)::"cc");
        me->executed[INC]++;
        __asm__ volatile(SITE("site_dec") "lock decq %0" : "+m"(word)::"cc");
        me->executed[DEC]++;
        __asm__ volatile(SITE("site_add") "lock addl $3, %0" : "+m"(other)::"cc");
        me->executed[ADD]++;
        if (i % 3 == 0) {
            __asm__ volatile(SITE("site_sub") "lock subl $9, %0" : "+m"(other)::"cc");
            me->executed[SUB]++;
        }
        one = 1;
        __asm__ volatile(SITE("site_xadd") "lock xaddq %1, %0" : "+m"(word), "+r"(one)::"cc", "memory");
        me->executed[XADD]++;
        old = *(volatile uint64_t *)&other;
        for (;;) {
            unsigned char done;
            new = old + 1;
            __asm__ volatile(SITE("site_cmpxchg") "lock cmpxchgq %3, %1\n\tsete %2"
                             : "+a"(old), "+m"(other), "=q"(done)
                             : "r"(new)
                             : "cc", "memory");
            me->executed[CMPXCHG]++;
            if (done)
                break;
        }
        __asm__ volatile(SITE("site_cmpxchg16b") "lock cmpxchg16b %0"
                         : "+m"(pair)
                         : "a"(0ul), "d"(0ul), "b"(0ul), "c"(0ul)
                         : "cc", "memory");
        me->executed[CMPXCHG16B]++;
        one = 1;
        __asm__ volatile(SITE("site_xchg") "xchgq %1, %0" : "+m"(flag), "+r"(one)::"memory");
        me->executed[XCHG]++;
        __asm__ volatile(SITE("site_xchg_byte") "xchgb %b1, %0" : "+m"(*(char *)&flag), "+q"(one)::"memory");
        me->executed[XCHG_BYTE]++;
        __asm__ volatile(SITE("site_bts") "lock btsq $7, %0" : "+m"(flag)::"cc");
        me->executed[BTS]++;
        __asm__ volatile(SITE("site_or") "lock orb $2, %0" : "+m"(*(char *)&flag)::"cc");
        me->executed[OR]++;
        __asm__ volatile(SITE("site_mfence") "mfence" ::: "memory");
        me->executed[MFENCE]++;
        __asm__ volatile(SITE("site_stack") "lock orl $0, (%%rsp)" ::: "cc", "memory");
        me->executed[STACK]++;
        if (i % 4 == 0) {
            __asm__ volatile(SITE("site_unaligned") "lock incl %0" : "+m"(*(int *)(unaligned + 62))::"cc");
            me->executed[UNALIGNED]++;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    struct thread *all = calloc((size_t)threads, sizeof *all);
    unsigned long sums[FORMS] = {0};
    for (int t = 0; t < threads; t++)
        all[t].loops = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    for (int t = 1; t < threads; t++)
        if (pthread_create(&all[t].thread, NULL, run, &all[t]))
            return 1;
    run(&all[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(all[t].thread, NULL);
    for (int form = 0; form < FORMS; form++) {
        for (int t = 0; t < threads; t++)
            sums[form] += all[t].executed[form];
        printf("%s %lu\n", names[form], sums[form]);
    }
    return 0;
}
