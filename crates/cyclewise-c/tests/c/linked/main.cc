#include "shared.hpp"
#include <cstdio>

int main() {
    counts c = {0, 0, CW_REFCOUNT_INIT(10)};
    const uint64_t sum = from_a(&c) + from_b(&c) + adder<uint64_t, 3>::add(c);
    dropped(c);
    // inlined: 1, 3; templated: 0 + 3, 6 + 9, 12; tested: 1, 1
    const bool right = sum == 1 + 3 + 3 + 15 + 12 + 2 && c.inlined == 4 && c.templated == 15 &&
                       cw_refcount_read(&c.refs) == 10 + 5 - 3;
    std::printf("%llu %u %llu %u\n", static_cast<unsigned long long>(sum), c.inlined,
                static_cast<unsigned long long>(c.templated), cw_refcount_read(&c.refs));
    return right ? 0 : 1;
}
