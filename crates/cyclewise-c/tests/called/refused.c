/* What cw_enable_single answers is on standard output: its code, and its line. Then a thread runs. With EARLY it is asked before
 * the program's other constructors run, those of the hooks among them. */
#define _GNU_SOURCE
#include <cyclewise/cyclewise.h>
#include <dlfcn.h>
#include <pthread.h>
#include "check.h"

static void *look(void *state)
{
    cw_get_state(state);
    return state;
}

static void ask(void)
{
    struct cw_refusal why = {0};
    int code = cw_enable_single(&why);
    printf("%d %s\n", code, why.message);
    fflush(stdout);
}

#ifdef EARLY
__attribute__((constructor(101))) static void early(void) { ask(); }
#endif

int main(int argc, char **argv)
{
    begin();
    /* A library that has the hooks; in a namespace of its own if another argument follows. */
    CHECK(argc != 2 || dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL));
    CHECK(argc != 3 || dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW));
#ifndef EARLY
    ask();
#endif
    struct cw_state state;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, look, &state) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(state.mode == CW_MODE_LOCKED && state.elided == 0);
    return 0;
}
