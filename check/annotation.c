/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/annotation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/fail.h"
#include "cli/plain.h"
#include "cli/save.h"
#include "pcapio/erf.h"
#include "pcapio/bytes.h"
#include "pcapio/capture_record.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapng_format.h"
#include "pcapio/pcapngcopy.h"
#include "report/words.h"
#include "rules/sender.h"
#include "wire/nanoseconds.h"

/*
 * A limit against hostile captures: comments per frame. The bytes of a comment are limited by the
 * length field of a pcapng option; only a reason in the user's own list of deviations is that long.
 */
enum { COMMENTS_MAX = 32, COMMENT_MAX = UINT16_MAX, BLOCK_ROOM = 2048 };

struct annotation {
    FILE *spool;         /* the blocks after the section's header */
    GByteArray *section; /* options of the section's header that the capture has */
    GByteArray *block;   /* the block that is built; reused */
    /* the capture is pcapng: it has its own time stamps and interface descriptions */
    bool is_pcapng;
    struct capfile *file;      /* NULL: not opened */
    struct access_limit limit; /* of the file's contents */
    GPtrArray *comments;       /* comments of the next frame */
    unsigned more;             /* number of its findings beyond COMMENTS_MAX */
    uint32_t interfaces;       /* number of interfaces written */
    GError *error;             /* the first error of writing the spool; NULL: none */
};

struct annotation *annotation_new(GError **error)
{
    FILE *spool = tmpfile();
    if (!spool) {
        fail_with(error, "--annotate: cannot create a temporary file in " P_tmpdir ": %s",
                  strerror(errno));
        return NULL;
    }
    struct annotation *a = g_new0(struct annotation, 1);
    a->spool = spool;
    a->limit = access_unlimited;
    a->section = g_byte_array_new();
    a->block = g_byte_array_new();
    a->comments = g_ptr_array_new_with_free_func(g_free);
    return a;
}

void annotation_free(struct annotation *a)
{
    if (!a)
        return;
    fclose(a->spool);
    g_byte_array_unref(a->section);
    g_byte_array_unref(a->block);
    g_ptr_array_unref(a->comments);
    g_clear_error(&a->error);
    g_free(a);
}

static void fail_spool(struct annotation *a)
{
    if (!a->error)
        fail_with(&a->error, "--annotate: cannot write a temporary file in " P_tmpdir ": %s",
                  strerror(errno));
}

static void spool_bytes(struct annotation *a, const void *bytes, size_t n)
{
    if (!a->error && n > 0 && fwrite(bytes, 1, n, a->spool) != n)
        fail_spool(a);
}

/* ---- interfaces */

static uint16_t written_linktype(int linktype)
{
    return linktype == LINKTYPE_INFINIBAND ? LINKTYPE_ERF : (uint16_t)linktype;
}

/* Writes no snapshot length, because an ERF record is longer than its frame. */
static void put_interface(struct annotation *a, const struct capfile_description *described)
{
    pcapngcopy_interface(a->block, described, written_linktype(described->linktype), 0);
    a->interfaces++;
}

/* Appends the comments among the LEN bytes of options at P, which are little-endian. */
static void add_comments(GByteArray *to, const uint8_t *p, uint32_t len)
{
    while (len >= OPTION_HEAD) {
        uint32_t whole = OPTION_HEAD + ((get_le16(p + 2) + 3u) & ~3u);
        if (get_le16(p) == OPT_COMMENT)
            g_byte_array_append(to, p, whole);
        p += whole;
        len -= whole;
    }
}

/*
 * All sections of the capture become one, so that the verdict is the comment of the only one. Of
 * the options that a section has once, those of the first are kept.
 */
static void add_section(struct annotation *a, const struct capfile_description *described)
{
    if (a->section->len == 0)
        g_byte_array_append(a->section, described->options, described->options_len);
    else
        add_comments(a->section, described->options, described->options_len);
}

static void take_description(void *user, const struct capfile_description *described)
{
    struct annotation *a = user;
    g_byte_array_set_size(a->block, 0);
    switch (described->about) {
    case CAPFILE_SECTION:
        add_section(a, described);
        break;
    case CAPFILE_INTERFACE:
        put_interface(a, described);
        break;
    case CAPFILE_STATISTICS:
        pcapngcopy_statistics(a->block, described, described->interface);
        break;
    }
    spool_bytes(a, a->block->data, a->block->len);
}

void annotation_begin(struct annotation *a, struct capfile *file)
{
    struct access_readers readers = access_of(capfile_fd(file));
    a->is_pcapng = capfile_is_pcapng(file);
    a->file = file;
    access_narrow(&a->limit, &readers);
    capfile_on_description(file, take_description, a);
}

/* ---- findings */

static const char *heading(const struct finding *f)
{
    enum rule_level level = rules[f->rule].level;
    switch ((int)f->outcome) {
    case OUTCOME_FAIL:
        return level == RULE_MUST     ? "MUST violated"
               : level == RULE_SHOULD ? "SHOULD violated"
                                      : "noted";
    case OUTCOME_DEVIATION:
        return level == RULE_MUST || level == RULE_SHOULD ? "known deviation" : "noted";
    case VERDICT_KNOWN:
        return "known from the baseline";
    case OUTCOME_SUSPECTED:
        return "suspected";
    case OUTCOME_NOTED:
        return "noted";
    default:
        return NULL;
    }
}

/*
 * "MUST violated: rfc4391.6.type (RFC 4391, section 6): expected 0x0800, found 0x86dd",
 * "MUST violated in frame 7, which this packet proves: ..."
 */
static char *comment_of(const struct finding *f)
{
    const char *what = heading(f);
    GString *s = g_string_new(NULL);
    g_string_append(s, what);
    if (f->frame)
        g_string_append_printf(s, " in frame %" PRIu32 ", which this packet proves", f->frame);
    g_string_append_printf(s, ": %s (", rules[f->rule].id);
    words_add_place(s, &rules[f->rule]);
    g_string_append(s, "): ");
    if (f->entity[0])
        g_string_append_printf(s, "%s: ", f->entity);
    if (f->expected[0])
        g_string_append_printf(s, "expected %s, found ", f->expected);
    g_string_append(s, f->actual);
    char sender[SENDER_TEXT_SIZE];
    if (sender_text(sender, f->sender)[0])
        g_string_append_printf(s, "; sent by %s", sender);
    bool explained = f->outcome == OUTCOME_DEVIATION || f->outcome == OUTCOME_SUSPECTED;
    if (f->reason[0] && explained)
        g_string_append_printf(s, "; %s", f->reason);
    if (f->other_frame)
        g_string_append_printf(s, "; %s %" PRIu32, other_frame_words(f->by_flow), f->other_frame);
    if (strcmp(what, "noted") != 0) {
        g_string_append(s, "; see: ");
        words_add_help(s, false, f->rule);
    }
    char *plain = plain_dup(s->str);
    g_string_free(s, TRUE);
    return plain;
}

/* comment: it is freed. */
static void take_comment(struct annotation *a, char *comment)
{
    if (a->comments->len < COMMENTS_MAX) {
        g_ptr_array_add(a->comments, comment);
        return;
    }
    a->more++;
    g_free(comment);
}

void annotation_finding(struct annotation *a, const struct finding *f)
{
    if (heading(f) && rules[f->rule].level != RULE_MAY)
        take_comment(a, comment_of(f));
}

void annotation_event(struct annotation *a, const struct link_event *e)
{
    char *text = event_comment(e);
    take_comment(a, plain_dup(text));
    g_free(text);
}

/* ---- frames */

static void add_comment(GByteArray *block, const char *comment)
{
    static uint8_t option[OPTION_HEAD + COMMENT_MAX + 4];
    const uint8_t *end = pcapng_put_comment(option, comment, COMMENT_MAX);
    g_byte_array_append(block, option, (guint)(end - option));
}

static void add_dropped(GByteArray *block, uint64_t dropped)
{
    uint8_t option[OPTION_HEAD + 8];
    uint64_t little_endian = GUINT64_TO_LE(dropped);
    pcapng_put_option(option, EPB_DROPCOUNT, &little_endian, sizeof little_endian);
    g_byte_array_append(block, option, sizeof option);
}

/* Adds the options of the packet: those of the capture, then the findings. */
static void add_options(struct annotation *a, GByteArray *block)
{
    static const uint8_t end[OPTION_HEAD];
    guint before = block->len;
    uint32_t len;
    uint64_t dropped = capfile_dropped(a->file);
    const uint8_t *old = capfile_options(a->file, &len);
    if (dropped)
        add_dropped(block, dropped);
    g_byte_array_append(block, old, len);
    for (guint i = 0; i < a->comments->len; i++)
        add_comment(block, a->comments->pdata[i]);
    if (a->more) {
        char *text = g_strdup_printf("%u more findings and events in this frame", a->more);
        add_comment(block, text);
        g_free(text);
    }
    if (block->len > before)
        g_byte_array_append(block, end, sizeof end);
    g_ptr_array_set_size(a->comments, 0);
    a->more = 0;
}

/* Writes the ERF header for a frame of LINKTYPE_INFINIBAND. Its length fields have 16 bits. */
static uint32_t put_record(uint8_t head[ERF_HEADER_LEN], const struct capfile_frame *f, uint64_t ns)
{
    uint32_t caplen = MIN(f->caplen, ERF_MAX_LEN - ERF_HEADER_LEN);
    erf_put_header(head, erf_time((uint32_t)(ns / NANOSECONDS), (uint32_t)(ns % NANOSECONDS)),
                   caplen, MIN(f->wirelen, UINT16_MAX));
    return caplen;
}

void annotation_frame(struct annotation *a, const struct capfile_frame *f)
{
    static const uint8_t zero[4];
    uint8_t head[PCAPNG_EPB_HEAD_LEN], record[ERF_HEADER_LEN];
    bool wraps = f->linktype == LINKTYPE_INFINIBAND;
    int64_t time = capfile_time(a->file, f);
    uint64_t ns = time > 0 ? (uint64_t)time : 0; /* pcapng time stamps are unsigned */
    uint32_t caplen = wraps ? put_record(record, f, ns) : f->caplen,
             extra = wraps ? sizeof record : 0;
    struct pcapng_epb epb = {.interface = f->interface,
                             .time = ns,
                             .caplen = caplen + extra,
                             .wirelen = f->wirelen + extra};
    if (!a->is_pcapng && a->interfaces == 0)
        take_description(
            a, &(struct capfile_description){.about = CAPFILE_INTERFACE, .linktype = f->linktype});
    GByteArray *block = g_byte_array_sized_new(caplen + BLOCK_ROOM);
    pcapng_put_epb_head(head, &epb);
    g_byte_array_append(block, head, sizeof head);
    g_byte_array_append(block, record, extra);
    g_byte_array_append(block, f->bytes, caplen);
    g_byte_array_append(block, zero, -epb.caplen & 3);
    add_options(a, block);
    g_byte_array_append(block, zero, sizeof zero); /* room for the length at the end of the block */
    spool_bytes(a, block->data, pcapng_close_block(block->data, BLOCK_EPB, block->len));
    g_byte_array_unref(block);
}

/* ---- the file */

static char *verdict_text(const struct report *r)
{
    GString *text = g_string_new(NULL);
    report_text_verdict(text, r, &r->captures[0], false);
    char *whole = g_strdup_printf("%s %s: %s", r->tool, r->version, g_strstrip(text->str));
    g_string_free(text, TRUE);
    return whole;
}

bool annotation_save(struct annotation *a, const struct report *r, const char *path, GError **error)
{
    if (!a->file)
        return true;
    if (!a->error && fflush(a->spool) != 0)
        fail_spool(a);
    if (a->error) {
        g_propagate_error(error, g_steal_pointer(&a->error));
        return false;
    }
    char *comment = verdict_text(r), *application = g_strdup_printf("%s %s", r->tool, r->version);
    GByteArray *block = g_byte_array_new();
    pcapngcopy_section(block, a->section->data, a->section->len, application, comment);
    GString *head = g_string_new_len((const char *)block->data, block->len);
    g_byte_array_unref(block);
    const struct save_parts parts = {.head = head, .middle = a->spool};
    bool good = save_file(&parts, path, &a->limit, error);
    g_string_free(head, TRUE);
    g_free(application);
    g_free(comment);
    return good;
}
