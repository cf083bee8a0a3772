#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe against the real kernel on the virtual fabric (tests/probe/guest/kernel.sh): a healthy peer conforms in both modes, faults
# of the fabric are reported, and no membership remains. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric kernel
