/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin within Wireshark's own library, under libFuzzer: an input is a capture, frame after
 * frame (see fuzz/frames.h), and is dissected as Wireshark does it, once from its beginning and
 * once more. What the plugin finds at fault must be the same both times. Wireshark loads no plugins
 * for root: script/with-plugins runs this as nobody.
 */
#include <stdlib.h>
#include <string.h>

#include <epan/epan.h>
#include <epan/epan_dissect.h>
#include <epan/frame_data.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/tvbuff.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>

#include "fuzz/frames.h"
#include "fuzz/linktypes.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_MAX = 4096 };

struct frame {
    struct fuzz_frame in;
    nstime_t time;
    frame_data data;
    char *found; /* the rules' identifiers, as the first pass has them */
};

static struct frame *frames;
static unsigned n_frames;
static int hf_rule;

/* What hands packets' payloads to others has its own faults; IP, ARP and ND stay. */
static void leave_out(void)
{
    static const char *const others[] = {"tcp",       "udp",  "sctp", "rpcordma", "smb_direct",
                                         "nvme-rdma", "iser", "sdp",  "rds",      "eth"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int proto = proto_get_id_by_filter_name(others[i]);
        if (proto >= 0 && proto_can_toggle_protocol(proto))
            proto_set_decoding(proto, FALSE);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libFuzzer's */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", 1);
    /* the names of all manufacturers are read for each capture */
    setenv("WIRESHARK_DATA_DIR", "/nonexistent", 1);
    /* without it every heuristic's debugging message is printed */
    ws_log_init("fuzz_plugin", NULL);
    init_process_policies();
    char *error = configuration_init((*argv)[0], NULL);
    g_free(error);
    wtap_init(TRUE);
    if (!epan_init(NULL, NULL, TRUE))
        abort();
    epan_load_settings();
    prefs_apply_all();
    leave_out();
    hf_rule = proto_registrar_get_id_byname("ipoib.rule.id");
    if (hf_rule < 0) {
        fprintf(
            stderr,
            "fuzz_plugin: the plugin was not loaded: run it by script/with-plugins, not as root\n");
        exit(2);
    }
    return 0;
}

static const nstime_t *time_of(struct packet_provider_data *provider, guint32 number)
{
    (void)provider;
    return number >= 1 && number <= n_frames ? &frames[number - 1].time : NULL;
}

static int encapsulation_of(int linktype)
{
    switch (linktype) {
    case LINKTYPE_ERF:
        return WTAP_ENCAP_ERF;
    case LINKTYPE_IPOIB:
        return WTAP_ENCAP_IP_OVER_IB_PCAP;
    case LINKTYPE_LINUX_SLL:
        return WTAP_ENCAP_SLL;
    case LINKTYPE_LINUX_SLL2:
        return WTAP_ENCAP_SLL2;
    case LINKTYPE_ETHERNET:
        return WTAP_ENCAP_ETHERNET;
    default:
        return WTAP_ENCAP_INFINIBAND;
    }
}

/* Of an ERF record the header is the file's matter, and its type is the one for InfiniBand. */
static void set_record(wtap_rec *rec, const struct frame *f)
{
    int linktype = linktype_of(f->in.linktype);
    uint32_t head = linktype == LINKTYPE_ERF ? MIN(ERF_HEADER_LEN, f->in.captured) : 0;
    memset(rec, 0, sizeof *rec);
    rec->rec_type = REC_TYPE_PACKET;
    rec->presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN | WTAP_HAS_INTERFACE_ID;
    rec->ts = f->time;
    rec->tsprec = WTAP_TSPREC_NSEC;
    rec->rec_header.packet_header.caplen = f->in.captured - head;
    rec->rec_header.packet_header.len = f->in.length - head;
    rec->rec_header.packet_header.pkt_encap = encapsulation_of(linktype);
    rec->rec_header.packet_header.interface_id = f->in.interface;
    if (linktype == LINKTYPE_ERF) {
        struct erf_phdr *erf = &rec->rec_header.packet_header.pseudo_header.erf.phdr;
        erf->type = ERF_TYPE_INFINIBAND;
        erf->rlen = (guint16)f->in.captured;
        erf->wlen = (guint16)rec->rec_header.packet_header.len;
    }
}

static char *found_in(epan_dissect_t *edt)
{
    GString *text = g_string_new(NULL);
    GPtrArray *all = proto_all_finfos(edt->tree);
    for (guint i = 0; i < all->len; i++) {
        const field_info *f = all->pdata[i];
        if (f->hfinfo->id == hf_rule)
            g_string_append_printf(text, "%s ", fvalue_get_string((fvalue_t *)&f->value));
    }
    g_ptr_array_free(all, TRUE);
    return g_string_free(text, FALSE);
}

static void dissect(epan_t *epan, struct frame *f)
{
    wtap_rec rec;
    set_record(&rec, f);
    uint32_t n = rec.rec_header.packet_header.caplen;
    uint8_t *octets = g_malloc(n ? n : 1);
    memcpy(octets, f->in.octets + (f->in.captured - n), n);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the tvb frees octets */
    tvbuff_t *tvb = tvb_new_real_data(octets, n, (gint)rec.rec_header.packet_header.len);
    tvb_set_free_cb(tvb, g_free);
    epan_dissect_t *edt = epan_dissect_new(epan, TRUE, TRUE);
    epan_dissect_run(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, &rec, tvb, &f->data, NULL);
    char *found = found_in(edt);
    if (f->found && strcmp(found, f->found) != 0) {
        fprintf(stderr, "frame %u: first pass \"%s\", then \"%s\"\n", f->data.num, f->found, found);
        abort();
    }
    g_free(f->found);
    f->found = found;
    epan_dissect_free(edt);
}

static void passes(epan_t *epan)
{
    nstime_t elapsed = NSTIME_INIT_ZERO;
    const frame_data *first = NULL;
    guint32 octets = 0;
    for (unsigned i = 0; i < n_frames; i++) {
        wtap_rec rec;
        set_record(&rec, &frames[i]);
        frame_data_init(&frames[i].data, i + 1, &rec, 0, octets);
        frame_data_set_before_dissect(&frames[i].data, &elapsed, &first,
                                      i ? &frames[i - 1].data : NULL);
        dissect(epan, &frames[i]);
        frame_data_set_after_dissect(&frames[i].data, &octets);
    }
    for (unsigned i = 0; i < n_frames; i++)
        dissect(epan, &frames[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct packet_provider_funcs functions = {.get_frame_ts = time_of};
    int64_t ms = 0;
    struct fuzz_frame f;
    if (!frames)
        frames = g_new(struct frame, FRAMES_MAX);
    for (n_frames = 0; n_frames < FRAMES_MAX && fuzz_next_frame(&data, &size, &f); n_frames++) {
        ms += f.milliseconds;
        frames[n_frames] = (struct frame){
            .in = f, .time = {.secs = ms / 1000, .nsecs = (int)(ms % 1000 * 1000000)}};
    }
    epan_t *epan = epan_new(NULL, &functions);
    passes(epan);
    for (unsigned i = 0; i < n_frames; i++) {
        frame_data_destroy(&frames[i].data);
        g_free(frames[i].found);
    }
    epan_free(epan);
    return 0;
}
