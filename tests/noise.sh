#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every capture with random octets goes through tshark and the plugin, as it does a thousand times by hand (script/noise).
# test: here-only
# Environment: IPOIB_SRC.
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
said=$(NOISE=0.01 "$src/script/noise" 2 2>&1)
status=$?
if [ $status = 0 ]; then echo "ok 1 - ${said##*$'\n'}"
else echo "not ok 1 - noise"; tail -40 <<< "$said" | sed 's/^/# /'; fi
echo "1..1"
exit $status
