// cyclewise::ref_counter with Boost's intrusive pointer.
#include <cyclewise/atomic.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

// The twin: a policy whose decrement loses the last reference.
#ifndef POLICY
#define POLICY cyclewise::ref_counter
#endif
struct leaking : cyclewise::ref_counter {
    static unsigned int decrement(type &counter) noexcept { return cyclewise::ref_counter::decrement(counter) + 1; }
};

static cyclewise::atomic<int> alive(0);

struct node : boost::intrusive_ref_counter<node, POLICY> {
    node() { alive.inc(); }
    node(const node &other) : intrusive_ref_counter(other) { alive.inc(); }
    ~node() { alive.dec(); }
};

int main() {
    static_assert(sizeof(node) == sizeof(unsigned int), "the count alone");
    {
        boost::intrusive_ptr<node> a(new node);
        boost::intrusive_ptr<node> b(a), c(std::move(a));
        if (a || b->use_count() != 2 || alive != 1)
            return std::fprintf(stderr, "intrusive.cc: copies\n"), 1;
        // A copied object has a count of its own.
        boost::intrusive_ptr<node> d(new node(*b));
        if (d->use_count() != 1 || alive != 2)
            return std::fprintf(stderr, "intrusive.cc: a copied object\n"), 1;
        std::vector<std::thread> threads;
        for (int n = 0; n < 2; n++)
            threads.emplace_back([b] {
                for (int i = 0; i < 100000; i++)
                    boost::intrusive_ptr<node> copy(b);
            });
        for (std::thread &thread : threads)
            thread.join();
        threads.clear();
        if (b->use_count() != 2)
            return std::fprintf(stderr, "intrusive.cc: after threads\n"), 1;
    }
    if (alive != 0)
        return std::fprintf(stderr, "intrusive.cc: %d not freed\n", alive.load()), 1;
    return 0;
}
