/* An object with a handler is closed, and then the signal comes. The first argument is the object; with the second "own" the object
 * installs its handler by sigaction(2), which keeps nobody; with "later" it is called after a grace period instead. */
#define _GNU_SOURCE
#include <cyclewise/cyclewise.h>
#include <dlfcn.h>
#include <signal.h>
#include "check.h"

int main(int count, char **arguments)
{
    begin();
    CHECK(count == 3 && !cw_mask_is_held());
    for (int round = 1; round <= 3; round++) {
        void *object = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(object);
        void *start = dlsym(object, "start");
        int (*function)(const char *);
        memcpy(&function, &start, sizeof start);
        CHECK(function(arguments[2]) == 2 * round - 1);
        CHECK(dlclose(object) == 0);
        if (!strcmp(arguments[2], "later"))
            cw_rcu_barrier();
        else
            CHECK(raise(SIGUSR1) == 0);
    }
    return 0;
}
