#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The IPv6 address of ipoib-probe's --source on the virtual fabric (tests/probe/guest/source.sh): the probe defends it, and gives it
# up if another node has it. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric source
