/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/annotation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/plain.h"
#include "cli/save.h"
#include "cli/say.h"
#include "pcapio/erf.h"
#include "pcapio/packet.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapng_format.h"
#include "report/words.h"
#include "wire/nanoseconds.h"

/* Limits against hostile captures: comments per frame, and bytes per comment. */
enum { COMMENTS_MAX = 32, COMMENT_MAX = 1000, BLOCK_ROOM = 2048 };

struct annotation {
    FILE *spool; /* the blocks after the section's header */
    /* the capture is pcapng: it has its own time stamps and interface descriptions */
    bool is_pcapng;
    GPtrArray *comments; /* comments of the next frame */
    unsigned more;       /* number of its findings beyond COMMENTS_MAX */
    uint32_t interfaces; /* number of interfaces written */
    bool failed;         /* writing failed, and the error was printed */
};

struct annotation *annotation_new(void)
{
    FILE *spool = tmpfile();
    if (!spool) {
        say("--annotate: cannot create a temporary file: %s", strerror(errno));
        return NULL;
    }
    struct annotation *a = g_new0(struct annotation, 1);
    a->spool = spool;
    a->comments = g_ptr_array_new_with_free_func(g_free);
    return a;
}

void annotation_free(struct annotation *a)
{
    if (!a)
        return;
    fclose(a->spool);
    g_ptr_array_unref(a->comments);
    g_free(a);
}

static void put(struct annotation *a, const void *octets, size_t n)
{
    if (a->failed || n == 0 || fwrite(octets, 1, n, a->spool) == n)
        return;
    say("--annotate: cannot write a temporary file: %s", strerror(errno));
    a->failed = true;
}

/* ---- interfaces */

static uint16_t linktype_of(int linktype)
{
    return linktype == LINKTYPE_INFINIBAND ? LINKTYPE_ERF : (uint16_t)linktype;
}

/* Writes no snapshot length, because an ERF record is longer than its frame. */
static void put_interface(void *user, const struct capfile_interface *described)
{
    struct annotation *a = user;
    uint8_t block[BLOCK_ROOM];
    char *name = described->name ? plain_dup(described->name) : NULL,
         *description = described->description ? plain_dup(described->description) : NULL;
    struct pcapng_idb idb = {
        .linktype = linktype_of(described->linktype), .name = name, .description = description};
    size_t n = pcapng_put_interface(block, sizeof block, &idb);
    if (n == 0) { /* without texts that are too long */
        idb.name = idb.description = NULL;
        n = pcapng_put_interface(block, sizeof block, &idb);
    }
    put(a, block, n);
    a->interfaces++;
    g_free(name);
    g_free(description);
}

void annotation_begin(struct annotation *a, struct capfile *file)
{
    a->is_pcapng = capfile_is_pcapng(file);
    capfile_on_interface(file, put_interface, a);
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
    case OUTCOME_NOTED:
        return "noted";
    default:
        return NULL;
    }
}

/* "MUST violated: rfc4391.6.reserved-zero (RFC 4391, section 6): expected 0x0000, found 0x1234 ..."
 */
static char *comment_of(const struct finding *f)
{
    const char *what = heading(f);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s: %s (", what, rules[f->rule].id);
    add_place(s, &rules[f->rule]);
    g_string_append(s, "): ");
    if (f->subject[0])
        g_string_append_printf(s, "%s: ", f->subject);
    if (f->expected[0])
        g_string_append_printf(s, "expected %s, found ", f->expected);
    g_string_append(s, f->actual);
    if (f->sender && f->sender[0])
        g_string_append_printf(s, "; sent by %s", f->sender);
    if (f->reason[0] && f->outcome == OUTCOME_DEVIATION)
        g_string_append_printf(s, "; %s", f->reason);
    if (strcmp(what, "noted") != 0) {
        g_string_append(s, "; see: ");
        add_help(s, false, f->rule);
    }
    char *plain = plain_dup(s->str);
    g_string_free(s, TRUE);
    return plain;
}

void annotation_finding(struct annotation *a, const struct finding *f)
{
    if (!heading(f) || rules[f->rule].level == RULE_MAY)
        return;
    if (a->comments->len < COMMENTS_MAX)
        g_ptr_array_add(a->comments, comment_of(f));
    else
        a->more++;
}

/* ---- frames */

static void add_option(GByteArray *block, const char *comment)
{
    uint8_t option[OPTION_HEAD + COMMENT_MAX + 4];
    size_t n = strlen(comment);
    while (n > COMMENT_MAX || (n > 0 && ((uint8_t)comment[n] & 0xc0) == 0x80))
        n--; /* not within a UTF-8 character */
    const uint8_t *end = pcapng_put_option(option, OPT_COMMENT, comment, (uint16_t)n);
    g_byte_array_append(block, option, (guint)(end - option));
}

static void add_comments(struct annotation *a, GByteArray *block)
{
    static const uint8_t end[OPTION_HEAD];
    for (guint i = 0; i < a->comments->len; i++)
        add_option(block, a->comments->pdata[i]);
    if (a->more) {
        char *text = g_strdup_printf("%u more findings in this frame", a->more);
        add_option(block, text);
        g_free(text);
    }
    if (a->comments->len)
        g_byte_array_append(block, end, sizeof end);
    g_ptr_array_set_size(a->comments, 0);
    a->more = 0;
}

/* The time that Wireshark shows: for an ERF record in a classic pcap, that of the record. */
static uint64_t time_of(const struct annotation *a, const struct capfile_frame *f)
{
    struct erf_record record;
    int64_t seconds, ns = f->ns;
    uint32_t fraction;
    if (f->linktype == LINKTYPE_ERF && !a->is_pcapng && erf_parse(f->octets, f->caplen, &record)) {
        erf_split(record.time, &seconds, &fraction);
        ns = nanoseconds_of(seconds, fraction);
    }
    return ns > 0 ? (uint64_t)ns : 0; /* pcapng time stamps are unsigned */
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
    uint64_t ns = time_of(a, f);
    uint32_t caplen = wraps ? put_record(record, f, ns) : f->caplen,
             extra = wraps ? sizeof record : 0;
    struct pcapng_epb epb = {.interface = f->interface,
                             .time = ns,
                             .caplen = caplen + extra,
                             .wirelen = f->wirelen + extra};
    if (!a->is_pcapng && a->interfaces == 0)
        put_interface(a, &(struct capfile_interface){.linktype = f->linktype});
    GByteArray *block = g_byte_array_sized_new(caplen + BLOCK_ROOM);
    pcapng_put_epb_head(head, &epb);
    g_byte_array_append(block, head, sizeof head);
    g_byte_array_append(block, record, extra);
    g_byte_array_append(block, f->octets, caplen);
    g_byte_array_append(block, zero, -epb.caplen & 3);
    add_comments(a, block);
    g_byte_array_append(block, zero, sizeof zero); /* room for the length at the end of the block */
    put(a, block->data, pcapng_close_block(block->data, BLOCK_EPB, block->len));
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

bool annotation_save(struct annotation *a, const struct report *r, const char *path)
{
    if (a->failed)
        return false;
    char *comment = verdict_text(r), *application = g_strdup_printf("%s %s", r->tool, r->version);
    gsize room = strlen(comment) + strlen(application) + BLOCK_ROOM;
    GString *head = g_string_sized_new(room);
    size_t n = pcapng_put_section((uint8_t *)head->str, room, application, comment);
    if (n == 0) /* too long, because of a file name of 64 KiB: omit the comment */
        n = pcapng_put_section((uint8_t *)head->str, room, application, NULL);
    head->len = n;
    bool good = fflush(a->spool) == 0 &&
                save_parts(head, a->spool, &(GString){.str = (char *)""}, path);
    g_string_free(head, TRUE);
    g_free(application);
    g_free(comment);
    return good;
}
