#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cppcheck, clang-tidy and the others of script/lint find nothing. Results in TAP.
# test: here-only
# test: timeout=1800
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

"$src/script/bootstrap" --with lint --packages-only || skip_all "cppcheck and clang-tidy cannot be installed here"
try "script/lint" "$src/script/lint"
finish
