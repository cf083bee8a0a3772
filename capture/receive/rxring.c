/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive ring: allocates and registers its memory, creates its completion queue, and posts its
 * entries. rxpoll.c polls it. See rxring.h.
 */
#include "capture/receive/rxring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/say.h"

enum {
    ENTRIES_MIN = 256,
    ENTRY_PLAIN = 4096, /* bytes, as in ibdump */
    /* bytes; for an Ethernet port with the RDMA MTU 4096, whose network device may have a larger
       MTU */
    ENTRY_ETHERNET = 8192,
    ENTRY_JUMBO = 16384,
    ENTRY_HEADERS = 256, /* bytes, maximum of all headers and CRCs of an InfiniBand frame, including
                            those of a mirroring switch */
    /*
     * Unused bytes after each entry. With them the distance of two entries is an odd number of
     * cache lines. Otherwise the starts of all entries would share a few cache sets and evict each
     * other.
     */
    GAP = 192,
    PAGE = 4096,
};

/* --- memory */

static size_t memory_len(const struct rxring *ring)
{
    return (size_t)ring->entries * ring->stride;
}

static void free_memory(struct rxring *ring)
{
    if (ring->mr)
        ibv_dereg_mr(ring->mr);
    if (ring->memory)
        munmap(ring->memory, memory_len(ring));
    ring->mr = NULL;
    ring->memory = NULL;
}

/*
 * Maps the memory, in huge pages if the kernel has them, and registers it. report_pages: report if
 * it has none (-T). Returns false with errno.
 */
static bool get_memory(struct rxring *ring, bool report_pages)
{
    size_t len = memory_len(ring);
    int error;

    ring->memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring->memory == MAP_FAILED) {
        ring->memory = NULL;
        return false;
    }
    if (madvise(ring->memory, len, MADV_HUGEPAGE) != 0 && report_pages)
        say("-T: this kernel has no huge pages; the buffers are in ordinary ones");
    ring->mr = ibv_reg_mr(ring->pd, ring->memory, len, IBV_ACCESS_LOCAL_WRITE);
    if (ring->mr)
        return true;
    error = errno;
    free_memory(ring);
    errno = error;
    return false;
}

/*
 * The failure and what helps: a higher memlock limit, root (with CAP_IPC_LOCK), or fewer
 * buffers, unless the program has halved their number by itself.
 */
static bool fail_memory(const struct rxring *ring, const struct rx_plan *plan, GError **error)
{
    bool can_ask = plan->entries_requested;
    uint64_t mib = memory_len(ring) >> 20;
    int number = errno;
    struct rlimit limit;

    if (number == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        return fail_with(error,
                         "%s: %u buffers (%" PRIu64 " MiB) cannot be registered: this user may "
                         "lock %" PRIu64 " MiB of memory (memlock); raise that (ulimit -l)%s%s",
                         device_name(ring->device), ring->entries, mib,
                         (uint64_t)limit.rlim_cur >> 20,
                         geteuid() == 0 ? ""
                         : can_ask      ? ", run as root"
                                        : ", or run as root",
                         can_ask ? ", or ask for fewer (-b)" : "");
    return fail_with(error, "%s: %u buffers (%" PRIu64 " MiB) cannot be registered: %s: %s",
                     device_name(ring->device), ring->entries, mib, strerror(number),
                     can_ask && number == ENOMEM ? "ask for fewer (-b)" : device_advice(number));
}

/*
 * Gets the memory. On ENOMEM, halves the number of entries and tries again, unless the user gave
 * the number. Returns false with errno.
 */
static bool fit_memory(struct rxring *ring, const struct rx_plan *plan)
{
    while (!get_memory(ring, plan->huge_pages)) {
        if (plan->entries_requested || errno != ENOMEM || ring->entries / 2 < ENTRIES_MIN)
            return false;
        ring->entries /= 2;
        ring->fewer = true;
    }
    return true;
}

static bool find_memory(struct rxring *ring, const struct rx_plan *plan, GError **error)
{
    return fit_memory(ring, plan) || fail_memory(ring, plan, error);
}

/*
 * Allocates the list of unposted entries, and fills in what all work requests of a batch share;
 * post_some() adds the addresses of the entries.
 */
static void make_requests(struct rxring *ring)
{
    ring->unposted = g_new0(uint32_t, ring->entries);
    for (uint32_t i = 0; i < RX_BATCH; i++) {
        ring->sge[i].length = ring->entry_len;
        ring->sge[i].lkey = ring->mr->lkey;
        ring->wr[i].sg_list = &ring->sge[i];
        ring->wr[i].num_sge = 1;
        ring->wr[i].next = i + 1 < RX_BATCH ? &ring->wr[i + 1] : NULL;
    }
}

/* --- the completion queue */

/*
 * Creates a completion queue with device timestamps, as time of day or as counter values. Returns
 * NULL if the device has neither.
 */
static struct ibv_cq_ex *create_timed(struct rxring *ring)
{
    struct ibv_cq_init_attr_ex attr = {
        .cqe = ring->entries,
        .channel = ring->channel,
        .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
    };
    struct ibv_cq_ex *cq = ibv_create_cq_ex(ring->device->context, &attr);

    memset(&ring->clock, 0, sizeof(ring->clock));
    ring->clock.wallclock = cq != NULL;
    if (cq || !hcaclock_start(&ring->clock, ring->device->context))
        return cq;
    attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    return ibv_create_cq_ex(ring->device->context, &attr);
}

static bool create_cq(struct rxring *ring, GError **error)
{
    ring->cq_ex = ring->addresses ? NULL : create_timed(ring);
    ring->cq = ring->cq_ex ? ibv_cq_ex_to_cq(ring->cq_ex)
                           : ibv_create_cq(ring->device->context, (int)ring->entries, NULL,
                                           ring->channel, 0);
    if (ring->cq)
        return true;
    return fail_with(error, "%s: cannot create a completion queue of %u entries: %s: %s",
                     device_name(ring->device), ring->entries, strerror(errno),
                     device_advice(errno));
}

static void destroy_cq(struct rxring *ring)
{
    if (!ring->cq)
        return;
    rxring_disarm(ring);
    if (ring->events > 0)
        ibv_ack_cq_events(ring->cq, ring->events);
    ring->events = 0;
    ibv_destroy_cq(ring->cq);
    ring->cq = NULL;
    ring->cq_ex = NULL;
}

static bool create_channel(struct rxring *ring, GError **error)
{
    ring->channel = ibv_create_comp_channel(ring->device->context);
    if (ring->channel &&
        fcntl(ring->channel->fd, F_SETFL, fcntl(ring->channel->fd, F_GETFL) | O_NONBLOCK) == 0)
        return true;
    return fail_with(error, "%s: cannot create a completion channel: %s: %s",
                     device_name(ring->device), strerror(errno), device_advice(errno));
}

/* --- create, destroy, renew */

static uint32_t entries_available(const struct device *device, const struct rx_plan *plan)
{
    uint32_t entries = plan->entries;

    if (device->attr.max_qp_wr > 0 && entries > (uint32_t)device->attr.max_qp_wr)
        entries = (uint32_t)device->attr.max_qp_wr;
    if (device->attr.max_cqe > 0 && entries > (uint32_t)device->attr.max_cqe)
        entries = (uint32_t)device->attr.max_cqe;
    return entries;
}

uint32_t rxring_entry_len(const struct device *device, bool jumbo)
{
    uint32_t mtu = device_mtu(device);

    if (jumbo)
        return ENTRY_JUMBO;
    if (mtu <= 2048)
        return ENTRY_PLAIN;
    return device_is_ethernet(device) ? ENTRY_ETHERNET : mtu + ENTRY_HEADERS;
}

static uint32_t whole_pages(uint32_t len)
{
    return (len + PAGE - 1) / PAGE * PAGE;
}

static void init(struct rxring *ring, struct device *device, const struct rx_plan *plan)
{
    memset(ring, 0, sizeof(*ring));
    ring->device = device;
    ring->entry_len = plan->whole_pages ? whole_pages(plan->entry_len) : plan->entry_len;
    ring->stride = plan->whole_pages ? ring->entry_len : ring->entry_len + GAP;
    ring->addresses = plan->addresses;
    ring->entries = entries_available(device, plan);
}

struct rx_memory rxring_try_memory(struct device *device, const struct rx_plan *plan)
{
    struct rx_memory memory = {.entries = 0};
    struct rxring ring;

    init(&ring, device, plan);
    ring.pd = ibv_alloc_pd(device->context);
    if (ring.pd && fit_memory(&ring, plan))
        memory = (struct rx_memory){ring.entries, memory_len(&ring)};
    rxring_destroy(&ring);
    return memory;
}

bool rxring_create(struct rxring *ring, struct device *device, const struct rx_plan *plan,
                   GError **error)
{
    init(ring, device, plan);
    ring->fewer = plan->entries_requested && ring->entries < plan->entries;
    ring->pd = ibv_alloc_pd(device->context);
    if (!ring->pd)
        return fail_with(error, "%s: cannot allocate a protection domain: %s: %s",
                         device_name(device), strerror(errno), device_advice(errno));
    if (!create_channel(ring, error) || !find_memory(ring, plan, error) ||
        !create_cq(ring, error)) {
        rxring_destroy(ring);
        return false;
    }
    make_requests(ring);
    if (ring->fewer)
        say("%s: %u buffers instead of %u: %s", device_name(device), ring->entries, plan->entries,
            plan->entries_requested ? "the device supports no more"
                                    : "no more memory can be registered (memlock: ulimit -l)");
    return true;
}

void rxring_destroy(struct rxring *ring)
{
    destroy_cq(ring);
    free_memory(ring);
    if (ring->channel)
        ibv_destroy_comp_channel(ring->channel);
    if (ring->pd)
        ibv_dealloc_pd(ring->pd);
    g_free(ring->unposted);
    memset(ring, 0, sizeof(*ring));
}

struct ibv_qp_init_attr rxring_qp_attr(const struct rxring *ring, enum ibv_qp_type type)
{
    return (struct ibv_qp_init_attr){
        .qp_type = type,
        .send_cq = ring->cq,
        .recv_cq = ring->cq,
        .cap = {.max_send_wr = 1,
                .max_recv_wr = ring->entries,
                .max_send_sge = 1,
                .max_recv_sge = 1},
    };
}

int rxring_attach(struct rxring *ring, struct ibv_qp *qp)
{
    ring->qp = qp;
    ring->unposted_count = ring->entries;
    for (uint32_t i = 0; i < ring->entries; i++)
        ring->unposted[i] = i;
    return rxring_repost(ring);
}

bool rxring_renew(struct rxring *ring, GError **error)
{
    ring->qp = NULL;
    destroy_cq(ring);
    return create_cq(ring, error);
}

/* Posts COUNT of the unposted entries, starting at index FIRST. Returns how many were posted. */
static uint32_t post_some(struct rxring *ring, uint32_t first, uint32_t count, int *error)
{
    struct ibv_recv_wr *bad = NULL, *last = &ring->wr[count - 1], *next = last->next;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t entry = ring->unposted[first + i];

        ring->sge[i].addr = (uintptr_t)(ring->memory + (size_t)entry * ring->stride);
        ring->wr[i].wr_id = entry;
    }
    last->next = NULL;
    *error = ibv_post_recv(ring->qp, ring->wr, &bad);
    last->next = next;
    if (*error)
        return bad ? (uint32_t)(bad - ring->wr) : 0;
    return count;
}

int rxring_repost(struct rxring *ring)
{
    uint32_t done = 0, left = ring->unposted_count;
    int error = 0;

    while (left > 0 && ring->qp && !error) {
        uint32_t posted = post_some(ring, done, left < RX_BATCH ? left : RX_BATCH, &error);

        done += posted;
        left -= posted;
    }
    if (done > 0 && left > 0)
        memmove(ring->unposted, ring->unposted + done, left * sizeof(*ring->unposted));
    ring->unposted_count = left;
    return error;
}
