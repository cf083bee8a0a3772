# SPDX-License-Identifier: GPL-2.0-or-later
# Shared code of script/test and .ci/run.
# shellcheck shell=bash disable=SC2034
interrupted="" # the signal that in_group has forwarded

# in_group COMMAND...: runs it in a session of its own, and returns its exit status. A signal to this
# shell ends all processes of the session, so that no compiler or package manager goes on alone.
in_group() {
    local name status=0
    setsid "$@" < /dev/null &
    for name in TERM INT HUP; do
        # shellcheck disable=SC2064
        trap "interrupted=SIG$name; kill -TERM -- -$! 2> /dev/null || kill -TERM $! 2> /dev/null || :" $name
    done
    while :; do
        wait $! && status=0 || status=$?
        kill -0 $! 2> /dev/null || break # wait has not ended because of a signal
    done
    # If the command ended between the two, that is the status of the signal.
    wait $! && status=0 || status=$?
    trap - TERM INT HUP
    return $status
}
