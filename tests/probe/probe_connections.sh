#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe's connections to the real kernel on the virtual fabric (tests/probe/guest/connect.sh): the results for Linux are
# right, the probe's capture has the packets of the wire, and no connection remains. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric connect
