/* Its instructions can be counted by hand. A repeated string instruction is one, whatever it repeats.

   The loop runs once for each argument. */
/* once: 7 */
/* each loop: 33 */
    .text
    .globl _start, site_across, site_second
_start:
    mov (%rsp), %r12            /* once */
    dec %r12                    /* once: without the program's name */
1:
    lea from(%rip), %rsi
    lea to(%rip), %rdi
    mov $100, %ecx
    rep movsb
    xor %ecx, %ecx              /* 5 */
    rep stosb                   /* no repetition */
    xor %eax, %eax
    lea from(%rip), %rdi
    mov $100, %ecx
    repne scasb                 /* 10; ends at the first byte */
    mov $1, %ecx
    rep lodsb
    lea to(%rip), %rdi
    mov $37, %ecx
2:  rep stosb                   /* 15; alone in its block when it is entered from below */
    mov $2, %ebx
3:  mov $3, %ecx                /* 4 each of two: 24 */
    rep stosb
    dec %ebx
    jnz 3b
    lock incq word(%rip)        /* 25 */
site_second:
    lock incq word(%rip)
    jmp across                  /* 27 */
    .balign 4096
    .skip 4090
across:
    nop
    nop
site_across:
    lock addq $1, word(%rip)    /* 30; lies in two pages */
    nop
    dec %r12
    jnz 1b                      /* 33 */
    mov $0, %edi                /* once */
    nop                         /* once */
    mov $231, %eax              /* once */
    cmp $0, %r12                /* once */
    syscall                     /* once */

    .data
from: .skip 128
to: .skip 128
word: .quad 0
    .section .note.GNU-stack,"",@progbits
