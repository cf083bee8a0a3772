#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe's connections to the real kernel on the virtual fabric (tests/probe/connect.sh): what Linux does is judged rightly,
# what the probe writes is what was on the wire, and no connection is left. Results in TAP.
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

probe_on_fabric connect
