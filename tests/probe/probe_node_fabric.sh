#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe node on the virtual fabric, while faults of cable, SM, partition and membership come and go
# (tests/probe/guest/node.sh). Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric node
