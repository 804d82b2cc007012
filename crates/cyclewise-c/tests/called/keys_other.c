/* The other file of keys.c. */
#include <cyclewise/cyclewise.h>
#include <cyclewise/key.h>

CW_KEY_DECLARE_FALSE(shared);
int other_tests_it(void);
int other_sets_it(int on);

int other_tests_it(void) { return cw_key_unlikely(&shared) ? 1 : 0; }
int other_sets_it(int on) { return on ? cw_key_enable(&shared) : cw_key_disable(&shared); }
