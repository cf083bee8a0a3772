/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choice of a sniffer. See choice.h. */
#include "capture/choice.h"

#include "capture/firmware/firmware.h"
#include "capture/receive/sniffer.h"
#include "cli/fail.h"

enum { IS_SM = 1 << 1 }; /* CapabilityMask (IBA 14.2.5.6) */

enum sniffer_kind choice_of_sniffer(const struct device *device, enum sniffer_kind wanted)
{
    if (wanted != SNIFFER_AUTO)
        return wanted;
    return firmware_is_usual(device) ? SNIFFER_FIRMWARE : SNIFFER_VERBS;
}

const char *choice_name(enum sniffer_kind sniffer)
{
    static const char *const names[] = {[SNIFFER_AUTO] = "auto",
                                        [SNIFFER_VERBS] = "verbs",
                                        [SNIFFER_FIRMWARE] = "firmware",
                                        [SNIFFER_IBDUMP] = "ibdump"};

    return names[sniffer];
}

bool choice_try(struct device *device, const char *library, GError **error)
{
    struct refusal refusal;
    char cause[400];

    if (choice_of_sniffer(device, SNIFFER_AUTO) == SNIFFER_FIRMWARE)
        return firmware_try(device, library, error);
    refusal = sniffer_try(device);
    if (refusal.step == REFUSED_NOT)
        return true;
    refusal_cause(device, refusal, cause, sizeof(cause));
    return fail_with(error, "%s", cause);
}

bool choice_has_sm(const struct device *device)
{
    return !device_is_ethernet(device) && (device->port_attr.port_cap_flags & IS_SM);
}
