/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the running libwiretap against the version and layout that this plugin was compiled for.
 */
#define WS_LOG_DOMAIN "ipoib-pcap247"

#include "plugin/wiretap/trust.h"

#include <stdio.h>

#include <wsutil/wslog.h>
#if WIRESHARK_AT_LEAST(4)
#include <wsutil/version_info.h>
#else
#include <wsutil/filesystem.h>
#endif

#define BUILT_FOR G_STRINGIFY(WIRESHARK_VERSION_MAJOR) "." G_STRINGIFY(WIRESHARK_VERSION_MINOR)

static void running_version(int *major, int *minor)
{
    *major = *minor = -1;
#if WIRESHARK_AT_LEAST(4)
    int micro;
    get_ws_version_number(major, minor, &micro);
#else
    /*
     * 4.0 shows its version to file readers only in the last component of its plugin folder's path.
     */
    const char *folder = get_plugins_dir_with_version();
    char *name = g_path_get_basename(folder ? folder : "");
    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is not a version either */
    if (sscanf(name, "%d%*1[.-]%d", major, minor) != 2)
        *major = *minor = -1;
    g_free(name);
#endif
}

wt_bool trust_version(void)
{
    int major, minor;

    running_version(&major, &minor);
    if (major == WIRESHARK_VERSION_MAJOR && minor == WIRESHARK_VERSION_MINOR)
        return TRUE;
    ws_warning("built for Wireshark " BUILT_FOR
               ", running in %d.%d: captures of link type 247 will not open",
               major, minor);
    return FALSE;
}

static wt_bool warn_unless(wt_bool agrees, const char *what)
{
    static wt_bool reported;

    if (!agrees && !reported) {
        reported = TRUE;
        ws_warning("%s of this Wireshark is not laid out as in the " BUILT_FOR
                   " that this plugin was built for: "
                   "captures of link type 247 will not open",
                   what);
    }
    return agrees;
}

/*
 * Checks the members at both ends of the part that this plugin uses. All are written before they
 * are read, so that members that overlap are found, too.
 */
static wt_bool reads_back(wtap *wth)
{
    wtap saved = *wth;
    wt_bool agrees;

    wth->file_type_subtype = 0x5a01;
    wth->snapshot_length = 0x5a02;
    wth->file_encap = 0x5a03;
    wth->file_tsprec = 0x5a04;
    agrees = wtap_file_type_subtype(wth) == 0x5a01 && wtap_snapshot_length(wth) == 0x5a02 &&
             wtap_file_encap(wth) == 0x5a03 && wtap_file_tsprec(wth) == 0x5a04;
    wth->file_tsprec = saved.file_tsprec;
    wth->file_encap = saved.file_encap;
    wth->snapshot_length = saved.snapshot_length;
    wth->file_type_subtype = saved.file_type_subtype;
    return agrees;
}

/*
 * Checks the only member in the middle that has an accessor. `priv` and the two read functions are
 * next to it.
 */
static wt_bool middle_reads_back(wtap *wth)
{
    void *saved = wth->wslua_data;
    wt_bool agrees;

    wth->wslua_data = wth;
    agrees = wtap_uses_lua_filehandler(wth);
    wth->wslua_data = NULL;
    agrees = agrees && !wtap_uses_lua_filehandler(wth);
    wth->wslua_data = saved;
    return agrees;
}

wt_bool trust_reading(wtap *wth)
{
    /* Members that the core has set, and members that it leaves to the reader. */
    wt_bool agrees = wth->fh != NULL && wth->pathname != NULL && wth->priv == NULL &&
                     wth->wslua_data == NULL;

    return warn_unless(agrees && reads_back(wth) && middle_reads_back(wth), "struct wtap");
}

wt_bool trust_interfaces(wtap *wth)
{
    wtapng_iface_descriptions_t *interfaces = wtap_file_get_idb_info(wth);
    wt_bool agrees = interfaces->interface_data == wth->interface_data &&
                     wtap_file_get_num_shbs(wth) == wth->shb_hdrs->len && wth->priv != NULL &&
                     wth->subtype_read != NULL && wth->subtype_seek_read != NULL &&
                     wth->subtype_close != NULL;

    g_free(interfaces);
    return warn_unless(agrees, "struct wtap");
}
