/* The object of unload.c, whose functions count in its own data. */
#include <cyclewise/cyclewise.h>
#include <signal.h>
#include <string.h>

static int count;

static void handler(const struct cw_signal_info *info, void *counted)
{
    (void)info;
    ++*(int *)counted;
}

static void own(int signal)
{
    (void)signal;
    ++count;
}

static void later(void *counted)
{
    ++*(int *)counted;
}

/* Returns how many signals or calls came, with one of this time. */
int start(const char *how);
int start(const char *how)
{
    if (!strcmp(how, "later")) {
        cw_rcu_defer(later, &count);
        cw_rcu_barrier();
        cw_rcu_defer(later, &count);
        return count;
    }
    if (!strcmp(how, "own"))
        signal(SIGUSR1, own);
    else
        cw_signal_on(SIGUSR1, handler, &count, 0, NULL);
    raise(SIGUSR1);
    return count;
}
