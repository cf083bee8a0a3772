# SPDX-License-Identifier: GPL-2.0-or-later
# Shared code of script/bootstrap, script/package and script/demo: a line for each step that takes long, on
# stderr, and on a terminal the progress below it.
# shellcheck shell=bash
steps=0 steps_begun=0 # the program sets steps

# step TEXT: prints "PROGRAM: step N of M: TEXT"
step() {
    steps_begun=$((steps_begun + 1))
    [ $steps_begun -le "$steps" ] || steps=$steps_begun # another program has undone what was there
    echo "${0##*/}: step $steps_begun of $steps: $*" >&2
}

# logged LOG COMMAND...: runs it with its output in LOG; a terminal shows the seconds
logged() {
    local log=$1 clock="" status=0
    shift
    if [ -t 2 ]; then
        (for ((n = 1; ; n++)); do sleep 1; kill -0 $$ 2> /dev/null || exit; printf '\r%4d s' $n >&2; done) &
        clock=$!
    fi
    "$@" > "$log" 2>&1 || status=$?
    if [ -n "$clock" ]; then
        { kill "$clock"; wait "$clock"; } 2> /dev/null || true
        printf '\r\033[K' >&2
    fi
    return $status
}

# apt_progress: shows the last line of apt-get's status (APT::Status-Fd: "KIND:NAME:PERCENT:TEXT")
apt_progress() {
    local percent text
    while IFS=: read -r _ _ percent text; do
        printf '\r\033[K%4d %% %.60s' "${percent%.*}" "$text" >&2
    done
    printf '\r\033[K' >&2
}
