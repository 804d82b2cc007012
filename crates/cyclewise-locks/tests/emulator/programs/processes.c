/* Starts other processes in one of many ways, and executes locked instructions in each: site_own OWN times where it says so.

   processes WAY [ARGUMENT...] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static long word;

__attribute__((noinline, noclone)) static void own(int times) {
    for (volatile int i = 0; i < times; i++)
        __asm__ volatile(".globl site_own\nsite_own: lock incq %0" : "+m"(word)::"cc");
}

static int wait_for(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child)
        return 99;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void on_signal(int signal) {
    (void)signal;
    own(3);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    if (!strcmp(way, "own")) {
        own(atoi(argv[2]));
        return argc > 3 ? atoi(argv[3]) : 0;
    }
    if (!strcmp(way, "fork")) {
        own(10);
        pid_t child = fork();
        if (child == 0) {
            own(20);
            pid_t grandchild = fork();
            if (grandchild == 0) {
                own(30);
                _exit(0);
            }
            _exit(wait_for(grandchild));
        }
        own(40);
        return wait_for(child);
    }
    if (!strcmp(way, "vfork")) {
        own(5);
        char *arguments[] = {"other name", "own", "7", "3", NULL};
        pid_t child = vfork();
        if (child == 0) {
            execv("/proc/self/exe", arguments);
            _exit(98);
        }
        return wait_for(child);
    }
    if (!strcmp(way, "spawn")) {
        own(6);
        char *arguments[] = {argv[0], "own", "8", "4", NULL};
        pid_t child;
        if (posix_spawn(&child, argv[0], NULL, NULL, arguments, environ))
            return 97;
        return wait_for(child);
    }
    if (!strcmp(way, "chain")) {
        int links = atoi(argv[2]);
        char left[16];
        own(links);
        if (links == 0)
            return 5;
        snprintf(left, sizeof left, "%d", links - 1);
        char *arguments[] = {argv[0], "chain", left, NULL};
        execv(argv[0], arguments);
        return 96;
    }
    if (!strcmp(way, "exec")) { /* exec PATH ARGV0 ARGUMENTS... */
        own(1);
        execv(argv[2], argv + 3);
        printf("%s\n", strerror(errno));
        return 0;
    }
    if (!strcmp(way, "execat")) { /* execat FOLDER NAME FLAGS ARGV... */
        int folder = open(argv[2], O_PATH | O_CLOEXEC);
        own(1);
        syscall(SYS_execveat, folder, argv[3], argv + 5, environ, atoi(argv[4]));
        printf("%s\n", strerror(errno));
        return 0;
    }
    if (!strcmp(way, "environment")) { /* environment NAME... */
        own(1);
        for (int i = 2; i < argc; i++)
            printf("%s=%s\n", argv[i], getenv(argv[i]) ? getenv(argv[i]) : "(none)");
        printf("%s\n", argv[0]);
        return 0;
    }
    if (!strcmp(way, "closed")) {
        closefrom(3);
        own(11);
        pid_t child = fork();
        if (child == 0) {
            own(12);
            _exit(0);
        }
        int status = wait_for(child);
        /* Room for a million words more, which the file has to grow for. */
        own(13);
        char *arguments[] = {argv[0], "own", "14", NULL};
        if (status == 0)
            execv(argv[0], arguments);
        return 95;
    }
    if (!strcmp(way, "children")) { /* children NUMBER */
        int failed = 0;
        for (int i = atoi(argv[2]); i > 0; i--) {
            pid_t child = fork();
            if (child == 0) {
                own(1);
                _exit(0);
            }
            failed |= wait_for(child);
        }
        printf("%d\n", failed);
        return 0;
    }
    if (!strcmp(way, "handler")) {
        signal(SIGUSR1, on_signal);
        signal(SIGUSR2, on_signal);
        own(2);
        raise(SIGUSR1);
        raise(SIGUSR2);
        return 0;
    }
    if (!strcmp(way, "die")) { /* die SIGNAL: by a fault where that is what it is for */
        own(21);
        if (atoi(argv[2]) == SIGSEGV)
            __asm__ volatile(".globl site_fault\nsite_fault: lock incq (%0)" ::"r"(16ul) : "cc", "memory");
        signal(atoi(argv[2]), SIG_DFL);
        kill(getpid(), atoi(argv[2]));
        pause();
        return 94;
    }
    if (!strcmp(way, "memory")) { /* memory CLOSED HOW ARGV...: executes a copy of itself that has no name */
        int copy = memfd_create("copy", atoi(argv[2]) ? MFD_CLOEXEC : 0), self = open("/proc/self/exe", O_RDONLY);
        char part[65536], path[64];
        for (ssize_t got; (got = read(self, part, sizeof part)) > 0;)
            if (write(copy, part, got) != got)
                return 92;
        close(self);
        own(1);
        snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
        if (!strcmp(argv[3], "path"))
            execv(path, argv + 4);
        else
            syscall(SYS_execveat, copy, "", argv + 4, environ, AT_EMPTY_PATH);
        printf("%s\n", strerror(errno));
        return 0;
    }
    if (!strcmp(way, "descriptors")) { /* the numbers of those that are open, below what a process may have reserved */
        for (int i = 3; i < 100; i++)
            if (fcntl(i, F_GETFD) >= 0)
                printf("%d ", i);
        printf("\n");
        return 0;
    }
    if (!strcmp(way, "user")) { /* user NUMBER PATH ARGV... */
        own(1);
        if (setgid(atoi(argv[2])) || setuid(atoi(argv[2])))
            return 91;
        execv(argv[3], argv + 4);
        return 90;
    }
    if (!strcmp(way, "root")) { /* root FOLDER PATH ARGV... */
        own(1);
        if (chroot(argv[2]) || chdir("/"))
            return 91;
        execv(argv[3], argv + 4);
        return 90;
    }
    if (!strcmp(way, "outlive")) { /* outlive FILE: a child goes on until the file is there, and executes something then */
        own(1);
        int executed[2];
        if (pipe(executed))
            return 1;
        pid_t child = fork();
        if (child == 0) {
            char *arguments[] = {argv[0], "touch", argv[3], NULL};
            own(2);
            if (write(executed[1], "", 1) != 1)
                _exit(1);
            /* So that whoever reads the program's output does not wait for the child. */
            close(1);
            close(2);
            while (access(argv[2], F_OK))
                usleep(1000);
            execv(argv[0], arguments);
            _exit(1);
        }
        /* The counts are asked for when this process has ended, and the child's are to be among them. */
        char byte;
        return read(executed[0], &byte, 1) == 1 ? 6 : 1;
    }
    if (!strcmp(way, "removed")) { /* removed FILE: its own */
        char *arguments[] = {argv[0], "own", "1", NULL};
        unlink(argv[2]);
        execv("/proc/self/exe", arguments);
        return 89;
    }
    if (!strcmp(way, "touch"))
        return creat(argv[2], 0600) < 0;
    if (!strcmp(way, "wait")) {
        own(22);
        puts("waiting");
        fflush(stdout);
        for (;;)
            pause();
    }
    return 93;
}
