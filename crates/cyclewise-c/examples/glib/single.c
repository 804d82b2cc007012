/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A shared object that puts an unchanged program into single mode before its main: LD_PRELOAD=single.so PROGRAM.
 *
 * It is linked with cyclewise-hooks.o. A preloaded object comes before the C library in the search order, so its hooks are
 * in force for the whole process. With CW_REPORT set it says on stderr what is elided, at the start and at the end. */
#include <cyclewise/cyclewise.h>
#include <stdio.h>
#include <stdlib.h>

static void report(const char *when, const struct cw_refusal *why) {
    struct cw_state state;
    cw_get_state(&state);
    fprintf(stderr, "cyclewise, %s: %zu of %zu sites elided in the library, %zu of %zu in %zu other units%s%s\n", when,
            state.elided, state.sites, state.unit_elided, state.unit_sites, state.units, why ? ": " : "",
            why ? why->message : "");
}

static void at_end(void) { report("at the end", NULL); }

__attribute__((constructor)) static void enable(void) {
    struct cw_refusal why;
    const int refused = cw_enable_single(&why);
    if (getenv("CW_REPORT") != NULL) {
        report("at the start", refused ? &why : NULL);
        atexit(at_end);
    }
}
