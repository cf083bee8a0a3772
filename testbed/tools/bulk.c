/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bulk SECONDS NODES: sends TCP at full rate from each of the network namespaces n0, n1... to the
 * next one (10.0.0.1, 10.0.0.2..., port 9; the last one sends to the first). A connection that
 * breaks is opened again. Prints how many octets each received.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORT = 9, NODES_MAX = 16, CONNECTIONS = 16, PIECE = 1 << 16, PATIENCE_S = 5 };

static char piece[PIECE];
static uint64_t *received; /* shared with the children */

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

static struct sockaddr_in address(int node)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(PORT),
        .sin_addr.s_addr = htonl(0x0a000001u + (unsigned int)node),
    };
}

static void enter(int node)
{
    char name[32];
    int fd;

    snprintf(name, sizeof(name), "/run/netns/n%d", node);
    fd = open(name, O_RDONLY);
    check(fd < 0 || setns(fd, CLONE_NEWNET), name);
    close(fd);
}

static int listener(int node)
{
    struct sockaddr_in own = address(node);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    check(bind(fd, (struct sockaddr *)&own, sizeof(own)) || listen(fd, CONNECTIONS),
          "bulk: listen");
    return fd;
}

/*
 * The newest connections. If the table is full, the oldest one is closed: its sender has opened
 * another one since.
 */
static void sink(int node, int listening)
{
    struct pollfd fds[1 + CONNECTIONS] = {{.fd = listening, .events = POLLIN}};
    int next = 0;

    for (int i = 1; i <= CONNECTIONS; i++)
        fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    for (;;) {
        poll(fds, 1 + CONNECTIONS, -1);
        for (int i = 1; i <= CONNECTIONS; i++) {
            ssize_t n = fds[i].revents ? recv(fds[i].fd, piece, sizeof(piece), MSG_DONTWAIT) : 1;

            if (fds[i].revents && n > 0)
                received[node] += (uint64_t)n;
            if (n > 0)
                continue;
            close(fds[i].fd);
            fds[i].fd = -1;
        }
        if (fds[0].revents) {
            int *slot = &fds[1 + next++ % CONNECTIONS].fd;

            close(*slot);
            *slot = accept(listening, NULL, NULL);
        }
    }
}

static void source(int node)
{
    struct sockaddr_in to = address(node);
    struct timeval patience = {.tv_sec = PATIENCE_S};

    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
            while (send(fd, piece, sizeof(piece), MSG_NOSIGNAL) > 0)
                ;
        close(fd);
        usleep(100000);
    }
}

int main(int argc, char **argv)
{
    int seconds = argc == 3 ? atoi(argv[1]) : 0, nodes = argc == 3 ? atoi(argv[2]) : 0;
    pid_t child[2 * NODES_MAX];

    if (seconds < 1 || nodes < 2 || nodes > NODES_MAX) {
        fprintf(stderr, "usage: bulk SECONDS NODES (2 to %d)\n", NODES_MAX);
        return 2;
    }
    received = mmap(NULL, sizeof(*received) * NODES_MAX, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(received == MAP_FAILED, "bulk: mmap");
    for (int i = 0; i < nodes; i++) {
        enter(i);
        int listening = listener(i);

        child[i] = fork();
        check(child[i] < 0, "bulk: fork");
        if (child[i] == 0)
            sink(i, listening);
        close(listening);
    }
    for (int i = 0; i < nodes; i++) {
        enter(i);
        child[nodes + i] = fork();
        check(child[nodes + i] < 0, "bulk: fork");
        if (child[nodes + i] == 0)
            source((i + 1) % nodes);
    }
    sleep((unsigned int)seconds);
    for (int i = 2 * nodes - 1; i >= 0; i--) {
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    for (int i = 0; i < nodes; i++)
        printf("%s%d: %" PRIu64, i ? ", " : "octets to n", i, received[i]);
    printf("\n");
    return 0;
}
