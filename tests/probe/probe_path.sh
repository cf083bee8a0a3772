#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe names the link between switches that damages packets, and waits for a slow SA, on the
# virtual fabric (tests/probe/guest/path.sh). Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric path
