/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of libwiretap's file-reader interface that Wireshark 4.0 and 4.4 export but publish no
 * header for.
 *
 * A reader is handed a `struct wtap` and fills in a few of its members. Their places hold within a
 * minor version and not beyond, so this header compiles for the versions that it describes and for
 * no other. What a reader has no business with is named `core_*`: it is here to keep the distance.
 * trust.h checks at run time that the description fits the library that is running.
 */
#ifndef IPOIB_WIRETAP_LAYOUT_H
#define IPOIB_WIRETAP_LAYOUT_H

#include <wireshark.h>
#include <ws_version.h>
#include <wiretap/wtap.h>

#if WIRESHARK_VERSION_MAJOR != 4 || (WIRESHARK_VERSION_MINOR != 0 && WIRESHARK_VERSION_MINOR != 4)
#error "struct wtap is described for Wireshark 4.0 and 4.4 only"
#endif

#if WIRESHARK_VERSION_MINOR == 0
typedef gboolean layout_bool; /* four octets */
#define LAYOUT_SECTION_ARRAYS 1
#define LAYOUT_BLOCK_ARRAYS   2
#else
typedef bool layout_bool; /* one octet */
#define LAYOUT_SECTION_ARRAYS 2 /* and a map from a section's interfaces to the file's */
#define LAYOUT_BLOCK_ARRAYS   3 /* and meta events */
#endif

typedef layout_bool (*subtype_read_func)(struct wtap *, wtap_rec *, Buffer *, int *, char **,
                                         gint64 *);
typedef layout_bool (*subtype_seek_read_func)(struct wtap *, gint64, wtap_rec *, Buffer *, int *,
                                              char **);

/* A file being read. */
struct wtap {
    FILE_T fh;        /* for reading from the beginning to the end */
    FILE_T random_fh; /* for reading records in any order; NULL when the file is read once */
    layout_bool core_is_pipe;
    int file_type_subtype;
    unsigned snapshot_length; /* octets */
    GArray *core_sections[LAYOUT_SECTION_ARRAYS];
    GArray *core_interfaces;
    unsigned core_next_interface;
    GArray *core_blocks[LAYOUT_BLOCK_ARRAYS];
    char *pathname;
    void *priv; /* the reader's own; the core frees it with g_free() */
    void *wslua_data;
    subtype_read_func subtype_read;
    subtype_seek_read_func subtype_seek_read;
    void (*core_sequential_close)(struct wtap *);
    void (*core_close)(struct wtap *);
    int file_encap;  /* WTAP_ENCAP_ */
    int file_tsprec; /* WTAP_TSPREC_ */
    /* more, which nothing here touches */
};

typedef layout_bool (*subtype_write_func)(struct wtap_dumper *, const wtap_rec *, const guint8 *,
                                          int *, char **);

/* A file being written. 4.0 calls file_encap `encap`; the place is the same. */
struct wtap_dumper {
    void *core_fh;
    int file_type_subtype;
    int snaplen; /* octets, 0 if not known */
    int file_encap;
    wtap_compression_type core_compression;
    layout_bool core_needs_reload;
    gint64 bytes_dumped;
    void *priv;
    void *wslua_data;
    void *core_add_interface;
    subtype_write_func subtype_write;
    /* more, which nothing here touches */
};

/*
 * Functions that libwiretap exports to its readers: their headers are not installed, or not usable
 * alone.
 */
WS_DLL_PUBLIC gint64 file_seek(FILE_T stream, gint64 offset, int whence, int *err);
WS_DLL_PUBLIC gint64 file_tell(FILE_T stream);
WS_DLL_PUBLIC layout_bool wtap_read_bytes_or_eof(FILE_T fh, void *buf, unsigned count, int *err,
                                                 char **err_info);
WS_DLL_PUBLIC layout_bool wtap_read_bytes(FILE_T fh, void *buf, unsigned count, int *err,
                                          char **err_info);
WS_DLL_PUBLIC layout_bool wtap_read_packet_bytes(FILE_T fh, Buffer *buf, unsigned length, int *err,
                                                 char **err_info);
WS_DLL_PUBLIC void wtap_add_generated_idb(struct wtap *wth);
WS_DLL_PUBLIC layout_bool wtap_dump_file_write(struct wtap_dumper *wdh, const void *buf,
                                               size_t count, int *err);

#endif
