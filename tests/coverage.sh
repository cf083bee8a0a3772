#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests run at least 95 % of the lines of each of wire, model and rules (script/coverage).
# test: here-only
# test: timeout=1800
"$IPOIB_SRC/script/bootstrap" --with coverage --packages-only || { echo "1..0 # SKIP gcovr cannot be installed here"; exit 0; }
"$IPOIB_SRC/script/coverage" > "$IPOIB_BUILD/coverage.log" 2>&1
status=$?
[ $status = 0 ] || cat "$IPOIB_BUILD/coverage.log"
sed -n 's/^\([a-z]*: .* of [0-9]* lines\)$/# remark: coverage of \1/p' "$IPOIB_BUILD/coverage.log"
[ $status = 0 ] && echo "ok 1 - at least 95 % of the lines of wire, model and rules are run" || echo "not ok 1 - coverage"
echo 1..1
exit $status
