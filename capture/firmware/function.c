/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI functions. See function.h. */
#include "capture/firmware/function.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fail.h"

/* One to MOST lower-case hexadecimal digits at *TEXT, at least LEAST, and then END. */
static bool skip_hex(const char **text, size_t least, size_t most, char end)
{
    size_t digits = strspn(*text, "0123456789abcdef");
    bool good = digits >= least && digits <= most && (*text)[digits] == end;

    *text += digits + (end != '\0');
    return good;
}

bool pci_address_is_valid(const char *text)
{
    return skip_hex(&text, 4, 8, ':') && skip_hex(&text, 2, 2, ':') && skip_hex(&text, 2, 2, '.') &&
           skip_hex(&text, 1, 1, '\0');
}

bool pci_function_is_virtual(const struct ibv_device *device)
{
    char path[sizeof(device->ibdev_path) + sizeof("/device/physfn")];

    snprintf(path, sizeof(path), "%s/device/physfn", device->ibdev_path);
    return access(path, F_OK) == 0;
}

uint64_t pci_function_inode(const struct ibv_device *device)
{
    struct stat st;

    return stat(device->ibdev_path, &st) == 0 ? st.st_ino : 0;
}

bool pci_function_is_smi(const struct ibv_device *device, char name[IBV_SYSFS_NAME_MAX])
{
    char path[sizeof(device->ibdev_path) + sizeof("/device/infiniband")];
    const struct dirent *entry;
    DIR *folder;

    name[0] = '\0';
    if (!g_str_has_prefix(device->name, "smi"))
        return false;
    snprintf(path, sizeof(path), "%s/device/infiniband", device->ibdev_path);
    folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && !g_str_has_prefix(entry->d_name, "smi"))
            snprintf(name, IBV_SYSFS_NAME_MAX, "%.*s", IBV_SYSFS_NAME_MAX - 1, entry->d_name);
    if (folder)
        closedir(folder);
    return true;
}

static bool refuse_smi(const struct ibv_device *device, GError **error)
{
    char name[IBV_SYSFS_NAME_MAX];

    if (!pci_function_is_smi(device, name))
        return true;
    return fail_with(error,
                     "it is the part of an adapter that carries only SMPs (SMI): capture on %s%s",
                     name[0] ? "-d " : "the adapter's other device, such as mlx5_0", name);
}

bool pci_function_find(const struct ibv_device *device, char address[PCI_ADDRESS_SIZE],
                       GError **error)
{
    char path[sizeof(device->ibdev_path) + sizeof("/device")], real[PATH_MAX];
    const char *base;

    snprintf(path, sizeof(path), "%s/device", device->ibdev_path);
    if (!realpath(path, real))
        return fail_with(
            error, "its PCI function is not in sysfs (%s): in a container, mount the host's /sys",
            path);
    if (!refuse_smi(device, error))
        return false;
    if (pci_function_is_virtual(device))
        return fail_with(
            error, "it is a virtual function (SR-IOV), whose firmware has no sniffer: capture on "
                   "the host that has the physical function");
    base = strrchr(real, '/') + 1;
    if (!pci_address_is_valid(base))
        return fail_with(
            error,
            "%s is no PCI function but a part of one, which has no sniffer: capture on "
            "the device of the PCI function",
            base);
    snprintf(address, PCI_ADDRESS_SIZE, "%s", base);
    return true;
}
