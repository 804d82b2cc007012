/* A wrapper of pthread_create as tracing tools have one: it says that it saw a thread, and calls what comes next. With DLSYM it
 * wraps dlsym instead, and what comes next for others is then what comes after this object. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#ifdef DLSYM
typedef void *(*lookup)(void *, const char *);

void *dlsym(void *handle, const char *name)
{
    /* The C library's version of it: the oldest that the architecture has. */
    lookup next = (lookup)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    void *volatile found = next(handle, name);
    return found;
}
#else
typedef int (*creator)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (write(STDOUT_FILENO, "traced\n", 7) != 7)
        return -1;
    return ((creator)dlsym(RTLD_NEXT, "pthread_create"))(id, attributes, start, argument);
}
#endif
