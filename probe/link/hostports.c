/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The InfiniBand ports and IPoIB interfaces of this host. See hostports.h. */
#include "probe/link/hostports.h"

#include <stdlib.h>
#include <string.h>

#include "probe/link/sysfs.h"
#include "wire/arp.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/smp.h"

#define DEVICES    "/sys/class/infiniband"
#define INTERFACES "/sys/class/net"

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, in alphabetical order. */
static GPtrArray *names_in(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        g_ptr_array_add(names, g_strdup(name));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, by_name);
    return names;
}

bool host_device_is_hidden(const char *device)
{
    GPtrArray *listed = names_in(DEVICES);
    bool hidden = g_file_test(DEVICES, G_FILE_TEST_IS_DIR) &&
                  (*device ? !g_ptr_array_find_with_equal_func(listed, device, g_str_equal, NULL)
                           : !listed->len);
    g_ptr_array_unref(listed);
    return hidden;
}

/* ---- ports */

static bool read_port(struct host_port *p, const char *device, const char *number)
{
    char *folder = g_build_filename(DEVICES, device, "ports", number, NULL),
         *layer = sysfs_read(folder, "link_layer"), *state = sysfs_read(folder, "state"),
         *gid = sysfs_read(folder, "gids/0");
    *p = (struct host_port){.port = (unsigned)strtoul(number, NULL, 10),
                            .state = (uint8_t)strtoul(state, NULL, 10)};
    g_strlcpy(p->device, device, sizeof p->device);
    g_strlcpy(p->gid, gid, sizeof p->gid);
    bool infiniband = *state && strcmp(layer, "Ethernet") != 0;
    g_free(gid);
    g_free(state);
    g_free(layer);
    g_free(folder);
    return infiniband;
}

static void add_ports(GArray *all, const char *device)
{
    char *folder = g_build_filename(DEVICES, device, "ports", NULL);
    GPtrArray *numbers = names_in(folder);
    struct host_port p;
    for (guint i = 0; i < numbers->len; i++)
        if (read_port(&p, device, numbers->pdata[i]))
            g_array_append_val(all, p);
    g_ptr_array_unref(numbers);
    g_free(folder);
}

/* Programs can open its queue pairs. The kernel offers no libibverbs device for an SMI alone. */
static bool has_verbs(const char *device)
{
    char *folder = g_build_filename(DEVICES, device, "device", "infiniband_verbs", NULL);
    GPtrArray *nodes = names_in(folder);
    bool has = false;
    for (guint i = 0; i < nodes->len && !has; i++) {
        char *path = g_build_filename(folder, nodes->pdata[i], NULL),
             *name = sysfs_read(path, "ibdev");
        has = strcmp(name, device) == 0;
        g_free(name);
        g_free(path);
    }
    g_ptr_array_unref(nodes);
    g_free(folder);
    return has;
}

/* Another device with the same GID has the queue pairs of this port. */
static bool is_smi_only(const GArray *all, const struct host_port *p)
{
    bool twin = false;
    for (guint i = 0; i < all->len && !twin; i++) {
        const struct host_port *other = &g_array_index(all, struct host_port, i);
        twin = *p->gid && strcmp(other->device, p->device) != 0 &&
               strcmp(other->gid, p->gid) == 0 && has_verbs(other->device);
    }
    return twin && !has_verbs(p->device);
}

GArray *host_ports(void)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct host_port)),
           *ports = g_array_new(FALSE, FALSE, sizeof(struct host_port));
    GPtrArray *devices = names_in(DEVICES);
    for (guint i = 0; i < devices->len; i++)
        add_ports(all, devices->pdata[i]);
    for (guint i = 0; i < all->len; i++)
        if (!is_smi_only(all, &g_array_index(all, struct host_port, i)))
            g_array_append_vals(ports, &g_array_index(all, struct host_port, i), 1);
    g_ptr_array_unref(devices);
    g_array_unref(all);
    return ports;
}

/* ---- interfaces */

static unsigned long number_of(const char *name, const char *attribute)
{
    char *text = sysfs_interface(name, attribute);
    unsigned long value = strtoul(text, NULL, 0);
    g_free(text);
    return value;
}

/* The last 16 hexadecimal digits of a text with colons: the port GUID. */
static void guid_digits(const char *text, char out[17])
{
    enum { DIGITS = 16 };
    GString *all = g_string_new(NULL);
    for (; *text; text++)
        if (g_ascii_isxdigit(*text))
            g_string_append_c(all, *text);
    g_strlcpy(out, all->len >= DIGITS ? all->str + all->len - DIGITS : "", DIGITS + 1);
    g_string_free(all, TRUE);
}

/* A child interface made by ip(8) does not name its device: its address has the port's GUID. */
static void find_device(struct host_ipoib *i)
{
    GArray *ports = host_ports();
    char *address = sysfs_interface(i->name, "address"), own[17], other[17];
    guid_digits(address, own);
    for (guint k = 0; k < ports->len && !i->device[0]; k++) {
        const struct host_port *p = &g_array_index(ports, struct host_port, k);
        guid_digits(p->gid, other);
        if (!*own || strcmp(own, other) != 0)
            continue;
        g_strlcpy(i->device, p->device, sizeof i->device);
        i->port = p->port;
    }
    g_free(address);
    g_array_unref(ports);
}

/* Such an interface has no attribute pkey either: its broadcast address has the P_Key. */
static uint16_t read_pkey(const char *name)
{
    enum { PKEY_AT = LLADDR_GID + MGID_PKEY };
    uint16_t pkey = (uint16_t)number_of(name, "pkey");
    char *text = sysfs_interface(name, "broadcast"), **parts = g_strsplit(text, ":", -1);
    if (!pkey && g_strv_length(parts) == LLADDR_SIZE)
        pkey = (uint16_t)(strtoul(parts[PKEY_AT], NULL, 16) << 8 |
                          strtoul(parts[PKEY_AT + 1], NULL, 16));
    g_strfreev(parts);
    g_free(text);
    return pkey;
}

static void read_device(struct host_ipoib *i)
{
    char *folder = g_build_filename(INTERFACES, i->name, "device", "infiniband", NULL);
    GPtrArray *devices = names_in(folder);
    if (devices->len)
        g_strlcpy(i->device, devices->pdata[0], sizeof i->device);
    i->port = (unsigned)number_of(i->name, "dev_port") + 1;
    if (!i->device[0])
        find_device(i);
    g_ptr_array_unref(devices);
    g_free(folder);
}

static bool read_interface(struct host_ipoib *i, const char *name)
{
    enum { INTERFACE_UP = 1 }; /* IFF_UP */
    *i = (struct host_ipoib){.pkey = read_pkey(name),
                             .up = number_of(name, "flags") & INTERFACE_UP};
    g_strlcpy(i->name, name, sizeof i->name);
    read_device(i);
    return number_of(name, "type") == ARP_HRD_INFINIBAND;
}

/* A bond has no port of its own. */
static bool is_bond(const char *name)
{
    char *folder = g_build_filename(INTERFACES, name, "bonding", NULL);
    bool is = g_file_test(folder, G_FILE_TEST_IS_DIR);
    g_free(folder);
    return is;
}

GArray *host_ipoib_all(void)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct host_ipoib));
    GPtrArray *names = names_in(INTERFACES);
    struct host_ipoib i;
    for (guint k = 0; k < names->len; k++)
        if (!is_bond(names->pdata[k]) && read_interface(&i, names->pdata[k]))
            g_array_append_val(all, i);
    g_ptr_array_unref(names);
    return all;
}

/* The active interface of a bond; if none is, for want of a link, the first one. */
static char *slave_of(const char *bond)
{
    char *name = sysfs_interface(bond, "bonding/active_slave");
    if (*name)
        return name;
    g_free(name);
    name = sysfs_interface(bond, "bonding/slaves");
    name[strcspn(name, " ")] = '\0';
    return name;
}

bool host_ipoib_find(const char *name, struct host_ipoib *out)
{
    if (strchr(name, '/') || !*name)
        return false;
    char *active = is_bond(name) ? slave_of(name) : g_strdup(name);
    bool found = *active && read_interface(out, active);
    g_free(active);
    return found;
}

char *host_names(void)
{
    GArray *ports = host_ports(), *interfaces = host_ipoib_all();
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < ports->len; i++) {
        const struct host_port *p = &g_array_index(ports, struct host_port, i);
        if (i == 0 || strcmp(p->device, p[-1].device) != 0)
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", p->device);
    }
    for (guint i = 0; i < interfaces->len; i++)
        g_string_append_printf(names, "%s%s", names->len ? ", " : "",
                               g_array_index(interfaces, struct host_ipoib, i).name);
    g_array_unref(interfaces);
    g_array_unref(ports);
    return g_string_free(names, FALSE);
}
