/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the host's interface that is up on a port and partition, from a simulated sysfs, and reads
 * its neighbours from a simulated rtnetlink(7).
 */
#include "unit.h"

#include <string.h>

#include <glib/gstdio.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostpath.h"
#include "probe/link/hostping.h"
#include "probe/link/link.h"

#define SYSFS     "/sys/class/net"
#define ADDRESS   "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:18:"
#define BROADCAST "00:ff:ff:ff:ff:12:40:1b:%02x:%02x:00:00:00:00:00:00:ff:ff:ff:ff"

static char *root;
static GHashTable *files; /* file contents by path; only the interfaces' names are on a disk */
static const struct port_facts port = {
    .device = "mlx5_0",
    .port = 1,
    .gid = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x96}};

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
GDir *__real_g_dir_open(const char *path, guint flags, GError **error);
GDir *__wrap_g_dir_open(const char *path, guint flags, GError **error);
GDir *__wrap_g_dir_open(const char *path, guint flags, GError **error)
{
    return __real_g_dir_open(strcmp(path, SYSFS) == 0 ? root : path, flags, error);
}

gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error)
{
    const char *found = g_hash_table_lookup(files, path);
    (void)n;
    (void)error;
    *text = g_strdup(found);
    return found != NULL;
}

enum { IB0 = 4 };
static GByteArray *dump; /* the kernel's response; NULL: it has been read */

unsigned __wrap_if_nametoindex(const char *name);
unsigned __wrap_if_nametoindex(const char *name)
{
    return strcmp(name, "ib0") == 0 ? IB0 : 0;
}

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
    ssize_t n = dump ? (ssize_t)dump->len : 0;
    (void)fd;
    (void)flags;
    assert_true((size_t)n <= size);
    if (n)
        memcpy(buffer, dump->data, (size_t)n);
    g_clear_pointer(&dump, g_byte_array_unref);
    return n;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static void put(const char *name, const char *attribute, const char *text)
{
    g_hash_table_insert(files, g_strdup_printf(SYSFS "/%s/%s", name, attribute), g_strdup(text));
}

/* Adds an IPoIB interface that is up, in partition 0x8001 of that port. */
static void add(const char *name)
{
    char *path = g_build_filename(root, name, NULL),
         *broadcast = g_strdup_printf(BROADCAST, 0x80, 1);
    g_mkdir(path, 0700);
    put(name, "type", "32\n");
    put(name, "flags", "0x1003\n");
    put(name, "pkey", "0x8001\n");
    put(name, "address", ADDRESS "96\n");
    put(name, "broadcast", broadcast);
    put(name, "device/infiniband/mlx5_0/node_type", "1: CA\n");
    put(name, "dev_port", "0\n");
    g_free(broadcast);
    g_free(path);
}

static int begin(void **state)
{
    (void)state;
    root = g_dir_make_tmp("ipoib-hostXXXXXX", NULL);
    files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    add("ib0");
    return root ? 0 : 1;
}

static int end(void **state)
{
    static const char *const names[] = {"ib0", "ib0.8002"};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        char *path = g_build_filename(root, names[i], NULL);
        g_rmdir(path);
        g_free(path);
    }
    g_rmdir(root);
    g_free(root);
    g_hash_table_unref(files);
    return 0;
}

static bool is_found(uint16_t pkey)
{
    char *name = host_interface_on(&port, pkey);
    bool is = name != NULL;
    if (name)
        assert_string_equal(name, "ib0");
    g_free(name);
    return is;
}

static void both_forms_of_the_pkey(void **state)
{
    (void)state;
    assert_true(is_found(0x8001));
    assert_true(is_found(0x0001));
    assert_false(is_found(0xffff));
    put("ib0", "pkey", "0x0001\n");
    assert_true(is_found(0x8001));
}

static void pkey_of_the_broadcast_address(void **state)
{
    (void)state;
    g_hash_table_remove(files, SYSFS "/ib0/pkey");
    assert_true(is_found(0x8001));
    assert_false(is_found(0xffff));
}

static void only_infiniband_interfaces_that_are_up(void **state)
{
    (void)state;
    put("ib0", "flags", "0x1002\n");
    assert_false(is_found(0x8001));
    put("ib0", "flags", "0x1003\n");
    put("ib0", "type", "1\n");
    assert_false(is_found(0x8001));
}

static void assert_name(char *name, const char *expected)
{
    if (expected)
        assert_string_equal(name, expected);
    else
        assert_null(name);
    g_free(name);
}

/* A child has its parent's index as that of the lower device, and the parent's port. */
static void interfaces_in_any_state_and_their_parents(void **state)
{
    (void)state;
    add("ib0.8002");
    put("ib0.8002", "pkey", "0x8002\n");
    put("ib0.8002", "broadcast", "");
    put("ib0.8002", "flags", "0x1002\n");
    put("ib0", "ifindex", "4\n");
    put("ib0", "iflink", "4\n");
    put("ib0.8002", "ifindex", "5\n");
    put("ib0.8002", "iflink", "4\n");
    assert_false(host_is_up("ib0.8002"));
    assert_name(host_interface_in_any_state(&port, 0x8001), "ib0");
    assert_name(host_interface_on(&port, 0x8002), NULL);
    assert_name(host_interface_in_any_state(&port, 0x8002), "ib0.8002");
    assert_name(host_interface_in_any_state(&port, 0xffff), NULL);
    assert_name(host_parent("ib0.8002"), "ib0");
    assert_name(host_parent("ib0"), NULL);
    assert_name(host_parent_of_port(&port), "ib0");
}

static void names_of_the_interfaces_of_a_partition(void **state)
{
    struct probe_link link = {.pkey = 0x8001};
    (void)state;
    add("ib0.8002");
    put("ib0.8002", "pkey", "0x8002\n");
    put("ib0.8002", "broadcast", "");
    GPtrArray *names = host_interfaces(&link);
    assert_int_equal(names->len, 1);
    assert_string_equal(names->pdata[0], "ib0");
    g_ptr_array_unref(names);
    put("ib0", "flags", "0x1002\n");
    names = host_interfaces(&link);
    assert_int_equal(names->len, 0);
    g_ptr_array_unref(names);
}

/* Matched by the port's GUID, or by the device and the port's number. */
static void only_on_this_port(void **state)
{
    (void)state;
    put("ib0", "address", ADDRESS "97\n");
    assert_true(is_found(0x8001));
    put("ib0", "dev_port", "1\n");
    assert_false(is_found(0x8001));
    put("ib0", "address", ADDRESS "96\n");
    assert_true(is_found(0x8001));
}

static void wanted_groups(void **state)
{
    static const uint8_t nodes[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [15] = 1},
                         other[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [15] = 2};
    (void)state;
    assert_true(host_wants("ib0", nodes)); /* the file cannot be read */
    g_hash_table_insert(
        files, g_strdup("/proc/net/dev_mcast"),
        g_strdup("4    ib0             1     0     00ffffffff12601bffff00000000000000000001\n"
                 "5    ib1             1     0     00ffffffff12601bffff00000000000000000002\n"));
    assert_true(host_wants("ib0", nodes));
    assert_false(host_wants("ib0", other));
    assert_true(host_wants("ib1", other));
}

static void put_attribute(uint16_t type, const uint8_t *value, uint16_t size)
{
    static const uint8_t padding[RTA_ALIGNTO];
    struct rtattr a = {.rta_len = (uint16_t)RTA_LENGTH(size), .rta_type = type};
    g_byte_array_append(dump, (const uint8_t *)&a, sizeof a);
    g_byte_array_append(dump, value, size);
    g_byte_array_append(dump, padding, RTA_ALIGN(size) - size);
}

/* Adds the neighbour 10.0.0.N with a link-layer address of that size; 0: without. */
static void put_neighbour(int interface, uint16_t state, uint8_t n, uint16_t lladdr_size)
{
    static const uint8_t lladdr[LLADDR_SIZE] = {0x80, 0, 0, 0x48, 0xfe, 0x80, [19] = 2};
    const uint8_t ip[] = {10, 0, 0, n};
    struct nlmsghdr head = {.nlmsg_type = RTM_NEWNEIGH, .nlmsg_seq = 1};
    struct ndmsg body = {.ndm_family = AF_INET, .ndm_ifindex = interface, .ndm_state = state};
    guint at = dump->len;
    g_byte_array_append(dump, (const uint8_t *)&head, sizeof head);
    g_byte_array_append(dump, (const uint8_t *)&body, sizeof body);
    put_attribute(NDA_DST, ip, sizeof ip);
    if (lladdr_size)
        put_attribute(NDA_LLADDR, lladdr, lladdr_size);
    head.nlmsg_len = dump->len - at;
    memcpy(dump->data + at, &head, sizeof head);
}

/* RFC 4391 section 9.1.1: a link-layer address has 20 bytes; Ethernet's has 6. */
static void neighbours_have_both_addresses(void **state)
{
    (void)state;
    dump = g_byte_array_new();
    put_neighbour(IB0, NUD_REACHABLE, 1, 0);
    put_neighbour(IB0, NUD_REACHABLE, 2, 6);
    put_neighbour(IB0, NUD_FAILED, 3, LLADDR_SIZE);
    put_neighbour(IB0 + 1, NUD_REACHABLE, 4, LLADDR_SIZE);
    put_neighbour(IB0, NUD_STALE, 5, LLADDR_SIZE);
    GArray *found = hostneigh_read("ib0");
    assert_non_null(found);
    assert_int_equal(found->len, 1);
    const struct host_neighbour *n = &g_array_index(found, struct host_neighbour, 0);
    assert_false(n->ipv6);
    assert_memory_equal(n->ip, ((const uint8_t[]){10, 0, 0, 5}), 4);
    assert_int_equal(n->lladdr[LLADDR_SIZE - 1], 2);
    g_array_unref(found);
    assert_null(hostneigh_read("eth0"));
    struct host_neighbour one;
    assert_false(hostneigh_find("eth0", false, (const uint8_t[]){10, 0, 0, 5}, &one));
    for (uint8_t last = 1; last <= 2; last++) {
        dump = g_byte_array_new();
        put_neighbour(IB0, NUD_PERMANENT, 1, LLADDR_SIZE);
        assert_int_equal(hostneigh_find("ib0", false, (const uint8_t[]){10, 0, 0, last}, &one),
                         last == 1);
        assert_true(one.permanent);
    }
}

/* As Linux's ipoib_fs.c writes it; the first path has no answer of the SA yet. */
static void path_of_the_driver(void **state)
{
    static char text[] = "GID: fe80:0:0:0:2:c903:0:1895\n"
                         "  complete:     no\n\n"
                         "GID: fe80:0:0:0:2:c903:0:1896\n"
                         "  complete:    yes\n"
                         "  DLID:     0x00c4\n"
                         "  SL:            0\n"
                         "  rate:       40.0 Gb/sec\n\n";
    uint8_t gid[16];
    (void)state;
    memcpy(gid, port.gid, sizeof gid);
    for (unsigned i = 0; i < 3; i++) {
        FILE *f = fmemopen(text, sizeof text - 1, "r");
        gid[15] = (uint8_t)(0x95 + i);
        assert_int_equal(host_path_find(f, gid), i == 1 ? 0xc4 : 0);
        fclose(f);
    }
    assert_int_equal(host_path_lid("no-such-interface", gid), 0);
}

/* RFC 4391 section 8, by RFC 4291 section 2.5.1: the universal bit is inverted. */
static void link_local_address_of_a_port(void **state)
{
    static const uint8_t expected[16] = {0xfe, 0x80, [8] = 0x02, 0x02, 0xc9,
                                         0x03, 0,    0,          0x18, 0x96};
    uint8_t ip[16];
    (void)state;
    host_ping_port_address(port.gid, ip);
    assert_memory_equal(ip, expected, sizeof ip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_forms_of_the_pkey, begin, end),
        cmocka_unit_test_setup_teardown(pkey_of_the_broadcast_address, begin, end),
        cmocka_unit_test_setup_teardown(only_infiniband_interfaces_that_are_up, begin, end),
        cmocka_unit_test_setup_teardown(only_on_this_port, begin, end),
        cmocka_unit_test_setup_teardown(interfaces_in_any_state_and_their_parents, begin, end),
        cmocka_unit_test_setup_teardown(names_of_the_interfaces_of_a_partition, begin, end),
        cmocka_unit_test_setup_teardown(wanted_groups, begin, end),
        cmocka_unit_test(neighbours_have_both_addresses),
        cmocka_unit_test(path_of_the_driver),
        cmocka_unit_test(link_local_address_of_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
