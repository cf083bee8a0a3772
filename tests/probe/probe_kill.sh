#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe is killed and interrupted at random times on the virtual fabric (tests/probe/guest/kill.sh): the
# host keeps its memberships and addresses. Arguments: TIMES (50) SEED. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

FABRIC_TIMEOUT=1100 probe_on_fabric kill "$@"
