/*
 * The hooks of thread creation, for programs that call cw_enable_single: link the object that this file is compiled to
 * into the program itself, or into a shared object that is preloaded, not into another shared library. `pkg-config --libs cyclewise-single` names it.
 *
 * glibc creates threads in the functions below. A definition in the program comes before the C library's for every
 * library of the process, so each of them restores LOCK before a second thread exists. They forward to the library,
 * which calls the next definition of the same name: the C library's, or a wrapper's that is preloaded. The order is that of the table in crates/cyclewise-c/src/hooks.rs.
 *
 * Two more are the dynamic linker's, called for each thread: they see threads whose creator has gone past the others.
 * They are weak, so that a static program links; it is refused below, since nothing tells it what its functions are
 * bound to.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
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

/* What comes after this link unit: dlsym knows it by where it is called from, so this is no tail call. Weak, so that a static
 * program links. */
extern __typeof__(dlsym) dlsym __attribute__((weak));
static void *next(const char *name)
{
    void *volatile found = dlsym ? dlsym(RTLD_NEXT, name) : NULL;
    return found;
}

/* The version: the layout of the table below, and what the library's functions are given. Their names have it, so that no object calls
 * what takes other arguments. The library is not compiled where it has another. */
#ifndef HOOKS_ABI
#define HOOKS_ABI 2
#endif
#define JOIN(abi, name) cw_hook##abi##_##name
#define OF_VERSION(abi, name) JOIN(abi, name)
#define FORWARD(name) OF_VERSION(HOOKS_ABI, name)

/* What a hook forwards to, which the library finds at the first call: one for each hook. */
struct cw_behind {
    void *(*next)(const char *name);
    void *function;
};

#define UNPACK(...) __VA_ARGS__
#define DECLARE(name, parameters, arguments) int FORWARD(name)(struct cw_behind *behind, UNPACK parameters);
CREATORS(DECLARE)
void *FORWARD(dl_allocate_tls)(struct cw_behind *behind, void *memory);
void *FORWARD(dl_allocate_tls_init)(struct cw_behind *behind, void *block, size_t is_main);

#define DEFINE(name, parameters, arguments)                                                                           \
    EXPORTED int name parameters;                                                                                     \
    EXPORTED int name parameters                                                                                      \
    {                                                                                                                 \
        static struct cw_behind behind = {next, NULL};                                                                \
        return FORWARD(name)(&behind, UNPACK arguments);                                                              \
    }
CREATORS(DEFINE)

EXPORTED __attribute__((weak)) void *_dl_allocate_tls(void *memory);
EXPORTED __attribute__((weak)) void *_dl_allocate_tls(void *memory)
{
    static struct cw_behind behind = {next, NULL};
    return FORWARD(dl_allocate_tls)(&behind, memory);
}

EXPORTED __attribute__((weak)) void *_dl_allocate_tls_init(void *block, size_t is_main);
EXPORTED __attribute__((weak)) void *_dl_allocate_tls_init(void *block, size_t is_main)
{
    static struct cw_behind behind = {next, NULL};
    return FORWARD(dl_allocate_tls_init)(&behind, block, is_main);
}

/* A test compiles the object with a table of another version. */
#ifndef TABLE_ABI
#define TABLE_ABI HOOKS_ABI
#endif

#define MEMBER(name, parameters, arguments) int(*name) parameters;
struct cw_hooks {
    uint32_t size;
    uint32_t abi;
    void *(*next)(const char *);
    void *(*allocate)(void *);
    void *(*init)(void *, size_t);
    CREATORS(MEMBER)
};

#define VALUE(name, parameters, arguments) name,
static const struct cw_hooks table = {sizeof table, TABLE_ABI, next, _dl_allocate_tls, _dl_allocate_tls_init, CREATORS(VALUE)};

/* The library refers to it, and so finds the program's hooks before any constructor runs. */
extern const struct cw_hooks cw_hooks_table __attribute__((alias("table"), visibility("default")));

void cw_hooks_register(const struct cw_hooks *);

/* Whether a dynamic linker has loaded the program: by its own headers, as this object may be in another namespace. */
static int has_interpreter(void)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    for (unsigned long i = getauxval(AT_PHNUM); i > 0; i--, header++)
        if (header->p_type == PT_INTERP)
            return 1;
    return 0;
}

__attribute__((constructor)) static void register_hooks(void)
{
    static const char line[] =
        "cyclewise-hooks.o is in a static program, where threads could not be created: link it without this object "
        "(pkg-config --libs cyclewise), or link dynamically\n";
    if (!has_interpreter()) {
        if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
            abort();
        abort();
    }
    cw_hooks_register(&table);
}
