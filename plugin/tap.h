/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics. Those of the whole capture (conformance, events, peers, groups, connections) use what
 * the first pass collected: `tshark -z` prints them as text, Wireshark shows the same rows in a
 * window of its Statistics menu. The tree counts packet by packet, so it can be filtered.
 */
#ifndef IPOIB_PLUGIN_TAP_H
#define IPOIB_PLUGIN_TAP_H

#include "plugin/frame.h"
#include "plugin/protocol.h"

#define TAP_NAME "ipoib"

/* ---- statistics of the whole capture (tap_report.c) */

struct column {
    const char *name;
    bool number;    /* unsigned values, right-aligned; else text */
    bool digits;    /* text of digits where the value is known: windows sort it as numbers */
    bool text_only; /* not in windows, which Wireshark opens with room for six columns */
};

struct rows;

struct tap_table {
    const char *cli;   /* argument of -z */
    const char *title; /* of the menu entry, the window and the text */
    const char *none;  /* reason that is shown if there are no rows */
    const struct column *columns;
    unsigned n_columns;
    void (*fill)(struct rows *rows);
    void (*head)(struct rows *rows); /* first row of a window, which has no other text; or NULL */
    void (*conclude)(GString *out);  /* lines of text after the table; or NULL */
};

/* Add the cells of a row one after the other, in the order of the columns. */
void cell_number(struct rows *rows, uint64_t value);
void cell_text(struct rows *rows, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Adds a frame number, "" for 0. */
void cell_frame(struct rows *rows, uint32_t frame);

/* number: of the interface in the model. */
void cell_interface(struct rows *rows, uint16_t number);

/* Cells that several tables share: "-" if the value is unknown. */
void cell_gid(struct rows *rows, const uint8_t *gid);
void cell_pkey(struct rows *rows, uint16_t pkey);
void cell_lid(struct rows *rows, uint16_t lid);

/* t must stay valid until the program ends. */
void table_register(const struct tap_table *t);
/* tshark only: prints what write() adds at the end. */
void text_register(const char *cli, void (*write)(GString *out));

/* ---- registration */

void tap_conformance_register(void);
void tap_events_register(void);
void tap_peers_register(void);
void tap_groups_register(void);
void tap_connections_register(void);
void tap_conversations_register(void);
void tap_tree_register(void);
/* Called after all other dissectors: queues the packet for the tap if there is a listener. */
void tap_tree_queue(tvbuff_t *tvb, packet_info *pinfo);
/* Is the packet that was queued for the tap an IPoIB datagram, or the last packet of one? */
bool tap_is_datagram(const void *queued);
/*
 * The same for the conversations by GID; adds the fields of their filters. f: the InfiniBand frame,
 * or NULL.
 */
void tap_conversations_queue(packet_info *pinfo, proto_tree *tree, const struct frame *f);

#endif
