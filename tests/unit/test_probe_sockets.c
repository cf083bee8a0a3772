/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of this host through its own interface: what passes it (hostseen.c), echo requests
 * directly to neighbours (hostdirect.c), and packets to a closed port (hostclosed.c). The sockets
 * are simulated: ib0 has index 4, 10.0.0.5 and fd00::5; the peer is 10.0.0.2 or fd00::2.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>

#include "probe/link/hostclosed.h"
#include "probe/link/hostdirect.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostroute.h"
#include "probe/link/hostseen.h"
#include "wire/put.h"
#include "wire/view.h"

static const uint8_t peer4[4] = {10, 0, 0, 2}, peer6[16] = {0xfd, [15] = 2};

/* A packet that arrives at the socket, or that leaves by the interface. */
struct packet {
    bool out;
    uint16_t type; /* of the encapsulation */
    const char *hex;
};

enum { SENT = 24, NEIGHBOURS = 20 };

static struct {
    int no_socket, no_bind, no_connect; /* errno; 0: there is one */
    int error;                          /* that arrives, SO_ERROR; < 0: none */
    struct packet packets[4];
    unsigned n, taken;
    bool drops; /* the socket has lost packets */
    bool no_source;
    struct host_neighbour neighbours[NEIGHBOURS];
    unsigned n_neighbours;
    struct {
        uint8_t bytes[128], lladdr[LLADDR_SIZE];
        size_t size;
    } sent[SENT];
    unsigned n_sent;
    size_t data; /* bytes of the last datagram */
    const char *statistics[2];
    unsigned n_read;
    int type, port;
} played;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol)
{
    (void)domain;
    (void)protocol;
    played.type = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
    errno = played.no_socket;
    return played.no_socket ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
}

int __wrap_bind(int fd, const struct sockaddr *own, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *own, socklen_t size)
{
    struct sockaddr_ll of;
    (void)fd;
    assert_int_equal(size, sizeof of);
    memcpy(&of, own, sizeof of);
    assert_int_equal(of.sll_ifindex, 4);
    errno = played.no_bind;
    return played.no_bind ? -1 : 0;
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t size)
{
    (void)fd;
    (void)size;
    played.port = to->sa_family == AF_INET6
                      ? ntohs(((const struct sockaddr_in6 *)(const void *)to)->sin6_port)
                      : ntohs(((const struct sockaddr_in *)(const void *)to)->sin_port);
    errno = played.no_connect ? played.no_connect : EINPROGRESS;
    return played.no_connect || played.type == SOCK_STREAM ? -1 : 0;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
    (void)fd;
    (void)bytes;
    (void)flags;
    played.data = n;
    return (ssize_t)n;
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
                      socklen_t size);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
                      socklen_t size)
{
    enum { LLADDR_AT = offsetof(struct sockaddr_ll, sll_addr) };
    (void)fd;
    (void)flags;
    assert_true(played.n_sent < SENT && n <= sizeof played.sent[0].bytes);
    assert_true(size >= LLADDR_AT + LLADDR_SIZE);
    memcpy(played.sent[played.n_sent].bytes, bytes, n);
    memcpy(played.sent[played.n_sent].lladdr, (const uint8_t *)to + LLADDR_AT, LLADDR_SIZE);
    played.sent[played.n_sent++].size = n;
    return (ssize_t)n;
}

static ssize_t take(void *bytes, size_t room, struct packet *of)
{
    if (played.taken == played.n)
        return -1;
    *of = played.packets[played.taken++];
    return (ssize_t)from_hex(of->hex, bytes, room);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t room, int flags)
{
    struct packet of;
    (void)fd;
    (void)flags;
    return take(bytes, room, &of);
}

ssize_t __wrap_recvfrom(int fd, void *bytes, size_t room, int flags, struct sockaddr *from,
                        socklen_t *size);
ssize_t __wrap_recvfrom(int fd, void *bytes, size_t room, int flags, struct sockaddr *from,
                        socklen_t *size)
{
    struct packet of;
    ssize_t n = take(bytes, room, &of);
    (void)fd;
    (void)flags;
    if (n < 0)
        return n;
    const struct sockaddr_ll a = {.sll_pkttype = of.out ? PACKET_OUTGOING : PACKET_HOST,
                                  .sll_protocol = htons(of.type)};
    memcpy(from, &a, sizeof a);
    *size = sizeof a;
    return n;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    (void)fds;
    (void)n;
    (void)ms;
    return played.taken < played.n || (!played.n && played.error >= 0);
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    (void)fd;
    if (level == SOL_PACKET && name == PACKET_STATISTICS)
        *(struct tpacket_stats *)value = (struct tpacket_stats){.tp_drops = played.drops};
    else
        *(int *)value = played.error;
    (void)size;
    return 0;
}

unsigned __wrap_if_nametoindex(const char *name);
unsigned __wrap_if_nametoindex(const char *name)
{
    return strcmp(name, "ib0") == 0 ? 4 : 0;
}

struct host_route __wrap_host_route_get(bool ipv6, const uint8_t *ip, const char *interface);
struct host_route __wrap_host_route_get(bool ipv6, const uint8_t *ip, const char *interface)
{
    struct host_route r = {.kind = ROUTE_LINK, .has_source = !played.no_source};
    (void)ip;
    (void)interface;
    memcpy(r.source, ipv6 ? peer6 : peer4, ipv6 ? 16 : 4);
    r.source[ipv6 ? 15 : 3] = 5;
    return r;
}

GArray *__wrap_hostneigh_read(const char *interface);
GArray *__wrap_hostneigh_read(const char *interface)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct host_neighbour));
    (void)interface;
    return g_array_append_vals(all, played.neighbours, played.n_neighbours);
}

gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error)
{
    bool is = strcmp(path, "/proc/net/stat/arp_cache") == 0 && played.statistics[0];
    (void)n;
    (void)error;
    *text = g_strdup(is ? played.statistics[played.n_read++] : NULL);
    return is;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static void begin(void)
{
    memset(&played, 0, sizeof played);
}

/* ---- what passes the interface */

static struct host_seen see(bool ipv6, bool whole)
{
    struct host_seen seen;
    host_seen_open(&seen, ipv6, ipv6 ? peer6 : peer4, "ib0");
    assert_int_equal(host_seen_close(&seen), whole);
    return seen;
}

/* IPv4 headers (RFC 791) from and to the peer, and ICMP (RFC 792). */
#define IPV4(total, fragment, source, destination)                                                 \
    "4500" total "0000" fragment "40010000" source destination
#define OWN4  "0a000005"
#define PEER4 "0a000002"
#define LL    "0000004800000000000000000000000000000000"
/* RFC 4391 §9.1.1: hardware type 32, 20 and 4 bytes. */
#define ARP(op, source, target) "002008001404" op LL source LL target
/* RFC 8200 headers with a hop limit of 255; ND of RFC 4861. */
#define IPV6(length, next, source, destination) "60000000" length next "ff" source destination
#define OWN6                                    "fd000000000000000000000000000005"
#define PEER6                                   "fd000000000000000000000000000002"
#define GROUP                                   "ff0200000000000000000001ff000002"
#define ND(type, target)                        type "00000000000000" target

static void each_packet_is_counted(void **state)
{
    static const struct {
        bool ipv6;
        struct packet packet;
        struct host_seen seen;
    } all[] = {
        {false, {true, 0x0800, IPV4("001c", "4000", OWN4, PEER4) "0800"}, {.echo_requests = 1}},
        {false, {false, 0x0800, IPV4("001c", "4000", PEER4, OWN4) "0000"}, {.echo_replies = 1}},
        {false,
         {false, 0x0800, IPV4("05d4", "2000", PEER4, OWN4) "0000"},
         {.echo_replies = 1, .fragment = 1492}},
        {false, {false, 0x0800, IPV4("05d4", "20b7", PEER4, OWN4) "0800"}, {0}}, /* a later one */
        {false, {false, 0x0800, IPV4("001c", "4000", "0a000003", OWN4) "0000"}, {0}},
        {false, {false, 0x0800, IPV4("0014", "4000", PEER4, OWN4)}, {0}}, /* no ICMP header */
        {false, {false, 0x0800, "4500"}, {0}},
        {false, {true, 0x0806, ARP("0001", OWN4, PEER4)}, {.own_requests = 1}},
        {false, {true, 0x0806, ARP("0002", OWN4, PEER4)}, {.own_replies = 1}},
        {false, {false, 0x0806, ARP("0001", PEER4, OWN4)}, {.peer_requests = 1}},
        {false, {false, 0x0806, ARP("0002", PEER4, OWN4)}, {.peer_replies = 1}},
        {false, {false, 0x0806, ARP("0002", OWN4, PEER4)}, {0}},
        {false, {false, 0x1234, "00"}, {.foreign = 1, .type = 0x1234}},
        {false, {true, 0x1234, "00"}, {0}},
        {false, {false, 0x8035, "00"}, {0}}, /* RARP (RFC 4391 §6) */
        {false, {false, 0x86dd, IPV6("0008", "3a", PEER6, OWN6) "8100000000000000"}, {0}},
        {true,
         {true, 0x86dd, IPV6("0008", "3a", OWN6, PEER6) "8000000000000000"},
         {.echo_requests = 1}},
        {true,
         {false, 0x86dd, IPV6("0008", "3a", PEER6, OWN6) "8100000000000000"},
         {.echo_replies = 1}},
        {true,
         {true, 0x86dd, IPV6("0018", "3a", OWN6, GROUP) ND("87", PEER6)},
         {.own_requests = 1}},
        {true, {true, 0x86dd, IPV6("0018", "3a", OWN6, PEER6) ND("88", OWN6)}, {.own_replies = 1}},
        {true,
         {false, 0x86dd, IPV6("0018", "3a", PEER6, GROUP) ND("87", OWN6)},
         {.peer_requests = 1}},
        {true,
         {false, 0x86dd, IPV6("0018", "3a", PEER6, OWN6) ND("88", PEER6)},
         {.peer_replies = 1}},
        {true, {false, 0x86dd, IPV6("0000", "3a", PEER6, OWN6)}, {0}},
        /* RFC 8200 §4.5: the first fragment, of 40 + 1240 bytes, and a later one */
        {true,
         {false, 0x86dd, IPV6("04d8", "2c", PEER6, OWN6) "3a00000100000001"},
         {.fragment = 1280}},
        {true, {false, 0x86dd, IPV6("04d8", "2c", PEER6, OWN6) "3a0004d100000001"}, {0}},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        played.packets[played.n++] = all[i].packet;
        struct host_seen s = see(all[i].ipv6, true), e = all[i].seen;
        if (s.echo_requests != e.echo_requests || s.echo_replies != e.echo_replies ||
            s.own_requests != e.own_requests || s.own_replies != e.own_replies ||
            s.peer_requests != e.peer_requests || s.peer_replies != e.peer_replies ||
            s.fragment != e.fragment || s.foreign != e.foreign || s.type != e.type)
            fail_msg("packet %zu: %u %u, %u %u %u %u, %u, %u 0x%04x", i, s.echo_requests,
                     s.echo_replies, s.own_requests, s.own_replies, s.peer_requests, s.peer_replies,
                     s.fragment, s.foreign, s.type);
    }
}

static void a_capture_that_is_not_whole(void **state)
{
    (void)state;
    begin();
    played.no_socket = EPERM;
    see(false, false);
    begin();
    played.no_bind = ENODEV;
    see(false, false);
    begin();
    played.drops = true;
    see(false, false);
}

/* The column "table_fulls" of each processor, in hexadecimal digits. */
static void a_neighbour_table_that_is_full(void **state)
{
#define STATISTICS(first, second)                                                                  \
    "entries  allocs   destroys hash_grows lookups  hits     res_failed rcv_probes_mcast "         \
    "rcv_probes_ucast periodic_gc_runs forced_gc_runs unresolved_discards table_fulls\n"           \
    "00000009 00000001 00000001 00000000 00000001 00000001 00000000 00000000 00000000 00000001 "   \
    "00000000 00000000 " first "\n"                                                                \
    "00000009 00000001 00000001 00000000 00000001 00000001 00000000 00000000 00000000 00000001 "   \
    "00000000 00000000 " second "\n"
    (void)state;
    begin();
    played.statistics[0] = STATISTICS("00000000", "0000000a");
    played.statistics[1] = STATISTICS("00000001", "00000010");
    assert_int_equal(see(false, true).overflows, 7);
    begin();
    assert_int_equal(see(true, true).overflows, 0); /* the file cannot be read */
}

/* ---- directly to neighbours */

static void add_neighbour(uint8_t last, uint8_t gid)
{
    struct host_neighbour *n = &played.neighbours[played.n_neighbours++];
    *n = (struct host_neighbour){.ip = {10, 0, 0, last}};
    n->lladdr[LLADDR_SIZE - 1] = gid;
}

static struct direct_reply ask(bool ipv6)
{
    return host_direct_ask(ipv6, ipv6 ? peer6 : peer4, "ib0", 2);
}

/* An echo reply with the identifier of these requests, and with a sequence number. */
#define REPLY4(ttl, source, id, sequence)                                                          \
    "45000054000040"                                                                               \
    "00" ttl "010000" source OWN4 "00000000" id sequence
#define REPLY6(limit, sequence)                                                                    \
    "60000000002c3a" limit PEER6 OWN6 "81000000"                                                   \
    "1b0c" sequence

static void the_neighbour_that_takes_it_is_found(void **state)
{
    static const struct {
        bool ipv6;
        const char *hex;
        bool found, forwarded;
        uint8_t gid;
    } all[] = {
        {false, REPLY4("40", PEER4, "1b0c", "0000"), true, false, 0x33},
        {false, REPLY4("40", PEER4, "1b0c", "0001"), true, false, 0x34},
        {false, REPLY4("3f", PEER4, "1b0c", "0001"), true, true, 0x34}, /* a router took one */
        {false, REPLY4("40", PEER4, "1b0c", "0002"), false, false, 0},  /* none was asked so */
        {false, REPLY4("40", PEER4, "1b0d", "0000"), false, false, 0},
        {false, REPLY4("40", "0a000003", "1b0c", "0000"), false, false, 0},
        {false, "45000054", false, false, 0},
        {false, "00", false, false, 0},
        {true, REPLY6("40", "0001"), true, false, 0x34},
        {true, REPLY6("3f", "0001"), true, true, 0x34},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        add_neighbour(3, 0x33);
        add_neighbour(4, 0x34);
        add_neighbour(5, 0x33); /* another address of that port: asked once */
        add_neighbour(2, 0x35); /* the target's own entry is not asked */
        if (all[i].ipv6) {
            played.neighbours[3].ipv6 = true;
            memcpy(played.neighbours[3].ip, peer6, 16);
        }
        played.packets[played.n++] = (struct packet){.hex = all[i].hex};
        struct direct_reply r = ask(all[i].ipv6);
        assert_int_equal(played.n_sent, 2);
        assert_int_equal(r.found, all[i].found);
        if (r.found) {
            assert_int_equal(r.forwarded, all[i].forwarded);
            assert_int_equal(r.lladdr[LLADDR_SIZE - 1], all[i].gid);
        }
    }
}

/* An echo request from this host's address to the target's, at the neighbour's queue pair. */
static void requests_go_to_the_neighbours(void **state)
{
    (void)state;
    begin();
    add_neighbour(3, 0x33);
    add_neighbour(4, 0x34);
    assert_false(ask(false).found);
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *ip = played.sent[i].bytes;
        assert_int_equal(played.sent[i].size, 84);
        assert_int_equal(be32(ip + 12), 0x0a000005);
        assert_int_equal(be32(ip + 16), 0x0a000002);
        assert_int_equal(ip[20], 8);
        assert_int_equal(be16(ip + 24), 0x1b0c);
        assert_int_equal(be16(ip + 26), i);
        assert_int_equal(played.sent[i].lladdr[LLADDR_SIZE - 1], 0x33 + i);
    }
    begin();
    for (uint8_t i = 0; i < NEIGHBOURS; i++)
        add_neighbour((uint8_t)(100 + i), i);
    ask(false);
    assert_int_equal(played.n_sent, DIRECT_ASKED);
}

static void nothing_is_sent(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        begin();
        if (i != 0)
            add_neighbour(3, 0x33);
        played.no_source = i == 1;
        played.no_socket = i == 2 ? EPERM : 0;
        played.no_bind = i == 3 ? ENODEV : 0;
        assert_false(ask(false).found);
        assert_int_equal(played.n_sent, 0);
    }
}

/* ---- to a closed port */

/* RFC 9293 §3.10.7.1: a RST, or a SYN of who listens. */
static void a_host_that_answers_tcp(void **state)
{
    static const struct {
        int no_socket, no_connect, error;
        bool answers;
    } all[] = {{0, 0, ECONNREFUSED, true}, {0, 0, 0, true},      {0, 0, EHOSTUNREACH, false},
               {0, 0, -1, false},          {EPERM, 0, 0, false}, {0, ENETUNREACH, 0, false}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        for (int ipv6 = 0; ipv6 <= 1; ipv6++) {
            begin();
            played.no_socket = all[i].no_socket;
            played.no_connect = all[i].no_connect;
            played.error = all[i].error;
            assert_int_equal(host_tcp_answers(ipv6, ipv6 ? peer6 : peer4, "ib0", 1),
                             all[i].answers);
            assert_int_equal(played.port, played.no_socket ? 0 : 1);
        }
}

static void a_datagram_that_is_refused(void **state)
{
    static const struct {
        int no_socket, no_connect, error;
        bool refused;
    } all[] = {{0, 0, ECONNREFUSED, true},
               {0, 0, EMSGSIZE, false},
               {0, 0, -1, false},
               {EPERM, 0, ECONNREFUSED, false},
               {0, ENETUNREACH, ECONNREFUSED, false}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        played.no_socket = all[i].no_socket;
        played.no_connect = all[i].no_connect;
        played.error = all[i].error;
        assert_int_equal(host_udp_is_refused(false, peer4, "ib0", 2016, 1), all[i].refused);
        assert_int_equal(played.data, all[i].no_socket || all[i].no_connect ? 0 : 2016);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_is_counted),
        cmocka_unit_test(a_capture_that_is_not_whole),
        cmocka_unit_test(a_neighbour_table_that_is_full),
        cmocka_unit_test(the_neighbour_that_takes_it_is_found),
        cmocka_unit_test(requests_go_to_the_neighbours),
        cmocka_unit_test(nothing_is_sent),
        cmocka_unit_test(a_host_that_answers_tcp),
        cmocka_unit_test(a_datagram_that_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
