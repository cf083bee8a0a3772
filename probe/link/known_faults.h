/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The known fault that both a fabric and a peer may show. */
#ifndef IPOIB_PROBE_KNOWN_FAULTS_H
#define IPOIB_PROBE_KNOWN_FAULTS_H

#include "probe/link/link.h"

#define KNOWN_NDR                                                                                  \
    "OpenSM does not know NDR links: packets above about 400 bytes are lost on their paths"
#define KNOWN_NDR_ADVICE "use an SM that knows NDR (OpenSM of MLNX_OFED or DOCA, UFM)"
#define KNOWN_NDR_SOURCE "https://github.com/linux-rdma/opensm/issues/38"

/* True if sysfs says that this port's link has the speed NDR. */
bool known_faults_is_ndr(const struct probe_link *l);
/* Such a link, where packets of that number of bytes pass, and larger ones are lost. */
bool known_faults_explain_ndr(const struct probe_link *l, uint32_t largest);

#endif
