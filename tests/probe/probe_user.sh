#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an ordinary user can do with ipoib-probe and ipoib-capture on the virtual fabric: without rights, with the devices of
# packaging/privileges, and with CAP_NET_RAW (tests/probe/guest/user.sh). Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

mkdir -p "$work/out" && cp "$bin/ipoib-capture" "$src"/packaging/privileges/* "$work/out/" || exit 1
probe_on_fabric user
