#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every capture with random octets goes through tshark and the plugin, as it does a thousand times by hand (script/noise).
# Results in TAP.
# test: here-only
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

NOISE=0.01 "$src/script/noise" 2 > "$work/said" 2>&1
tap $? "$(tail -1 "$work/said")" "$work/said"
finish
