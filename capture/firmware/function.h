/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PCI function of an RDMA device, from sysfs. */
#ifndef CAPTURE_FIRMWARE_FUNCTION_H
#define CAPTURE_FIRMWARE_FUNCTION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

enum { PCI_ADDRESS_SIZE = 20 };

/* Whether TEXT is DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, and nothing else. */
bool pci_address_is_valid(const char *text);

/*
 * Finds the address of the device's own function. Returns false and sets ERROR if it has none whose
 * firmware can be asked for a sniffer.
 */
bool pci_function_find(const struct ibv_device *device, char address[PCI_ADDRESS_SIZE],
                       GError **error);

/* The inode of the device's folder in sysfs: another one after the driver was loaded again. */
uint64_t pci_function_inode(const struct ibv_device *device);

/*
 * Whether the device is the SMI part of an adapter with several planes (ConnectX-8): "smi1" beside
 * "mlx5_0", the GSI part, on one PCI function. NAME: of the GSI part, empty if it is not found.
 */
bool pci_function_is_smi(const struct ibv_device *device, char name[IBV_SYSFS_NAME_MAX]);

/* Whether the device is a virtual function (SR-IOV). */
bool pci_function_is_virtual(const struct ibv_device *device);

#endif
