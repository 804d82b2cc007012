/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A site: a LOCK prefix that the library can patch, and a 4-byte record in the link unit's table that points at it.
 *
 * Included by <cyclewise/atomic.h>; a program includes that. What ends in an underscore is not an interface.
 *
 * Where there are sites. CW_HAS_SITES is 1 on x86-64 with ELF and 64-bit pointers, by GCC 8 or clang 11 and later, and 0
 * elsewhere: every operation is then one of the compiler's builtins. Units with and without sites may be linked together,
 * since a builtin keeps its LOCK. It is 0, too,
 *   - under ThreadSanitizer and clang's static analyzer, which do not see into assembly;
 *   - where CW_NO_SITES is defined before the first header.
 *
 * Where static keys have sites. CW_HAS_KEY_SITES is as CW_HAS_SITES, and 0 where an address is no constant of the assembler's: in GCC's
 * large code model, and under HWAddressSanitizer, which puts a tag into it.
 *
 * Invariants
 *   1. Each copy that the compiler makes of the assembly has its own record: labels are local and numeric.
 *   2. A record is the distance from itself to the prefix, so it needs no relocation at run time and is read-only.
 *   3. The prefix is the first byte of its instruction. A segment override would come before it, and DS in its place
 *      would be a second override; so the operand's address never has a segment: GCC's constraint Ts, and a register for
 *      clang, whose "m" takes thread-local variables as %fs:x.
 *   4. A record is in the COMDAT group of its function, by the flag '?': a linker drops both or none. Outside the group it
 *      would refer to a section that was dropped, which is a link error.
 *   5. The flag R (SHF_GNU_RETAIN) keeps records that nothing refers to, against -z start-stop-gc. Assemblers before binutils
 *      2.36 and clang 13 lack it. There, -z start-stop-gc drops the records outside of groups: those sites keep LOCK, which is
 *      slower and sound.
 *   6. A record reaches 2 GiB. Where the large code model puts text farther from its records, the linker refuses: define CW_NO_SITES.
 *
 * Cost. A function with a site is kept by --gc-sections, because its record is.
 *
 * References: Linux arch/x86/include/asm/alternative.h, LOCK_PREFIX_HERE; GNU as, .section (flags R and ?) and .gasversion.;
 * GCC, Machine Constraints (x86: Ts); gABI, SHF_GNU_RETAIN. */
#ifndef CW_SITE_H
#define CW_SITE_H

#include "bool.h"
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#define CW_HAS_FEATURE_(feature) __has_feature(feature)
#else
#define CW_HAS_FEATURE_(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || CW_HAS_FEATURE_(thread_sanitizer)
#define CW_TSAN_ 1
#else
#define CW_TSAN_ 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CW_HAS_FEATURE_(address_sanitizer)
#define CW_ASAN_ 1
#else
#define CW_ASAN_ 0
#endif

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__ELF__) && !CW_TSAN_ && !defined(CW_NO_SITES) && \
    !defined(__clang_analyzer__) && !defined(__INTEL_COMPILER) && !defined(__CUDACC__)
#if defined(__clang__)
#if __clang_major__ >= 11
#define CW_HAS_SITES 1
#endif
#elif defined(__GNUC__) && __GNUC__ >= 8
#define CW_HAS_SITES 1
#endif
#endif
#ifndef CW_HAS_SITES
#define CW_HAS_SITES 0
#endif

#if CW_HAS_SITES && !(defined(__code_model_large__) && !defined(__clang__)) && !defined(__SANITIZE_HWADDRESS__) && \
    !CW_HAS_FEATURE_(hwaddress_sanitizer)
#define CW_HAS_KEY_SITES 1
#else
#define CW_HAS_KEY_SITES 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define CW_GNU_ 1
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#define CW_GNU_ 0
#else
#error "cyclewise/atomic.h needs GCC, clang, or a C compiler with the atomics of C11"
#endif

/* How a function of these headers is declared. In C++ it is one function for the whole program, in C one for each unit. */
#if !CW_GNU_
#define CW_ALIGNED_(bytes) _Alignas(bytes)
#define CW_INLINE_ static inline
#define CW_OUT_OF_LINE_ static inline
#define CW_CAST_(type, value) ((type)(value))
#define CW_NULL_(type) ((type *)0)
#elif defined(__cplusplus)
#define CW_INLINE_ inline __attribute__((__always_inline__))
#define CW_OUT_OF_LINE_ inline __attribute__((__noinline__, __cold__))
/* A template, because a cast of a macro's argument may be to the type that it has, which -Wuseless-cast tells in what is no template. */
extern "C++" {
template <typename type, typename from>
CW_INLINE_ constexpr type cw_cast_(from value)
{
    return static_cast<type>(value);
}
}
#define CW_CAST_(type, value) (cw_cast_<type>(value))
#define CW_NULL_(type) nullptr
#else
#define CW_INLINE_ static __inline__ __attribute__((__always_inline__, __unused__))
#define CW_OUT_OF_LINE_ static __attribute__((__noinline__, __cold__, __unused__))
#define CW_CAST_(type, value) ((type)(value))
#define CW_NULL_(type) ((type *)0)
#endif
#if CW_GNU_
#define CW_ALIGNED_(bytes) __attribute__((__aligned__(bytes)))
#endif

#if CW_HAS_SITES

/* Opens a section of records. The compiler does not say which assembler follows; GNU as has a symbol for its version. */
#if defined(__clang__)
#if __clang_major__ >= 13
#define CW_RECORDS_(section) ".pushsection " section ",\"aR?\",@progbits\n\t"
#else
#define CW_RECORDS_(section) ".pushsection " section ",\"a?\",@progbits\n\t"
#endif
#else
#define CW_RECORDS_(section)                              \
    ".if .gasversion. >= 23600\n\t"                       \
    ".pushsection " section ",\"aR?\",@progbits\n\t"      \
    ".else\n\t"                                           \
    ".pushsection " section ",\"a?\",@progbits\n\t"       \
    ".endif\n\t"
#endif

/* The record and the prefix. The prefix is a statement of its own: GNU as would put the prefix of a 16-bit operand before it. */
#define CW_LOCK_                             \
    CW_RECORDS_("cyclewise_lock_v1")         \
    ".balign 4\n\t"                          \
    ".long 771f - .\n\t"                     \
    ".popsection\n"                          \
    "771:\tlock\n\t"

/* The operand: how its address is passed, and how it is written, in AT&T's syntax and in Intel's (-masm=intel). */
#if defined(__clang__)
#define CW_AT_(p) [cw_p] "r"(p)
#define CW_MEMORY_ATT_ "(%[cw_p])"
#define CW_MEMORY_INTEL_ "[%[cw_p]]"
#else
#define CW_AT_(p) [cw_p] "Ts"(p)
#define CW_MEMORY_ATT_ "%a[cw_p]"
#define CW_MEMORY_INTEL_ "%a[cw_p]"
#endif

/* One locked instruction on memory, without and with an operand (a template of its own, such as "%[v]"). */
#define CW_LOCKED_(name, att, intel) \
    CW_LOCK_ "{" name att " " CW_MEMORY_ATT_ "|" name " " intel " ptr " CW_MEMORY_INTEL_ "}"
#define CW_LOCKED_WITH_(name, att, intel, operand) \
    CW_LOCK_ "{" name att " " operand ", " CW_MEMORY_ATT_ "|" name " " intel " ptr " CW_MEMORY_INTEL_ ", " operand "}"

/* GCC estimates the size of assembly by its lines, and would inline less of what contains it. */
#if !defined(__clang__) && __GNUC__ >= 9
#define CW_ASM_ __asm__ __inline__ __volatile__
#define CW_ASM_GOTO_ __asm__ __inline__ goto
#else
#define CW_ASM_ __asm__ __volatile__
#define CW_ASM_GOTO_ __asm__ goto
#endif

/* AddressSanitizer checks loads and does not see into assembly. */
#if CW_ASAN_
#define CW_CHECK_ADDRESS_(p) ((void)__atomic_load_n((p), __ATOMIC_RELAXED))
#else
#define CW_CHECK_ADDRESS_(p) ((void)0)
#endif

#endif /* CW_HAS_SITES */
#endif /* CW_SITE_H */
