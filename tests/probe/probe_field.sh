#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe in the field, on the virtual fabric (tests/probe/guest/field.sh): sweeps, probes through a network interface, and the
# usual faults of a fabric, each of which the probe must name. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric field
