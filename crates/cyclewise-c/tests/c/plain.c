/* Two threads that increment one word: with PLAIN one of them by `++`, which loses updates and which ThreadSanitizer has to report. */
#include <cyclewise/atomic.h>
#include <pthread.h>
#include <stdio.h>

static uint32_t word;

static void *increments(void *unused)
{
    for (int n = 0; n < 1000; n++)
        cw_inc_u32(&word);
    return unused;
}

static void *adds(void *unused)
{
    for (int n = 0; n < 1000; n++)
#ifdef PLAIN
        word++;
#else
        cw_inc_u32(&word);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, adds, 0) != 0)
        return 1;
    increments(0);
    pthread_join(thread, 0);
    puts("ran");
    return 0;
}
