// SPDX-License-Identifier: MIT OR Apache-2.0
/* cyclewise::atomic<T>: std::atomic<T> whose read-modify-writes have LOCK prefixes that the library patches away.
 *
 * One that is patched orders nothing for other processes, the kernel or devices, seq_cst or not: use std::atomic and its fence there.
 *
 * Header only, C++11 on. Every member of std::atomic is there, and those of its specializations for integers, pointers and, in
 * C++20, floating point; wait and notify in C++20. Names, results, orders, constexpr constructors, alignment and layout are
 * std::atomic's: an object holds one, and nothing else.
 *
 *     cyclewise::atomic<std::size_t> references{1};
 *     references.inc();                           // no result: cheaper than ++ where LOCK is patched away
 *     if (references.dec_and_test())
 *         ...
 *
 * A read-modify-write is a site (site.h) where T has 1, 2, 4 or 8 bytes and no padding: integers, bool, enumerations, pointers and
 * structs of such. Floating-point numbers, larger types and types with padding are std::atomic's throughout, as is everything where
 * there are no sites. Loads, stores and exchange are std::atomic's always: they have no LOCK prefix.
 *
 * Beside std::atomic's members, for integers, named as in <cyclewise/atomic.h>:
 *   add, sub, bit_and, bit_or, bit_xor, inc, dec   no result. C++ cannot tell that the result of ++ is not used
 *   sub_and_test, inc_and_test, dec_and_test       whether the result is zero
 *   add_negative, inc_negative, dec_negative       whether the result, read as signed, is negative
 *
 * Memory ordering. Each member is ordered as std::atomic's is by its argument; those without a result are std::memory_order_relaxed
 * unless told otherwise, those with one seq_cst. On x86-64 each read-modify-write is a full barrier while LOCK is in force, and a
 * compiler barrier in any case.
 *
 * References: C++20, [atomics.types.generic]; GCC, __has_unique_object_representations. */
#ifndef CYCLEWISE_ATOMIC_HPP
#define CYCLEWISE_ATOMIC_HPP

#include "atomic.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "atomic_word.hpp"

namespace cyclewise {

namespace detail {

/* The members of every atomic. `Site` is whether read-modify-writes are sites. */
template <class T, bool Site> class atomic_base {
  public:
    using value_type = T;

#if defined(__cpp_lib_atomic_is_always_lock_free)
    static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;
#endif

    constexpr atomic_base(T value) noexcept : value_(value) {}
    atomic_base(const atomic_base &) = delete;
    atomic_base &operator=(const atomic_base &) = delete;
    atomic_base &operator=(const atomic_base &) volatile = delete;

    T operator=(T value) noexcept {
        store(value);
        return value;
    }
    T operator=(T value) volatile noexcept {
        store(value);
        return value;
    }

    bool is_lock_free() const noexcept { return value_.is_lock_free(); }
    bool is_lock_free() const volatile noexcept { return value_.is_lock_free(); }

    void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept { value_.store(value, order); }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) volatile noexcept { value_.store(value, order); }
    T load(std::memory_order order = std::memory_order_seq_cst) const noexcept { return value_.load(order); }
    T load(std::memory_order order = std::memory_order_seq_cst) const volatile noexcept { return value_.load(order); }
    operator T() const noexcept { return load(); }
    operator T() const volatile noexcept { return load(); }
    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept { return value_.exchange(value, order); }
    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) volatile noexcept {
        return value_.exchange(value, order);
    }

    bool compare_exchange_strong(T &expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return exchange_if<T, Site>::strong(value_, expected, desired, success, failure);
    }
    bool compare_exchange_strong(T &expected, T desired, std::memory_order success,
                                 std::memory_order failure) volatile noexcept {
        return exchange_if<T, Site>::strong(value_, expected, desired, success, failure);
    }
    bool compare_exchange_strong(T &expected, T desired, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return exchange_if<T, Site>::strong(value_, expected, desired, order, failing(order));
    }
    bool compare_exchange_strong(T &expected, T desired,
                                 std::memory_order order = std::memory_order_seq_cst) volatile noexcept {
        return exchange_if<T, Site>::strong(value_, expected, desired, order, failing(order));
    }
    bool compare_exchange_weak(T &expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return exchange_if<T, Site>::weak(value_, expected, desired, success, failure);
    }
    bool compare_exchange_weak(T &expected, T desired, std::memory_order success,
                               std::memory_order failure) volatile noexcept {
        return exchange_if<T, Site>::weak(value_, expected, desired, success, failure);
    }
    bool compare_exchange_weak(T &expected, T desired, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return exchange_if<T, Site>::weak(value_, expected, desired, order, failing(order));
    }
    bool compare_exchange_weak(T &expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst) volatile noexcept {
        return exchange_if<T, Site>::weak(value_, expected, desired, order, failing(order));
    }

#if defined(__cpp_lib_atomic_wait)
    void wait(T old, std::memory_order order = std::memory_order_seq_cst) const noexcept { value_.wait(old, order); }
    void notify_one() noexcept { value_.notify_one(); }
    void notify_all() noexcept { value_.notify_all(); }
#endif

  protected:
    std::atomic<T> value_;
};

/* Integers but bool. */
template <class T, bool Site> class atomic_integer : public atomic_base<T, Site> {
    using base = atomic_base<T, Site>;
    using word = integer_word<T, Site>;

  public:
    using difference_type = T;

    using base::base;
    using base::operator=;

#define CW_FETCH_MEMBER_(name)                                                                        \
    T name(T operand, std::memory_order order = std::memory_order_seq_cst) noexcept {                 \
        return word::name(this->value_, operand, order);                                              \
    }                                                                                                 \
    T name(T operand, std::memory_order order = std::memory_order_seq_cst) volatile noexcept {        \
        return word::name(this->value_, operand, order);                                              \
    }
    CW_FETCH_MEMBER_(fetch_add)
    CW_FETCH_MEMBER_(fetch_sub)
    CW_FETCH_MEMBER_(fetch_and)
    CW_FETCH_MEMBER_(fetch_or)
    CW_FETCH_MEMBER_(fetch_xor)
#undef CW_FETCH_MEMBER_

#define CW_OPERATOR_MEMBER_(symbol, name, combine)                                                    \
    T operator symbol(T operand) noexcept { return static_cast<T>(name(operand) combine operand); }   \
    T operator symbol(T operand) volatile noexcept { return static_cast<T>(name(operand) combine operand); }
    CW_OPERATOR_MEMBER_(&=, fetch_and, &)
    CW_OPERATOR_MEMBER_(|=, fetch_or, |)
    CW_OPERATOR_MEMBER_(^=, fetch_xor, ^)
#undef CW_OPERATOR_MEMBER_
    T operator+=(T operand) noexcept { return word::plus(fetch_add(operand), operand); }
    T operator+=(T operand) volatile noexcept { return word::plus(fetch_add(operand), operand); }
    T operator-=(T operand) noexcept { return word::minus(fetch_sub(operand), operand); }
    T operator-=(T operand) volatile noexcept { return word::minus(fetch_sub(operand), operand); }
    T operator++() noexcept { return word::plus(fetch_add(1), 1); }
    T operator++() volatile noexcept { return word::plus(fetch_add(1), 1); }
    T operator--() noexcept { return word::minus(fetch_sub(1), 1); }
    T operator--() volatile noexcept { return word::minus(fetch_sub(1), 1); }
    T operator++(int) noexcept { return fetch_add(1); }
    T operator++(int) volatile noexcept { return fetch_add(1); }
    T operator--(int) noexcept { return fetch_sub(1); }
    T operator--(int) volatile noexcept { return fetch_sub(1); }

#define CW_EFFECT_MEMBER_(name)                                                                       \
    void name(T operand, std::memory_order order = std::memory_order_relaxed) noexcept {              \
        word::name(this->value_, operand, order);                                                     \
    }
    CW_EFFECT_MEMBER_(add)
    CW_EFFECT_MEMBER_(sub)
    CW_EFFECT_MEMBER_(bit_and)
    CW_EFFECT_MEMBER_(bit_or)
    CW_EFFECT_MEMBER_(bit_xor)
#undef CW_EFFECT_MEMBER_
    void inc(std::memory_order order = std::memory_order_relaxed) noexcept { word::inc(this->value_, order); }
    void dec(std::memory_order order = std::memory_order_relaxed) noexcept { word::dec(this->value_, order); }
    bool sub_and_test(T operand, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return word::sub_and_test(this->value_, operand, order);
    }
    bool add_negative(T operand, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return word::add_negative(this->value_, operand, order);
    }
#define CW_TEST_MEMBER_(name)                                                                         \
    bool name(std::memory_order order = std::memory_order_seq_cst) noexcept { return word::name(this->value_, order); }
    CW_TEST_MEMBER_(inc_and_test)
    CW_TEST_MEMBER_(dec_and_test)
    CW_TEST_MEMBER_(inc_negative)
    CW_TEST_MEMBER_(dec_negative)
#undef CW_TEST_MEMBER_
};

/* Pointers to objects. The operand counts objects. */
template <class T> class atomic_pointer : public atomic_base<T, true> {
    using base = atomic_base<T, true>;
    using word = pointer_word<T>;

  public:
    using difference_type = std::ptrdiff_t;

    using base::base;
    using base::operator=;

    T fetch_add(std::ptrdiff_t n, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return word::fetch_add(this->value_, n, order);
    }
    T fetch_add(std::ptrdiff_t n, std::memory_order order = std::memory_order_seq_cst) volatile noexcept {
        return word::fetch_add(this->value_, n, order);
    }
    T fetch_sub(std::ptrdiff_t n, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return word::fetch_sub(this->value_, n, order);
    }
    T fetch_sub(std::ptrdiff_t n, std::memory_order order = std::memory_order_seq_cst) volatile noexcept {
        return word::fetch_sub(this->value_, n, order);
    }
    T operator+=(std::ptrdiff_t n) noexcept { return fetch_add(n) + n; }
    T operator+=(std::ptrdiff_t n) volatile noexcept { return fetch_add(n) + n; }
    T operator-=(std::ptrdiff_t n) noexcept { return fetch_sub(n) - n; }
    T operator-=(std::ptrdiff_t n) volatile noexcept { return fetch_sub(n) - n; }
    T operator++() noexcept { return fetch_add(1) + 1; }
    T operator++() volatile noexcept { return fetch_add(1) + 1; }
    T operator--() noexcept { return fetch_sub(1) - 1; }
    T operator--() volatile noexcept { return fetch_sub(1) - 1; }
    T operator++(int) noexcept { return fetch_add(1); }
    T operator++(int) volatile noexcept { return fetch_add(1); }
    T operator--(int) noexcept { return fetch_sub(1); }
    T operator--(int) volatile noexcept { return fetch_sub(1); }
};

/* The class that an atomic of T derives from. */
template <class T> struct atomic_of {
    static constexpr bool is_integer = std::is_integral<T>::value && !std::is_same<T, bool>::value;
    static constexpr bool is_object_pointer =
        std::is_pointer<T>::value && std::is_object<typename std::remove_pointer<T>::type>::value;
    using sites = typename std::conditional<is_object_pointer, atomic_pointer<T>, atomic_base<T, true>>::type;
    using other = typename std::conditional<is_site<T>::value, sites, std::atomic<T>>::type;
    using type = typename std::conditional<is_integer, atomic_integer<T, is_site<T>::value>, other>::type;
};

} // namespace detail

template <class T> class atomic : public detail::atomic_of<T>::type {
    using base = typename detail::atomic_of<T>::type;
    static_assert(!detail::is_site<T>::value || sizeof(std::atomic<T>) == sizeof(T), "the atomic is the word");

  public:
    using base::base;
    using base::operator=;
    constexpr atomic() noexcept(std::is_nothrow_default_constructible<T>::value) : base(T()) {}
};

#if defined(__cpp_deduction_guides)
template <class T> atomic(T) -> atomic<T>;
#endif

/* A counter policy for boost::intrusive_ref_counter<T, Policy>: one instruction to add a reference, one and a jump to remove one.
 *
 *     struct node : boost::intrusive_ref_counter<node, cyclewise::ref_counter> { ... };
 *
 * Like Boost's own policies it does not check. What `decrement` returns is 0 after the last reference, else 1: Boost asks only whether
 * it is 0, and the number itself would need XADD. `load` has the number. */
struct ref_counter {
    using type = atomic<unsigned int>;

    static unsigned int load(const type &counter) noexcept { return counter.load(std::memory_order_relaxed); }
    static void increment(type &counter) noexcept { counter.inc(std::memory_order_relaxed); }
    static unsigned int decrement(type &counter) noexcept {
        return counter.dec_and_test(std::memory_order_acq_rel) ? 0U : 1U;
    }
};

} // namespace cyclewise

#endif // CYCLEWISE_ATOMIC_HPP
