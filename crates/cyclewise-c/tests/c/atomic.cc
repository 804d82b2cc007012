// One suite for std::atomic and cyclewise::atomic: the transcripts of every operation have to be the same.
#include <cyclewise/atomic.hpp>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace {

// The bytes of each result in turn.
using transcript = std::vector<unsigned char>;

// Not inlined: the suite is compiled for many types.
__attribute__((noinline)) void append(transcript &out, const void *bytes, std::size_t size) {
    const unsigned char *first = static_cast<const unsigned char *>(bytes);
    out.insert(out.end(), first, first + size);
}
template <class T> void note(transcript &out, T value) { append(out, &value, sizeof(T)); }

const std::memory_order orders[] = {std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_release,
                                    std::memory_order_acq_rel, std::memory_order_seq_cst};

// What every atomic has.
template <class A, class T> __attribute__((noinline)) void general(transcript &out, T a, T b) {
    A word(a);
    const A &constant = word;
    volatile A &shared = *const_cast<volatile A *>(&word);
    note(out, word.is_lock_free());
    note(out, constant.load());
    note(out, static_cast<T>(word));
    word.store(b);
    note(out, word.load(std::memory_order_acquire));
    note(out, word = a);
    note(out, shared = b);
    shared.store(a, std::memory_order_release);
    note(out, shared.load());
    for (std::memory_order order : orders) {
        note(out, word.exchange(b, order));
        note(out, shared.exchange(a, order));
        T expected = b;
        note(out, word.compare_exchange_strong(expected, b, order));
        note(out, expected);
        note(out, word.compare_exchange_strong(expected, b, order));
        note(out, word.load());
        note(out, shared.compare_exchange_strong(expected, a, order, std::memory_order_relaxed));
        note(out, expected);
        expected = b;
        while (!word.compare_exchange_weak(expected, a, order, std::memory_order_acquire))
            expected = b = word.load();
        note(out, shared.compare_exchange_weak(expected, a, order));
        note(out, word.load());
        word.store(a);
    }
}

// What integers have.
template <class A, class T> __attribute__((noinline)) void integral(transcript &out, T a, T b) {
    A word(a);
    volatile A &shared = *const_cast<volatile A *>(&word);
    for (std::memory_order order : orders) {
#define EACH(name)                                    \
    note(out, word.name(b, order));         \
    note(out, shared.name(b, order));       \
    note(out, word.load());                 \
    word.store(a);
        EACH(fetch_add)
        EACH(fetch_sub)
        EACH(fetch_and)
        EACH(fetch_or)
        EACH(fetch_xor)
#undef EACH
    }
#define EACH(expression)              \
    note(out, expression);  \
    note(out, word.load()); \
    word.store(a);
    EACH(word += b)
    EACH(word -= b)
    EACH(word &= b)
    EACH(word |= b)
    EACH(word ^= b)
    EACH(++word)
    EACH(word++)
    EACH(--word)
    EACH(word--)
    EACH(shared += b)
    EACH(shared -= b)
    EACH(shared &= b)
    EACH(shared |= b)
    EACH(shared ^= b)
    EACH(++shared)
    EACH(shared++)
    EACH(--shared)
    EACH(shared--)
#undef EACH
}

template <class T> std::vector<T> integers() {
    using limits = std::numeric_limits<T>;
    return {T(0), T(1), T(2), T(3), T(7), T(100), limits::max(), limits::min(), T(limits::max() - 1), T(limits::min() + 1),
            T(limits::max() / 2)};
}

int failures = 0;

void same(const char *what, const transcript &a, const transcript &b) {
    if (a.size() < 10 || a != b) {
        failures++;
        std::fprintf(stderr, "atomic.cc: %s differs\n", what);
    }
}

template <class T> void compare_integer(const char *what) {
    static_assert(sizeof(cyclewise::atomic<T>) == sizeof(std::atomic<T>), "");
    static_assert(alignof(cyclewise::atomic<T>) == alignof(std::atomic<T>), "");
    static_assert(std::is_standard_layout<cyclewise::atomic<T>>::value == std::is_standard_layout<std::atomic<T>>::value, "");
    static_assert(!std::is_copy_constructible<cyclewise::atomic<T>>::value, "");
    static_assert(!std::is_copy_assignable<cyclewise::atomic<T>>::value, "");
    static_assert(std::is_nothrow_constructible<cyclewise::atomic<T>, T>::value, "");
    static_assert(std::is_trivially_destructible<cyclewise::atomic<T>>::value, "");
    for (T a : integers<T>()) {
        for (T b : integers<T>()) {
            transcript theirs, ours;
            if (a != b) {
                general<std::atomic<T>, T>(theirs, a, b);
                general<cyclewise::atomic<T>, T>(ours, a, b);
            }
            integral<std::atomic<T>, T>(theirs, a, b);
            integral<cyclewise::atomic<T>, T>(ours, a, b);
            same(what, theirs, ours);
            // Members of ours.
            using bits = typename std::make_unsigned<T>::type;
            const T sum = static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b)));
            const T difference = static_cast<T>(static_cast<bits>(static_cast<bits>(a) - static_cast<bits>(b)));
            const auto negative = [](T v) { return (static_cast<bits>(v) >> (sizeof(T) * 8 - 1)) != 0; };
            const auto plus = [](T v, int n) { return static_cast<T>(static_cast<bits>(static_cast<bits>(v) + static_cast<bits>(n))); };
            const auto check = [&](bool holds) { failures += holds ? 0 : (std::fprintf(stderr, "atomic.cc: %s: a member\n", what), 1); };
            cyclewise::atomic<T> word(a);
            word.add(b);
            check(word == sum);
            word = a, word.sub(b);
            check(word == difference);
            word = a, word.bit_and(b);
            check(word == static_cast<T>(a & b));
            word = a, word.bit_or(b);
            check(word == static_cast<T>(a | b));
            word = a, word.bit_xor(b);
            check(word == static_cast<T>(a ^ b));
            word = a, word.inc();
            check(word == plus(a, 1));
            word = a, word.dec();
            check(word == plus(a, -1));
            word = a;
            check(word.sub_and_test(b) == (a == b) && word == difference);
            word = a;
            check(word.add_negative(b) == negative(sum) && word == sum);
            word = a;
            check(word.inc_and_test() == (plus(a, 1) == 0));
            word = a;
            check(word.dec_and_test() == (a == 1));
            word = a;
            check(word.inc_negative() == negative(plus(a, 1)));
            word = a;
            check(word.dec_negative() == negative(plus(a, -1)));
        }
    }
}

template <class T> void compare_general(const char *what, T a, T b) {
    static_assert(sizeof(cyclewise::atomic<T>) == sizeof(std::atomic<T>), "");
    static_assert(alignof(cyclewise::atomic<T>) == alignof(std::atomic<T>), "");
    transcript theirs, ours;
    general<std::atomic<T>, T>(theirs, a, b);
    general<cyclewise::atomic<T>, T>(ours, a, b);
    same(what, theirs, ours);
}

template <class A> void pointers(transcript &out, int *base) {
    A word(base + 4);
    volatile A &shared = *const_cast<volatile A *>(&word);
    const auto at = [&](int *p) { note(out, p - base); };
    at(word.fetch_add(3));
    at(shared.fetch_sub(2, std::memory_order_release));
    at(word.fetch_add(-4));
    at(word += 2);
    at(shared -= 1);
    at(++word);
    at(word++);
    at(--shared);
    at(shared--);
    at(shared += -1);
    at(word.load());
    at(word);
}

enum class colour : unsigned char { red, green };
enum wide : long long { small, large = LLONG_MAX };
struct pair {
    std::int32_t a, b;
};
struct padded {
    char a;
    int b;
};
struct not_default {
    explicit not_default(int v) : value(v) {}
    int value;
};

// No code runs to initialize these.
cyclewise::atomic<int> constant_initialized(5);
constexpr cyclewise::atomic<long> *no_address = nullptr;
struct holder {
    cyclewise::atomic<unsigned> count{7};
    cyclewise::atomic<bool> flag{true};
    cyclewise::atomic<int *> pointer{nullptr};
} held;

void threads() {
    cyclewise::atomic<long> sum(0), swaps(0);
    std::vector<std::thread> workers;
    for (int n = 0; n < 2; n++)
        workers.emplace_back([&] {
            for (int i = 0; i < 100000; i++) {
                ++sum;
                sum.inc();
                long seen = swaps.load();
                while (!swaps.compare_exchange_weak(seen, seen + 1)) {
                }
            }
        });
    for (std::thread &worker : workers)
        worker.join();
    failures += sum != 400000 || swaps != 200000;
}

#if defined(__cpp_lib_atomic_wait)
void waiting() {
    cyclewise::atomic<int> turn(0);
    std::thread other([&] {
        turn.wait(0);
        turn = 2;
        turn.notify_all();
    });
    turn = 1;
    turn.notify_one();
    for (int seen = turn; seen != 2; seen = turn)
        turn.wait(seen);
    other.join();
    cyclewise::atomic<float> real(1.5F);
    real.wait(2.5F);
}
#endif

} // namespace

int main() {
    compare_integer<int>("int");
    // A twin differs in any type, and most of the time goes to the compiler.
#if !defined(TWIN)
    compare_integer<signed char>("signed char");
    compare_integer<unsigned short>("unsigned short");
    compare_integer<unsigned long long>("unsigned long long");
    compare_integer<char16_t>("char16_t");
    compare_general<bool>("bool", true, false);
    compare_general<colour>("an enumeration of a byte", colour::red, colour::green);
    compare_general<wide>("an enumeration of eight bytes", small, large);
    compare_general<pair>("a structure", {1, -2}, {-1, 2});
    compare_general<float>("float", 1.5F, -2.0F);
    compare_general<double>("double", 0.1, -3.5);
    compare_general<void (*)()>("a pointer to a function", threads, nullptr);
    int objects[16];
    compare_general<int *>("a pointer", objects, objects + 3);
    compare_general<void *>("a pointer to void", objects, objects + 3);
    transcript theirs, ours;
    pointers<std::atomic<int *>>(theirs, objects);
    pointers<cyclewise::atomic<int *>>(ours, objects);
    same("arithmetic of pointers", theirs, ours);
    // Values whose size is no word's, or that have padding, are std::atomic's.
    static_assert(std::is_base_of<std::atomic<padded>, cyclewise::atomic<padded>>::value, "");
    static_assert(std::is_base_of<std::atomic<float>, cyclewise::atomic<float>>::value, "");
    static_assert(!std::is_base_of<std::atomic<int>, cyclewise::atomic<int>>::value, "");
    static_assert(CW_HAS_SITES == cyclewise::detail::is_site<pair>::value, "");
    cyclewise::atomic<not_default> made(not_default(4));
    failures += made.load().value != 4;
    failures += constant_initialized != 5 || held.count != 7 || !held.flag || held.pointer.load() != nullptr || no_address != nullptr;
    cyclewise::atomic<int> zero;
    failures += zero.load() != 0;
#if defined(__cpp_lib_atomic_float)
    cyclewise::atomic<double> real(1.0);
    failures += real.fetch_add(0.5) != 1.0 || (real += 1.0) != 2.5;
#endif
#if defined(__cpp_lib_atomic_is_always_lock_free)
    static_assert(cyclewise::atomic<int>::is_always_lock_free && cyclewise::atomic<float>::is_always_lock_free, "");
#endif
#if defined(__cpp_deduction_guides)
    cyclewise::atomic deduced(3L);
    static_assert(std::is_same<decltype(deduced), cyclewise::atomic<long>>::value, "");
#endif
    threads();
#if defined(__cpp_lib_atomic_wait)
    waiting();
#endif
#endif
    return failures != 0;
}
