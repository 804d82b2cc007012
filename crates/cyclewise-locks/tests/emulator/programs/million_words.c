/* Executes one locked instruction on each of many words; as another user, if one is given.

   million_words WORDS [USER] */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long words = argc > 1 ? atol(argv[1]) : 0;
    if (argc > 2 && setuid((uid_t)atol(argv[2])))
        return 1;
    long *all = calloc((size_t)words, sizeof *all);
    for (volatile long i = 0; i < words; i++)
        __asm__ volatile(".globl site_word\nsite_word: lock incq %0" : "+m"(all[i])::"cc");
    return 0;
}
