/* Uses words in ways that are known: each site has words of one kind.

   words */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SITE(name) ".globl " name "\n" name ": "

static long own, moved;
static int lock;

struct counted {
    long count;
    char rest[24];
};

static void start(struct counted *c) {
    *(volatile long *)&c->count = 1;
}

/* Counts that one thread uses, at one address again and again, while at that address others were used by two threads. */
__attribute__((noinline, noclone)) static void private_count(struct counted *c) {
    __asm__ volatile(SITE("private_up") "lock incq %0" : "+m"(c->count)::"cc");
    __asm__ volatile(SITE("private_down") "lock decq %0" : "+m"(c->count)::"cc");
    __asm__ volatile(SITE("private_last") "lock decq %0" : "+m"(c->count)::"cc");
}

__attribute__((noinline, noclone)) static void count_up(struct counted *c) {
    long one = 1;
    __asm__ volatile(SITE("shared_up") "lock xaddq %1, %0" : "+m"(c->count), "+r"(one)::"cc");
}

__attribute__((noinline, noclone)) static void count_down(struct counted *c) {
    long one = -1;
    __asm__ volatile(SITE("shared_down") "lock xaddq %1, %0" : "+m"(c->count), "+r"(one)::"cc");
}

/* A word that goes back to zero and is the same one: a lock. */
__attribute__((noinline, noclone)) static void lock_once(void) {
    int expected = 0;
    __asm__ volatile(SITE("lock_take") "lock cmpxchgl %2, %0" : "+m"(lock), "+a"(expected) : "r"(1) : "cc", "memory");
    __asm__ volatile(SITE("lock_back") "lock decl %0" : "+m"(lock)::"cc", "memory");
}

/* What a thread works on that another one looks at when it joins, and words of one line that two threads use in turns. */
static long worked;
static struct {
    _Alignas(64) long left;
    long right;
} line;

static void *worker(void *unused) {
    (void)unused;
    for (volatile int i = 0; i < 400; i++)
        __asm__ volatile(SITE("worked_up") "lock incq %0" : "+m"(worked)::"cc");
    for (volatile int i = 0; i < 20000; i++)
        __asm__ volatile(SITE("line_left") "lock incq %0" : "+m"(line.left)::"cc");
    return NULL;
}

static void *other(void *argument) {
    count_down(argument);
    lock_once();
    __asm__ volatile(SITE("moved_after") "lock incq %0" : "+m"(moved)::"cc");
    return NULL;
}

int main(void) {
    static struct counted counted;
    for (volatile int i = 0; i < 1000; i++)
        __asm__ volatile(SITE("own_up") "lock incq %0" : "+m"(own)::"cc");
    for (volatile int i = 0; i < 50; i++)
        __asm__ volatile(SITE("moved_before") "lock incq %0" : "+m"(moved)::"cc");
    for (volatile int i = 0; i < 30; i++)
        lock_once();
    for (volatile int i = 0; i < 20; i++) {
        pthread_t thread;
        start(&counted);
        private_count(&counted);
        start(&counted);
        count_up(&counted);
        if (pthread_create(&thread, NULL, other, &counted))
            return 1;
        pthread_join(thread, NULL);
        count_down(&counted);
        start(&counted);
        private_count(&counted);
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL))
        return 1;
    for (volatile int i = 0; i < 20000; i++)
        __asm__ volatile(SITE("line_right") "lock incq %0" : "+m"(line.right)::"cc");
    pthread_join(thread, NULL);
    __asm__ volatile(SITE("worked_read") "lock xaddq %1, %0" : "+m"(worked), "+r"((long){0})::"cc");
    return 0;
}
