/* A shared library with sites of <cyclewise/atomic.h>, for the programs of units.c. */
#define _GNU_SOURCE
#include <cyclewise/atomic.h>
#include <fcntl.h>
#include <unistd.h>

extern const int32_t __start_cyclewise_lock_v1[] __attribute__((visibility("hidden")));
extern const int32_t __stop_cyclewise_lock_v1[] __attribute__((visibility("hidden")));

void library_add(uint64_t *word, int times);
int library_sites(int byte);
int library_forget(void);

void library_add(uint64_t *word, int times)
{
    for (int n = 0; n < times; n++)
        cw_inc_u64(word);
}

/* How many sites hold the byte; all of them for -1. */
int library_sites(int byte)
{
    int sites = 0;
    for (const int32_t *record = __start_cyclewise_lock_v1; record < __stop_cyclewise_lock_v1; record++)
        if (*record != 0)
            sites += byte < 0 || *(const volatile uint8_t *)((uintptr_t)record + (intptr_t)*record) == byte;
    return sites;
}

/* Has the library forget this unit, as its destructor does, and elides its sites again. 0 where that is done. */
int library_forget(void)
{
    const uint8_t elided = 0x3e;
    uint64_t was = 1;
    int memory = open("/proc/self/mem", O_RDWR);
    if (memory < 0)
        return 1;
    if (__atomic_compare_exchange_n(&cw_unit.state, &was, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) || was != 2)
        return 2;
    cw_unit.forget(&cw_unit);
    for (const int32_t *record = __start_cyclewise_lock_v1; record < __stop_cyclewise_lock_v1; record++)
        if (*record != 0 && pwrite(memory, &elided, 1, (off_t)((uintptr_t)record + (intptr_t)*record)) != 1)
            return 3;
    close(memory);
    return 0;
}
