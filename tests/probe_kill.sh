#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe is killed and interrupted at random times on the virtual fabric (tests/probe/kill.sh): the
# host keeps its memberships and addresses. Arguments: TIMES (50) SEED. Results in TAP.
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

FABRIC_TIMEOUT=1100 probe_on_fabric kill "$@"
