/* Executes one locked instruction on each of many words.

   million_words WORDS */
#include <stdlib.h>

int main(int argc, char **argv) {
    long words = argc > 1 ? atol(argv[1]) : 0;
    long *all = calloc((size_t)words, sizeof *all);
    for (volatile long i = 0; i < words; i++)
        __asm__ volatile(".globl site_word\nsite_word: lock incq %0" : "+m"(all[i])::"cc");
    return 0;
}
