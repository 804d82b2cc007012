/* Static keys without sites, and with sites in another file: compiled with CW_NO_SITES, and with SITES for the other file. */
#include <cyclewise/cyclewise.h>
#include <cyclewise/key.h>
#include <pthread.h>
#include "check.h"

CW_KEY_DEFINE_FALSE(shared);
CW_KEY_DEFINE_STATIC_TRUE(own);

/* In keys_other.c, with sites where there are any. */
int other_tests_it(void);
int other_sets_it(int on);

static int tests_it(void) { return cw_key_unlikely(&shared) ? 1 : 0; }
static int tests_own(void) { return cw_key_likely(&own) ? 1 : 0; }

enum { ROUNDS = 2000 };

static void *counts(void *unused)
{
    for (int n = 0; n < ROUNDS; n++)
        CHECK(cw_key_inc(&own) == 0 && cw_key_dec(&own) == 0);
    return unused;
}

int main(void)
{
    begin();
    CHECK(tests_own() && cw_key_disable(&own) == 0 && !tests_own());
    CHECK(cw_key_dec(&own) == CW_REFUSED_NO_USERS && !tests_own());
    CHECK(cw_key_inc(&own) == 0 && tests_own() && cw_key_dec(&own) == 0 && !tests_own());
    pthread_t threads[2];
    for (int n = 0; n < 2; n++)
        CHECK(pthread_create(&threads[n], NULL, counts, NULL) == 0);
    for (int n = 0; n < 2; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
    CHECK(!tests_own() && cw_key_dec(&own) == CW_REFUSED_NO_USERS);
    /* Whoever changes it, all tests see it. */
    CHECK(!tests_it() && !other_tests_it());
    CHECK(cw_key_enable(&shared) == 0 && tests_it() && other_tests_it());
    CHECK(other_sets_it(0) == 0 && !tests_it() && !other_tests_it());
    CHECK(other_sets_it(1) == 0 && tests_it() && other_tests_it());
    CHECK(cw_key_disable(&shared) == 0 && !tests_it() && !other_tests_it());
    return 0;
}
