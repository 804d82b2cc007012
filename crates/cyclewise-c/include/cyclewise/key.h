/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Static keys: flags that are tested often and changed rarely. A test is one instruction, not a load.
 *
 *     CW_KEY_DEFINE_FALSE(trace);              in one file; CW_KEY_DECLARE_FALSE(trace) in others of the same link unit;
 *                                              CW_KEY_DEFINE_STATIC_FALSE(trace) where one file has all that uses it
 *
 *     if (cw_key_unlikely(&trace))             one NOP, until trace is enabled: then a jump to the branch
 *         write_trace();
 *
 *     if (cw_key_enable(&trace) != 0)          refused where the text cannot be changed; the key is then as it was
 *         ...
 *
 * cw_key_unlikely and cw_key_likely return whether the key is on, and differ in where the compiler puts the branch. Their argument is
 * the address of a key by name, since the record of the test holds it. A test may be anywhere in a function of the link unit that
 * defines the key; keys are hidden, and no other unit can name one.
 *
 * cw_key_enable and cw_key_disable set it; cw_key_inc and cw_key_dec count users, and it is on while it is enabled or has users. They
 * need libcyclewise, and return 0 or an enum cw_refused.
 *
 * Every test falls through while the key is at its default, and jumps while it is not. Where keys have no sites (site.h) a test is a
 * relaxed load of the key. Files with and without sites may test one key: a change flips the sites and stores the value.
 *
 * Memory ordering. A test orders nothing. When a change returns, every thread has executed a full barrier since it began, and its
 * next test takes the new branch; without sites, its next test may still see the old value for a moment.
 *
 * Cost. A test at its default is one NOP of 5 to 9 bytes, so that its last 5 lie in one aligned quadword; a change tens of
 * microseconds.
 *
 * Layout. The section cyclewise_key_v2 has 16 bytes for each test: the distances to the NOP, to the jump's target and to the key, each
 * from its own field, and the number of CS prefixes before the NOP. The lowest bit of the key's field is its default.
 *
 * References: Linux include/linux/jump_label.h, arch/x86/include/asm/jump_label.h. */
#ifndef CW_KEY_H
#define CW_KEY_H

#include "unit.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The state of a key. Only the library writes it. */
struct cw_key {
    CW_ALIGNED_(8) uint8_t on; /* the current value */
    uint8_t default_on;        /* the value that tests fall through for */
    uint16_t switched;         /* whether it is enabled */
    uint32_t users;
    void *cookie;
};

/* A key by its default, which the size of `default_is` tells tests at compile time. */
struct cw_key_false {
    union {
        struct cw_key key;
        char default_is[1];
    } of;
};
struct cw_key_true {
    union {
        struct cw_key key;
        char default_is[2];
    } of;
};

#if CW_GNU_
#define CW_HIDDEN_ __attribute__((__visibility__("hidden")))
#else
#define CW_HIDDEN_
#endif
#if defined(__cplusplus)
#define CW_EXTERN_C_ extern "C"
#else
#define CW_EXTERN_C_ extern
#endif

#define CW_KEY_DECLARE_FALSE(name) CW_EXTERN_C_ CW_HIDDEN_ struct cw_key_false name
#define CW_KEY_DECLARE_TRUE(name) CW_EXTERN_C_ CW_HIDDEN_ struct cw_key_true name
#define CW_KEY_DEFINE_FALSE(name)  \
    CW_KEY_DECLARE_FALSE(name);    \
    struct cw_key_false name = {{{0, 0, 0, 0, CW_NULL_(void)}}}
#define CW_KEY_DEFINE_TRUE(name)   \
    CW_KEY_DECLARE_TRUE(name);     \
    struct cw_key_true name = {{{1, 1, 1, 0, CW_NULL_(void)}}}

/* A key of one file, as the kernel's static keys are that are declared static. */
#define CW_KEY_DEFINE_STATIC_FALSE(name) static struct cw_key_false name = {{{0, 0, 0, 0, CW_NULL_(void)}}}
#define CW_KEY_DEFINE_STATIC_TRUE(name) static struct cw_key_true name = {{{1, 1, 1, 0, CW_NULL_(void)}}}

/* What cw_key_set changes. */
enum { CW_KEY_DISABLE = 0, CW_KEY_ENABLE = 1, CW_KEY_INC = 2, CW_KEY_DEC = 3 };

/* Changes a key of this link unit. In libcyclewise. 0, or an enum cw_refused: the key is then as it was. */
int cw_key_set(struct cw_unit *unit, struct cw_key *key, int change);

#define cw_key_enable(key_) cw_key_set(CW_THIS_UNIT, &(key_)->of.key, CW_KEY_ENABLE)
#define cw_key_disable(key_) cw_key_set(CW_THIS_UNIT, &(key_)->of.key, CW_KEY_DISABLE)
#define cw_key_inc(key_) cw_key_set(CW_THIS_UNIT, &(key_)->of.key, CW_KEY_INC)
#define cw_key_dec(key_) cw_key_set(CW_THIS_UNIT, &(key_)->of.key, CW_KEY_DEC)

#define CW_KEY_DEFAULT_(key_) (sizeof((key_)->of.default_is) - 1)

#if CW_HAS_KEY_SITES
/* A macro, because without optimization the argument of a function is no constant. The variable has no initializer, which clang
 * would take another test's jump to pass. */
#define CW_KEY_TEST_(key_)                                                              \
    __extension__({                                                                     \
        __label__ cw_key_changed_;                                                      \
        cw_bool cw_key_is_on_;                                                          \
        cw_key_is_on_ = CW_KEY_DEFAULT_(key_) != 0;                                     \
        CW_ASM_GOTO_("3:\n\t"                                                           \
                     ".p2align 3, 0x2e, 4\n"                                            \
                     "2:\t"                                                             \
                     ".byte 0x0f, 0x1f, 0x44, 0, 0\n\t"                                 \
                     CW_RECORDS_("cyclewise_key_v2")                                    \
                     ".balign 4\n\t"                                                    \
                     ".long 2b - .\n\t"                                                 \
                     ".long %l[cw_key_changed_] - .\n\t"                                \
                     ".long %c[cw_key] + %c[cw_default] - .\n\t"                        \
                     ".long 2b - 3b\n\t"                                                \
                     ".popsection"                                                      \
                     :                                                                  \
                     : [cw_key] "i"(&(key_)->of.key), [cw_default] "i"(CW_KEY_DEFAULT_(key_)) \
                     :                                                                  \
                     : cw_key_changed_);                                                \
        if (0) {                                                                        \
        cw_key_changed_:                                                                \
            cw_key_is_on_ = CW_KEY_DEFAULT_(key_) == 0;                                 \
        }                                                                               \
        cw_key_is_on_;                                                                  \
    })
#elif CW_GNU_
#define CW_KEY_TEST_(key_) (__atomic_load_n(&(key_)->of.key.on, __ATOMIC_RELAXED) != 0)
#else
#include <stdatomic.h>
#define CW_KEY_TEST_(key_) \
    (atomic_load_explicit((const volatile _Atomic(uint8_t) *)&(key_)->of.key.on, memory_order_relaxed) != 0)
#endif

#if CW_GNU_
#define cw_key_unlikely(key_) (__builtin_expect(CW_KEY_TEST_(key_), 0) != 0)
#define cw_key_likely(key_) (__builtin_expect(CW_KEY_TEST_(key_), 1) != 0)
#else
#define cw_key_unlikely(key_) CW_KEY_TEST_(key_)
#define cw_key_likely(key_) CW_KEY_TEST_(key_)
#endif

#if defined(__cplusplus)
}
#endif

#endif /* CW_KEY_H */
