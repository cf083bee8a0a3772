/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture-floor FRAMES: the minimum cost of a capture. One thread receives in batches, reads the
 * clock once per batch, writes pcap and ERF headers and the frames' bytes into a buffer, and writes
 * the buffer to standard output. It handles no errors, directions or options, and ends after
 * FRAMES. script/bench-capture compares ipoib-capture with it.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 32768, STRIDE = 4096 + 192, ENTRY = 4096, BATCH = 64, BUFFER = 256 * 1024 };
enum { RECORD = 16, ERF = 16 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_flow *flow;
static uint8_t *memory;
static struct ibv_recv_wr wr[ENTRIES];
static struct ibv_sge sge[ENTRIES];
static uint8_t buffer[BUFFER];
static size_t filled;

static void need(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static void open_device(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);

    need(list && list[0], "no device");
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    need(context != NULL, "open");
    pd = ibv_alloc_pd(context);
    memory = mmap(NULL, (size_t)ENTRIES * STRIDE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(pd && memory != MAP_FAILED, "memory");
    madvise(memory, (size_t)ENTRIES * STRIDE, MADV_HUGEPAGE); /* as in ipoib-capture */
    mr = ibv_reg_mr(pd, memory, (size_t)ENTRIES * STRIDE, IBV_ACCESS_LOCAL_WRITE);
    cq = ibv_create_cq(context, ENTRIES, NULL, NULL, 0);
    need(mr && cq, "completion queue");
}

static void make_qp(void)
{
    struct ibv_qp_init_attr init = {
        .qp_type = IBV_QPT_RAW_PACKET,
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 1, .max_recv_wr = ENTRIES, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

    qp = ibv_create_qp(pd, &init);
    need(qp != NULL, "queue pair");
    need(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0, "INIT");
    attr.qp_state = IBV_QPS_RTR;
    need(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "RTR");
}

static void begin(void)
{
    struct ibv_flow_attr attr = {.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof(attr), .port = 1};
    struct ibv_recv_wr *bad;

    for (uint32_t i = 0; i < ENTRIES; i++) {
        sge[i] = (struct ibv_sge){(uintptr_t)(memory + (size_t)i * STRIDE), ENTRY, mr->lkey};
        wr[i] = (struct ibv_recv_wr){.wr_id = i,
                                     .sg_list = &sge[i],
                                     .num_sge = 1,
                                     .next = i + 1 < ENTRIES ? &wr[i + 1] : NULL};
    }
    need(ibv_post_recv(qp, wr, &bad) == 0, "receives");
    flow = ibv_create_flow(qp, &attr);
    need(flow != NULL, "flow");
}

static void put(const void *bytes, size_t len)
{
    memcpy(buffer + filled, bytes, len);
    filled += len;
}

static void write_out(void)
{
    need(write(STDOUT_FILENO, buffer, filled) == (ssize_t)filled, "write");
    filled = 0;
}

static void put_frame(const uint8_t *bytes, uint32_t len, const struct timespec *now)
{
    const uint32_t record[4] = {(uint32_t)now->tv_sec, (uint32_t)now->tv_nsec / 1000, len + ERF,
                                len + ERF};
    const uint64_t time = (uint64_t)now->tv_sec << 32 | ((uint64_t)now->tv_nsec << 32) / 1000000000;
    const uint8_t rest[8] = {21, 4, (uint8_t)((len + ERF) >> 8), (uint8_t)(len + ERF),
                             0,  0, (uint8_t)(len >> 8),         (uint8_t)len};

    if (filled + RECORD + ERF + len > BUFFER)
        write_out();
    put(record, sizeof(record));
    put(&time, sizeof(time));
    put(rest, sizeof(rest));
    put(bytes, len);
}

static void receive(uint64_t frames)
{
    struct ibv_wc wc[BATCH];
    struct ibv_recv_wr *bad;
    struct timespec now;
    int count;

    for (uint64_t come = 0; come < frames; come += (uint64_t)count) {
        count = ibv_poll_cq(cq, BATCH, wc);
        need(count >= 0, "poll");
        if (count == 0)
            continue;
        clock_gettime(CLOCK_REALTIME, &now);
        for (int i = 0; i < count; i++) {
            put_frame(memory + wc[i].wr_id * STRIDE, wc[i].byte_len, &now);
            wr[wc[i].wr_id].next = i + 1 < count ? &wr[wc[i + 1].wr_id] : NULL;
        }
        need(ibv_post_recv(qp, &wr[wc[0].wr_id], &bad) == 0, "receives");
    }
    write_out();
}

static void end(void)
{
    ibv_destroy_flow(flow);
    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
    ibv_dereg_mr(mr);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
}

int main(int argc, char **argv)
{
    static const uint32_t head[6] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 197};

    if (argc != 2) {
        fprintf(stderr, "usage: capture-floor FRAMES > FILE\n");
        return 2;
    }
    open_device();
    make_qp();
    put(head, sizeof(head));
    begin();
    receive(strtoull(argv[1], NULL, 10));
    end();
    return 0;
}
