/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of libwiretap's file-reader interface that Wireshark 4.0, 4.2 and 4.4 export without
 * an installed header.
 *
 * A reader gets a `struct wtap` and sets a few of its members. Their offsets are stable only within
 * a minor version, so this header compiles only for the versions that it describes. Members named
 * `core_*` must not be used by a reader; they are here only for the layout. trust.h checks at run
 * time that this description matches the running library.
 */
#ifndef IPOIB_WIRETAP_LAYOUT_H
#define IPOIB_WIRETAP_LAYOUT_H

#include <wireshark.h>
#include <ws_version.h>
#include <wiretap/wtap.h>

#if WIRESHARK_VERSION_MAJOR != 4 ||                                                                \
    (WIRESHARK_VERSION_MINOR != 0 && WIRESHARK_VERSION_MINOR != 2 && WIRESHARK_VERSION_MINOR != 4)
#error "struct wtap is described for Wireshark 4.0, 4.2 and 4.4 only"
#endif

#if WIRESHARK_VERSION_MINOR < 4
typedef gboolean layout_bool; /* 4 bytes */
#else
typedef bool layout_bool; /* 1 byte */
#endif
#if WIRESHARK_VERSION_MINOR == 0
#define LAYOUT_BLOCK_ARRAYS 2
#else
#define LAYOUT_BLOCK_ARRAYS 3 /* also meta events */
#endif

typedef layout_bool (*subtype_read_func)(struct wtap *, wtap_rec *, Buffer *, int *, char **,
                                         gint64 *);
typedef layout_bool (*subtype_seek_read_func)(struct wtap *, gint64, wtap_rec *, Buffer *, int *,
                                              char **);

/* A file being read. */
struct wtap {
    FILE_T fh;        /* for sequential reading */
    FILE_T random_fh; /* for random access; NULL when the file is read once */
    layout_bool core_is_pipe;
    int file_type_subtype;
    unsigned snapshot_length; /* bytes */
    GArray *shb_hdrs;         /* pcapng sections, as wtap_block_t */
#if WIRESHARK_VERSION_MINOR >= 4
    GArray *core_section_interfaces;
#endif
    GArray *interface_data; /* pcapng interfaces, as wtap_block_t */
    unsigned core_next_interface;
    GArray *core_blocks[LAYOUT_BLOCK_ARRAYS];
    char *pathname;
    void *priv; /* private data of the reader; the core frees it with g_free() */
    void *wslua_data;
    subtype_read_func subtype_read;
    subtype_seek_read_func subtype_seek_read;
    void (*core_sequential_close)(struct wtap *);
    void (*subtype_close)(struct wtap *);
    int file_encap;  /* WTAP_ENCAP_ */
    int file_tsprec; /* WTAP_TSPREC_ */
    /* more members, not used here */
};

/*
 * Functions that libwiretap exports to its readers. Their headers are not installed, or cannot be
 * included alone.
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

#endif
