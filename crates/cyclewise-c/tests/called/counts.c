/* Counts of <cyclewise/atomic.h> in a program with the library: misuse reaches the hook, and the library's modes have their sites. */
#include <cyclewise/atomic.h>
#include <cyclewise/cyclewise.h>
#include "check.h"

/* The constructors of <cyclewise/unit.h> call it. */
int cw_unit_register(struct cw_unit *);

static int events[8];
static const void *misused, *caller;
static void hook(const struct cw_refcount_misuse *misuse)
{
    events[misuse->event]++;
    misused = misuse->count;
    caller = misuse->caller;
}

int main(void)
{
    begin();
    cw_refcount_t count = CW_REFCOUNT_INIT(1);
    cw_refcount_set_hook(hook);
    cw_refcount_inc(&count);
    CHECK(cw_refcount_read(&count) == 2 && events[CW_REFCOUNT_ADD_UAF] == 0);
    CHECK(!cw_refcount_dec_and_test(&count) && cw_refcount_dec_and_test(&count));
    cw_refcount_inc(&count);
    CHECK(events[CW_REFCOUNT_ADD_UAF] == 1 && misused == &count && caller != NULL);
    CHECK(cw_refcount_is_saturated(&count) && cw_refcount_misuses(CW_REFCOUNT_ADD_UAF) == 1);
    cw_refcount_warn_saturated(&count, 99, NULL);
    CHECK(events[CW_REFCOUNT_ADD_UAF] == 1);
    CHECK(cw_unit_register(NULL) == CW_REFUSED_BAD_UNIT);
    return 0;
}
