// SPDX-License-Identifier: MIT OR Apache-2.0
/* The words of cyclewise::atomic: which types have sites, and their read-modify-writes on the bits of a value.
 *
 * Included by <cyclewise/atomic.hpp>.
 *
 * A std::atomic<T> without padding is the T itself, in libstdc++ and libc++, so its address is the word's. The word is accessed by
 * assembly only, and the rest by std::atomic: no access goes through a pointer of another type. */
#ifndef CYCLEWISE_ATOMIC_WORD_HPP
#define CYCLEWISE_ATOMIC_WORD_HPP

#include "atomic.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cyclewise {
namespace detail {

/* Padding has no value, and std::atomic has its own way to compare around it. */
template <class T>
struct is_site
    : std::integral_constant<bool, CW_HAS_SITES && std::is_trivially_copyable<T>::value &&
                                       (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) &&
                                       __has_unique_object_representations(T)> {};

/* The order of a load that a compare-and-exchange of this order ends with if it fails. */
inline std::memory_order failing(std::memory_order order) noexcept {
    return order == std::memory_order_acq_rel   ? std::memory_order_acquire
           : order == std::memory_order_release ? std::memory_order_relaxed
                                                : order;
}

/* The compiler's number of an order. */
inline int number(std::memory_order order) noexcept { return static_cast<int>(order); }

/* Functions of <cyclewise/atomic.h> by the size of a word. */
template <std::size_t Size> struct word_of;
#define CW_WORD_OF_(size, w, type)                                                                             \
    template <> struct word_of<size> {                                                                         \
        using bits = type;                                                                                     \
        static bool try_cmpxchg(volatile bits *p, bits *old, bits desired, int success, int failure) noexcept {\
            return cw_try_cmpxchg_##w##_explicit(p, old, desired, success, failure);                           \
        }                                                                                                      \
        static bits fetch_add(volatile bits *p, bits v, int order) noexcept {                                  \
            return cw_fetch_add_##w##_explicit(p, v, order);                                                   \
        }                                                                                                      \
        static bits fetch_and(volatile bits *p, bits v, int order) noexcept {                                  \
            return cw_fetch_and_##w##_explicit(p, v, order);                                                   \
        }                                                                                                      \
        static bits fetch_or(volatile bits *p, bits v, int order) noexcept {                                   \
            return cw_fetch_or_##w##_explicit(p, v, order);                                                    \
        }                                                                                                      \
        static bits fetch_xor(volatile bits *p, bits v, int order) noexcept {                                  \
            return cw_fetch_xor_##w##_explicit(p, v, order);                                                   \
        }                                                                                                      \
        static void add(volatile bits *p, bits v, int order) noexcept { cw_add_##w##_explicit(p, v, order); }  \
        static void sub(volatile bits *p, bits v, int order) noexcept { cw_sub_##w##_explicit(p, v, order); }  \
        static void bit_and(volatile bits *p, bits v, int order) noexcept {                                    \
            cw_and_##w##_explicit(p, v, order);                                                                \
        }                                                                                                      \
        static void bit_or(volatile bits *p, bits v, int order) noexcept { cw_or_##w##_explicit(p, v, order); }\
        static void bit_xor(volatile bits *p, bits v, int order) noexcept {                                    \
            cw_xor_##w##_explicit(p, v, order);                                                                \
        }                                                                                                      \
        static void inc(volatile bits *p, int order) noexcept { cw_inc_##w##_explicit(p, order); }             \
        static void dec(volatile bits *p, int order) noexcept { cw_dec_##w##_explicit(p, order); }             \
        static bool sub_and_test(volatile bits *p, bits v, int order) noexcept {                               \
            return cw_sub_and_test_##w##_explicit(p, v, order);                                                \
        }                                                                                                      \
        static bool add_negative(volatile bits *p, bits v, int order) noexcept {                               \
            return cw_add_negative_##w##_explicit(p, v, order);                                                \
        }                                                                                                      \
        static bool inc_and_test(volatile bits *p, int order) noexcept {                                       \
            return cw_inc_and_test_##w##_explicit(p, order);                                                   \
        }                                                                                                      \
        static bool dec_and_test(volatile bits *p, int order) noexcept {                                       \
            return cw_dec_and_test_##w##_explicit(p, order);                                                   \
        }                                                                                                      \
        static bool inc_negative(volatile bits *p, int order) noexcept {                                       \
            return cw_inc_negative_##w##_explicit(p, order);                                                   \
        }                                                                                                      \
        static bool dec_negative(volatile bits *p, int order) noexcept {                                       \
            return cw_dec_negative_##w##_explicit(p, order);                                                   \
        }                                                                                                      \
    };
CW_WORD_OF_(1, u8, std::uint8_t)
CW_WORD_OF_(2, u16, std::uint16_t)
CW_WORD_OF_(4, u32, std::uint32_t)
CW_WORD_OF_(8, u64, std::uint64_t)
#undef CW_WORD_OF_

/* A value as bits, and its atomic as a word of them. */
template <class T> struct bits_of {
    using word = word_of<sizeof(T)>;
    using bits = typename word::bits;

    static bits from(T value) noexcept {
        bits result;
        std::memcpy(&result, &value, sizeof(T));
        return result;
    }
    static T to(bits value) noexcept {
        T result;
        std::memcpy(static_cast<void *>(&result), &value, sizeof(T));
        return result;
    }
    static volatile bits *address(volatile std::atomic<T> &value) noexcept {
        return reinterpret_cast<volatile bits *>(&value);
    }
};

/* Compare-and-exchange: CMPXCHG never fails spuriously. */
template <class T, bool Site> struct exchange_if {
    using b = bits_of<T>;

    static bool strong(volatile std::atomic<T> &value, T &expected, T desired, std::memory_order success,
                       std::memory_order failure) noexcept {
        typename b::bits old = b::from(expected);
        const bool stored = b::word::try_cmpxchg(b::address(value), &old, b::from(desired), number(success), number(failure));
        if (!stored)
            std::memcpy(static_cast<void *>(&expected), &old, sizeof(T));
        return stored;
    }
    static bool weak(volatile std::atomic<T> &value, T &expected, T desired, std::memory_order success,
                     std::memory_order failure) noexcept {
        return strong(value, expected, desired, success, failure);
    }
};
template <class T> struct exchange_if<T, false> {
    template <class A>
    static bool strong(A &value, T &expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return value.compare_exchange_strong(expected, desired, success, failure);
    }
    template <class A>
    static bool weak(A &value, T &expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return value.compare_exchange_weak(expected, desired, success, failure);
    }
};

/* Sums that wrap, whatever the type promotes to. */
template <class T> struct wrapping {
    using bits = typename std::make_unsigned<T>::type;

    static T plus(T a, T b) noexcept { return static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b))); }
    static T minus(T a, T b) noexcept { return static_cast<T>(static_cast<bits>(static_cast<bits>(a) - static_cast<bits>(b))); }
    static bool negative(T a) noexcept { return (static_cast<bits>(a) >> (sizeof(T) * 8 - 1)) != 0; }
};

/* Read-modify-writes of integers. */
template <class T, bool Site> struct integer_word : wrapping<T> {
    using b = bits_of<T>;
    using atomic = volatile std::atomic<T>;

#define CW_WORD_FETCH_(name)                                                               \
    static T name(atomic &value, T operand, std::memory_order order) noexcept {       \
        return b::to(b::word::name(b::address(value), b::from(operand), number(order))); \
    }
    CW_WORD_FETCH_(fetch_add)
    CW_WORD_FETCH_(fetch_and)
    CW_WORD_FETCH_(fetch_or)
    CW_WORD_FETCH_(fetch_xor)
#undef CW_WORD_FETCH_
    static T fetch_sub(atomic &value, T operand, std::memory_order order) noexcept {
        return fetch_add(value, wrapping<T>::minus(0, operand), order);
    }
#define CW_OF_VALUE_(result, name)                                                    \
    static result name(atomic &value, T operand, std::memory_order order) noexcept {  \
        return b::word::name(b::address(value), b::from(operand), number(order));     \
    }
    CW_OF_VALUE_(void, add)
    CW_OF_VALUE_(void, sub)
    CW_OF_VALUE_(void, bit_and)
    CW_OF_VALUE_(void, bit_or)
    CW_OF_VALUE_(void, bit_xor)
    CW_OF_VALUE_(bool, sub_and_test)
    CW_OF_VALUE_(bool, add_negative)
#undef CW_OF_VALUE_
#define CW_OF_ONE_(result, name) \
    static result name(atomic &value, std::memory_order order) noexcept { return b::word::name(b::address(value), number(order)); }
    CW_OF_ONE_(void, inc)
    CW_OF_ONE_(void, dec)
    CW_OF_ONE_(bool, inc_and_test)
    CW_OF_ONE_(bool, dec_and_test)
    CW_OF_ONE_(bool, inc_negative)
    CW_OF_ONE_(bool, dec_negative)
#undef CW_OF_ONE_
};
template <class T> struct integer_word<T, false> : wrapping<T> {
    using w = wrapping<T>;
    using order_t = std::memory_order;

#define CW_WORD_FETCH_(name, effect)                                                                                           \
    template <class A> static T name(A &value, T operand, order_t order) noexcept { return value.name(operand, order); } \
    template <class A> static void effect(A &value, T operand, order_t order) noexcept { (void)value.name(operand, order); }
    CW_WORD_FETCH_(fetch_add, add)
    CW_WORD_FETCH_(fetch_sub, sub)
    CW_WORD_FETCH_(fetch_and, bit_and)
    CW_WORD_FETCH_(fetch_or, bit_or)
    CW_WORD_FETCH_(fetch_xor, bit_xor)
#undef CW_WORD_FETCH_
    template <class A> static void inc(A &value, order_t order) noexcept { (void)value.fetch_add(1, order); }
    template <class A> static void dec(A &value, order_t order) noexcept { (void)value.fetch_sub(1, order); }
    template <class A> static bool sub_and_test(A &value, T operand, order_t order) noexcept {
        return value.fetch_sub(operand, order) == operand;
    }
    template <class A> static bool add_negative(A &value, T operand, order_t order) noexcept {
        return w::negative(w::plus(value.fetch_add(operand, order), operand));
    }
    template <class A> static bool inc_and_test(A &value, order_t order) noexcept {
        return w::plus(value.fetch_add(1, order), 1) == 0;
    }
    template <class A> static bool dec_and_test(A &value, order_t order) noexcept { return value.fetch_sub(1, order) == 1; }
    template <class A> static bool inc_negative(A &value, order_t order) noexcept { return add_negative(value, 1, order); }
    template <class A> static bool dec_negative(A &value, order_t order) noexcept {
        return w::negative(w::minus(value.fetch_sub(1, order), 1));
    }
};

/* Read-modify-writes of pointers to objects. */
template <class T> struct pointer_word {
    using b = bits_of<T>;
    using bits = typename b::bits;

    static T fetch_add(volatile std::atomic<T> &value, std::ptrdiff_t n, std::memory_order order) noexcept {
        const bits distance = static_cast<bits>(n) * sizeof(typename std::remove_pointer<T>::type);
        return b::to(b::word::fetch_add(b::address(value), distance, number(order)));
    }
    static T fetch_sub(volatile std::atomic<T> &value, std::ptrdiff_t n, std::memory_order order) noexcept {
        const bits distance = static_cast<bits>(n) * sizeof(typename std::remove_pointer<T>::type);
        return b::to(b::word::fetch_add(b::address(value), 0U - distance, number(order)));
    }
};

} // namespace detail
} // namespace cyclewise

#endif // CYCLEWISE_ATOMIC_WORD_HPP
