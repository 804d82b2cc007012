/*
 * The hooks of thread creation, for programs that call cw_enable_single: link the object that this file is compiled to
 * into the program itself, or into a shared object that is preloaded, not into another shared library. `pkg-config --libs cyclewise-single` names it.
 *
 * glibc creates threads in the functions below. A definition in the program comes before the C library's for every
 * library of the process, so each of them restores LOCK before a second thread exists. They forward to the library,
 * which calls the C library's function of the same name. The order is that of the table in crates/cyclewise-c/src/hooks.rs.
 *
 * Two more are the dynamic linker's, called for each thread: they see threads whose creator has gone past the others.
 * They are weak, so that a static program links; it is refused below, since nothing tells it what its functions are
 * bound to.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void *(*thread_start)(void *);
typedef int (*thrd_start)(void *);

/* name, parameters, arguments */
#define CREATORS(X)                                                                                                   \
    X(pthread_create, (void *id, const void *attributes, thread_start start, void *argument),                         \
      (id, attributes, start, argument))                                                                              \
    X(thrd_create, (void *id, thrd_start start, void *argument), (id, start, argument))                               \
    X(timer_create, (int clock, void *event, void *timer), (clock, event, timer))                                     \
    X(mq_notify, (int queue, const void *event), (queue, event))                                                      \
    X(aio_read, (void *control), (control))                                                                           \
    X(aio_read64, (void *control), (control))                                                                         \
    X(aio_write, (void *control), (control))                                                                          \
    X(aio_write64, (void *control), (control))                                                                        \
    X(aio_fsync, (int operation, void *control), (operation, control))                                                \
    X(aio_fsync64, (int operation, void *control), (operation, control))                                              \
    X(lio_listio, (int mode, void *const *list, int length, void *event), (mode, list, length, event))                \
    X(lio_listio64, (int mode, void *const *list, int length, void *event), (mode, list, length, event))              \
    X(getaddrinfo_a, (int mode, void **list, int length, void *event), (mode, list, length, event))

#define DECLARE(name, parameters, arguments) int cw_hook_##name parameters;
CREATORS(DECLARE)
void *cw_hook_dl_allocate_tls(void *memory);
void *cw_hook_dl_allocate_tls_init(void *block, size_t is_main);

#define DEFINE(name, parameters, arguments)                                                                           \
    EXPORTED int name parameters;                                                                                     \
    EXPORTED int name parameters { return cw_hook_##name arguments; }
CREATORS(DEFINE)

EXPORTED __attribute__((weak)) void *_dl_allocate_tls(void *memory);
EXPORTED __attribute__((weak)) void *_dl_allocate_tls(void *memory) { return cw_hook_dl_allocate_tls(memory); }

EXPORTED __attribute__((weak)) void *_dl_allocate_tls_init(void *block, size_t is_main);
EXPORTED __attribute__((weak)) void *_dl_allocate_tls_init(void *block, size_t is_main)
{
    return cw_hook_dl_allocate_tls_init(block, is_main);
}

/* The layout of the table below. A test compiles the object with another. */
#ifndef HOOKS_ABI
#define HOOKS_ABI 1
#endif

#define MEMBER(name, parameters, arguments) int(*name) parameters;
struct cw_hooks {
    uint32_t size;
    uint32_t abi;
    void (*home)(void);
    void *(*allocate)(void *);
    void *(*init)(void *, size_t);
    CREATORS(MEMBER)
};

/* Tells which link unit this is: unlike the hooks, it is bound to nothing else. */
static void home(void)
{
}

#define VALUE(name, parameters, arguments) name,
static const struct cw_hooks table = {sizeof table, HOOKS_ABI, home, _dl_allocate_tls, _dl_allocate_tls_init, CREATORS(VALUE)};

void cw_hooks_register(const struct cw_hooks *);

/* The first one is the program. Positive: a dynamic linker has loaded it. */
static int has_interpreter(struct dl_phdr_info *program, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP)
            return 1;
    return -1;
}

__attribute__((constructor)) static void register_hooks(void)
{
    static const char line[] =
        "cyclewise-hooks.o is in a static program, where threads could not be created: link it without this object "
        "(pkg-config --libs cyclewise), or link dynamically\n";
    if (dl_iterate_phdr(has_interpreter, NULL) < 0) {
        if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
            abort();
        abort();
    }
    cw_hooks_register(&table);
}
