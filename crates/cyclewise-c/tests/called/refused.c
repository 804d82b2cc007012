/* What cw_enable_single answers is on standard output: its code, and its line. Then a thread runs. */
#include <cyclewise/cyclewise.h>
#include <dlfcn.h>
#include <pthread.h>
#include "check.h"

static void *look(void *state)
{
    cw_get_state(state);
    return state;
}

int main(int argc, char **argv)
{
    begin();
    /* A library that has the hooks. */
    CHECK(argc < 2 || dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL));
    struct cw_refusal why = {0};
    int code = cw_enable_single(&why);
    printf("%d %s\n", code, why.message);
    struct cw_state state;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, look, &state) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(state.mode == CW_MODE_LOCKED && state.elided == 0);
    return 0;
}
