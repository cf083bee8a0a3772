/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of a conversion. See input.h. */
#include "pcapio/input.h"

#include <pcap/pcap.h>

#include "compat/glib.h"
#include "pcapio/error.h"
#include "wire/nanoseconds.h"

struct input {
    struct capfile *file;
    uint32_t linktype, snaplen; /* snaplen: the largest of all interfaces */
    bool has_interface;         /* of a pcapng file */
    /* of a pcapng file, the result of read_ahead() */
    bool has_ahead; /* input_next() has not returned it yet */
    enum capfile_result ahead;
    struct capfile_frame first;
    GError *ahead_error;
    uint64_t skipped; /* packets before it that input_next() has not returned yet */
    uint32_t skipped_linktype;
    GArray *early;              /* struct capfile_description before the first packet */
    capfile_describe *describe; /* NULL: no callback */
    void *describe_user;
};

/* ---- descriptions */

static void note_interface(struct input *in, const struct capfile_description *described)
{
    uint32_t snaplen = described->snaplen ? described->snaplen : ERF_MAX_LEN;

    if (!linktype_is_known(in->linktype))
        in->linktype = (uint32_t)described->linktype;
    in->has_interface = true;
    in->snaplen = MAX(in->snaplen, snaplen);
}

/* Calls the callback. While the file is read ahead, no callback is set yet: keeps a copy for it. */
static void take_description(void *user, const struct capfile_description *described)
{
    struct input *in = user;

    if (in->describe) {
        in->describe(in->describe_user, described);
    } else if (in->has_ahead) {
        struct capfile_description copy = *described;

        if (described->about == CAPFILE_INTERFACE)
            note_interface(in, described);
        copy.options = compat_memdup(described->options, described->options_len);
        g_array_append_val(in->early, copy);
    }
}

static void clear_description(void *described)
{
    g_free((void *)((struct capfile_description *)described)->options);
}

void input_on_description(struct input *in, capfile_describe *describe, void *user)
{
    in->describe = describe;
    in->describe_user = user;
    for (guint i = 0; i < in->early->len; i++)
        describe(user, &g_array_index(in->early, struct capfile_description, i));
}

/* ---- opening */

/*
 * Reads a pcapng file up to its first packet. If neither this packet nor an interface described
 * before it can contain IPoIB, reads on until a packet or an interface can.
 */
static void read_ahead(struct input *in)
{
    in->has_ahead = true;
    while ((in->ahead = capfile_next(in->file, &in->first, &in->ahead_error)) == CAPFILE_FRAME &&
           !linktype_is_known((uint32_t)in->first.linktype) && !linktype_is_known(in->linktype)) {
        in->skipped++;
        in->skipped_linktype = (uint32_t)in->first.linktype;
    }
    if (in->ahead == CAPFILE_FRAME && linktype_is_known((uint32_t)in->first.linktype))
        in->linktype = (uint32_t)in->first.linktype;
}

/* Finds the link type and the snapshot length. */
static bool read_header(struct input *in, GError **error)
{
    const char *name;

    if (!capfile_header(in->file, &in->linktype, &in->snaplen)) {
        read_ahead(in);
        if (!in->has_interface && in->ahead_error)
            g_propagate_error(error, g_steal_pointer(&in->ahead_error));
        else if (!in->has_interface)
            g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_FORMAT, "has no interface");
        if (!in->has_interface)
            return false;
    }
    if (linktype_is_known(in->linktype))
        return true;
    name = pcap_datalink_val_to_name((int)in->linktype);
    g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_FORMAT,
                "link type %u (%s) cannot contain IP over InfiniBand", in->linktype,
                name ? name : "unknown");
    return false;
}

struct input *input_open(const char *path, bool without_private, GError **error)
{
    struct input *in = g_new0(struct input, 1);

    in->early = g_array_new(FALSE, FALSE, sizeof(struct capfile_description));
    g_array_set_clear_func(in->early, clear_description);
    in->file = capfile_open(path, error);
    if (in->file) {
        capfile_on_description(in->file, take_description, in);
        capfile_keep_padding(in->file);
        if (without_private)
            capfile_leave_private_out(in->file);
        if (read_header(in, error))
            return in;
    }
    input_close(in);
    return NULL;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    capfile_close(in->file);
    g_array_unref(in->early);
    g_clear_error(&in->ahead_error);
    g_free(in);
}

/* ---- packets */

/* The packet that was read ahead. */
static enum capfile_result take_ahead(struct input *in, struct capfile_frame *frame, GError **error)
{
    in->has_ahead = false;
    *frame = in->first;
    if (in->ahead_error)
        g_propagate_error(error, g_steal_pointer(&in->ahead_error));
    return in->ahead;
}

/* Only the link type of a skipped packet matters: it is left out. */
static enum capfile_result take_skipped(struct input *in, struct capture_record *out)
{
    in->skipped--;
    *out = (struct capture_record){.linktype = in->skipped_linktype};
    return CAPFILE_FRAME;
}

enum capfile_result input_next(struct input *in, struct capture_record *out, GError **error)
{
    struct capfile_frame f;
    enum capfile_result result;
    uint64_t dropped;
    int64_t rest;

    if (in->skipped > 0)
        return take_skipped(in, out);
    result = in->has_ahead ? take_ahead(in, &f, error) : capfile_next(in->file, &f, error);
    if (result != CAPFILE_FRAME)
        return result;
    dropped = capfile_dropped(in->file);
    rest = f.ns % NANOSECONDS;
    *out = (struct capture_record){
        .linktype = (uint32_t)f.linktype,
        .sec = f.ns / NANOSECONDS - (rest < 0),
        .ns = (uint32_t)(rest < 0 ? rest + NANOSECONDS : rest),
        .data_len = f.caplen,
        .wirelen = f.wirelen,
        .dropped = (uint32_t)MIN(dropped, UINT32_MAX),
        .interface = f.interface,
        .data = f.bytes,
    };
    if (in->describe)
        out->options = capfile_options(in->file, &out->options_len);
    return CAPFILE_FRAME;
}

/* ---- the file */

uint32_t input_linktype(const struct input *in)
{
    return in->linktype;
}

uint32_t input_snaplen(const struct input *in)
{
    return in->snaplen;
}

bool input_is_raw_erf(const struct input *in)
{
    return capfile_is_raw_erf(in->file);
}

bool input_is_pcapng(const struct input *in)
{
    return capfile_is_pcapng(in->file);
}

int input_fd(const struct input *in)
{
    return capfile_fd(in->file);
}
