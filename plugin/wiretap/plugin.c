/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that Wireshark's plugin loader looks up, and the registration of the open
 * routines.
 */
#include "plugin/wiretap/pcap247.h"
#include "plugin/wiretap/pcapng247.h"
#include "plugin/wiretap/trust.h"

#include <wiretap/pcap-encap.h>
#if WIRESHARK_AT_LEAST(4)
#include <wsutil/array.h>
#include <wsutil/plugins.h>
#endif

WS_DLL_PUBLIC_DEF const char plugin_version[] = PLUGIN_VERSION;
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;
WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC uint32_t plugin_describe(void);

static struct open_info for_pcap = {
    .name = "Wireshark/libpcap pcap, InfiniBand link type (247)",
    .type = OPEN_INFO_MAGIC,
    .open_routine = pcap247_open,
};

static struct open_info for_pcapng = {
    .name = "Wireshark/... pcapng, also InfiniBand link type (247)",
    .type = OPEN_INFO_MAGIC,
    .open_routine = pcapng247_open,
};

static void register_readers(void)
{
    /*
     * Do nothing if Wireshark maps link type 247 itself, or if a second copy of this plugin is
     * loaded.
     */
    if (wtap_pcap_encap_to_wtap_encap(LINKTYPE_INFINIBAND) != WTAP_ENCAP_UNKNOWN ||
        wtap_has_open_info(for_pcap.name) || !trust_version())
        return;

    /* first, because Wireshark's pcap reader rejects 247 with an error */
    wtap_register_open_info(&for_pcap, TRUE);
    if (pcapng247_find_reader())
        wtap_register_open_info(&for_pcapng, TRUE);
}

void plugin_register(void)
{
    static wtap_plugin plugin = {.register_wtap_module = register_readers};

    wtap_register_plugin(&plugin);
}

/* 4.4 and later call this for the list of plugins. */
uint32_t plugin_describe(void)
{
#if WIRESHARK_AT_LEAST(4)
    return WS_PLUGIN_DESC_FILE_TYPE;
#else
    return 0;
#endif
}
