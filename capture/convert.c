/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommand "convert": converts packet by packet. Options: convert_options.c. */
#include "capture/convert.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "capture/convert_options.h"
#include "capture/share/share.h"
#include "cli/confine.h"
#include "cli/fail.h"
#include "cli/place.h"
#include "cli/privileges.h"
#include "cli/save.h"
#include "cli/say.h"
#include "cli/user.h"
#include "wire/nanoseconds.h"
#include "pcapio/input.h"
#include "pcapio/output.h"
#include "capture/tally.h"
#include "pcapio/translate.h"
#include "capture/write/stop.h"

static bool is_stdio(const char *path)
{
    return strcmp(path, "-") == 0;
}

static const char *input_name(const struct convert_options *options)
{
    return is_stdio(options->in) ? "standard input" : options->in;
}

static const char *output_name(const struct convert_options *options)
{
    return is_stdio(options->out) ? "standard output" : options->out;
}

static bool say_output_error(const struct convert_options *options, GError *error)
{
    return say_error(output_name(options), &error);
}

/* A signal also ends a read of a pipe and the wait for a FIFO, with an error that says no more. */
static void say_unless_interrupted(const char *name, GError *error)
{
    if (stop_requested())
        g_clear_error(&error);
    say_error(name, &error);
}

static bool is_infiniband(uint32_t linktype)
{
    return linktype == LINKTYPE_ERF || linktype == LINKTYPE_INFINIBAND;
}

/* Each interface of a pcapng file may have a link type of its own. */
static bool keeps_interfaces(const struct input *in, const struct convert_options *options)
{
    return options->container == CONTAINER_PCAPNG && input_is_pcapng(in);
}

/*
 * Default link type: of ERF and InfiniBand the one that the first packet does not have, always ERF
 * with --share; other link types are kept. MIXED: packets of ERF or InfiniBand may follow others.
 */
static uint32_t target_linktype(const struct convert_options *options, uint32_t from, bool mixed)
{
    if (options->linktype)
        return options->linktype;
    if (!is_infiniband(from))
        return mixed ? (uint32_t)LINKTYPE_ERF : from;
    return from == LINKTYPE_ERF && !options->share ? LINKTYPE_INFINIBAND : LINKTYPE_ERF;
}

static struct translation plan(const struct input *in, const struct convert_options *options)
{
    bool mixed = keeps_interfaces(in, options);

    return (struct translation){
        .to = target_linktype(options, input_linktype(in), mixed),
        .keeps_others = mixed && !options->linktype,
        .from_raw = input_is_raw_erf(in),
        .to_raw = options->container == CONTAINER_RAW,
        .container_time_wins = input_is_pcapng(in),
    };
}

/* Returns NULL after a message. */
static struct input *open_input(const struct convert_options *options)
{
    GError *error = NULL;
    struct input *in = input_open(options->in, options->share, &error);

    if (!in)
        say_unless_interrupted(input_name(options), error);
    return in;
}

/* Returns false after a message. */
static bool drop_rest(void)
{
    GError *error = NULL;

    return privileges_drop(0, 0, &error) || say_error(NULL, &error);
}

/* ibdump's value, enough for every ERF record; frames that are copied can be longer */
static uint32_t output_snaplen(const struct input *in, const struct translation *way)
{
    uint32_t first = input_linktype(in);
    bool is_copied = way->to != LINKTYPE_ERF && first == way->to;
    bool may_be_longer = way->keeps_others && !is_infiniband(first);

    return is_copied       ? input_snaplen(in)
           : may_be_longer ? MAX(input_snaplen(in), (uint32_t)ERF_MAX_LEN)
                           : ERF_MAX_LEN;
}

/* Returns NULL after a message. */
static struct output *create_output(const struct input *in, const struct convert_options *options,
                                    const struct translation *way)
{
    GError *error = NULL;
    struct output_format format = {
        .container = options->container,
        .is_public = options->share,
        .is_described = keeps_interfaces(in, options),
        .linktype = way->to,
        .snaplen = output_snaplen(in, way),
    };
    struct output *out;

    if (is_stdio(options->out) && isatty(STDOUT_FILENO)) {
        say("stdout is a terminal: name a file, or pipe it");
        return NULL;
    }
    privileges_raise(PRIVILEGE_FILES | PRIVILEGE_OWNER);
    out = output_open(options->out, &format, input_fd(in), &error);
    privileges_lower();
    if (!out)
        say_unless_interrupted(output_name(options), error);
    return out;
}

/* Returns false after a message if data did not reach the file. */
static bool close_output(struct output *out, const struct convert_options *options,
                         struct convert_tally *tally)
{
    GError *error = NULL;
    struct output_counts counts;
    bool good = output_close(out, &counts, &error);

    convert_tally_written(tally, counts.packets, counts.octets);
    return good || say_output_error(options, error);
}

/* The output remembers an error, and output_close returns it. */
static void copy_description(void *out, const struct capfile_description *described)
{
    output_describe(out, described);
}

/* Anonymises P; its data is then in BUFFER. Frames without InfiniBand and IPoIB are left out. */
static enum translation_result share_into(struct share *share, uint32_t linktype,
                                          struct capture_record *p, const struct remarks *note,
                                          GByteArray *buffer)
{
    uint32_t n = p->head_len + p->data_len;

    g_byte_array_set_size(buffer, 0);
    g_byte_array_append(buffer, p->head, p->head_len);
    g_byte_array_append(buffer, p->data, p->data_len);
    p->head_len = 0;
    p->data = buffer->data;
    p->data_len = n;
    struct share_frame frame = {linktype, nanoseconds_of(p->sec, p->ns), buffer->data, n,
                                p->wirelen};
    if (share_frame(share, &frame))
        return CARRIED;
    if (linktype != LINKTYPE_ERF)
        return NOT_IPOIB;
    return note->erf_type == ERF_TYPE_META || note->erf_type == ERF_TYPE_PAD ? NO_PACKET
           : note->erf_type == ERF_TYPE_INFINIBAND                           ? MALFORMED
                                                                             : NOT_INFINIBAND;
}

/*
 * Converts all packets. Returns false if the input ended too early, with ERROR, if a signal came
 * before its end, or if the output cannot be written, which remembers the error.
 */
static bool carry_all(struct input *in, struct output *out, const struct translation *way,
                      struct share *share, struct convert_tally *tally, GError **error)
{
    GByteArray *buffer = g_byte_array_new();
    struct capture_record from, to;
    struct remarks note;
    enum capfile_result result = CAPFILE_FRAME;
    bool good = true;

    while (good && !stop_requested() && (result = input_next(in, &from, error)) == CAPFILE_FRAME) {
        enum translation_result translated = translate(way, &from, &to, &note);

        if (translated == CARRIED && share)
            translated = share_into(share, to.linktype, &to, &note, buffer);
        good = translated != CARRIED || output_write(out, &to, note.bytes);
        convert_tally_add(tally, translated, &from, &note);
    }
    g_byte_array_unref(buffer);
    return good && result == CAPFILE_END;
}

/* The owner of the file knows the key, whoever else may read it. */
static bool is_own_key(const char *path, GError **error)
{
    struct place place;
    bool others = place_find(&place, path, NULL) == 0 && place.exists &&
                  S_ISREG(place.stat.st_mode) && !user_is_trusted(place.stat.st_uid);

    place_clear(&place);
    return !others ||
           fail_with(error,
                     "--share-key: %s: belongs to another user (uid %u%s), who could undo the "
                     "mapping: name a key of your own, or a new file",
                     path, (unsigned)place.stat.st_uid, user_note(place.stat.st_uid));
}

/* Sets KEY, as the options say. Returns false and sets ERROR if that fails. */
static bool find_key(const struct convert_options *options, struct share_key *key, GError **error)
{
    const char *path = options->share_key;
    bool created;

    if (!path)
        return share_key_random(key, error);
    if (!save_are_distinct(options->out, path, "the key file", error) || !is_own_key(path, error) ||
        !share_key_load(key, path, &created, error))
        return false;
    if (created)
        say("--share-key: %s: created; whoever has it can undo the mapping of addresses", path);
    return true;
}

/* Returns NULL after a message. */
static struct share *new_share(const struct convert_options *options)
{
    GError *error = NULL;
    struct share_key key;

    bool found;

    stop_at_once("ipoib-capture: interrupted: nothing is written\n"); /* a key can be in a pipe */
    found = find_key(options, &key, &error);
    stop_at_once(NULL);
    if (found)
        return share_new(&key);
    say_error(NULL, &error);
    return NULL;
}

static void say_why_incomplete(const struct convert_options *options, bool good, GError *error)
{
    if (!good && stop_requested())
        say("interrupted: %s has the packets converted so far", output_name(options));
    say_unless_interrupted(input_name(options), error);
}

/* Writes all packets to OUT, which it closes. Returns false after messages. */
static bool fill_output(struct input *in, struct output *out, const struct convert_options *options,
                        struct share *share, struct convert_tally *tally)
{
    struct translation way = plan(in, options);
    GError *error = NULL;
    bool good = output_begin(out);

    if (good && keeps_interfaces(in, options))
        input_on_description(in, copy_description, out);
    good = good && carry_all(in, out, &way, share, tally, &error);
    say_why_incomplete(options, good, error);
    return close_output(out, options, tally) && good;
}

/* Converts IN to a new output. A signal until now leaves an old output as it was. */
static bool convert_input(struct input *in, const struct convert_options *options,
                          struct share *share, struct convert_tally *tally)
{
    struct translation way = plan(in, options);
    struct output *out = create_output(in, options, &way);
    bool good;

    if (!out)
        return false;
    if (!drop_rest() || stop_requested()) {
        close_output(out, options, tally);
        return false;
    }
    tally->begun = true;
    good = fill_output(in, out, options, share, tally);
    convert_tally_remark(tally, input_name(options), way.to,
                         options->container == CONTAINER_PCAPNG);
    return good;
}

/* Before the first byte of the input is read. Returns false after a message. */
static bool confine_program(const struct convert_options *options)
{
    char *in = (char *)options->in;
    const struct confined_files files = {.inputs = &in, .n_inputs = 1, .output = options->out};
    GError *error = NULL;

    return confine(&files, &error) || say_error(NULL, &error);
}

/* Returns false after a message. So no key is created if the input is not there. */
static bool has_input(const struct convert_options *options)
{
    GError *error = NULL;

    if (is_stdio(options->in) || access(options->in, F_OK) == 0)
        return true;
    fail_with(&error, "%s", strerror(errno));
    return say_error(input_name(options), &error);
}

static bool convert(const struct convert_options *options, struct convert_tally *tally)
{
    struct share *share = options->share && has_input(options) ? new_share(options) : NULL;
    bool ready = (!options->share || share) && confine_program(options);
    struct input *in = ready ? open_input(options) : NULL;
    bool good = in && !stop_requested() && convert_input(in, options, share, tally);

    input_close(in);
    share_free(share);
    return good;
}

static int exit_status(const struct convert_tally *tally, bool good)
{
    if (!good && stop_requested() && !tally->begun) {
        say("interrupted: nothing is written");
        return 128 + stop_signal();
    }
    convert_tally_summary(tally);
    return good && convert_tally_drops(tally) == 0 ? 0 : 1;
}

int convert_main(int argc, char **argv)
{
    struct convert_options options;
    struct convert_tally tally = {0};
    int status = convert_parse_options(argc, argv, &options);

    if (status >= 0)
        return status;
    if (!stop_catch_signals()) {
        say("cannot catch signals: %s", strerror(errno));
        return 1;
    }
    return exit_status(&tally, convert(&options, &tally));
}
