/* Two ways to sum and two ways to sort, measured by the command cyclewise:
 *
 *     cc -O2 -fPIC -shared bench.c -o bench.so && cyclewise run --object ./bench.so
 */
#include <cyclewise/bench.h>
#include <stdlib.h>

#define COUNT 256

struct numbers {
    int v[COUNT];
};

static struct numbers numbers;

/* Before anything is measured. */
__attribute__((constructor)) static void fill(void)
{
    unsigned random = 1;
    for (int n = 0; n < COUNT; n++) {
        random = random * 1664525 + 1013904223;
        numbers.v[n] = (int)(random >> 8);
    }
}

static long sum(const struct numbers *of)
{
    long total = 0;
    for (int n = 0; n < COUNT; n++)
        total += of->v[n];
    return total;
}

static long sum_by_four(const struct numbers *of)
{
    long total[4] = {0, 0, 0, 0};
    for (int n = 0; n < COUNT; n++)
        total[n % 4] += of->v[n];
    return total[0] + total[1] + total[2] + total[3];
}

static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void insertion(int *v)
{
    for (int n = 1; n < COUNT; n++) {
        const int one = v[n];
        int at = n;
        for (; at > 0 && v[at - 1] > one; at--)
            v[at] = v[at - 1];
        v[at] = one;
    }
}

CW_BENCH_GROUP("sum")
CW_BENCH(one by one, sum(CW_BLACK_BOX(&numbers)))
CW_BENCH(by four, sum_by_four(CW_BLACK_BOX(&numbers)))

/* Each call sorts numbers of its own, which are copied outside of the timed region. */
CW_BENCH_GROUP("sort")
CW_BENCH_WITH(qsort, struct numbers, *input = numbers, qsort(input->v, COUNT, sizeof(int), compare))
CW_BENCH_WITH(insertion, struct numbers, *input = numbers, insertion(input->v))
