/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Read-modify-writes of a word, each one instruction whose LOCK prefix is a site.
 *
 * Included by <cyclewise/atomic.h>, which says what each does. rmw_builtins.h has the same functions without assembly.
 *
 * Each clobbers "memory", so the compiler moves no access across it, whatever the order. With LOCK it is a full barrier of
 * the CPU, too. Elided it is none, and no other CPU runs the process. Results are flags, which the caller's branch tests.
 *
 * Cost. Locked, as the builtins. Elided, forms without a result cost a plain instruction on memory; XADD and CMPXCHG are
 * microcoded and cost more. BTS, BTR and BTC are cheap only where the number of the bit is constant.
 *
 * References: Intel SDM vol. 2: ADD, AND, BTC, BTR, BTS, CMPXCHG, DEC, INC, LOCK, OR, SUB, XADD, XOR; vol. 3, 8.2.3.9. */
#ifndef CW_RMW_X86_64_H
#define CW_RMW_X86_64_H

#include "site.h"

#if CW_HAS_SITES

/* An instruction without a result. */
#define CW_EFFECT_(op, w, type, name, att, intel, imm)                                                         \
    CW_INLINE_ void cw_##op##_##w##_explicit(volatile type *p, type v, int order) {                            \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_WITH_(name, att, intel, "%[v]") : : CW_AT_(p), [v] imm(v) : "memory");               \
    }
#define CW_EFFECT_OF_ONE_(op, w, type, name, att, intel)                                                       \
    CW_INLINE_ void cw_##op##_##w##_explicit(volatile type *p, int order) {                                    \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_(name, att, intel) : : CW_AT_(p) : "memory");                                        \
    }

/* The same, and whether a condition of the flags holds. */
#define CW_TEST_(op, w, type, name, att, intel, imm, condition)                                                \
    CW_INLINE_ cw_bool cw_##op##_##w##_explicit(volatile type *p, type v, int order) {                         \
        cw_bool holds;                                                                                         \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_WITH_(name, att, intel, "%[v]")                                                      \
                : "=@cc" condition(holds)                                                                      \
                : CW_AT_(p), [v] imm(v)                                                                        \
                : "memory");                                                                                   \
        return holds;                                                                                          \
    }
#define CW_TEST_OF_ONE_(op, w, type, name, att, intel, condition)                                              \
    CW_INLINE_ cw_bool cw_##op##_##w##_explicit(volatile type *p, int order) {                                 \
        cw_bool holds;                                                                                         \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_(name, att, intel) : "=@cc" condition(holds) : CW_AT_(p) : "memory");                \
        return holds;                                                                                          \
    }

/* The same, and one jump where the comparison is not "greater". The same flags tell the other two apart, out of line: two
 * jumps side by side would cost what one instruction saves. */
#define CW_COMPARE_(op, w, type, instruction, either, equally)                                                 \
    CW_INLINE_ int cw_##op##_##w##_explicit(volatile type *p, int order) {                                     \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_GOTO_(instruction "\n\t"                                                                        \
                     either " 2f\n\t"                                                                          \
                     ".subsection 1\n"                                                                         \
                     "2:\t" equally " %l[equal]\n\t"                                                           \
                     "jmp %l[less]\n\t"                                                                        \
                     ".subsection 0"                                                                           \
                     :                                                                                         \
                     : CW_AT_(p)                                                                               \
                     : "memory"                                                                                \
                     : equal, less);                                                                           \
        return 1;                                                                                              \
    equal:                                                                                                     \
        return 0;                                                                                              \
    less:                                                                                                      \
        return -1;                                                                                             \
    }

#define CW_LOCKED_SUB_1_(att, intel)                                                                           \
    CW_LOCK_ "{sub" att " $1, " CW_MEMORY_ATT_ "|sub " intel " ptr " CW_MEMORY_INTEL_ ", 1}"

/* A bit by its number, modulo the width: with a number in a register the instruction would reach beyond the word. */
#define CW_BIT_(op, w, type, bits, name, att, intel)                                                           \
    CW_INLINE_ cw_bool cw_##op##_##w##_explicit(volatile type *p, unsigned bit, int order) {                   \
        cw_bool was;                                                                                           \
        const type number = CW_CAST_(type, bit % (bits));                                                      \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_WITH_(name, att, intel, "%[v]")                                                      \
                : "=@ccc"(was)                                                                                 \
                : CW_AT_(p), [v] "Jr"(number)                                                                  \
                : "memory");                                                                                   \
        return was;                                                                                            \
    }
#define CW_BITS_(w, type, bits, att, intel)                                                                    \
    CW_BIT_(test_and_set_bit, w, type, bits, "bts", att, intel)                                                \
    CW_BIT_(test_and_clear_bit, w, type, bits, "btr", att, intel)                                              \
    CW_BIT_(test_and_change_bit, w, type, bits, "btc", att, intel)

#define CW_RMW_(w, type, att, intel, imm)                                                                      \
    CW_EFFECT_(add, w, type, "add", att, intel, imm)                                                           \
    CW_EFFECT_(sub, w, type, "sub", att, intel, imm)                                                           \
    CW_EFFECT_(and, w, type, "and", att, intel, imm)                                                           \
    CW_EFFECT_(or, w, type, "or", att, intel, imm)                                                             \
    CW_EFFECT_(xor, w, type, "xor", att, intel, imm)                                                           \
    CW_EFFECT_OF_ONE_(inc, w, type, "inc", att, intel)                                                         \
    CW_EFFECT_OF_ONE_(dec, w, type, "dec", att, intel)                                                         \
    CW_TEST_(sub_and_test, w, type, "sub", att, intel, imm, "z")                                               \
    CW_TEST_(add_negative, w, type, "add", att, intel, imm, "s")                                               \
    CW_TEST_(sub_negative, w, type, "sub", att, intel, imm, "s")                                               \
    CW_TEST_OF_ONE_(inc_and_test, w, type, "inc", att, intel, "z")                                             \
    CW_TEST_OF_ONE_(dec_and_test, w, type, "dec", att, intel, "z")                                             \
    CW_TEST_OF_ONE_(inc_negative, w, type, "inc", att, intel, "s")                                             \
    CW_TEST_OF_ONE_(dec_negative, w, type, "dec", att, intel, "s")                                             \
    /* LE takes the overflow flag into account: the smallest value minus one counts as negative. */            \
    CW_TEST_OF_ONE_(dec_not_positive, w, type, "dec", att, intel, "le")                                        \
    /* LE takes the overflow flag into account: the largest value plus one does not count as negative. */      \
    CW_COMPARE_(fetch_inc_cmp, w, type, CW_LOCKED_("inc", att, intel), "jle", "jz")                            \
    /* SUB, because DEC does not change the carry flag: zero minus one sets it. */                             \
    CW_COMPARE_(dec_cmp, w, type, CW_LOCKED_SUB_1_(att, intel), "js", "jc")                                    \
    CW_INLINE_ type cw_fetch_add_##w##_explicit(volatile type *p, type v, int order) {                         \
        (void)order;                                                                                           \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_WITH_("xadd", att, intel, "%[v]") : [v] "+r"(v) : CW_AT_(p) : "memory");             \
        return v;                                                                                              \
    }                                                                                                          \
    CW_INLINE_ type cw_cmpxchg_##w##_explicit(volatile type *p, type old, type desired, int success,           \
                                              int failure) {                                                   \
        (void)success;                                                                                         \
        (void)failure;                                                                                         \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_WITH_("cmpxchg", att, intel, "%[v]")                                                 \
                : "+a"(old)                                                                                    \
                : CW_AT_(p), [v] "r"(desired)                                                                  \
                : "memory");                                                                                   \
        return old;                                                                                            \
    }                                                                                                          \
    CW_INLINE_ cw_bool cw_try_cmpxchg_##w##_explicit(volatile type *p, type *old, type desired, int success,   \
                                                  int failure) {                                               \
        cw_bool stored;                                                                                        \
        type found = *old;                                                                                     \
        (void)success;                                                                                         \
        (void)failure;                                                                                         \
        CW_CHECK_ADDRESS_(p);                                                                                  \
        CW_ASM_(CW_LOCKED_WITH_("cmpxchg", att, intel, "%[v]")                                                 \
                : "=@ccz"(stored), "+a"(found)                                                                 \
                : CW_AT_(p), [v] "r"(desired)                                                                  \
                : "memory");                                                                                   \
        if (!stored)                                                                                           \
            *old = found;                                                                                      \
        return stored;                                                                                         \
    }

#endif /* CW_HAS_SITES */
#endif /* CW_RMW_X86_64_H */
