/* The asymmetric fences: a reader and a writer that each store their word and load the other's. One of them sees the other. */
#include <cyclewise/cyclewise.h>
#include <pthread.h>
#include "check.h"

enum { ROUNDS = 20000, LAST = 1 << 30 };

static uint32_t of_reader, of_writer;
static int batched;

static void *write_and_look(void *late)
{
    for (uint32_t n = 1; n <= ROUNDS; n++) {
        __atomic_store_n(&of_writer, n, __ATOMIC_RELAXED);
        CHECK((batched ? cw_fence_heavy_batched(NULL) : cw_fence_heavy(NULL)) == 0);
        ((uint32_t *)late)[n] = __atomic_load_n(&of_reader, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&of_writer, LAST, __ATOMIC_RELAXED);
    return NULL;
}

/* Reads are numbered, and remembered as far as there is room. */
static void nobody_is_late(void)
{
    static uint32_t seen[1 << 22], looked[ROUNDS + 1];
    const uint32_t room = sizeof seen / sizeof *seen - 1;
    pthread_t writer;
    uint32_t reads = 0;
    of_reader = of_writer = 0;
    CHECK(pthread_create(&writer, NULL, write_and_look, looked) == 0);
    while (reads < room) {
        __atomic_store_n(&of_reader, ++reads, __ATOMIC_RELAXED);
        cw_fence_light();
        seen[reads] = __atomic_load_n(&of_writer, __ATOMIC_RELAXED);
        if (seen[reads] == LAST)
            break;
    }
    CHECK(pthread_join(writer, NULL) == 0);
    for (uint32_t n = 1; n <= ROUNDS; n++)
        CHECK(looked[n] >= reads || seen[looked[n] + 1] >= n);
}

int main(void)
{
    begin();
    CHECK(cw_fence_is_asymmetric() == cw_fence_is_asymmetric());
    for (batched = 0; batched < 2; batched++)
        nobody_is_late();
    return 0;
}
