#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe names causes that the peer's replies hide, and faults of the subnet manager, on the virtual
# fabric (tests/probe/guest/causes.sh). Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric causes
