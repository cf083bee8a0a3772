/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sa-leave DEVICE MGID: deletes this port's membership of a multicast group at the SA, and the
 * kernel does not notice. Offsets and component mask: IBA 15.2.5.17.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/umad.h>

enum { SA_CLASS = 3, SA_VERSION = 2, QKEY = 0x80010000u, MAD_SIZE = 256, DATA = 56 };
enum { DELETE = 0x15, MCMEMBER_RECORD = 0x38, FULL_MEMBER = 1 };
enum { BY_MGID = 1 << 0, BY_PORT_GID = 1 << 1, BY_JOIN_STATE = 1 << 16 };

static void fill(unsigned char *mad, const umad_port_t *port, const unsigned char *mgid)
{
    uint64_t mask = htobe64(BY_MGID | BY_PORT_GID | BY_JOIN_STATE);

    mad[0] = 1;
    mad[1] = SA_CLASS;
    mad[2] = SA_VERSION;
    mad[3] = DELETE;
    mad[15] = 1; /* TransactionID */
    mad[17] = MCMEMBER_RECORD;
    memcpy(mad + 48, &mask, 8);
    memcpy(mad + DATA, mgid, 16);
    memcpy(mad + DATA + 16, &port->gid_prefix, 8);
    memcpy(mad + DATA + 24, &port->port_guid, 8);
    mad[DATA + 48] = FULL_MEMBER;
}

int main(int argc, char **argv)
{
    unsigned char mgid[16], *mad;
    umad_port_t port;
    void *umad;
    int fd, agent, length = MAD_SIZE;

    if (argc != 3 || inet_pton(AF_INET6, argv[2], mgid) != 1 || umad_init() < 0 ||
        umad_get_port(argv[1], 1, &port) < 0) {
        fprintf(stderr, "usage: sa-leave DEVICE MGID (and a device with umad)\n");
        return 2;
    }
    fd = umad_open_port(port.ca_name, port.portnum);
    agent = fd < 0 ? -1 : umad_register(fd, SA_CLASS, SA_VERSION, 0, NULL);
    umad = umad_alloc(1, umad_size() + MAD_SIZE);
    if (agent < 0 || !umad) {
        fprintf(stderr, "sa-leave: cannot open or register at %s\n", argv[1]);
        return 1;
    }
    mad = umad_get_mad(umad);
    memset(umad, 0, umad_size() + MAD_SIZE);
    umad_set_addr(umad, port.sm_lid, 1, port.sm_sl, QKEY);
    fill(mad, &port, mgid);
    if (umad_send(fd, agent, umad, MAD_SIZE, 1000, 3) < 0 ||
        umad_recv(fd, umad, &length, 5000) < 0 || umad_status(umad)) {
        fprintf(stderr, "sa-leave: no answer\n");
        return 1;
    }
    printf("leave: status 0x%02x%02x\n", mad[4], mad[5]);
    return mad[4] || mad[5];
}
