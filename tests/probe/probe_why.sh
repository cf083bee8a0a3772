#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe finds out on the virtual fabric why a peer does not reply
# (tests/probe/guest/why.sh). Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric why
