/* Generates a function, calls it, writes another one in its place, and calls that.

   generated UP DOWN */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static const unsigned char up[] = {0xf0, 0x48, 0xff, 0x07, 0xc3};   /* lock incq (%rdi); ret */
    static const unsigned char down[] = {0xf0, 0x48, 0xff, 0x0f, 0xc3}; /* lock decq (%rdi); ret */
    long word = 0;
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*volatile call)(long *);
    if (argc < 3 || code == MAP_FAILED)
        return 1;
    /* Where perf looks for the names of generated code. */
    char name[64];
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(name, "w");
    if (!map)
        return 1;
    fprintf(map, "%lx 1000 generated_count\n", (unsigned long)code);
    fclose(map);
    memcpy(code, up, sizeof up);
    memcpy(&call, &code, sizeof code);
    for (int i = atoi(argv[1]); i > 0; i--)
        call(&word);
    memcpy(code, down, sizeof down);
    for (int i = atoi(argv[2]); i > 0; i--)
        call(&word);
    printf("%ld\n", word);
    return 0;
}
