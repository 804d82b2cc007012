/* Sites of C in the program and of Rust in the library are elided together, and have LOCK before a second thread runs. */
#include <cyclewise/atomic.h>
#include <cyclewise/cyclewise.h>
#include <cyclewise/key.h>
#include <pthread.h>
#include "check.h"

extern const int32_t __start_cyclewise_lock_v1[] __attribute__((visibility("hidden")));
extern const int32_t __stop_cyclewise_lock_v1[] __attribute__((visibility("hidden")));

CW_KEY_DEFINE_FALSE(traced);
CW_KEY_DEFINE_STATIC_TRUE(checked);

static cw_refcount_t count = CW_REFCOUNT_INIT(1);

/* How many sites of this link unit have this byte. */
static size_t sites_with(unsigned char prefix)
{
    size_t found = 0;
    for (const int32_t *record = __start_cyclewise_lock_v1; record < __stop_cyclewise_lock_v1; record++)
        if (*record)
            found += *(const volatile unsigned char *)((const char *)record + *record) == prefix;
    return found;
}

static void *use(void *elided)
{
    *(size_t *)elided = sites_with(0x3e);
    for (int n = 0; n < 100000; n++) {
        cw_refcount_inc(&count);
        if (cw_refcount_dec_and_test(&count))
            abort();
    }
    return NULL;
}

static int is_traced(void) { return cw_key_unlikely(&traced) ? 1 : 0; }

static int is_checked(void) { return cw_key_likely(&checked) ? 1 : 0; }

int main(void)
{
    begin();
    const size_t sites = sites_with(0xf0);
    CHECK(sites >= 2 && sites_with(0x3e) == 0);
    CHECK(cw_enable_single(NULL) == 0);
    CHECK(sites_with(0x3e) == sites && sites_with(0xf0) == 0);
    /* With the archive they are the library's unit; with the shared library another one. */
    struct cw_state state;
    memset(&state, 0x5a, sizeof state);
    cw_get_state(&state);
    CHECK(state.units <= 1 && (state.units == 1 ? state.unit_sites == sites : state.sites >= sites));
    CHECK(state.elided == state.sites && state.unit_elided == state.unit_sites && state.reserved[1] == 0);
    CHECK(state.units_seen == state.units + 1 && state.units_refused == 0);
    size_t elided = 99;
    use(&elided);
    CHECK(elided == sites);
    pthread_t threads[2];
    size_t seen[2] = {99, 99};
    for (int n = 0; n < 2; n++)
        CHECK(pthread_create(&threads[n], NULL, use, &seen[n]) == 0);
    for (int n = 0; n < 2; n++)
        CHECK(pthread_join(threads[n], NULL) == 0 && seen[n] == 0);
    CHECK(cw_refcount_read(&count) == 1 && sites_with(0xf0) == sites);
    CHECK(cw_reelide_lock(NULL) == 0 && sites_with(0x3e) == sites);
    CHECK(cw_restore_lock(NULL) == 0 && sites_with(0xf0) == sites);
    cw_get_state(&state);
    CHECK(state.elided == 0 && state.unit_elided == 0);
    /* Static keys, in this unit's table. */
    CHECK(!is_traced() && cw_key_enable(&traced) == 0 && is_traced());
    CHECK(cw_key_disable(&traced) == 0 && !is_traced());
    CHECK(cw_key_dec(&traced) == CW_REFUSED_NO_USERS && cw_key_inc(&traced) == 0 && is_traced());
    CHECK(cw_key_dec(&traced) == 0 && !is_traced());
    CHECK(is_checked() && cw_key_disable(&checked) == 0 && !is_checked() && !is_traced());
    CHECK(cw_key_enable(&checked) == 0 && is_checked());
    return 0;
}
