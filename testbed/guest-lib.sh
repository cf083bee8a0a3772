# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for scripts that run in the fabric's machine (see README.md).

# fabric_until COMMAND...: waits until COMMAND succeeds; fails after FABRIC_PATIENCE seconds, which testbed/fabric sets. The limit is
# long, because the machine's clock continues while a loaded host stops the machine or its file system.
fabric_until() {
    local end=$((SECONDS+FABRIC_PATIENCE))
    until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}

# fabric_up [topo=FILE] [MODULE PARAMETER...]: loads the HCAs; parameters nhca topo ibmtu loss_ppm cap_mode cap_lost ...
# topo=FILE reads the cables from a file (README.md; a name without / is a file of topologies/). New HCAs would give the interface
# of every node the same QPN. HCA i first uses 16 i QPNs, so that confused QPNs are visible in captures.
fabric_up() {
    local d arg i=0 parameters=()
    sysctl -q -w kernel.printk="3 4 1 7"
    for arg; do
        case $arg in
        topo=[01]) parameters+=("$arg") ;;
        topo=*) arg=$(fabric_links "${arg#topo=}") || return 1; parameters+=("links=$arg") ;;
        *) parameters+=("$arg") ;;
        esac
    done
    modprobe -a ib_umad ib_uverbs rdmavt rdma_ucm && insmod "$FABRIC_MODULE" "${parameters[@]}" ||
        { dmesg | grep 'vqib:' | tail -2 >&2; return 1; }
    for d in $(ls /sys/class/infiniband | sort -V); do
        [ $i = 0 ] || qpn-skip "$d" $((16*i)) || return 1
        i=$((i+1))
    done
    modprobe ib_ipoib || return 1
    fabric_until [ -e /dev/vqib_wire ] || { echo "fabric_up: no /dev/vqib_wire" >&2; return 1; }
}

# fabric_links FILE: prints a topology file as the value of the module parameter "links"
fabric_links() {
    local file=$1
    [ "${file#*/}" != "$file" ] || file=$FABRIC_TESTBED/topologies/$file.topo
    [ -r "$file" ] || { echo "fabric_up: cannot read $file" >&2; return 1; }
    awk '{ sub(/#.*/, "") } NF == 0 { next } NF != 2 { print FILENAME ":" FNR ": not two ends" > "/dev/stderr"; exit 1 }
        { printf "%s%s:%s", n++ ? "," : "", $1, $2 }' "$file"
}

# fabric_interfaces_are_back: the interfaces of all HCAs are in the first network namespace again
fabric_interfaces_are_back() { [ "$(ls /sys/class/net | grep -c '^ib')" = "$(ls /sys/class/infiniband | wc -l)" ]; }

# fabric_down: ends the network namespaces, IPoIB, OpenSM and the HCAs. OpenSM ends after IPoIB, because without the SA the kernel
# waits 13 s for responses to the interfaces' leaves.
fabric_down() {
    local n
    for n in $(ip netns list | cut -d' ' -f1); do ip netns pids "$n" | xargs -r kill; ip netns del "$n"; done
    fabric_until fabric_interfaces_are_back
    rmmod ib_ipoib || return 1
    [ -z "${FABRIC_SM:-}" ] || { kill "$FABRIC_SM"; wait "$FABRIC_SM"; } 2>/dev/null
    FABRIC_SM=
    rmmod vqib
}

# fabric_set PARAMETER VALUE: changes loss_ppm, cap_mode, cap_lost or rxq_max at run time
fabric_set() { echo "$2" > "/sys/module/vqib/parameters/$1"; }

# fabric_fault END NAME=VALUE...: sets the faults of packets that leave by END (h0, s0.1, ...; "all" is every end) from now on
fabric_fault() {
    local where=$1 fault end; shift
    [ "$where" != all ] || where='*'
    for fault; do
        for end in /sys/kernel/debug/vqib/$where; do echo "${fault#*=}" > "$end/${fault%%=*}" || return 1; done
    done
}

# fabric_rewrite END RULE...: adds rules that change packets that leave by END (README.md); off: deletes all its rules
fabric_rewrite() {
    local end=$1 rule; shift
    for rule; do echo "$rule" > "/sys/kernel/debug/vqib/$end/rewrite" || return 1; done
}

# fabric_count END COUNTER: prints the counter; END "all": the sum of all ends
fabric_count() {
    local where=$1
    [ "$where" != all ] || where='*'
    awk -v name="$2" '$1 == name { n += $2; found = 1 } END { if (found) printf "%.0f\n", n }' /sys/kernel/debug/vqib/$where/counters
}

# fabric_port END DOWN|UP: unplugs the cable at that end, or plugs it in again
fabric_port() {
    case $2 in
    DOWN) echo 0 ;;
    UP) echo 1 ;;
    *) echo "fabric_port: DOWN or UP" >&2; return 1 ;;
    esac > "/sys/kernel/debug/vqib/$1/cable"
}

# fabric_active END: waits until the SM has made that port Active
fabric_active() { fabric_await "/sys/kernel/debug/vqib/$1/state" '^Active'; }

# fabric_sm [OPENSM OPTION...]: starts OpenSM on the first HCA; returns when its first sweep has ended and every port is ACTIVE
# (an earlier OpenSM may have left ports ACTIVE). Its log is /tmp/osm/log, flushed after each line (-d 2).
fabric_sm() {
    mkdir -p /tmp/osm; rm -f /tmp/osm/log
    OSM_CACHE_DIR=/tmp/osm OSM_TMP_DIR=/tmp/osm \
        opensm -d 2 -g 0x0011750000000100 -f /tmp/osm/log "$@" >/tmp/osm/out 2>&1 &
    FABRIC_SM=$!
    fabric_until fabric_sm_is_done && fabric_is_swept || { echo "fabric_sm: OpenSM has ended, or not every port is ACTIVE" >&2; return 1; }
}
fabric_sm_is_done() { fabric_is_swept || ! kill -0 "$FABRIC_SM" 2>/dev/null; }
fabric_is_swept() { grep -qsE 'SUBNET UP|Errors during initialization' /tmp/osm/log && fabric_is_active; }
fabric_is_active() { ! cat /sys/class/infiniband/*/ports/1/state | grep -qv ACTIVE; }

# fabric_nets [MODE[:MTU]]...: moves ib0, ib1, ... to the network namespaces n0, n1, ... with the addresses 10.0.0.1/24, ... MODE
# is datagram or connected; the last one applies to all following interfaces. Returns when all links run.
fabric_nets() {
    local spec=${1:-datagram} i=0 d
    for d in $(ls /sys/class/net | grep '^ib' | sort -V); do
        [ $# -gt 0 ] && { spec=$1; shift; }
        ip netns add n$i; echo "${spec%%:*}" > "/sys/class/net/$d/mode"
        ip link set "$d" netns n$i; ip -n n$i link set lo up
        [ "${spec#*:}" != "$spec" ] && ip -n n$i link set "$d" mtu "${spec#*:}"
        ip -n n$i addr add 10.0.0.$((i+1))/24 dev "$d"; ip -n n$i link set "$d" up; i=$((i+1))
    done
    for d in $(seq 0 $((i-1))); do fabric_link "$d" "ib$d" || return 1; done
}

# fabric_link NODE INTERFACE: waits until the interface has joined its broadcast group and runs
fabric_link() {
    fabric_until fabric_runs "$@" || { echo "fabric_link: $2 of n$1 does not run" >&2; return 1; }
}
fabric_runs() { ip -n "n$1" link show "$2" up | grep -q LOWER_UP; }

# fabric_address NODE INTERFACE: prints its link-layer address, 20 octets with colons
fabric_address() { ip -n "n$1" -o link show "$2" | grep -oE 'link/infiniband [0-9a-f:]+' | cut -d' ' -f2; }

# fabric_child NODE P_KEY ADDRESS [MODE[:MTU]]: creates a child interface ibNODE.P_KEY (four hex digits) with ADDRESS/24; returns
# when its link runs
fabric_child() {
    local d=ib$1.$2 spec=${4:-datagram}
    ip -n "n$1" link add link "ib$1" name "$d" type ipoib pkey "0x$2" mode "${spec%%:*}" || return 1
    [ "${spec#*:}" = "$spec" ] || ip -n "n$1" link set "$d" mtu "${spec#*:}"
    ip -n "n$1" addr add "$3/24" dev "$d" && ip -n "n$1" link set "$d" up && fabric_link "$1" "$d"
}

# fabric_on NODE COMMAND...: runs COMMAND in the NODE's network namespace
fabric_on() { local n=$1; shift; ip netns exec "n$n" "$@"; }

# fabric_ibping HCA LID: waits until the server at LID (ibping -S) replies to that HCA
fabric_ibping() { fabric_until fabric_ibping_comes_back "$@"; }
fabric_ibping_comes_back() { ibping -C "$1" -c 2 "$2" 2>&1 | tee /dev/stderr | grep -q ' 2 received'; }

# fabric_settled: waits until duplicate address detection has ended in all nodes, 10 s at most
fabric_settled() { FABRIC_PATIENCE=10 fabric_until fabric_has_addresses; }
fabric_has_addresses() {
    local node
    ! for node in $(ip netns list | cut -d' ' -f1); do ip -n "$node" -6 -o addr show tentative; done | grep -q .
}

# fabric_link_local NODE INTERFACE: prints its link-local address, when duplicate address detection has ended there and in all nodes
fabric_link_local() {
    fabric_until fabric_has_link_local "$@" || { echo "fabric_link_local: $2 of n$1 has none" >&2; return 1; }
    fabric_settled
    ip -n "n$1" -6 -o addr show dev "$2" scope link -tentative | awk '{ sub("/.*", "", $4); print $4; exit }'
}
fabric_has_link_local() { ip -n "n$1" -6 -o addr show dev "$2" scope link -tentative | grep -q .; }

# fabric_join NODE INTERFACE GROUP: makes NODE a member of an IPv4 or IPv6 group until fabric_leave
fabric_join() {
    ip netns exec "n$1" python3 -c '
import signal, socket, struct, sys
index = socket.if_nametoindex(sys.argv[1]); group = sys.argv[2]
if ":" in group:
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    group = socket.inet_pton(socket.AF_INET6, group)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack("@i", index))
else:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    group = socket.inet_aton(group)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + struct.pack("@4xi", index))
signal.pause()' "$2" "$3" &
    FABRIC_MEMBERS="$FABRIC_MEMBERS $!"
    fabric_until fabric_is_member "$@" || { echo "fabric_join: no $3 on $2 of n$1" >&2; return 1; }
}
fabric_is_member() { ip -n "n$1" maddr show dev "$2" | grep -qw "$3"; }
# fabric_leave: leaves the groups that fabric_join joined
fabric_leave() { kill $FABRIC_MEMBERS; wait $FABRIC_MEMBERS 2>/dev/null; FABRIC_MEMBERS=; }

# fabric_await FILE PATTERN: waits until a line of FILE matches
fabric_await() {
    fabric_until grep -qs "$2" "$1" || { echo "fabric_await: no $2 in $1" >&2; return 1; }
}

# fabric_capture FILE: writes every packet on the wire from now on to /fabric-out/FILE: pcap, LINKTYPE 247, nanoseconds
fabric_capture() { cat /dev/vqib_wire > "/fabric-out/$1" & FABRIC_CAP=$!; fabric_until fabric_captures; }
fabric_captures() { ls -l "/proc/$FABRIC_CAP/fd" | grep -q vqib_wire; }

# fabric_capture_end: waits until all packets on the wire are in the file and ends the capture; fails if it lost packets
fabric_capture_end() {
    sleep 0.5; fabric_until grep -q wire_read "/proc/$FABRIC_CAP/wchan"; kill "$FABRIC_CAP"; wait "$FABRIC_CAP" 2>/dev/null
    ! dmesg | grep 'vqib: a capture lost' >&2
}

# $FABRIC_SNIFF COMMAND...: runs COMMAND with verbs flow steering of type sniffer on the virtual HCAs (tools/flow-shim.c)
FABRIC_SNIFF="env LD_PRELOAD=$FABRIC_CACHE/bin/flow-shim.so"

# fabric_complaints: prints the kernel's messages that show an error; fails if there is none. The known warning of Debian's rdmavt
# (README.md) does not count.
fabric_complaints() {
    dmesg | awk '/WARNING: .* rvt_post_send/ { known = 1 } !known { print } /end trace/ { known = 0 }' |
        grep -E 'WARNING|BUG|Oops|Call Trace|general protection|blocked for more|corruption|refcount_t|soft lockup|rcu.*detected.*stall|use-after-free|vqib: a capture lost|not empty!'
}

# fabric_end STATUS: writes the kernel's log, OpenSM's log if the script failed, and the exit status: 123 if only the kernel
# complained
fabric_end() {
    local status=$1
    if fabric_complaints >&2; then
        echo "fabric: the kernel complained; OUT/kernel.log has the rest" >&2
        [ "$status" != 0 ] || status=123
    fi
    dmesg > /fabric-out/kernel.log
    if [ "$status" != 0 ]; then
        [ ! -e /tmp/osm/log ] || cp /tmp/osm/log /fabric-out/opensm.log
        [ ! -s /fabric-out/trace ] || { echo "fabric: status $status; the last commands (OUT/trace):"; tail -n 5 /fabric-out/trace; } >&2
    fi
    echo "$status" > /fabric-out/.rc
}
