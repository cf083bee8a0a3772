/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hides the API differences between Wireshark 4.0, 4.2, 4.4 and 4.6. */
#ifndef IPOIB_PLUGIN_COMPAT_H
#define IPOIB_PLUGIN_COMPAT_H

#include <wireshark.h>
#include <ws_version.h>

#define WS_AT_LEAST(major, minor)                                                                  \
    (WIRESHARK_VERSION_MAJOR > (major) ||                                                          \
     (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

#if !WS_AT_LEAST(4, 0)
#error "Wireshark 4.0 or later is needed"
#endif

/* 4.6 moved true_false_string into its own header. */
#if WS_AT_LEAST(4, 6)
#include <epan/tfs.h>
#endif

/*
 * Returns an unsigned preference of another protocol, or 0 if it does not exist. 4.6 changed the
 * lookup to two steps.
 */
#include <epan/prefs.h>
#if WS_AT_LEAST(4, 6)
#include <epan/prefs-int.h>
static inline unsigned preference_uint(const char *module, const char *name)
{
    module_t *m = prefs_find_module(module);
    pref_t *p = m ? prefs_find_preference(m, name) : NULL;
    return p && prefs_get_type(p) == PREF_UINT ? prefs_get_uint_value(p, pref_current) : 0;
}
#else
static inline unsigned preference_uint(const char *module, const char *name)
{
    module_t *m = prefs_find_module(module);
    return m && prefs_find_preference(m, name) ? prefs_get_uint_value(module, name) : 0;
}
#endif

/*
 * Exporting this packet also exports that one. 4.0 takes the packet, 4.4 takes its frame data; the
 * compiler knows which.
 */
#include <epan/packet.h>
typedef void (*mark_by_packet)(packet_info *, uint32_t);
typedef void (*mark_by_data)(frame_data *, uint32_t);
#define MARKED_BY(pinfo)                                                                           \
    _Generic(&mark_frame_as_depended_upon, mark_by_packet : (pinfo), mark_by_data : (pinfo)->fd)
static inline void depend_on_frame(packet_info *pinfo, uint32_t number)
{
    mark_frame_as_depended_upon(MARKED_BY(pinfo), number);
}

/* tvb_get_guint8 was renamed in 4.4. */
#if !WS_AT_LEAST(4, 4)
#define tvb_get_uint8 tvb_get_guint8
#endif

/* 4.4 changed the return type of heuristic dissectors and the reassembly flags to bool. */
#if WS_AT_LEAST(4, 4)
typedef bool ws_bool;
#else
typedef gboolean ws_bool;
#endif

/*
 * Since 4.6 the init routine of a -z option returns whether it succeeded; before, it ended the
 * program on failure.
 */
#if WS_AT_LEAST(4, 6)
typedef bool stat_init_result;
#define STAT_INIT_OK     return true
#define STAT_INIT_FAILED return false
#else
typedef void stat_init_result;
#define STAT_INIT_OK     return
#define STAT_INIT_FAILED exit(1)
#endif

#endif
