#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe on a host with three adapters on two subnets of the virtual fabric (tests/probe/guest/ports.sh): which port it uses, and
# the fabric of all ports. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric ports
