# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of ipoib-check, ipoib-probe and ipoib-capture in bash. Written by script/completions.

# _ipoib_words WORDS [PREFIX]: those that start with $cur
_ipoib_words() { mapfile -t COMPREPLY < <(compgen ${2:+-P "$2"} -W "$1" -- "$cur"); }

# A list with commas: the last word of it.
_ipoib_list() {
    local before=${cur%"${cur##*,}"}
    cur=${cur##*,}
    _ipoib_words "$1" "$before"
}

_ipoib_files() {
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_ipoib_folders() {
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

# InfiniBand devices; ipoib-probe takes IPoIB interfaces (hardware type 32) too.
_ipoib_devices() {
    local path type names=""
    for path in /sys/class/infiniband/*; do
        [ ! -e "$path" ] || names+=" ${path##*/}"
    done
    for path in /sys/class/net/*; do
        [ "$command" = ipoib-probe ] && read -r type 2> /dev/null < "$path/type" && [ "$type" = 32 ] || continue
        names+=" ${path##*/}"
    done
    _ipoib_words "$names"
}

# Rules, and the stages of ipoib-probe.
_ipoib_identifiers() {
    _ipoib_words "$("${program/#\~/${HOME-}}" --list 2> /dev/null |
        sed -nE 's/^ *(rule +)?([a-z][a-z0-9]*(\.[a-z0-9-]+)+)( .*)?$/\2/p' | sort -u)"
}

# Known deviations by name, or a file.
_ipoib_deviations() {
    local files
    _ipoib_files
    files=("${COMPREPLY[@]}")
    _ipoib_words "linux none"
    COMPREPLY+=("${files[@]}")
}

# Completes the value of an option, and fails if the option has none.
_ipoib_value() {
    case "$command $1" in
    'ipoib-check --format') _ipoib_words "text json junit tap jsonl" ;;
    'ipoib-check --deviations') _ipoib_deviations ;;
    'ipoib-check --interfaces') _ipoib_words "auto one each" ;;
    'ipoib-check --only') _ipoib_identifiers ;;
    'ipoib-check --require') _ipoib_identifiers ;;
    'ipoib-check --min-judged') : ;;
    'ipoib-check --fail-on') _ipoib_words "violated suspected" ;;
    'ipoib-check --baseline') _ipoib_files ;;
    'ipoib-check --node') : ;;
    'ipoib-check --annotate') _ipoib_files ;;
    'ipoib-check -o' | 'ipoib-check --output') _ipoib_files ;;
    'ipoib-check --explain') _ipoib_identifiers ;;
    'ipoib-probe -d' | 'ipoib-probe --device') _ipoib_devices ;;
    'ipoib-probe -p' | 'ipoib-probe --port') : ;;
    'ipoib-probe --pkey') : ;;
    'ipoib-probe --source') : ;;
    'ipoib-probe --only') _ipoib_identifiers ;;
    'ipoib-probe --deviations') _ipoib_deviations ;;
    'ipoib-probe --format') _ipoib_words "text json junit tap jsonl prometheus" ;;
    'ipoib-probe --node') : ;;
    'ipoib-probe -o' | 'ipoib-probe --output') _ipoib_files ;;
    'ipoib-probe -w' | 'ipoib-probe --write') _ipoib_files ;;
    'ipoib-probe --rate') : ;;
    'ipoib-probe --timeout') : ;;
    'ipoib-probe --count') : ;;
    'ipoib-probe --interval') : ;;
    'ipoib-probe --baseline') _ipoib_files ;;
    'ipoib-probe --state') _ipoib_folders ;;
    'ipoib-probe --delay-up-to') : ;;
    'ipoib-probe --explain') _ipoib_identifiers ;;
    'ipoib-capture -d' | 'ipoib-capture --ib-dev') _ipoib_devices ;;
    'ipoib-capture -i' | 'ipoib-capture --ib-port') : ;;
    'ipoib-capture -w' | 'ipoib-capture --write') _ipoib_files ;;
    'ipoib-capture -o' | 'ipoib-capture --output') _ipoib_files ;;
    'ipoib-capture -b' | 'ipoib-capture --max-burst') : ;;
    'ipoib-capture -M' | 'ipoib-capture --mem-mode') : ;;
    'ipoib-capture -p' | 'ipoib-capture --writer-thread') : ;;
    'ipoib-capture -I' | 'ipoib-capture --direction') _ipoib_words "tx rx" ;;
    'ipoib-capture --erf') _ipoib_words "0 1" ;;
    'ipoib-capture -q' | 'ipoib-capture --src_qp') : ;;
    'ipoib-capture -m' | 'ipoib-capture --mst-dev') _ipoib_devices ;;
    'ipoib-capture --format') _ipoib_words "erf pcapng" ;;
    'ipoib-capture --mode') _ipoib_words "sniffer multicast" ;;
    'ipoib-capture --sniffer') _ipoib_words "auto verbs firmware ibdump" ;;
    'ipoib-capture --mstflint-library') _ipoib_files ;;
    'ipoib-capture --ibdump') _ipoib_files ;;
    'ipoib-capture -r' | 'ipoib-capture --read') _ipoib_files ;;
    'ipoib-capture --pkey') : ;;
    'ipoib-capture --groups') _ipoib_words "all broadcast" ;;
    'ipoib-capture --count') : ;;
    'ipoib-capture --duration') : ;;
    'ipoib-capture --only') _ipoib_list "ipoib cm sa smp" ;;
    'ipoib-capture --snaplen') : ;;
    'ipoib-capture --ring-size') : ;;
    'ipoib-capture --ring-packets') : ;;
    'ipoib-capture --ring-time') : ;;
    'ipoib-capture --ring-files') : ;;
    'ipoib-capture --comment') : ;;
    'ipoib-capture convert -f' | 'ipoib-capture convert --format') _ipoib_list "erf 247 pcap pcapng raw" ;;
    'ipoib-capture convert --share-key') _ipoib_files ;;
    *) return 1 ;;
    esac
}

_ipoib_options() {
    case $command in
    'ipoib-check') echo "--format --strict --deviations --interfaces --only --require --min-judged --fail-on --baseline --merge --node --annotate --output --verbose --list --explain --help --version" ;;
    'ipoib-probe') echo "--device --port --all-ports --pkey -4 -6 --source --only --why --disruptive --strict --deviations --format --verbose --node --output --write --rate --timeout --count --interval --baseline --nagios --state --delay-up-to --dry-run --list --explain --help --version" ;;
    'ipoib-capture') echo "--ib-dev --ib-port --write --output --max-burst --silent --conti --mem-mode --writer-thread --decap --direction --jumbo-mtu --erf --src_qp --mst-dev --a0-mode --help --version --format --mode --sniffer --mstflint-library --ibdump --read --pkey --groups --count --duration --only --snaplen --ring-size --ring-packets --ring-time --ring-files --comment --list" ;;
    'ipoib-capture convert') echo "--format --share --share-key --help" ;;
    esac
}

_ipoib_operands() {
    case $command in
    ipoib-probe) _ipoib_words "fabric node"
        ! declare -F _known_hosts_real > /dev/null || _known_hosts_real -- "$cur" ;;
    ipoib-capture) [ "$COMP_CWORD" != 1 ] || _ipoib_words convert ;;
    *) _ipoib_files ;;
    esac
}

_ipoib() {
    local program=$1 command=${1##*/} cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    [ "$command" != ipoib-capture ] || [ "$COMP_CWORD" = 1 ] || [ "${COMP_WORDS[1]}" != convert ] ||
        command="ipoib-capture convert"
    # "--format=json" is three words, because bash breaks words at "=".
    if [ "$cur" = = ]; then
        cur=""
    elif [ "$option" = = ]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    ! _ipoib_value "$option" || return 0
    case $cur in
    -*) _ipoib_words "$(_ipoib_options)" ;;
    *) _ipoib_operands ;;
    esac
}

complete -F _ipoib ipoib-check ipoib-probe ipoib-capture
