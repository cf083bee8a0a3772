/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An adapter that is open by mstflint's library, and the sniffer of one of its ports. */
#ifndef CAPTURE_FIRMWARE_ADAPTER_H
#define CAPTURE_FIRMWARE_ADAPTER_H

#include <glib.h>
#include <stdbool.h>

#include "capture/firmware/library.h"
#include "capture/firmware/record.h"

struct adapter {
    struct mst_library library;
    struct mst_device *device;
    const char *pci;
    uint8_t port;
    bool wants_sent, wants_received; /* the directions to attach */
    int record;
    struct attached attached; /* .device: given */
};

/*
 * A call of the library that does not return ends the process: each sets an alarm(), which the
 * caller switches off.
 */

/*
 * Opens the adapter and reads its hardware id; sends it no command. Returns false and sets ERROR
 * if it can have no sniffer.
 */
bool adapter_open(struct adapter *adapter, const char *library, GError **error);

/*
 * Attaches the sniffer to QPN. Returns false and sets ERROR if it refuses; unless
 * adapter->attached.qpn is 0, it may be attached nevertheless.
 */
bool adapter_attach(struct adapter *adapter, uint32_t qpn, GError **error);

/* Detaches what adapter->attached says. Returns false and sets ERROR if that fails. */
bool adapter_detach(struct adapter *adapter, GError **error);

void adapter_close(struct adapter *adapter);

#endif
