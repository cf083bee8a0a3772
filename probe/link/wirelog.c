/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs every sent and received packet as a frame. See wirelog.h. */
#include "probe/link/wirelog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/create.h"
#include "cli/fail.h"
#include "compat/glib.h"
#include "pcapio/pcapng.h"
#include "probe/link/logevents.h"
#include "probe/link/transport.h"
#include "wire/link_frame.h"
#include "wire/put.h"

enum { GSI_QP = 1, FRAME_MAX = ERF_HEADER_LEN + UD_SIZE + UDFRAME_MORE };
#define GSI_QKEY 0x80010000u

struct logged_frame {
    int64_t ns;
    enum log_direction direction;
    int linktype; /* ERF, or LINKTYPE_IPOIB for an interface */
    uint32_t n;
    uint8_t bytes[];
};

struct wirelog {
    struct wirelog *root; /* of a branch: the log with the file; otherwise itself */
    FILE *file;
    char *path;
    GError *error;            /* the first error of writing the file; NULL: none */
    bool begun;               /* the file header is written */
    uint32_t written;         /* frames in the file */
    struct logevents *events; /* of the frames in the file; NULL: no file */
    struct fabric *fabric;    /* the check context's model */
    struct checker *checker;
    checker_report *report;
    void *user;
    uint32_t number, psn, connections;
    GPtrArray *first;   /* frames before the first check context; of a branch: before its own */
    GPtrArray *waiting; /* frames that belong to wirelog_begin's text */
    char *what;
    bool checked;
};

/* ---- the file */

static void fail_file(struct wirelog *root)
{
    if (!root->error)
        fail_with(&root->error, "%s: cannot be written, so it is incomplete: %s", root->path,
                  strerror(errno));
}

static void write_bytes(struct wirelog *w, const void *p, size_t n)
{
    struct wirelog *r = w->root;
    /* cppcheck-suppress uninitvar ; p is a parameter */
    if (n > 0 && r->file && !r->error && fwrite(p, 1, n, r->file) != n)
        fail_file(r);
}

static bool open_file(struct wirelog *w, const char *path, GError **error)
{
    int fd = create_file(path, &access_unlimited, error);
    w->path = g_strdup(path);
    if (fd < 0) {
        g_prefix_error(error, "%s: ", path);
        return false;
    }
    w->file = fdopen(fd, "wb");
    if (w->file) {
        w->events = logevents_new();
        return true;
    }
    fail_with(error, "%s: cannot be written: %s", path, strerror(errno));
    close(fd);
    return false;
}

/* The old contents stay until there is a packet to write. */
static void empty_file(struct wirelog *root)
{
    if (root->file && !create_empty(fileno(root->file)))
        fail_file(root);
}

/* All frames of a run are of one link type. */
static void write_file_header(struct wirelog *w, int linktype)
{
    uint8_t block[512];
    if (w->root->begun)
        return;
    w->root->begun = true;
    empty_file(w->root);
    write_bytes(w, block, pcapng_put_shb(block, sizeof block, "ipoib-probe"));
    write_bytes(w, block,
                pcapng_put_idb(block, sizeof block, (uint16_t)linktype, 0, "ipoib-probe"));
}

static void write_packet_block(struct wirelog *w, const struct pcapng_epb *epb,
                               const uint8_t *bytes, const GByteArray *options)
{
    uint8_t head[PCAPNG_EPB_HEAD_LEN], tail[PCAPNG_EPB_TAIL_MAX];
    size_t tail_len = pcapng_put_epb_tail(tail, epb), padding = -epb->caplen & 3;
    pcapng_put_epb_head(head, epb);
    write_bytes(w, head, sizeof head);
    write_bytes(w, bytes, epb->caplen);
    write_bytes(w, tail, padding);
    write_bytes(w, options->data, options->len);
    write_bytes(w, tail + padding, tail_len - padding);
}

static void write_frame(struct wirelog *w, const struct logged_frame *f, const char *comment)
{
    struct capture_frame frame = {++w->root->written, 0, f->linktype, f->ns,
                                  view_make(f->bytes, f->n, f->n)};
    const GByteArray *events = logevents_frame(w->root->events, &frame);
    struct pcapng_epb epb = {.time = (uint64_t)f->ns,
                             .caplen = f->n,
                             .wirelen = f->n,
                             .flags = f->direction == LOG_SENT ? PCAPNG_OUTBOUND : PCAPNG_INBOUND,
                             .comment = comment,
                             .options_len = events->len};
    write_file_header(w, f->linktype);
    write_packet_block(w, &epb, f->bytes, events);
}

/* ---- checking */

static void pass_finding(void *user, uint32_t frame, const struct finding *f)
{
    const struct wirelog *w = user;
    w->report(w->user, frame, f);
}

static void check_logged(struct wirelog *w, const struct logged_frame *f)
{
    if (f->direction == LOG_OF_IMPOSTOR)
        return;
    struct capture_frame c = {++w->number, 0, f->linktype, f->ns, view_make(f->bytes, f->n, f->n)};
    checker_mute(w->checker, f->direction != LOG_OF_TARGET || !w->report);
    checker_frame(w->checker, &c);
}

static void end_checker(struct wirelog *w)
{
    checker_free(w->checker);
    fabric_free(w->fabric);
    w->checker = NULL;
    w->fabric = NULL;
}

void wirelog_check(struct wirelog *w, const struct deviations *known, checker_report *report,
                   void *user)
{
    end_checker(w);
    w->report = NULL;
    if (!report)
        return;
    w->root->checked = true;
    w->fabric = fabric_new();
    fabric_take_interfaces(w->fabric, INTERFACES_ONE);
    fabric_take_records_as_current(w->fabric);
    w->checker = checker_new(w->fabric, known, pass_finding, w);
    for (guint i = 0; i < w->root->first->len; i++)
        check_logged(w, w->root->first->pdata[i]);
    w->report = report;
    w->user = user;
    for (guint i = 0; w->root != w && i < w->first->len; i++)
        check_logged(w, w->first->pdata[i]);
    if (w->root != w)
        g_ptr_array_set_size(w->first, 0);
}

/* ---- frames */

static struct logged_frame *copy_frame(const struct logged_frame *f)
{
    return compat_memdup(f, sizeof *f + f->n);
}

static void take_frame(struct wirelog *w, struct logged_frame *f)
{
    if (w->checker)
        check_logged(w, f);
    if (!w->root->checked)
        g_ptr_array_add(w->root->first, copy_frame(f));
    if (w->root != w && !w->checker)
        g_ptr_array_add(w->first, copy_frame(f));
    if (w->root->file && w->what)
        g_ptr_array_add(w->waiting, f);
    else {
        if (w->root->file)
            write_frame(w, f, NULL);
        g_free(f);
    }
}

/* Endace's ERF: the time is in units of 2^-32 s, little-endian; rlen and wlen are in bytes. */
static void put_erf_header(uint8_t *p, int64_t ns, uint32_t wire)
{
    uint64_t seconds = (uint64_t)ns / 1000000000u,
             part = ((uint64_t)ns % 1000000000u << 32) / 1000000000u;
    uint64_t time = seconds << 32 | part;
    for (unsigned i = 0; i < 8; i++)
        p[ERF_OFF_TIME + i] = (uint8_t)(time >> 8 * i);
    p[ERF_OFF_TYPE] = ERF_TYPE_INFINIBAND;
    p[ERF_OFF_FLAGS] = ERF_FLAG_VARYING;
    put16(p + ERF_OFF_RLEN, ERF_HEADER_LEN + wire);
    put16(p + ERF_OFF_LCTR, 0);
    put16(p + ERF_OFF_WLEN, wire);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Frame as an interface sends or receives it: 40 bytes before the datagram, of which the last 20
 * are the destination address.
 */
static void log_datagram(struct wirelog *w, const uint8_t *lladdr, const uint8_t *bytes, uint32_t n,
                         enum log_direction direction)
{
    struct logged_frame *f = g_malloc0(sizeof *f + DLT_IPOIB_PSEUDO + n);
    f->ns = now_ns();
    f->direction = direction;
    f->linktype = LINKTYPE_IPOIB;
    f->n = DLT_IPOIB_PSEUDO + n;
    memcpy(f->bytes + DLT_IPOIB_ADDRESS, lladdr, LLADDR_SIZE);
    memcpy(f->bytes + DLT_IPOIB_PSEUDO, bytes, n);
    take_frame(w, f);
}

void wirelog_frame(struct wirelog *w, const struct ud_heads *h, int64_t ns, const uint8_t *payload,
                   uint32_t n, enum log_direction direction)
{
    struct logged_frame *f = g_malloc0(sizeof *f + FRAME_MAX);
    struct ud_heads heads = *h;
    if (!h->connected)
        heads.psn = w->root->psn++;
    f->ns = ns ? ns : now_ns();
    f->direction = direction;
    f->linktype = LINKTYPE_ERF;
    f->n = ERF_HEADER_LEN + udframe_put(f->bytes + ERF_HEADER_LEN, &heads, payload, n);
    put_erf_header(f->bytes, f->ns, f->n - ERF_HEADER_LEN);
    take_frame(w, f);
}

static void put_grh(uint8_t grh[GRH_SIZE], const struct transport *t, const struct ud_to *to,
                    uint32_t n)
{
    memset(grh, 0, GRH_SIZE);
    put16(grh + GRH_PAY_LEN, udframe_grh_length(n));
    put32(grh, 6u << 28 | (uint32_t)to->tclass << 20 | to->flow_label);
    grh[GRH_NXT_HDR] = GRH_NXT_HDR_BTH;
    grh[GRH_HOP_LMT] = to->hop_limit;
    memcpy(grh + GRH_SGID, t->facts.gid, GID_SIZE);
    memcpy(grh + GRH_DGID, to->gid, GID_SIZE);
}

void wirelog_ud_sent(struct wirelog *w, const struct transport *t, uint16_t pkey,
                     const struct ud_to *to, const uint8_t *bytes, uint32_t n)
{
    uint8_t grh[GRH_SIZE], lladdr[LLADDR_SIZE] = {0};
    if (!transport_can(t, SHOWS_SENDER)) {
        put24(lladdr + LLADDR_QPN, to->qpn);
        memcpy(lladdr + LLADDR_GID, to->gid, 16);
        log_datagram(w, lladdr, bytes, n, LOG_SENT);
        return;
    }
    struct ud_heads h = {.slid = t->facts.lid,
                         .dlid = to->lid,
                         .pkey = to->other_partition ? t->other_pkey : pkey,
                         .sl = to->sl,
                         .dqpn = to->qpn,
                         .sqpn = to->other_partition ? t->other_partition_qpn
                                 : to->second_qp     ? t->second_qpn
                                                     : t->qpn,
                         .qkey = to->qkey,
                         .grh = to->grh ? grh : NULL};
    put_grh(grh, t, to, n);
    wirelog_frame(w, &h, 0, bytes, n, LOG_SENT);
}

void wirelog_ud_received(struct wirelog *w, const struct transport *t, uint16_t pkey, uint32_t qkey,
                         uint16_t mlid, const struct ud_from *from, enum log_direction direction)
{
    if (!transport_can(t, SHOWS_SENDER)) {
        log_datagram(w, t->interface->lladdr, from->bytes.p, from->bytes.cap, direction);
        return;
    }
    uint16_t dlid = mlid ? mlid : (uint16_t)(t->facts.lid | from->path_bits);
    uint32_t own = from->to_qpn ? from->to_qpn : t->qpn;
    struct ud_heads h = {.slid = from->lid,
                         .dlid = dlid,
                         .pkey = pkey,
                         .sl = from->sl,
                         .dqpn = mlid ? QPN_MULTICAST : own,
                         .sqpn = from->qpn,
                         .qkey = qkey,
                         .grh = from->grh};
    wirelog_frame(w, &h, 0, from->bytes.p, from->bytes.cap, direction);
}

void wirelog_mad(struct wirelog *w, const struct transport *t, const uint8_t *mad,
                 enum log_direction direction)
{
    wirelog_gsi(w, t,
                &(struct log_gsi){.lid = t->facts.sm_lid, .sl = t->facts.sm_sl, .pkey = 0xffff},
                mad, direction);
}

void wirelog_gsi(struct wirelog *w, const struct transport *t, const struct log_gsi *g,
                 const uint8_t *mad, enum log_direction direction)
{
    bool sent = direction == LOG_SENT;
    struct ud_heads h = {.slid = sent ? t->facts.lid : g->lid,
                         .dlid = sent ? g->lid : t->facts.lid,
                         .pkey = g->pkey,
                         .sl = g->sl,
                         .dqpn = GSI_QP,
                         .sqpn = GSI_QP,
                         .qkey = GSI_QKEY};
    wirelog_frame(w, &h, g->ns, mad, MAD_SIZE, direction);
}

uint32_t wirelog_number(struct wirelog *w)
{
    return ++w->root->connections;
}

/* ---- comments */

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

struct wirelog *wirelog_new(const char *path, GError **error)
{
    struct wirelog *w = g_new0(struct wirelog, 1);
    w->root = w;
    w->first = g_ptr_array_new_with_free_func(g_free);
    w->waiting = g_ptr_array_new_with_free_func(g_free);
    if (!path || open_file(w, path, error))
        return w;
    wirelog_free(w, NULL);
    return NULL;
}

struct wirelog *wirelog_branch(struct wirelog *root)
{
    struct wirelog *w = g_new0(struct wirelog, 1);
    w->root = root;
    w->first = g_ptr_array_new_with_free_func(g_free);
    w->waiting = g_ptr_array_new_with_free_func(g_free);
    return w;
}

void wirelog_settle(struct wirelog *w)
{
    w->checked = true;
}

void wirelog_join(struct wirelog *w)
{
    wirelog_end(w, "ended early");
    end_checker(w);
    g_ptr_array_unref(w->first);
    g_ptr_array_unref(w->waiting);
    g_free(w);
}

bool wirelog_keeps_old(const struct wirelog *w)
{
    struct stat st;

    return w->file && !w->begun && fstat(fileno(w->file), &st) == 0 && st.st_size > 0;
}

bool wirelog_free(struct wirelog *w, GError **error)
{
    wirelog_end(w, "ended early");
    if (w->file && !wirelog_keeps_old(w))
        write_file_header(w, LINKTYPE_ERF); /* a new file without packets still gets a header */
    if (w->file && fclose(w->file) != 0)
        fail_file(w);
    logevents_free(w->events);
    bool good = !w->error;
    if (!good)
        g_propagate_error(error, w->error);
    end_checker(w);
    g_ptr_array_unref(w->first);
    g_ptr_array_unref(w->waiting);
    g_free(w->path);
    g_free(w);
    return good;
}
