/* The object of unload.c, whose handler counts in its own data. */
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

/* Returns how many signals came, with one that it raises. */
int start(const char *how);
int start(const char *how)
{
    if (!strcmp(how, "own"))
        signal(SIGUSR1, own);
    else
        cw_signal_on(SIGUSR1, handler, &count, 0, NULL);
    raise(SIGUSR1);
    return count;
}
