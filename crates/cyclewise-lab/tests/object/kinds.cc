// Expressions of every kind of type that C++ has beside those of C.
#include <cyclewise/bench.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

struct movable {
    movable() = default;
    movable(movable &&) = default;
    ~movable() {}
    int x = 1;
};

union either {
    int i;
    float f;
};

enum class color { red };

template <int A, int B> int add()
{
    return CW_BLACK_BOX(A) + B;
}

int words[16];

void nothing()
{
}

} // namespace

CW_BENCH_GROUP("types")
CW_BENCH(int, CW_BLACK_BOX(3) * 7)
CW_BENCH(double, CW_BLACK_BOX(3.0) * 7.0)
CW_BENCH(long double, CW_BLACK_BOX(3.0L) * 7.0L)
CW_BENCH(reference, words[CW_BLACK_BOX(2)])
CW_BENCH(string, std::string("abc"))
CW_BENCH(hidden, CW_BLACK_BOX(std::string("abc")).size())
CW_BENCH(lambda, [] { return 7; }())
CW_BENCH(template, add<1, 2>())
CW_BENCH(movable, movable())
CW_BENCH(union, either())
CW_BENCH(enum, color::red)
CW_BENCH(null, nullptr)
CW_BENCH(array, words)
CW_BENCH(function, nothing)
CW_BENCH(void, nothing())

CW_BENCH_GROUP("sort")
CW_BENCH_WITH(vector, std::vector<int>, input->assign({3, 1, 2}),
              std::sort(input->begin(), input->end(), [](int a, int b) { return a < b; }))
CW_BENCH_WITH(string, std::string, *input = "abc", *input + "d")
