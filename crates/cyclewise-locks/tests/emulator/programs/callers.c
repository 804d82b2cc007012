// A count that is reached by known calls: from two functions, in a recursion, after longjmp and on another thread.
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

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
    if (pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL))
        return 1;
    guarded();
    FILE *zeros = fopen("/dev/zero", "r");
    if (!zeros)
        return 1;
    reads(zeros);
    return 0;
}
