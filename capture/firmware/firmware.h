/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sniffer of the firmware: on InfiniBand ports of mlx5 devices, where verbs have no sniffer, a
 * command to the firmware lets the port copy its packets to a UD queue pair. Another process sends
 * it (attacher.h).
 */
#ifndef CAPTURE_FIRMWARE_H
#define CAPTURE_FIRMWARE_H

#include <glib.h>
#include <stdbool.h>

#include "capture/firmware/function.h"
#include "capture/helper/helper.h"
#include "capture/receive/feed.h"
#include "capture/receive/selection.h"

struct firmware_plan {
    struct rx_plan rx;
    enum direction direction; /* the directions that are attached */
    const char *library;      /* path of mstflint's library; NULL: where packages have it */
};

struct firmware {
    struct device *device;
    struct rxring ring;
    struct ibv_qp *qp;
    struct helper attacher;
    const char *library;
    enum direction direction;
    bool again;           /* the queue pair is being replaced */
    bool may_be_attached; /* the sniffer to the queue pair, which must stay then */
    char pci[PCI_ADDRESS_SIZE];
};

/*
 * Allocates the memory, the receive ring and its completion queue. Returns false and sets ERROR if
 * that fails.
 */
bool firmware_create(struct firmware *f, struct device *device, const struct firmware_plan *plan,
                     GError **error);

/* Returns the feed for the receive loop. F must outlive it. */
struct feed firmware_feed(struct firmware *f);

/* Frees everything and ends the attacher. */
void firmware_destroy(struct firmware *f);

/*
 * Tests whether the adapter can be opened for this sniffer; sends it no command. LIBRARY: as in the
 * plan. Returns false and sets ERROR, which does not name the port, if not.
 */
bool firmware_try(struct device *device, const char *library, GError **error);

/* Whether the port is one of those whose sniffer is the firmware's: InfiniBand, driver mlx5. */
bool firmware_is_usual(const struct device *device);

#endif
