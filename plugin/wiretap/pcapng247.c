/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls Wireshark's pcapng reader for everything, and then sets the encapsulation of packets of
 * link type 247. That reader keeps no link type that it does not know, so this one reads the blocks
 * that name it again: Section Header Blocks and Interface Description Blocks
 * (draft-ietf-opsawg-pcapng).
 *
 * The packets become InfiniBand records of ERF, as in the reader for classic pcap (reader.c).
 */
#include "plugin/wiretap/pcapng247.h"
#include "plugin/wiretap/record.h"
#include "plugin/wiretap/trust.h"

#include "wire/linktype.h"

#define BLOCK_SECTION    0x0a0d0d0au /* the same in both byte orders */
#define BLOCK_INTERFACE  1u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

/* Offsets into a block, and the size of the part that is read. */
enum { BLOCK_TYPE = 0, BLOCK_LENGTH = 4, BLOCK_BODY = 8, BLOCK_START = 12 };

/* A pcapng file that is open: what the blocks up to now say. */
struct pcapng247 {
    wt_bool big_endian;
    wt_bool is_incomplete; /* blocks could not be read again (a pipe) */
    int64_t section;       /* number of the current section, from 0; -1: none yet */
    uint32_t interface;    /* number of the section's next interface */
    guint of_file;         /* the same of the file's next interface */
    int encap;             /* of all interfaces; WTAP_ENCAP_UNKNOWN: none yet */
    GHashTable *ours;      /* keys of the interfaces of link type 247 */
};

static wtap_open_routine_t builtin_open;
static subtype_read_func builtin_read;
static subtype_seek_read_func builtin_seek_read;
static void (*builtin_close)(wtap *wth);
static GHashTable *files; /* wtap to struct pcapng247 */

static uint64_t key_of(uint64_t section, uint32_t interface)
{
    return section << 32 | interface;
}

static void free_file(gpointer p)
{
    struct pcapng247 *file = p;

    g_hash_table_destroy(file->ours);
    g_free(file);
}

static struct pcapng247 *add_file(wtap *wth)
{
    struct pcapng247 *file = g_new0(struct pcapng247, 1);

    file->section = -1;
    file->encap = WTAP_ENCAP_UNKNOWN;
    file->ours = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    if (!files)
        files = g_hash_table_new_full(NULL, NULL, NULL, free_file);
    g_hash_table_insert(files, wth, file);
    return file;
}

/* ---- blocks */

/* Wireshark writes the interface's encapsulation to a saved file. */
static int set_encap(wtap *wth, guint number, wt_bool ours)
{
    wtap_block_t block = g_array_index(wth->interface_data, wtap_block_t, number);
    wtapng_if_descr_mandatory_t *interface = wtap_block_get_mandatory_data(block);

    if (ours && interface->wtap_encap == WTAP_ENCAP_UNKNOWN)
        interface->wtap_encap = WTAP_ENCAP_ERF;
    return interface->wtap_encap;
}

static void learn_interface(struct pcapng247 *file, wtap *wth, uint16_t linktype)
{
    wt_bool ours = linktype == LINKTYPE_INFINIBAND;
    uint64_t key = key_of((uint64_t)file->section, file->interface++);
    int encap;

    if (file->of_file >= wth->interface_data->len)
        return; /* Wireshark's reader has rejected the block */
    encap = set_encap(wth, file->of_file, ours);
    file->encap = file->of_file++ == 0 || encap == file->encap ? encap : WTAP_ENCAP_PER_PACKET;
    if (ours)
        g_hash_table_add(file->ours, g_memdup2(&key, sizeof key));
}

/* Returns the length of the block, or 0 if it has none. */
static uint32_t learn_block(struct pcapng247 *file, wtap *wth, const uint8_t *block)
{
    uint32_t type = get32(block + BLOCK_TYPE, file->big_endian);

    if (type == BLOCK_SECTION) {
        file->big_endian = get32(block + BLOCK_BODY, TRUE) == BYTE_ORDER_MAGIC;
        file->section++;
        file->interface = 0;
    } else if (type == BLOCK_INTERFACE) {
        learn_interface(file, wth, get16(block + BLOCK_BODY, file->big_endian));
    }
    /* Wireshark's reader rounds up, too */
    uint32_t length = get32(block + BLOCK_LENGTH, file->big_endian);
    return length >= BLOCK_START && length <= INT32_MAX ? (length + 3) & ~3u : 0;
}

/* Reads the blocks again that begin at these offsets. */
static wt_bool learn_blocks(struct pcapng247 *file, wtap *wth, int64_t from, int64_t to)
{
    uint8_t block[BLOCK_START];
    char *reason = NULL;
    uint32_t length;
    int error = 0;

    for (; from < to; from += length) {
        if (file_seek(wth->fh, from, SEEK_SET, &error) < 0)
            return FALSE;
        if (!wtap_read_bytes(wth->fh, block, sizeof block, &error, &reason)) {
            g_free(reason);
            return FALSE;
        }
        length = learn_block(file, wth, block);
        if (length == 0)
            return FALSE;
    }
    return TRUE;
}

/* Learns from the blocks between this offset and the position of the reader. */
static void learn(struct pcapng247 *file, wtap *wth, int64_t from)
{
    int64_t position = file_tell(wth->fh);
    int error;

    if (file->is_incomplete)
        return;
    file->is_incomplete = !learn_blocks(file, wth, from, position);
    file_seek(wth->fh, position, SEEK_SET, &error);
    if (g_hash_table_size(file->ours) > 0)
        wth->file_encap = file->encap;
}

/* ---- packets */

static wt_bool is_ours(const struct pcapng247 *file, const wtap_rec *rec)
{
    wt_bool has_section = (rec->presence_flags & WTAP_HAS_SECTION_NUMBER) != 0;
    wt_bool has_interface = (rec->presence_flags & WTAP_HAS_INTERFACE_ID) != 0;
    uint64_t key = key_of(has_section ? rec->section_number : 0,
                          has_interface ? rec->rec_header.packet_header.interface_id : 0);

    return g_hash_table_contains(file->ours, &key);
}

static void set_packet_encap(const struct pcapng247 *file, wtap_rec *rec)
{
    if (rec->rec_type != REC_TYPE_PACKET ||
        rec->rec_header.packet_header.pkt_encap != WTAP_ENCAP_UNKNOWN || !is_ours(file, rec))
        return;
    rec->rec_header.packet_header.pkt_encap = WTAP_ENCAP_ERF;
    set_erf_header(rec);
}

/* Number of the sections and interfaces that Wireshark's reader has found. */
static guint count_described(const wtap *wth)
{
    return wth->shb_hdrs->len + wth->interface_data->len;
}

static wt_bool pcapng247_read(wtap *wth, wtap_rec *rec, WT_BUFFER_PARAM int *err, char **err_info,
                              gint64 *offset)
{
    struct pcapng247 *file = g_hash_table_lookup(files, wth);
    guint before = count_described(wth);
    int64_t from = file_tell(wth->fh);
    wt_bool good = builtin_read(wth, rec, WT_BUFFER_ARGUMENT err, err_info, offset);

    if (count_described(wth) != before)
        learn(file, wth, from);
    if (good)
        set_packet_encap(file, rec);
    return good;
}

static wt_bool pcapng247_seek_read(wtap *wth, gint64 offset, wtap_rec *rec,
                                   WT_BUFFER_PARAM int *err, char **err_info)
{
    if (!builtin_seek_read(wth, offset, rec, WT_BUFFER_ARGUMENT err, err_info))
        return FALSE;
    set_packet_encap(g_hash_table_lookup(files, wth), rec);
    return TRUE;
}

static void pcapng247_close(wtap *wth)
{
    g_hash_table_remove(files, wth);
    builtin_close(wth);
}

/* ---- opening */

wt_bool pcapng247_find_reader(void)
{
    unsigned number = open_info_name_to_type("Wireshark/... - pcapng");

    builtin_open = number ? open_routines[number - 1].open_routine : NULL;
    return builtin_open != NULL;
}

wtap_open_return_val pcapng247_open(wtap *wth, int *err, char **err_info)
{
    wtap_open_return_val result;

    if (!trust_reading(wth))
        return WTAP_OPEN_NOT_MINE;
    result = builtin_open(wth, err, err_info);
    if (result != WTAP_OPEN_MINE || !trust_interfaces(wth))
        return result;
    builtin_read = wth->subtype_read;
    builtin_seek_read = wth->subtype_seek_read;
    builtin_close = wth->subtype_close;
    learn(add_file(wth), wth, 0);
    wth->subtype_read = pcapng247_read;
    wth->subtype_seek_read = pcapng247_seek_read;
    wth->subtype_close = pcapng247_close;
    return result;
}
