#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests run at least 95 % of the lines of each of wire, model and rules (script/coverage). Results in TAP.
# test: here-only
# test: timeout=1800
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

"$src/script/bootstrap" --with coverage --packages-only || skip_all "gcovr cannot be installed here"
log=$IPOIB_BUILD/coverage.log
"$src/script/coverage" > "$log" 2>&1
tap $? "at least 95 % of the lines of wire, model and rules are run" "$log"
sed -n 's/^\([a-z]*: .* of [0-9]* lines\)$/# remark: coverage of \1/p' "$log"
finish
