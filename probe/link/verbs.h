/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the transport by libibverbs, shared by the files verbs*.c. */
#ifndef IPOIB_PROBE_VERBS_H
#define IPOIB_PROBE_VERBS_H

#include <infiniband/verbs.h>

#include "hca/client.h"
#include "probe/link/connect.h"
#include "probe/link/transport.h"

enum { SLOTS_MAIN = 256, SLOTS_SECOND = 16, SLOTS = SLOTS_MAIN + SLOTS_SECOND };
enum { SLOT_SIZE = GRH_SIZE + UD_SIZE, SEND_WAIT_MS = 1000, AH_CACHE_SIZE = 8 };

/* A cached address handle, for packets with the same destination. */
struct cached_ah {
    struct ibv_ah_attr attr;
    struct ibv_ah *ah;
};

struct verbs {
    struct transport base;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *received, *sent;
    struct ibv_qp *qp, *second_qp, *other_partition; /* other_partition: NULL until opened */
    uint32_t qkey;
    struct ibv_mr *mr;
    struct umad_sa *sa;
    struct connector *connector; /* NULL: no connection was requested yet */
    const volatile int *stop;
    uint8_t *memory; /* SLOTS receive buffers and one send buffer */
    struct cached_ah ah_cache[AH_CACHE_SIZE];
    unsigned next_evicted; /* next entry to evict */
    /* The buffer that the caller holds; the next call posts it again. SLOTS: none. */
    unsigned held_slot;
};

/* Writes the reason of a failure to the transport's error. Returns TRANSPORT_ERROR. */
enum transport_result verbs_fail(struct transport *t, const char *what, int error);

/* ---- verbs_queue.c: the queue pairs */

/* Posts the receive buffer with that number to its queue pair. */
bool verbs_post_receive(struct verbs *v, unsigned slot);
enum transport_result verbs_open_qp(struct transport *t, unsigned pkey_index, uint32_t qkey);
enum transport_result verbs_open_other_partition(struct transport *t, unsigned pkey_index);
void verbs_free_queues(struct verbs *v);

/* ---- verbs_packet.c: UD packets */

enum transport_result verbs_send(struct transport *t, const struct ud_to *to, const uint8_t *bytes,
                                 uint32_t n);
enum transport_result verbs_receive(struct transport *t, int ms, struct ud_from *from);
enum transport_result verbs_attach(struct transport *t, const uint8_t *mgid, uint16_t mlid);

/* ---- verbs_port.c: attributes of the port */

/*
 * The requested port; otherwise the first active one, otherwise the first with InfiniBand. 0: none.
 */
unsigned verbs_choose_port(struct ibv_context *context, unsigned requested);
/* Reads the port's attributes. Returns false if the device does not give them. */
bool verbs_read_facts(struct verbs *v);

#endif
