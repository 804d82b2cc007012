// Inline functions and templates with sites and a key, which several translation units and shared objects instantiate.
#include <cyclewise/atomic.h>
#include <cyclewise/key.h>

struct counts {
    uint32_t inlined;
    uint64_t templated;
    cw_refcount_t refs;
};

inline uint32_t inlined(counts &c) {
    cw_inc_u32(&c.inlined);
    return cw_fetch_add_u32(&c.inlined, 1);
}

template <typename T, int N> struct adder {
    __attribute__((noinline)) static T add(counts &c) {
        cw_refcount_inc(&c.refs);
        return cw_fetch_add_u64(&c.templated, N);
    }
    static T twice(counts &c) { return add(c) + add(c); }
};

// Not inlined: the linker keeps one of several copies.
__attribute__((noinline)) inline bool dropped(counts &c) { return cw_refcount_dec_and_test(&c.refs); }

// Used by nobody: collected where sections are.
__attribute__((noinline, unused)) static void unused_function(counts &c) { cw_dec_u32(&c.inlined); }

CW_KEY_DECLARE_FALSE(linked_key);
// An inline function with a test of a key, whose record has to be dropped with the copy.
__attribute__((noinline)) inline int tested() { return cw_key_unlikely(&linked_key) ? 100 : 1; }

extern "C" __attribute__((visibility("default"))) uint64_t from_a(counts *);
extern "C" __attribute__((visibility("default"))) uint64_t from_b(counts *);
