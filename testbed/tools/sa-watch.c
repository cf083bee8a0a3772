/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sa-watch DEVICE SECONDS [mute]: sends SA requests that Linux's IPoIB never sends. It sets, reads
 * and deletes a ServiceRecord, subscribes by InformInfo to the traps 66 and 67 (a multicast group
 * was created, deleted), prints each Report for SECONDS or until SIGTERM, responds to it (not with
 * "mute": then the SA repeats it) and unsubscribes. Offsets: IBA 13.4.8, 15.2.5.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/umad.h>

enum { SA_CLASS = 3, SA_VERSION = 2, QKEY = 0x80010000u, MAD_SIZE = 256, DATA = 56 };
enum { GET = 1, SET = 2, REPORT = 6, DELETE = 0x15, RESPONSE = 0x80 };
enum { INFORM_INFO = 3, SERVICE_RECORD = 0x31 };

static umad_port_t port;
static int fd, agent;
static void *umad;
static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void put16(unsigned char *at, unsigned int v)
{
    at[0] = v >> 8;
    at[1] = v;
}
static unsigned int get16(const unsigned char *at)
{
    return at[0] << 8 | at[1];
}

/* Creates an SA MAD: sets its header, and its data to zero. */
static unsigned char *request(int method, int attribute, uint64_t mask)
{
    static uint64_t transaction = 0x20;
    unsigned char *mad = umad_get_mad(umad);
    uint64_t be = htobe64(++transaction), be_mask = htobe64(mask);

    memset(umad, 0, umad_size() + MAD_SIZE);
    umad_set_addr(umad, port.sm_lid, 1, port.sm_sl, QKEY);
    mad[0] = 1;
    mad[1] = SA_CLASS;
    mad[2] = SA_VERSION;
    mad[3] = method;
    memcpy(mad + 8, &be, 8);
    put16(mad + 16, attribute);
    memcpy(mad + 48, &be_mask, 8);
    return mad;
}

/* Prints a Report and, unless mute, sends a response with the same contents. */
static void take_report(unsigned char *mad, int mute)
{
    char gid[INET6_ADDRSTRLEN];

    inet_ntop(AF_INET6, mad + DATA + 16, gid, sizeof(gid));
    printf("report: trap %u %s\n", get16(mad + DATA + 4), gid);
    if (mute)
        return;
    mad[3] |= RESPONSE;
    umad_set_addr(umad, port.sm_lid, 1, port.sm_sl, QKEY);
    if (umad_send(fd, agent, umad, MAD_SIZE, 0, 0) < 0)
        perror("sa-watch: umad_send");
}

/*
 * Receives until a response arrives (returns its status) or the time is over (-1). Handles Reports
 * that arrive before.
 */
static int receive(int milliseconds, int mute)
{
    struct timespec start, now;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        int length = MAD_SIZE, left;
        unsigned char *mad = umad_get_mad(umad);

        clock_gettime(CLOCK_MONOTONIC, &now);
        left = milliseconds - (now.tv_sec - start.tv_sec) * 1000 -
               (now.tv_nsec - start.tv_nsec) / 1000000;
        if (left <= 0 || umad_recv(fd, umad, &length, left) < 0)
            return -1;
        if (umad_status(umad))
            continue;
        if (mad[3] == REPORT)
            take_report(mad, mute);
        else if (mad[3] & RESPONSE)
            return get16(mad + 4);
    }
}

static int transact(const char *what)
{
    int status;

    if (umad_send(fd, agent, umad, MAD_SIZE, 1000, 2) < 0) {
        perror("sa-watch: umad_send");
        exit(1);
    }
    status = receive(4000, 0);
    printf("%s: status 0x%04x\n", what, status);
    return status;
}

static int service_record(int method, const char *what)
{
    /* ServiceID, ServiceGID, ServiceP_Key, ServiceLease, ServiceName (15.2.5.14) */
    unsigned char *mad = request(method, SERVICE_RECORD, method == SET ? 0x57 : 0x7);
    unsigned char *r = mad + DATA;
    uint64_t id = htobe64(0x1000000000abcdefull);

    memcpy(r, &id, 8);
    memcpy(r + 8, &port.gid_prefix, 8);
    memcpy(r + 16, &port.port_guid, 8);
    put16(r + 24, 0xffff);
    memset(r + 28, 0xff, 4);
    strcpy((char *)r + 48, "ipoib testbed");
    return transact(what);
}

static int inform_info(unsigned int trap, int subscribe)
{
    unsigned char *r = request(SET, INFORM_INFO, 0) + DATA;
    char what[32];

    put16(r + 16, 0xffff); /* LIDRangeBegin: all */
    r[22] = 1;             /* IsGeneric */
    r[23] = subscribe;
    put16(r + 24, 0xffff); /* Type: all */
    put16(r + 26, trap);
    r[30] = 1;               /* QPN 1 */
    r[31] = 18;              /* RespTimeValue */
    memset(r + 33, 0xff, 3); /* ProducerType: all */
    snprintf(what, sizeof(what), "%ssubscribe %u", subscribe ? "" : "un", trap);
    return transact(what);
}

int main(int argc, char **argv)
{
    long reports[16 / sizeof(long)] = {1l << REPORT};
    int bad = 0;

    if (argc < 3 || umad_init() < 0 || umad_get_port(argv[1], 1, &port) < 0) {
        fprintf(stderr, "usage: sa-watch DEVICE SECONDS [mute] (and a device with umad)\n");
        return 2;
    }
    fd = umad_open_port(port.ca_name, port.portnum);
    agent = fd < 0 ? -1 : umad_register(fd, SA_CLASS, SA_VERSION, 0, reports);
    umad = umad_alloc(1, umad_size() + MAD_SIZE);
    if (agent < 0 || !umad) {
        fprintf(stderr, "sa-watch: cannot open or register at %s\n", argv[1]);
        return 1;
    }
    setlinebuf(stdout);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
    bad |= service_record(SET, "set ServiceRecord");
    bad |= service_record(GET, "get ServiceRecord");
    bad |= service_record(DELETE, "delete ServiceRecord");
    bad |= inform_info(66, 1) | inform_info(67, 1);
    if (!ended)
        receive(atoi(argv[2]) * 1000, argc > 3);
    bad |= inform_info(66, 0) | inform_info(67, 0);
    return bad != 0;
}
