// What copying and destroying a pointer costs: std::shared_ptr, Boost's intrusive pointer with each counter, and a patched count.
//
//     cargo build --release -p cyclewise-c && crates/cyclewise-c/bench/run
//
// One process, five parts: one thread that has never had a second, with LOCK, elided, and with LOCK again; and after a thread was
// created and joined, with LOCK and elided. In each the variants take turns, in an order that changes with the round, and a figure is the median of
// the rounds with the two quartiles, in ticks of the time stamp counter for one copy and destruction.
#include <cyclewise/atomic.hpp>
#include <cyclewise/cyclewise.h>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>
#include <x86intrin.h>

namespace {

template <class Policy> struct counted : boost::intrusive_ref_counter<counted<Policy>, Policy> {
    long value = 1;
};
template <class Policy> using pointer = boost::intrusive_ptr<counted<Policy>>;

constexpr int ROUNDS = 401, COPIES = 2000;

// The copy is seen by the compiler as used, so that neither it nor the count is dropped.
template <class P> __attribute__((noinline)) double copies(const P &original) {
    unsigned aux;
    const unsigned long long begin = __rdtscp(&aux);
    for (int i = 0; i < COPIES; i++) {
        P copy(original);
        __asm__ __volatile__("" : : "r"(copy.get()) : "memory");
    }
    return static_cast<double>(__rdtscp(&aux) - begin) / COPIES;
}

const std::shared_ptr<long> shared = std::make_shared<long>(1);
const pointer<boost::sp_adl_block::thread_safe_counter> safe(new counted<boost::sp_adl_block::thread_safe_counter>);
const pointer<boost::sp_adl_block::thread_unsafe_counter> unsafe(new counted<boost::sp_adl_block::thread_unsafe_counter>);
const pointer<cyclewise::ref_counter> ours(new counted<cyclewise::ref_counter>);

struct variant {
    const char *name;
    double (*run)();
};
const variant VARIANTS[] = {
    {"std::shared_ptr", [] { return copies(shared); }},
    {"intrusive_ptr, thread_safe_counter", [] { return copies(safe); }},
    {"intrusive_ptr, thread_unsafe_counter", [] { return copies(unsafe); }},
    {"intrusive_ptr, cyclewise::ref_counter", [] { return copies(ours); }},
};
constexpr int COUNT = sizeof VARIANTS / sizeof VARIANTS[0];

void measure(const char *part) {
    std::vector<double> samples[COUNT];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++) {
            const int which = (i + round) % COUNT;
            samples[which].push_back(VARIANTS[which].run());
        }
    std::printf("%s\n", part);
    for (int i = 0; i < COUNT; i++) {
        std::sort(samples[i].begin(), samples[i].end());
        std::printf("  %-40s %6.2f  (%.2f to %.2f)\n", VARIANTS[i].name, samples[i][ROUNDS / 2], samples[i][ROUNDS / 4],
                    samples[i][ROUNDS - ROUNDS / 4]);
    }
}

int refused(const char *what, int why) {
    std::fprintf(stderr, "%s: refused, enum cw_refused %d\n", what, why);
    return 1;
}

} // namespace

int main() {
    measure("one thread, LOCK in force");
    if (int why = cw_enable_single(nullptr))
        return refused("cw_enable_single", why);
    measure("one thread, LOCK elided");
    if (int why = cw_restore_lock(nullptr))
        return refused("cw_restore_lock", why);
    measure("one thread, LOCK in force again");
    std::thread([] {}).join();
    measure("after a thread was created and joined, LOCK in force");
    if (int why = cw_reelide_lock(nullptr))
        return refused("cw_reelide_lock", why);
    measure("after a thread was created and joined, LOCK elided");
    return 0;
}
