/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See played_host.h. */
#include "played_host.h"

#include <errno.h>
#include <string.h>

#include "probe/link/hostclosed.h"
#include "probe/link/hostif.h"
#include "probe/link/hostnet.h"
#include "probe/link/hostpath.h"
#include "probe/run/text.h"

struct played_host host;

void host_clear(void)
{
    memset(&host, 0, sizeof host);
    host.interface = "ib0";
}

void host_add_neighbour(uint8_t last, bool ipv6, uint8_t qpn, uint8_t gid)
{
    const uint8_t lladdr[LLADDR_SIZE] = {0,    0,    0,    qpn, 0xfe, 0x80, [12] = 0x00,
                                         0x02, 0xc9, 0x03, 0,   0,    0x18, gid};
    struct host_neighbour *n = &host.neighbours[host.n_neighbours++];
    *n = (struct host_neighbour){.ipv6 = ipv6, .ip = {10, 0, 0, last}};
    memcpy(n->lladdr, lladdr, LLADDR_SIZE);
    if (ipv6)
        host_ping_port_address(lladdr + LLADDR_GID, n->ip);
}

void host_add_ipoib(const char *name, const char *device, uint16_t pkey)
{
    struct host_ipoib *i = &host.ipoib[host.n_ipoib++];
    *i = (struct host_ipoib){.port = 1, .pkey = pkey, .up = true};
    g_strlcpy(i->name, name, sizeof i->name);
    g_strlcpy(i->device, device, sizeof i->device);
}

void host_add_file(const char *path, const char *text)
{
    size_t i = 0;
    while (host.files[i].path)
        i++;
    host.files[i].path = path;
    host.files[i].text = text;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */

/* ---- interfaces and addresses */

char *__wrap_host_interface(const struct probe_link *l);
char *__wrap_host_interface(const struct probe_link *l)
{
    (void)l;
    return g_strdup(host.down ? NULL : host.interface);
}

GPtrArray *__wrap_host_interfaces(const struct probe_link *l);
GPtrArray *__wrap_host_interfaces(const struct probe_link *l)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    if (host.interface && !host.down)
        g_ptr_array_add(all, g_strdup(host.interface));
    (void)l;
    return all;
}

char *__wrap_host_interface_in_any_state(const struct port_facts *port, uint16_t pkey);
char *__wrap_host_interface_in_any_state(const struct port_facts *port, uint16_t pkey)
{
    (void)port;
    return pkey & 0x7fff && pkey != 0xffff ? NULL : g_strdup(host.interface);
}

bool __wrap_host_is_up(const char *name);
bool __wrap_host_is_up(const char *name)
{
    return !host.down || strcmp(name, host.interface) != 0;
}

char *__wrap_host_parent(const char *name);
char *__wrap_host_parent(const char *name)
{
    (void)name;
    return g_strdup(host.parent);
}

char *__wrap_host_parent_of_port(const struct port_facts *port);
char *__wrap_host_parent_of_port(const struct port_facts *port)
{
    (void)port;
    return g_strdup(host.parent);
}

char *__wrap_host_has_address(bool ipv6, const uint8_t *ip);
char *__wrap_host_has_address(bool ipv6, const uint8_t *ip)
{
    (void)ipv6;
    (void)ip;
    return g_strdup(host.has_address);
}

GArray *__wrap_host_ipoib_all(void);
GArray *__wrap_host_ipoib_all(void)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct host_ipoib));
    return g_array_append_vals(all, host.ipoib, host.n_ipoib);
}

bool __wrap_host_ipoib_find(const char *name, struct host_ipoib *out);
bool __wrap_host_ipoib_find(const char *name, struct host_ipoib *out)
{
    for (unsigned i = 0; i < host.n_ipoib; i++)
        if (strcmp(host.ipoib[i].name, name) == 0) {
            *out = host.ipoib[i];
            return true;
        }
    return false;
}

struct host_route __wrap_host_route_get(bool ipv6, const uint8_t *ip, const char *interface);
struct host_route __wrap_host_route_get(bool ipv6, const uint8_t *ip, const char *interface)
{
    (void)ipv6;
    (void)ip;
    return *interface && host.route_through.kind ? host.route_through : host.route;
}

/* ---- networks */

char *__wrap_hostnet_text_of(const char *interface, bool ipv6);
char *__wrap_hostnet_text_of(const char *interface, bool ipv6)
{
    (void)interface;
    (void)ipv6;
    return g_strdup(host.networks ? host.networks : "");
}

char *__wrap_hostnet_other(bool ipv6, const uint8_t *ip, const char *interface);
char *__wrap_hostnet_other(bool ipv6, const uint8_t *ip, const char *interface)
{
    (void)ipv6;
    (void)ip;
    (void)interface;
    return g_strdup(host.other_network);
}

bool __wrap_hostnet_is_wide(const char *interface, bool ipv6, const uint8_t *ip);
bool __wrap_hostnet_is_wide(const char *interface, bool ipv6, const uint8_t *ip)
{
    (void)interface;
    (void)ipv6;
    (void)ip;
    return host.wide;
}

char *__wrap_hostnet_dad_failed(const char *interface, bool link_local);
char *__wrap_hostnet_dad_failed(const char *interface, bool link_local)
{
    (void)interface;
    (void)link_local;
    return g_strdup(host.dad_failed);
}

/* ---- neighbours */

GArray *__wrap_hostneigh_read(const char *interface);
GArray *__wrap_hostneigh_read(const char *interface)
{
    assert_string_equal(interface, host.interface);
    if (host.no_table)
        return NULL;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct host_neighbour));
    return g_array_append_vals(all, host.neighbours, host.n_neighbours);
}

bool __wrap_hostneigh_find(const char *interface, bool ipv6, const uint8_t *ip,
                           struct host_neighbour *out);
bool __wrap_hostneigh_find(const char *interface, bool ipv6, const uint8_t *ip,
                           struct host_neighbour *out)
{
    for (unsigned i = 0;
         host.interface && strcmp(interface, host.interface) == 0 && i < host.n_neighbours; i++) {
        *out = host.neighbours[i];
        if ((bool)out->ipv6 == ipv6 && memcmp(out->ip, ip, ipv6 ? 16 : 4) == 0)
            return true;
    }
    return false;
}

uint16_t __wrap_host_path_lid(const char *interface, const uint8_t *gid);
uint16_t __wrap_host_path_lid(const char *interface, const uint8_t *gid)
{
    (void)interface;
    (void)gid;
    return host.path_lid;
}

/* ---- the kernel's packets */

struct ping_request {
    bool answered;
};

struct ping_request *__wrap_host_ping_send(bool ipv6, const uint8_t *ip, const char *interface);
struct ping_request *__wrap_host_ping_send(bool ipv6, const uint8_t *ip, const char *interface)
{
    char text[48];
    (void)interface;
    if (host.cannot_ask)
        return NULL;
    struct ping_request *p = g_new0(struct ping_request, 1);
    text_ip(ipv6, ip, text);
    for (unsigned i = 0; i < HOST_LISTED && host.replies[i]; i++)
        p->answered |= strcmp(host.replies[i], text) == 0;
    return p;
}

/* "ib1 10.0.0.2": that address replies there. */
struct ping_request *__wrap_host_ping_send_through(bool ipv6, const uint8_t *ip,
                                                   const char *interface);
struct ping_request *__wrap_host_ping_send_through(bool ipv6, const uint8_t *ip,
                                                   const char *interface)
{
    char text[48];
    struct ping_request *p = g_new0(struct ping_request, 1);
    text_ip(ipv6, ip, text);
    char *there = g_strdup_printf("%s %s", interface, text);
    for (unsigned i = 0; i < HOST_LISTED && host.replies[i]; i++)
        p->answered |= strcmp(host.replies[i], there) == 0;
    g_free(there);
    return p;
}

struct ping_request *__wrap_host_ping_send_to_port(const uint8_t *gid, const char *interface);
struct ping_request *__wrap_host_ping_send_to_port(const uint8_t *gid, const char *interface)
{
    uint8_t ip[16];
    host_ping_port_address(gid, ip);
    return __wrap_host_ping_send(true, ip, interface);
}

bool __wrap_host_ping_end(struct ping_request *p);
bool __wrap_host_ping_end(struct ping_request *p)
{
    bool answered = p->answered;
    g_free(p);
    return answered;
}

struct host_ping __wrap_host_ping(bool ipv6, const uint8_t *ip, const char *interface,
                                  uint32_t data, int ms, const volatile int *stop);
struct host_ping __wrap_host_ping(bool ipv6, const uint8_t *ip, const char *interface,
                                  uint32_t data, int ms, const volatile int *stop)
{
    enum { HEADERS = 20 + 8 }; /* IPv4 and ICMP */
    struct host_ping p = host.ping;
    (void)ipv6;
    (void)ip;
    (void)interface;
    (void)ms;
    (void)stop;
    p.answered &= !host.largest || data + HEADERS <= host.largest;
    return p;
}

unsigned __wrap_host_ping_count_lost(bool ipv6, const uint8_t *ip, const char *interface,
                                     unsigned n, int ms, const volatile int *stop);
unsigned __wrap_host_ping_count_lost(bool ipv6, const uint8_t *ip, const char *interface,
                                     unsigned n, int ms, const volatile int *stop)
{
    (void)ipv6;
    (void)ip;
    (void)interface;
    (void)ms;
    (void)stop;
    return MIN(n, host.pings_lost);
}

void __wrap_host_seen_open(struct host_seen *t, bool ipv6, const uint8_t *ip,
                           const char *interface);
void __wrap_host_seen_open(struct host_seen *t, bool ipv6, const uint8_t *ip, const char *interface)
{
    (void)ipv6;
    (void)ip;
    (void)interface;
    *t = (struct host_seen){.fd = -1};
}

bool __wrap_host_seen_close(struct host_seen *t);
bool __wrap_host_seen_close(struct host_seen *t)
{
    *t = host.seen;
    return host.captured;
}

bool __wrap_host_tcp_answers(bool ipv6, const uint8_t *ip, const char *interface, int ms);
bool __wrap_host_tcp_answers(bool ipv6, const uint8_t *ip, const char *interface, int ms)
{
    (void)ipv6;
    (void)ip;
    (void)interface;
    (void)ms;
    return host.tcp;
}

bool __wrap_host_udp_is_refused(bool ipv6, const uint8_t *ip, const char *interface, uint32_t data,
                                int ms);
bool __wrap_host_udp_is_refused(bool ipv6, const uint8_t *ip, const char *interface, uint32_t data,
                                int ms)
{
    enum { HEADERS = 20 + 8 }; /* IPv4 and UDP */
    (void)ipv6;
    (void)ip;
    (void)interface;
    (void)ms;
    return data + HEADERS <= host.udp;
}

struct direct_reply __wrap_host_direct_ask(bool ipv6, const uint8_t *ip, const char *interface,
                                           unsigned ms);
struct direct_reply __wrap_host_direct_ask(bool ipv6, const uint8_t *ip, const char *interface,
                                           unsigned ms)
{
    (void)ipv6;
    (void)ip;
    (void)interface;
    (void)ms;
    return host.direct;
}

/* ---- files */

gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error)
{
    (void)n;
    (void)error;
    *text = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(host.files) && host.files[i].path; i++)
        if (strcmp(host.files[i].path, path) == 0)
            *text = g_strdup(host.files[i].text);
    return *text != NULL;
}

/* The only test of the probe: does an interface belong to a bond? */
gboolean __wrap_g_file_test(const char *path, GFileTest test);
gboolean __wrap_g_file_test(const char *path, GFileTest test)
{
    char *master = g_build_filename("/sys/class/net", host.is_slave ? host.is_slave : "-", "master",
                                    NULL);
    bool is = strcmp(path, master) == 0;
    (void)test;
    g_free(master);
    return is;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */
