/* Expressions of every kind of type. With PROGRAM, a program that runs the loops as the harness does. */
#include <cyclewise/bench.h>
#include <stdio.h>
#include <string.h>

struct large {
    int word[7];
    char end[3];
};
struct odd {
    char byte[3];
};

static int words[16];
static uint64_t calls;
static uint64_t fills;

static struct large make_large(int x)
{
    struct large made = {{x}, {0}};
    return made;
}

static struct odd make_odd(char x)
{
    struct odd made = {{x, 1, 2}};
    return made;
}

static void nothing(void)
{
}

CW_BENCH(ungrouped, CW_BLACK_BOX(1))

CW_BENCH_GROUP("types")
CW_BENCH(int, CW_BLACK_BOX(3) * 7)
CW_BENCH(char, (char)CW_BLACK_BOX(1))
CW_BENCH(bool, (_Bool)CW_BLACK_BOX(1))
CW_BENCH(float, CW_BLACK_BOX(3.0f) * 7.0f)
CW_BENCH(double, CW_BLACK_BOX(3.0) * 7.0)
CW_BENCH(long double, CW_BLACK_BOX(3.0L) * 7.0L)
CW_BENCH(wide, (__extension__(__int128) CW_BLACK_BOX(1) << 3))
CW_BENCH(large, make_large(CW_BLACK_BOX(1)))
CW_BENCH(odd, make_odd(CW_BLACK_BOX((char)1)))
CW_BENCH(member, CW_BLACK_BOX(make_large(1)).word[0])
CW_BENCH(pointer, CW_BLACK_BOX(&words[0]) + 1)
CW_BENCH(array, words)
CW_BENCH(string, "abc")
CW_BENCH(function, nothing)
CW_BENCH(void, nothing())
CW_BENCH(comma, nothing(), 2)

CW_BENCH_GROUP("counted")
CW_BENCH(value, ++calls)
CW_BENCH(nothing, (void)++calls)
CW_BENCH_WITH(input, struct large, (fills++, input->word[0] = 7), (calls += (uint64_t)input->word[0], input->word[0] = 0))

#if defined(PROGRAM)
int main(void)
{
    static const uint64_t of_loop[4] = {1, 4, 8, 16};
    struct cw_bench_entry **at = cyclewise_bench_table.begin;
    int counted = 0, previous = -1;
    for (; at < cyclewise_bench_table.end; at++) {
        const struct cw_bench_entry *entry = *at;
        if (!strcmp(entry->name, "value") || !strcmp(entry->name, "nothing")) {
            for (int loop = 0; loop < 4; loop++) {
                calls = 0;
                entry->run[loop](5, NULL);
                if (calls != 5 * of_loop[loop])
                    return printf("loop %d of %s: %d calls\n", loop, entry->name, (int)calls);
            }
            counted++;
        }
        if (!strcmp(entry->name, "input")) {
            calls = 0;
            void *inputs = entry->make(9);
            const uint64_t made = calls;
            entry->run[0](9, inputs);
            entry->drop(inputs);
            if (made != 0 || fills != 9 || calls != 9 * 7)
                return printf("%d inputs, %d calls\n", (int)fills, (int)calls);
            counted++;
        }
        previous = (int)entry->order > previous ? (int)entry->order : previous;
    }
    printf("%d bytes, %d counted\n", (int)sizeof(struct cw_bench_entry), counted);
    return counted != 3 || previous < 20;
}
#endif
