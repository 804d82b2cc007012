/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An event loop whose signal handler writes to the same queue as the loop, which is safe under a hold of the soft mask.
 *
 *     cc -O2 event_loop.c $(pkg-config --cflags --libs cyclewise) && ./a.out
 *
 * A hold and its release are two stores, where two calls of sigprocmask(2) would enter the kernel twice. The loop sleeps by
 * cw_mask_poll: a signal that arrives just before the sleep ends it. */
#include <cyclewise/cyclewise.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROOM = 64, TICKS = 20 };

/* A queue without atomics: its users exclude each other by the hold. */
static int queue[ROOM];
static unsigned head, tail;

static void enqueue(int event)
{
    if (tail - head < ROOM)
        queue[tail++ % ROOM] = event;
}

/* Never runs while the loop holds. */
static void on_tick(const struct cw_signal_info *info, void *unused)
{
    (void)unused;
    enqueue(info->signal);
}

static void check(int refused, const struct cw_refusal *why)
{
    if (refused) {
        fprintf(stderr, "event_loop: %s\n", why->message);
        exit(1);
    }
}

int main(void)
{
    struct cw_refusal why;
    int ends[2], ticks = 0, bytes = 0;
    const struct itimerval every_millisecond = {{0, 1000}, {0, 1000}};
    if (pipe(ends) != 0 || write(ends[1], "hello", 5) != 5) {
        perror("pipe");
        return 1;
    }
    check(cw_signal_on(SIGALRM, on_tick, NULL, 0, &why), &why);
    setitimer(ITIMER_REAL, &every_millisecond, NULL);

    while (ticks < TICKS) {
        struct pollfd polled = {ends[0], POLLIN, 0};
        int woken;
        size_t ready;
        cw_mask_hold();
        check(cw_mask_poll(&polled, 1, 1000000000, &woken, &ready, &why), &why);
        if (woken == CW_MASK_READY) {
            char byte;
            if (read(ends[0], &byte, 1) == 1)
                bytes++;
        }
        /* The handler of a signal that has arrived runs here. */
        cw_mask_release();

        cw_mask_hold();
        while (head != tail) {
            head++;
            ticks++;
        }
        cw_mask_release();
    }
    printf("%d bytes and at least %d ticks by one queue, without a lock or a system call around it; %llu signals lost\n", bytes, TICKS,
           (unsigned long long)cw_mask_lost());
    return bytes != 5;
}
