/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every packet that is sent and received, as a frame. See wirelog.h. */
#include "probe/wirelog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "capture/pcapng.h"
#include "probe/octets.h"
#include "verdict/say.h"
#include "wire/carrier.h"

enum {
    UD_SEND_ONLY = 0x64,
    GSI_QP = 1,
    FRAME_MAX = ERF_HEADER_LEN + LRH_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE + UD_SIZE + 16
};
#define GSI_QKEY 0x80010000u

struct frame {
    int64_t ns;
    enum log_way way;
    uint32_t n;
    uint8_t octets[]; /* an ERF record */
};

struct wirelog {
    FILE *file;
    char *path;
    bool bad;
    struct judge *judge;
    judge_report *report;
    void *user;
    enum log_way way; /* of the frame that is judged */
    uint32_t number, psn, calls;
    GPtrArray *first;   /* frames before the first judge */
    GPtrArray *waiting; /* frames of what wirelog_begin named */
    char *what;
    bool judged;
};

/* ---- the file */

static void put(struct wirelog *w, const void *p, size_t n)
{
    if (w->file && !w->bad && fwrite(p, 1, n, w->file) != n) {
        say("%s: %s", w->path, strerror(errno));
        w->bad = true;
    }
}

static bool open_file(struct wirelog *w, const char *path)
{
    uint8_t block[512];
    w->path = g_strdup(path);
    w->file = fopen(path, "wbe");
    if (!w->file) {
        say("%s: %s", path, strerror(errno));
        return false;
    }
    put(w, block, pcapng_put_shb(block, sizeof block, "ipoib-probe"));
    put(w, block, pcapng_put_idb(block, sizeof block, LINKTYPE_ERF, 0, "ipoib-probe"));
    return true;
}

static void write_frame(struct wirelog *w, const struct frame *f, const char *comment)
{
    uint8_t head[PCAPNG_EPB_HEAD_LEN], tail[PCAPNG_EPB_TAIL_MAX];
    struct pcapng_epb epb = {.time = (uint64_t)f->ns,
                             .caplen = f->n,
                             .wirelen = f->n,
                             .flags = f->way == LOG_SENT ? PCAPNG_OUTBOUND : PCAPNG_INBOUND,
                             .comment = comment};
    pcapng_put_epb_head(head, &epb);
    put(w, head, sizeof head);
    put(w, f->octets, f->n);
    put(w, tail, pcapng_put_epb_tail(tail, &epb));
}

/* ---- judging */

static void pass_on(void *user, uint32_t frame, const struct finding *f)
{
    struct wirelog *w = user;
    if (w->way == LOG_OF_SUBJECT && w->report)
        w->report(w->user, frame, f);
}

static void judge(struct wirelog *w, const struct frame *f)
{
    struct capture_frame c = {++w->number, 0, LINKTYPE_ERF, f->ns, view_make(f->octets, f->n, f->n)};
    w->way = f->way;
    judge_frame(w->judge, &c);
}

void wirelog_judge(struct wirelog *w, const struct deviations *known, judge_report *report, void *user)
{
    judge_free(w->judge);
    w->judge = NULL;
    w->report = NULL;
    if (!report)
        return;
    w->judged = true;
    w->judge = judge_new(NULL, known, pass_on, w);
    for (guint i = 0; i < w->first->len; i++)
        judge(w, w->first->pdata[i]);
    w->report = report;
    w->user = user;
}

/* ---- frames */

static struct frame *copy_frame(const struct frame *f)
{
    return g_memdup2(f, sizeof *f + f->n);
}

static void take_frame(struct wirelog *w, struct frame *f)
{
    if (w->judge)
        judge(w, f);
    if (!w->judged)
        g_ptr_array_add(w->first, copy_frame(f));
    if (w->file && w->what)
        g_ptr_array_add(w->waiting, f);
    else {
        if (w->file)
            write_frame(w, f, NULL);
        g_free(f);
    }
}

/* Endace's ERF: the time is in units of 2^-32 s, little-endian; rlen and wlen in octets. */
static void put_erf(uint8_t *p, int64_t ns, uint32_t wire)
{
    uint64_t seconds = (uint64_t)ns / 1000000000u, part = ((uint64_t)ns % 1000000000u << 32) / 1000000000u;
    uint64_t time = seconds << 32 | part;
    for (unsigned i = 0; i < 8; i++)
        p[ERF_OFF_TIME + i] = (uint8_t)(time >> 8 * i);
    p[ERF_OFF_TYPE] = ERF_TYPE_INFINIBAND;
    p[ERF_OFF_FLAGS] = ERF_FLAG_VARYING;
    put16(p + ERF_OFF_RLEN, ERF_HEADER_LEN + wire);
    put16(p + ERF_OFF_LCTR, 0);
    put16(p + ERF_OFF_WLEN, wire);
}

static uint32_t put_lrh(uint8_t *p, const struct heads *h, uint32_t words)
{
    p[LRH_VL_LVER] = 0;
    p[LRH_SL_LNH] = (uint8_t)(h->sl << 4 | (h->grh ? LNH_GRH : LNH_BTH));
    put16(p + LRH_DLID, h->dlid);
    put16(p + LRH_PKT_LEN, words);
    put16(p + LRH_SLID, h->slid);
    return LRH_SIZE;
}

static uint32_t transport_size(const struct heads *h)
{
    return h->connected ? BTH_SIZE : BTH_SIZE + DETH_SIZE;
}

static uint32_t put_transport(uint8_t *p, const struct heads *h, uint32_t pad, uint32_t psn)
{
    memset(p, 0, transport_size(h));
    p[BTH_OPCODE] = h->connected ? h->opcode : UD_SEND_ONLY;
    p[BTH_SE_M_PAD_TVER] = (uint8_t)(pad << 4);
    put16(p + BTH_PKEY, h->pkey);
    put24(p + BTH_DEST_QP, h->dqpn);
    put24(p + BTH_PSN, psn & PSN_MASK);
    if (h->connected)
        return BTH_SIZE;
    put32(p + BTH_SIZE + DETH_QKEY, h->qkey);
    put24(p + BTH_SIZE + DETH_SRC_QP, h->sqpn);
    return BTH_SIZE + DETH_SIZE;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void wirelog_frame(struct wirelog *w, const struct heads *h, const uint8_t *payload, uint32_t n,
                   enum log_way way)
{
    struct frame *f = g_malloc0(sizeof *f + FRAME_MAX);
    uint32_t pad = -n & 3, ib = transport_size(h) + n + pad + ICRC_SIZE;
    uint32_t words = (LRH_SIZE + (h->grh ? GRH_SIZE : 0) + ib) / 4;
    uint8_t *p = f->octets + ERF_HEADER_LEN;
    f->ns = h->ns ? h->ns : now_ns();
    f->way = way;
    p += put_lrh(p, h, words);
    if (h->grh) {
        memcpy(p, h->grh, GRH_SIZE);
        put16(p + GRH_PAY_LEN, ib);
        p += GRH_SIZE;
    }
    p += put_transport(p, h, pad, h->connected ? h->psn : w->psn++);
    memcpy(p, payload, n);
    p += n + pad + ICRC_SIZE + VCRC_SIZE;
    f->n = (uint32_t)(p - f->octets);
    put_erf(f->octets, f->ns, f->n - ERF_HEADER_LEN);
    take_frame(w, f);
}

static bool put_grh(uint8_t grh[GRH_SIZE], const struct transport *t, const struct ud_to *to)
{
    memset(grh, 0, GRH_SIZE);
    put32(grh, 6u << 28 | (uint32_t)to->tclass << 20 | to->flow_label);
    grh[GRH_NXT_HDR] = GRH_NXT_HDR_BTH;
    grh[GRH_HOP_LMT] = to->hop_limit;
    memcpy(grh + GRH_SGID, t->facts.gid, GID_SIZE);
    memcpy(grh + GRH_DGID, to->gid, GID_SIZE);
    return true;
}

void wirelog_ud_sent(struct wirelog *w, const struct transport *t, uint16_t pkey, const struct ud_to *to,
                     const uint8_t *octets, uint32_t n)
{
    uint8_t grh[GRH_SIZE];
    uint32_t own = to->aside ? t->aside_qpn : t->qpn;
    struct heads h = {.slid = t->facts.lid,
                      .dlid = to->lid,
                      .pkey = pkey,
                      .sl = to->sl,
                      .dqpn = to->qpn,
                      .sqpn = own,
                      .qkey = to->qkey,
                      .grh = to->grh && put_grh(grh, t, to) ? grh : NULL};
    wirelog_frame(w, &h, octets, n, LOG_SENT);
}

void wirelog_ud_received(struct wirelog *w, const struct transport *t, uint16_t pkey, uint32_t qkey,
                         uint16_t mlid, const struct ud_from *from, enum log_way way)
{
    uint16_t dlid = mlid ? mlid : (uint16_t)(t->facts.lid | from->path_bits);
    uint32_t own = from->to_qpn ? from->to_qpn : t->qpn;
    struct heads h = {.slid = from->lid,
                      .dlid = dlid,
                      .pkey = pkey,
                      .sl = from->sl,
                      .dqpn = mlid ? QPN_MULTICAST : own,
                      .sqpn = from->qpn,
                      .qkey = qkey,
                      .grh = from->grh};
    wirelog_frame(w, &h, from->octets.p, from->octets.cap, way);
}

void wirelog_mad(struct wirelog *w, const struct transport *t, const uint8_t *mad, enum log_way way)
{
    wirelog_gsi(w, t, &(struct log_gsi){.lid = t->facts.sm_lid, .sl = t->facts.sm_sl, .pkey = 0xffff}, mad,
                way);
}

void wirelog_gsi(struct wirelog *w, const struct transport *t, const struct log_gsi *g, const uint8_t *mad,
                 enum log_way way)
{
    bool sent = way == LOG_SENT;
    struct heads h = {.slid = sent ? t->facts.lid : g->lid,
                      .dlid = sent ? g->lid : t->facts.lid,
                      .pkey = g->pkey,
                      .sl = g->sl,
                      .dqpn = GSI_QP,
                      .sqpn = GSI_QP,
                      .qkey = GSI_QKEY,
                      .ns = g->ns};
    wirelog_frame(w, &h, mad, MAD_SIZE, way);
}

uint32_t wirelog_number(struct wirelog *w)
{
    return ++w->calls;
}

/* ---- what they belong to */

void wirelog_begin(struct wirelog *w, const char *what)
{
    g_free(w->what);
    w->what = g_strdup(what);
}

void wirelog_end(struct wirelog *w, const char *outcome)
{
    char *comment = w->what ? g_strdup_printf("%s: %s", w->what, outcome) : NULL;
    for (guint i = 0; i < w->waiting->len; i++)
        write_frame(w, w->waiting->pdata[i], comment);
    g_ptr_array_set_size(w->waiting, 0);
    g_free(comment);
    g_free(w->what);
    w->what = NULL;
}

struct wirelog *wirelog_new(const char *path)
{
    struct wirelog *w = g_new0(struct wirelog, 1);
    w->first = g_ptr_array_new_with_free_func(g_free);
    w->waiting = g_ptr_array_new_with_free_func(g_free);
    if (!path || open_file(w, path))
        return w;
    wirelog_free(w);
    return NULL;
}

bool wirelog_free(struct wirelog *w)
{
    bool good = true;
    wirelog_end(w, "ended early");
    if (w->file && fclose(w->file) != 0 && !w->bad) {
        say("%s: %s", w->path, strerror(errno));
        good = false;
    }
    good = good && !w->bad;
    judge_free(w->judge);
    g_ptr_array_unref(w->first);
    g_ptr_array_unref(w->waiting);
    g_free(w->path);
    g_free(w);
    return good;
}
