// Threads that are alive together, each with more kinds of paths to one site than are kept.
#include <pthread.h>
#include <stdlib.h>

static long count;
static pthread_barrier_t all;

__attribute__((noinline, noclone)) void leaf(void) {
    __asm__ volatile(".globl site_leaf\nsite_leaf: lock incq %0" : "+m"(count)::"cc", "memory");
}

// Calls itself from one of seven places, by each digit of `which`.
__attribute__((noinline, noclone)) void go(int depth, unsigned which) {
#define FROM(place)                                                                                                    \
    case place:                                                                                                        \
        go(depth - 1, which / 7);                                                                                      \
        __asm__ volatile("# " #place ::: "memory");                                                                    \
        break
    if (depth == 0)
        leaf();
    else
        switch (which % 7) {
            FROM(0);
            FROM(1);
            FROM(2);
            FROM(3);
            FROM(4);
            FROM(5);
            FROM(6);
        }
    __asm__ volatile("" ::: "memory");
}

static void *thread(void *unused) {
    for (unsigned which = 0; which < 16807; which++)
        go(5, which);
    pthread_barrier_wait(&all);
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t *each = calloc(threads, sizeof *each);
    pthread_barrier_init(&all, NULL, threads);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&each[i], NULL, thread, NULL))
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(each[i], NULL);
    return 0;
}
