#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The host's interface comes up while ipoib-probe runs on the virtual fabric (tests/probe/guest/comes_up.sh):
# the interface stays in its groups. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

probe_on_fabric comes_up
