#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe --count and --interval on the virtual fabric while faults begin
# (tests/probe/guest/watch.sh). Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric watch
