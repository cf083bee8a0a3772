/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ib-connect SOURCE_GID PEER_GID SERVICE_ID [PRIVATE_DATA_HEX [FROM TO OCTETS COUNT]]: tries one RC
 * connection by InfiniBand addresses (AF_IB), to any Service-ID and with any private data, also
 * with values that Linux's IPoIB driver never sends. When connected, it sends COUNT ICMP echo
 * requests of OCTETS octets (including the IPv4 header) from FROM to TO (IPv4 addresses),
 * encapsulated as IPoIB, with 7 retries (Linux's IPoIB uses none), and disconnects. Prints the
 * events that it receives. Exit status 0: connected and sent; 3: rejected; 1: any other failure.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define TIMEOUT_MS 2000

static void fill(struct sockaddr_ib *address, const char *gid, const char *service_id)
{
    memset(address, 0, sizeof(*address));
    address->sib_family = AF_IB;
    address->sib_pkey = htobe16(0xffff);
    if (inet_pton(AF_INET6, gid, &address->sib_addr) != 1) {
        fprintf(stderr, "ib-connect: not a GID: %s\n", gid);
        exit(2);
    }
    if (service_id) {
        address->sib_sid = htobe64(strtoull(service_id, NULL, 0));
        address->sib_sid_mask = ~UINT64_C(0);
    }
}

static unsigned int unhex(const char *hex, unsigned char *out, unsigned int max)
{
    unsigned int n = 0;

    for (; hex && hex[0] && hex[1] && n < max; hex += 2)
        sscanf(hex, "%2hhx", &out[n++]);
    return n;
}

/* Waits for the next event and prints it; exits unless it is the expected one. */
static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
    struct rdma_cm_event *event;
    enum rdma_cm_event_type type;

    if (rdma_get_cm_event(channel, &event)) {
        perror("ib-connect: rdma_get_cm_event");
        exit(1);
    }
    type = event->event;
    printf("%s status %d, %u octets of private data:", rdma_event_str(type), event->status,
           event->param.conn.private_data_len);
    for (unsigned int i = 0; i < event->param.conn.private_data_len && i < 8; i++)
        printf(" %02x", ((const unsigned char *)event->param.conn.private_data)[i]);
    printf("\n");
    rdma_ack_cm_event(event);
    if (type != wanted)
        exit(type == RDMA_CM_EVENT_REJECTED ? 3 : 1);
}

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

/* RFC 1071 */
static void put_checksum(unsigned char *at, const unsigned char *data, size_t length)
{
    unsigned long sum = 0;

    for (size_t i = 0; i < length; i++)
        sum += i & 1 ? data[i] : data[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    at[0] = ~sum >> 8;
    at[1] = ~sum;
}

/*
 * Writes the encapsulation header (RFC 4391 section 6), IPv4 and ICMP echo request; octets: length
 * from the IPv4 header to the end.
 */
static unsigned char *echo_request(const char *from, const char *to, size_t octets,
                                   unsigned int sequence)
{
    unsigned char *frame = calloc(1, 4 + octets), *ip = frame + 4, *icmp = ip + 20;

    frame[0] = 0x08;
    ip[0] = 0x45;
    ip[2] = octets >> 8;
    ip[3] = octets;
    ip[5] = sequence;
    ip[8] = 64;
    ip[9] = 1;
    if (inet_pton(AF_INET, from, ip + 12) != 1 || inet_pton(AF_INET, to, ip + 16) != 1) {
        fprintf(stderr, "ib-connect: not IPv4 addresses: %s %s\n", from, to);
        exit(2);
    }
    put_checksum(ip + 10, ip, 20);
    icmp[0] = 8;
    icmp[7] = sequence;
    for (size_t i = 8; i < octets - 20; i++)
        icmp[i] = i;
    put_checksum(icmp + 2, icmp, octets - 20);
    return frame;
}

static void send_echo_requests(struct rdma_cm_id *id, char **args)
{
    size_t octets = strtoul(args[2], NULL, 0);

    if (octets < 28 || octets > 65535) {
        fprintf(stderr, "ib-connect: OCTETS is 28 to 65535\n");
        exit(2);
    }
    for (int n = 1; n <= atoi(args[3]); n++) {
        unsigned char *frame = echo_request(args[0], args[1], octets, n);
        struct ibv_mr *mr = rdma_reg_msgs(id, frame, 4 + octets);
        struct ibv_wc wc;

        check(!mr, "ib-connect: rdma_reg_msgs");
        check(rdma_post_send(id, NULL, frame, 4 + octets, mr, IBV_SEND_SIGNALED),
              "ib-connect: rdma_post_send");
        check(rdma_get_send_comp(id, &wc) < 0, "ib-connect: rdma_get_send_comp");
        printf("echo request %d: %s\n", n, ibv_wc_status_str(wc.status));
        rdma_dereg_mr(mr);
        free(frame);
        if (wc.status != IBV_WC_SUCCESS)
            exit(1);
    }
}

int main(int argc, char **argv)
{
    unsigned char private_data[92];
    struct rdma_conn_param param = {
        .private_data = private_data, .retry_count = 7, .rnr_retry_count = 3};
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct sockaddr_ib source, peer;
    struct rdma_cm_id *id;

    setlinebuf(stdout);
    if (argc < 4 || (argc > 5 && argc != 9)) {
        fprintf(stderr, "usage: ib-connect SOURCE_GID PEER_GID SERVICE_ID"
                        " [PRIVATE_DATA_HEX [FROM TO OCTETS COUNT]]\n");
        return 2;
    }
    fill(&source, argv[1], NULL);
    fill(&peer, argv[2], argv[3]);
    param.private_data_len = unhex(argc > 4 ? argv[4] : NULL, private_data, sizeof(private_data));
    check(!channel, "ib-connect: rdma_create_event_channel");
    check(rdma_create_id(channel, &id, NULL, RDMA_PS_IB), "ib-connect: rdma_create_id");
    check(rdma_resolve_addr(id, (struct sockaddr *)&source, (struct sockaddr *)&peer, TIMEOUT_MS),
          "ib-connect: rdma_resolve_addr");
    expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    check(rdma_resolve_route(id, TIMEOUT_MS), "ib-connect: rdma_resolve_route");
    expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
    check(rdma_create_qp(id, NULL, &attr), "ib-connect: rdma_create_qp");
    check(rdma_connect(id, &param), "ib-connect: rdma_connect");
    expect(channel, RDMA_CM_EVENT_ESTABLISHED);
    if (argc == 9)
        send_echo_requests(id, argv + 5);
    check(rdma_disconnect(id), "ib-connect: rdma_disconnect");
    expect(channel, RDMA_CM_EVENT_DISCONNECTED);
    return 0;
}
