/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The descriptor of a link unit: where the tables of an executable or a shared object are, for the library in the process.
 *
 * Included by <cyclewise/atomic.h> and <cyclewise/key.h>.
 *
 * One COMDAT group has all of it, so that many translation units make one: the descriptor, an ELF note by which the library
 * finds it, a constructor and a destructor. The constructor tells the library, if there is one, that the unit was loaded, and
 * the destructor that it is about to be unmapped. Without the library neither does anything, and every site keeps LOCK.
 *
 * The code is written as bytes: assembly outside of functions cannot know whether -masm=intel is in force. Under link-time
 * optimization several copies may come to one assembler, hence the .ifndef.
 *
 * References: gABI, COMDAT groups and notes; ELF x86-64 psABI, R_X86_64_GOTPCREL; Intel SDM vol. 2, ENDBR64. */
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
    void (*forget)(struct cw_unit *);      /* written by the library that has adopted the unit */
    void *cookie;                          /* the same */
    int (*adopt)(struct cw_unit *);        /* only in units that contain the library */
    uint64_t reserved[4];
};

#if CW_HAS_SITES

/* This link unit's own. */
extern struct cw_unit cw_c_unit __attribute__((__visibility__("hidden")));
#define CW_THIS_UNIT (&cw_c_unit)

#if defined(__clang__)
#if __clang_major__ >= 13
#define CW_GROUPED_RECORDS_(section) ".pushsection " section ",\"aRG\",@progbits,cw_c_unit,comdat\n\t"
#else
#define CW_GROUPED_RECORDS_(section) ".pushsection " section ",\"aG\",@progbits,cw_c_unit,comdat\n\t"
#endif
#else
#define CW_GROUPED_RECORDS_(section)                                     \
    ".if .gasversion. >= 23600\n\t"                                      \
    ".pushsection " section ",\"aRG\",@progbits,cw_c_unit,comdat\n\t"    \
    ".else\n\t"                                                          \
    ".pushsection " section ",\"aG\",@progbits,cw_c_unit,comdat\n\t"     \
    ".endif\n\t"
#endif

__asm__(".ifndef cw_c_unit\n\t"
        /* A section without contributions has no start and no stop. */
        CW_GROUPED_RECORDS_("cyclewise_lock_v1")
        ".balign 4\n\t"
        ".long 0\n\t"
        ".popsection\n\t"
        CW_GROUPED_RECORDS_("cyclewise_key_v2")
        ".balign 4\n\t"
        ".long 0, 0, 0, 0\n\t"
        ".popsection\n\t"
        ".hidden __start_cyclewise_lock_v1\n\t"
        ".hidden __stop_cyclewise_lock_v1\n\t"
        ".hidden __start_cyclewise_key_v2\n\t"
        ".hidden __stop_cyclewise_key_v2\n\t"

        ".pushsection .data.cw_c_unit,\"awG\",@progbits,cw_c_unit,comdat\n\t"
        ".balign 8\n\t"
        ".weak cw_c_unit\n\t"
        ".hidden cw_c_unit\n\t"
        ".type cw_c_unit,@object\n\t"
        ".size cw_c_unit,96\n"
        "cw_c_unit:\n\t"
        ".long 96, 1\n\t"
        ".quad __start_cyclewise_lock_v1, __stop_cyclewise_lock_v1\n\t"
        ".quad __start_cyclewise_key_v2, __stop_cyclewise_key_v2\n\t"
        ".quad 0, 0, 0, 0, 0, 0, 0\n\t"
        ".popsection\n\t"

        ".pushsection .note.cyclewise,\"aG\",@note,cw_c_unit,comdat\n\t"
        ".balign 4\n\t"
        ".long 10, 4, 1\n\t"
        ".asciz \"cyclewise\"\n\t"
        ".balign 4\n\t"
        ".long cw_c_unit - .\n\t"
        ".popsection\n\t"

        ".weak cw_unit_register\n\t"
        ".pushsection .text.cw_c_unit,\"axG\",@progbits,cw_c_unit,comdat\n\t"
        ".balign 16\n\t"
        ".type cw_c_unit_loaded,@function\n\t"
        ".weak cw_c_unit_loaded\n\t"
        ".hidden cw_c_unit_loaded\n"
        "cw_c_unit_loaded:\n\t"
        ".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t"                                /* endbr64 */
        ".byte 0x48, 0x8d, 0x3d\n\t.long cw_c_unit - . - 4\n\t"           /* lea rdi, [rip + cw_c_unit] */
        ".byte 0x48, 0x8b, 0x05\n\t.long cw_unit_register@GOTPCREL - 4\n\t" /* mov rax, [rip + cw_unit_register@GOTPCREL] */
        ".byte 0x48, 0x85, 0xc0\n\t"                                      /* test rax, rax */
        ".byte 0x74, 0x02\n\t"                                            /* jz 1f */
        ".byte 0xff, 0xe0\n\t"                                            /* jmp rax */
        ".byte 0xc3\n\t"                                                  /* 1: ret */
        ".size cw_c_unit_loaded,.-cw_c_unit_loaded\n\t"
        ".balign 16\n\t"
        ".type cw_c_unit_unloaded,@function\n\t"
        ".weak cw_c_unit_unloaded\n\t"
        ".hidden cw_c_unit_unloaded\n"
        "cw_c_unit_unloaded:\n\t"
        ".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t"                                /* endbr64 */
        ".byte 0x48, 0x8d, 0x3d\n\t.long cw_c_unit - . - 4\n\t"           /* lea rdi, [rip + cw_c_unit] */
        ".byte 0x48, 0x8b, 0x47, 0x28\n\t"                                /* mov rax, [rdi + 40]: forget */
        ".byte 0x48, 0x85, 0xc0\n\t"                                      /* test rax, rax */
        ".byte 0x74, 0x02\n\t"                                            /* jz 1f */
        ".byte 0xff, 0xe0\n\t"                                            /* jmp rax */
        ".byte 0xc3\n\t"                                                  /* 1: ret */
        ".size cw_c_unit_unloaded,.-cw_c_unit_unloaded\n\t"
        ".popsection\n\t"

        ".pushsection .init_array,\"awG\",@init_array,cw_c_unit,comdat\n\t"
        ".balign 8\n\t"
        ".quad cw_c_unit_loaded\n\t"
        ".popsection\n\t"
        ".pushsection .fini_array,\"awG\",@fini_array,cw_c_unit,comdat\n\t"
        ".balign 8\n\t"
        ".quad cw_c_unit_unloaded\n\t"
        ".popsection\n"
        ".endif\n");

#else

/* Without sites there is nothing to adopt. */
#define CW_THIS_UNIT CW_CAST_(struct cw_unit *, 0)

#endif /* CW_HAS_SITES */

#if defined(__cplusplus)
}
#endif

#endif /* CW_UNIT_H */
