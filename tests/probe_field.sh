#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe in the field, on the virtual fabric (tests/probe/field.sh): sweeps, through a network interface, and the pains of
# administrators, each made and then named. Results in TAP.
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

probe_on_fabric field
