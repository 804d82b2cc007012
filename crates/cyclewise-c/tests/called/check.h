/* What the test programs share: a check that names its line, and an alarm for a program that hangs. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((cold, noinline, noreturn, unused)) static void check_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, condition);
    exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* A function that is refused: the status, the same code in `why`, and one line. */
#define CHECK_REFUSED(call, expected)                                                                   \
    do {                                                                                                \
        struct cw_refusal why;                                                                          \
        memset(&why, 0x5a, sizeof why);                                                                 \
        int status = (call);                                                                            \
        if (status != (expected) || why.code != (expected) || strlen(why.message) < 10 ||               \
            strchr(why.message, '\n')) {                                                                \
            fprintf(stderr, "%s:%d: %s is %d: %s\n", __FILE__, __LINE__, #call, status, status ? why.message : ""); \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

/* Ends the program if it has not ended by itself. */
static inline void begin(void) { alarm(120); }

#endif
