/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Benchmarks of functions in C and C++, which the command `cyclewise` measures. Header only: nothing is linked.
 *
 *     #include <cyclewise/bench.h>
 *
 *     CW_BENCH_GROUP("sum")
 *     CW_BENCH(loop, sum(CW_BLACK_BOX(data), 1024))
 *     CW_BENCH(unrolled, sum_unrolled(CW_BLACK_BOX(data), 1024))
 *
 *     cc -O2 -fPIC -shared mine.c -o mine.so && cyclewise run --object ./mine.so
 *
 * Each macro stands at file scope and needs no semicolon. The benchmarks that follow a CW_BENCH_GROUP in a translation unit are compared
 * with the first of them; without one, the group is called as the file.
 *
 * CW_BENCH(name, expression): the expression is in the loop that is timed, so that the compiler inlines what it calls. What it returns is
 * opaque to the compiler, so its work stays; it may also be void. A call follows the other without pause, and all state that it changes
 * stays changed.
 *
 * CW_BENCH_WITH(name, type, make, expression): each call has an input of its own. `input` points to a type, which `make` fills outside of
 * the timed region and the expression uses:
 *
 *     CW_BENCH_WITH(qsort, struct data, fill(input), qsort(input->v, 1024, sizeof(int), compare))
 *
 * In C the input is zeroed at first, in C++ value-initialized; its destructor is called outside of the timed region. The result of an
 * expression is destroyed inside of it.
 *
 * CW_BLACK_BOX(value): the value, hidden from the compiler. Without it, a call with constant operands is computed when it is compiled, and
 * one whose operands never change may be taken out of the loop.
 *
 * What is to be done once and before all, such as filling a table, is a constructor's work: __attribute__((constructor)) in C, a global
 * object in C++. An exception that leaves an expression ends the program.
 *
 * The translation unit has a pointer to each entry in the section cyclewise_bench, and a weak table, which the link unit exports, says where
 * that section begins and ends. */
#ifndef CW_BENCH_H
#define CW_BENCH_H

#if !defined(__GNUC__)
#error "cyclewise/bench.h needs GCC or clang"
#endif

#include <stddef.h>
#include <stdint.h>
#if !defined(__cplusplus)
#include <stdlib.h>
#endif

/* The version of the table and its entries. Another version is refused; fields may be added at the end of an entry. */
#define CW_BENCH_VERSION 1

#if defined(__cplusplus)
extern "C" {
#endif

/* A group, which has only a name; or a benchmark. */
struct cw_bench_entry {
    uint32_t size;    /* of this */
    uint32_t order;   /* in the translation unit, since a linker's order is no promise */
    const char *file; /* the translation unit */
    const char *name;
    /* Loops of 1, 4, 8 and 16 calls an iteration. */
    void (*run[4])(uint64_t iterations, void *inputs);
    /* The inputs of so many calls, or null where there is no memory; and their end. Both null for a benchmark without. */
    void *(*make)(uint64_t count);
    void (*drop)(void *inputs);
};

struct cw_bench_table {
    uint32_t version;
    uint32_t size; /* of this */
    struct cw_bench_entry **begin, **end;
};

/* Of the link unit. Weak, since it may have no benchmark in the end. */
extern struct cw_bench_entry *__start_cyclewise_bench[] __attribute__((__weak__, __visibility__("hidden")));
extern struct cw_bench_entry *__stop_cyclewise_bench[] __attribute__((__weak__, __visibility__("hidden")));

extern struct cw_bench_table cyclewise_bench_table __attribute__((__weak__, __visibility__("default")));
struct cw_bench_table cyclewise_bench_table = {
    CW_BENCH_VERSION,
    sizeof(struct cw_bench_table),
    __start_cyclewise_bench,
    __stop_cyclewise_bench,
};

#if defined(__cplusplus)
}
#endif

/* Keeps what only the section's name refers to, also from a linker's --gc-sections. */
#define CW_BENCH_KEPT_ __used__
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#undef CW_BENCH_KEPT_
#define CW_BENCH_KEPT_ __used__, __retain__
#endif
#endif

/* Where a value is that is changed: a general register, memory, a register of floating-point numbers. Of several clang takes memory, or
 * fails. */
#if defined(__clang__)
#define CW_BENCH_CHANGED_ "m"
#elif defined(__x86_64__)
#define CW_BENCH_CHANGED_ "rmx"
#elif defined(__aarch64__)
#define CW_BENCH_CHANGED_ "rmw"
#else
#define CW_BENCH_CHANGED_ "rm"
#endif

#if defined(__cplusplus)

extern "C++" {
namespace cw_bench {

/* What follows an expression, behind a comma. Of void it is the built-in comma, else the operator below. */
struct end {};

template <bool is_small> struct opaque {
    /* A copy, so that what is in memory is loaded. */
    template <typename T> __attribute__((__always_inline__)) static inline void keep(T value) noexcept
    {
        __asm__ volatile("" : : "r"(&value) : "memory");
    }
    template <typename T> __attribute__((__always_inline__)) static inline void hide(T &value) noexcept
    {
        __asm__ volatile("" : "+" CW_BENCH_CHANGED_(value) : : "memory");
    }
};

/* An object of a class stays where it is. GCC finds no register for some wider numbers. */
template <> struct opaque<false> {
    template <typename T> __attribute__((__always_inline__)) static inline void keep(const T &value) noexcept
    {
        __asm__ volatile("" : : "r"(&reinterpret_cast<const volatile char &>(value)) : "memory");
    }
    template <typename T> __attribute__((__always_inline__)) static inline void hide(T &value) noexcept
    {
        __asm__ volatile("" : "+m"(value) : : "memory");
    }
};

template <typename T> __attribute__((__always_inline__)) inline end operator,(const T &value, end e) noexcept
{
    opaque<!(__is_class(T) || __is_union(T))>::keep(value);
    return e;
}

template <typename T> __attribute__((__always_inline__)) inline T black_box(T value)
{
    opaque<!(__is_class(T) || __is_union(T)) && sizeof(T) <= sizeof(void *)>::hide(value);
    return value;
}

} /* namespace cw_bench */
} /* extern "C++" */

#define CW_BLACK_BOX(value) ::cw_bench::black_box(value)
#define CW_BENCH_EVALUATE_(...) static_cast<void>((__VA_ARGS__), ::cw_bench::end())
#define CW_BENCH_NOTHROW_ noexcept
#define CW_BENCH_NULL_ nullptr
#define CW_BENCH_INPUT_(type, at) static_cast<type *>(at)
#define CW_BENCH_NEW_(type, count) new type[static_cast<size_t>(count)]()
#define CW_BENCH_DELETE_(type, inputs) delete[] static_cast<type *>(inputs)

#else

#define CW_BLACK_BOX(value)                                                                    \
    __extension__({                                                                            \
        __auto_type cw_bench_value = (value);                                                  \
        __asm__ volatile("" : "+" CW_BENCH_CHANGED_(cw_bench_value) : : "memory");            \
        cw_bench_value;                                                                        \
    })

#define CW_BENCH_IS_VOID_(...) __builtin_types_compatible_p(__typeof__((__VA_ARGS__)), void)

/* Of the two the compiler sees one, by the expression's type. */
#define CW_BENCH_EVALUATE_(...)                                                                                          \
    if (CW_BENCH_IS_VOID_(__VA_ARGS__)) {                                                                                \
        (void)(__VA_ARGS__);                                                                                             \
        __asm__ volatile("" : : : "memory");                                                                             \
    } else {                                                                                                             \
        __extension__ __auto_type cw_bench_value =                                                                       \
            __builtin_choose_expr(CW_BENCH_IS_VOID_(__VA_ARGS__), 0, (__VA_ARGS__));                                     \
        __asm__ volatile("" : : "r"(&cw_bench_value) : "memory");                                                        \
    }
#define CW_BENCH_NOTHROW_
#define CW_BENCH_NULL_ NULL
#define CW_BENCH_INPUT_(type, at) ((type *)(at))
#define CW_BENCH_NEW_(type, count) ((type *)calloc((size_t)(count), sizeof(type)))
#define CW_BENCH_DELETE_(type, inputs) free(inputs)

#endif

#define CW_BENCH_4_(call) call call call call

/* A loop. The counter is opaque, so that the compiler does not unroll it further. */
#define CW_BENCH_LOOP_(name, type, calls)                                                                 \
    static __attribute__((__noinline__)) void name(uint64_t left, void *inputs) CW_BENCH_NOTHROW_         \
    {                                                                                                     \
        type *cw_bench_input = CW_BENCH_INPUT_(type, inputs);                                             \
        for (; left > 0; left--) {                                                                        \
            __asm__("" : "+r"(left));                                                                     \
            calls                                                                                         \
        }                                                                                                 \
        (void)cw_bench_input;                                                                             \
    }

#define CW_BENCH_ENTRY_(id, ...)                                                                          \
    static struct cw_bench_entry cw_bench_entry_##id = {sizeof(struct cw_bench_entry), id, __BASE_FILE__, __VA_ARGS__}; \
    static struct cw_bench_entry *cw_bench_at_##id                                                        \
        __attribute__((__section__("cyclewise_bench"), CW_BENCH_KEPT_)) = &cw_bench_entry_##id;

#define CW_BENCH_GROUP_(id, title)                                                                        \
    CW_BENCH_ENTRY_(id, title, {CW_BENCH_NULL_, CW_BENCH_NULL_, CW_BENCH_NULL_, CW_BENCH_NULL_}, CW_BENCH_NULL_, CW_BENCH_NULL_)

/* The call is a function, so that the expression is written once, and always inlined. */
#define CW_BENCH_PLAIN_(id, title, ...)                                                                   \
    static inline __attribute__((__always_inline__)) void cw_bench_call_##id(void) CW_BENCH_NOTHROW_      \
    {                                                                                                     \
        CW_BENCH_EVALUATE_(__VA_ARGS__);                                                                  \
    }                                                                                                     \
    CW_BENCH_LOOP_(cw_bench_1_##id, char, cw_bench_call_##id();)                                          \
    CW_BENCH_LOOP_(cw_bench_4_##id, char, CW_BENCH_4_(cw_bench_call_##id();))                             \
    CW_BENCH_LOOP_(cw_bench_8_##id, char, CW_BENCH_4_(cw_bench_call_##id(); cw_bench_call_##id();))       \
    CW_BENCH_LOOP_(cw_bench_16_##id, char, CW_BENCH_4_(CW_BENCH_4_(cw_bench_call_##id();)))               \
    CW_BENCH_ENTRY_(id, title, {cw_bench_1_##id, cw_bench_4_##id, cw_bench_8_##id, cw_bench_16_##id},     \
                    CW_BENCH_NULL_, CW_BENCH_NULL_)

/* Each call has its input, so there is one loop. */
#define CW_BENCH_INPUTS_(id, title, type, fill, ...)                                                      \
    static void *cw_bench_make_##id(uint64_t count)                                                       \
    {                                                                                                     \
        type *const inputs = CW_BENCH_NEW_(type, count);                                                  \
        for (uint64_t n = 0; inputs && n < count; n++) {                                                  \
            type *const input = inputs + n;                                                               \
            (void)input;                                                                                  \
            (void)(fill);                                                                                 \
        }                                                                                                 \
        return inputs;                                                                                    \
    }                                                                                                     \
    static void cw_bench_drop_##id(void *inputs)                                                          \
    {                                                                                                     \
        CW_BENCH_DELETE_(type, inputs);                                                                   \
    }                                                                                                     \
    static inline __attribute__((__always_inline__)) void cw_bench_call_##id(type *const input) CW_BENCH_NOTHROW_ \
    {                                                                                                     \
        (void)input;                                                                                      \
        CW_BENCH_EVALUATE_(__VA_ARGS__);                                                                  \
    }                                                                                                     \
    CW_BENCH_LOOP_(cw_bench_1_##id, type, cw_bench_call_##id(cw_bench_input++);)                          \
    CW_BENCH_ENTRY_(id, title, {cw_bench_1_##id, CW_BENCH_NULL_, CW_BENCH_NULL_, CW_BENCH_NULL_},         \
                    cw_bench_make_##id, cw_bench_drop_##id)

/* The number of an entry is known one expansion later. */
#define CW_BENCH_NUMBERED_(of, id, ...) of(id, __VA_ARGS__)

#define CW_BENCH_GROUP(title) CW_BENCH_NUMBERED_(CW_BENCH_GROUP_, __COUNTER__, title)
#define CW_BENCH(name, ...) CW_BENCH_NUMBERED_(CW_BENCH_PLAIN_, __COUNTER__, #name, __VA_ARGS__)
#define CW_BENCH_WITH(name, type, make, ...) \
    CW_BENCH_NUMBERED_(CW_BENCH_INPUTS_, __COUNTER__, #name, type, make, __VA_ARGS__)

#endif /* CW_BENCH_H */
