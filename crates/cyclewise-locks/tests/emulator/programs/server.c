// A server: prints its port, serves each client that connects until one sends "end", and ends in good order.
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned served;

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        char said[16] = "";
        int client = accept(listener, NULL, NULL);
        if (client < 0 || read(client, said, sizeof said - 1) < 0)
            return 1;
        __atomic_fetch_add(&served, 1, __ATOMIC_SEQ_CST);
        close(client);
        if (!strcmp(said, "end"))
            return 0;
    }
}
