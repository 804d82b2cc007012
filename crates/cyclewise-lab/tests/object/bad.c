/* Benchmarks that end the program, between two that do not. */
#include <cyclewise/bench.h>
#include <stdlib.h>

static int *none;

static int deep(int n)
{
    volatile char here[4096];
    here[0] = (char)n;
    return n < 0 ? 0 : deep(CW_BLACK_BOX(n) + 1) + here[0];
}

CW_BENCH_GROUP("before")
CW_BENCH(good, CW_BLACK_BOX(1) + 1)

CW_BENCH_GROUP("bad")
CW_BENCH(segv, *CW_BLACK_BOX(none))
CW_BENCH(stack, deep(0))
CW_BENCH(abort, abort())
CW_BENCH(exit, exit(0))

CW_BENCH_GROUP("after")
CW_BENCH(good, CW_BLACK_BOX(1) + 1)
