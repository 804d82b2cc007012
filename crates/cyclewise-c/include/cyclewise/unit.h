/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The descriptor of a link unit: where the tables of an executable or a shared object are, for the library in the process.
 *
 * Included by <cyclewise/atomic.h> and <cyclewise/key.h>.
 *
 * The descriptor and the ELF note by which the library finds it are a COMDAT group, cw_unit, that Rust objects have, too; a
 * constructor and a destructor are another, cw_c_unit. So many translation units make one of each. The constructor tells the
 * library, if there is one, that the unit was loaded, and the destructor that it is about to be unmapped. Without the library
 * every site keeps LOCK.
 *
 * The state is 0 before the constructor and after the destructor, when the loader may list a unit that is not relocated or
 * about to go; 1 between; 2 while the library has adopted the unit. Constructor and destructor change it by CMPXCHG:
 *
 *     constructor: 0 to 1; then cw_unit_register(&cw_unit), where there is that function
 *     destructor:  1 to 0; where it was 2, cw_unit.forget(&cw_unit)
 *
 * The canary, in the group cw_canary, is a function that returns two bytes of its own code. A tool that moves code of linked programs
 * (llvm-bolt) leaves records at the old copies. So the library changes those bytes through their record before it changes anything
 * else in the unit, and calls the function. Where that does not return what was written, keys are refused and sites keep LOCK.
 *
 * They are written as bytes: assembly outside of functions cannot know whether -masm=intel is in force. Under link-time
 * optimization several copies may come to one assembler, hence each .ifndef.
 *
 * References: gABI, COMDAT groups and notes; ELF x86-64 psABI, R_X86_64_GOTPCREL; Intel SDM vol. 2, CMPXCHG, ENDBR64. */
#ifndef CW_UNIT_H
#define CW_UNIT_H

#include "site.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Version 1: abi is 1, and size the size of this. */
struct cw_unit {
    uint32_t size, abi;
    const int32_t *lock_start, *lock_stop; /* cyclewise_lock_v1: distances from a record to its prefix, 0 for none */
    const void *key_start, *key_stop;      /* cyclewise_key_v2: 16 bytes a record */
    void (*forget)(struct cw_unit *);      /* the library that has adopted the unit */
    void *cookie;                          /* the library's */
    int (*adopt)(struct cw_unit *);        /* the library's */
    uint64_t state;                        /* 0, 1 or 2, see above */
    void *text_lock;                       /* 32 bytes, for the library to lock this unit's text with */
    uint64_t reserved;                     /* the library's */
    struct cw_canary_record *canary;
};

/* How the library finds the canary's bytes: as it finds sites. */
struct cw_canary_record {
    void (*run)(void);
    int32_t distance; /* from this field to the bytes */
    uint32_t found;   /* the library's */
};

#if CW_HAS_SITES

/* This link unit's own. */
extern struct cw_unit cw_unit __attribute__((__visibility__("hidden")));
#define CW_THIS_UNIT (&cw_unit)

/* Opens a section of records that belongs to the group of the constructor. */
#if defined(__clang__)
#if __clang_major__ >= 13
#define CW_UNIT_RECORDS_(section) ".pushsection " section ",\"aRG\",@progbits,cw_c_unit,comdat\n\t"
#else
#define CW_UNIT_RECORDS_(section) ".pushsection " section ",\"aG\",@progbits,cw_c_unit,comdat\n\t"
#endif
#else
#define CW_UNIT_RECORDS_(section)                                        \
    ".if .gasversion. >= 23600\n\t"                                      \
    ".pushsection " section ",\"aRG\",@progbits,cw_c_unit,comdat\n\t"    \
    ".else\n\t"                                                          \
    ".pushsection " section ",\"aG\",@progbits,cw_c_unit,comdat\n\t"     \
    ".endif\n\t"
#endif

__asm__(".ifndef cw_unit\n\t"
        ".hidden __start_cyclewise_lock_v1\n\t"
        ".hidden __stop_cyclewise_lock_v1\n\t"
        ".hidden __start_cyclewise_key_v2\n\t"
        ".hidden __stop_cyclewise_key_v2\n\t"
        ".comm cyclewise_text_lock_v2,32,8\n\t"
        ".hidden cyclewise_text_lock_v2\n\t"
        ".pushsection .data.cw_unit,\"awG\",@progbits,cw_unit,comdat\n\t"
        ".balign 8\n\t"
        ".weak cw_unit\n\t"
        ".hidden cw_unit\n\t"
        ".type cw_unit,@object\n\t"
        ".size cw_unit,96\n"
        "cw_unit:\n\t"
        ".long 96, 1\n\t"
        ".quad __start_cyclewise_lock_v1, __stop_cyclewise_lock_v1\n\t"
        ".quad __start_cyclewise_key_v2, __stop_cyclewise_key_v2\n\t"
        ".quad 0, 0, 0, 0\n\t"
        ".quad cyclewise_text_lock_v2\n\t"
        ".quad 0, cw_canary_record\n\t"
        ".popsection\n\t"
        ".pushsection .text.cw_canary,\"axG\",@progbits,cw_canary,comdat\n\t"
        ".balign 16\n\t"
        ".weak cw_canary\n\t"
        ".hidden cw_canary\n\t"
        ".type cw_canary,@function\n"
        "cw_canary:\n\t"
        ".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t" /* endbr64 */
        ".byte 0xb8\n"                     /* mov eax, imm32 */
        "771:\t.byte 0xf0, 0xf0, 0, 0\n\t"
        ".byte 0xc3\n\t"                   /* ret */
        ".size cw_canary,.-cw_canary\n\t"
        ".popsection\n\t"
        ".pushsection .data.cw_canary,\"awG\",@progbits,cw_canary,comdat\n\t"
        ".balign 8\n\t"
        ".weak cw_canary_record\n\t"
        ".hidden cw_canary_record\n\t"
        ".type cw_canary_record,@object\n\t"
        ".size cw_canary_record,16\n"
        "cw_canary_record:\n\t"
        ".quad cw_canary\n\t"
        ".long 771b - ., 0\n\t"
        ".popsection\n\t"
        ".pushsection .note.cyclewise,\"aG\",@note,cw_unit,comdat\n\t"
        ".balign 4\n\t"
        ".long 10, 4, 1\n\t"
        ".asciz \"cyclewise\"\n\t"
        ".balign 4\n\t"
        ".long cw_unit - .\n\t"
        ".popsection\n"
        ".endif\n");

__asm__(".ifndef cw_c_unit\n\t"
        /* A section without contributions has no start and no stop. */
        CW_UNIT_RECORDS_("cyclewise_lock_v1")
        ".balign 4\n\t"
        ".long 0\n\t"
        ".popsection\n\t"
        CW_UNIT_RECORDS_("cyclewise_key_v2")
        ".balign 4\n\t"
        ".long 0, 0, 0, 0\n\t"
        ".popsection\n\t"

        ".weak cw_unit_register\n\t"
        ".pushsection .text.cw_c_unit,\"axG\",@progbits,cw_c_unit,comdat\n\t"
        ".balign 16\n\t"
        ".weak cw_c_unit\n\t"
        ".hidden cw_c_unit\n\t"
        ".type cw_c_unit,@function\n"
        "cw_c_unit:\n\t"
        ".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t"                                     /* endbr64 */
        ".byte 0x31, 0xc0\n\t"                                                 /* xor eax, eax */
        ".byte 0xb9, 1, 0, 0, 0\n\t"                                           /* mov ecx, 1 */
        ".byte 0xf0, 0x48, 0x0f, 0xb1, 0x0d\n\t.long cw_unit + 64 - . - 4\n\t" /* lock cmpxchg [rip + cw_unit.state], rcx */
        ".byte 0x48, 0x8d, 0x3d\n\t.long cw_unit - . - 4\n\t"                  /* lea rdi, [rip + cw_unit] */
        ".byte 0x48, 0x8b, 0x05\n\t.long cw_unit_register@GOTPCREL - 4\n\t"    /* mov rax, [rip + its GOT entry] */
        ".byte 0x48, 0x85, 0xc0\n\t"                                           /* test rax, rax */
        ".byte 0x74, 0x02\n\t"                                                 /* jz 1f */
        ".byte 0xff, 0xe0\n\t"                                                 /* jmp rax */
        ".byte 0xc3\n\t"                                                       /* 1: ret */
        ".size cw_c_unit,.-cw_c_unit\n\t"
        ".balign 16\n\t"
        ".weak cw_c_unit_unloaded\n\t"
        ".hidden cw_c_unit_unloaded\n\t"
        ".type cw_c_unit_unloaded,@function\n"
        "cw_c_unit_unloaded:\n\t"
        ".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t"                                     /* endbr64 */
        ".byte 0x48, 0x8d, 0x3d\n\t.long cw_unit - . - 4\n\t"                  /* lea rdi, [rip + cw_unit] */
        ".byte 0xb8, 1, 0, 0, 0\n\t"                                           /* mov eax, 1 */
        ".byte 0x31, 0xc9\n\t"                                                 /* xor ecx, ecx */
        ".byte 0xf0, 0x48, 0x0f, 0xb1, 0x4f, 0x40\n\t"                         /* lock cmpxchg [rdi + 64], rcx */
        ".byte 0x83, 0xf8, 0x02\n\t"                                           /* cmp eax, 2 */
        ".byte 0x75, 0x03\n\t"                                                 /* jne 1f */
        ".byte 0xff, 0x67, 0x28\n\t"                                           /* jmp [rdi + 40]: forget */
        ".byte 0xc3\n\t"                                                       /* 1: ret */
        ".size cw_c_unit_unloaded,.-cw_c_unit_unloaded\n\t"
        ".popsection\n\t"

        ".pushsection .init_array,\"awG\",@init_array,cw_c_unit,comdat\n\t"
        ".balign 8\n\t"
        ".quad cw_c_unit\n\t"
        ".popsection\n\t"
        ".pushsection .fini_array,\"awG\",@fini_array,cw_c_unit,comdat\n\t"
        ".balign 8\n\t"
        ".quad cw_c_unit_unloaded\n\t"
        ".popsection\n"
        ".endif\n");

#else

/* Without sites there is nothing to adopt. Other files of this link unit may have sites, and tests of the same keys. */
#if CW_GNU_ && defined(__x86_64__) && !defined(__ILP32__) && defined(__ELF__)
extern struct cw_unit cw_unit __attribute__((__weak__, __visibility__("hidden")));
#define CW_THIS_UNIT (&cw_unit)
#else
#define CW_THIS_UNIT CW_NULL_(struct cw_unit)
#endif

#endif /* CW_HAS_SITES */

#if defined(__cplusplus)
}
#endif

#endif /* CW_UNIT_H */
