# SPDX-License-Identifier: GPL-2.0-or-later
# dull [SECONDS [MODE[:MTU]...]]: three HCAs on a switch with the traffic of ordinary hosts, for 300 s. Its capture is too large
# for testdata; ipoib-check finds nothing in it except the known deviations of Linux.
# Expected: every 2 s all pairs ping each other over IPv4 and IPv6; about every 5 s there is a TCP transfer of 200 kB, UDP
# datagrams of 1400 and 9000 octets, a group that is joined, pinged and left; sometimes the neighbour table is flushed, or
# an interface goes down and comes up again.
# arguments: 30
seconds=${1:-300}; [ $# -gt 0 ] && shift
nodes="0 1 2"

# sink NODE: receives and discards TCP and UDP on port 9
sink() {
    fabric_on "$1" python3 -c '
import selectors, socket
sel, tcp, udp = selectors.DefaultSelector(), socket.create_server(("", 9)), socket.socket(type=socket.SOCK_DGRAM)
udp.bind(("", 9))
for s in tcp, udp: sel.register(s, selectors.EVENT_READ)
while True:
    for key, _ in sel.select():
        if key.fileobj is tcp:
            sel.register(tcp.accept()[0], selectors.EVENT_READ)
        elif not key.fileobj.recv(65536) and key.fileobj is not udp:
            sel.unregister(key.fileobj); key.fileobj.close()' &
    pids="$pids $!"
}
# bulk NODE ADDRESS: 200 kB by TCP, then 20 UDP datagrams of 1400 octets and 5 of 9000; an unreachable peer is no error
bulk() {
    fabric_on "$1" python3 -c '
import socket, sys, time
try:
    with socket.create_connection((sys.argv[1], 9), 3) as s: s.sendall(bytes(200000))
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        for octets in [1400] * 20 + [9000] * 5:
            s.sendto(bytes(octets), (sys.argv[1], 9)); time.sleep(0.02)
except OSError as e: print(e)' "$2"
}

fabric_up topo=1 nhca=3 && fabric_capture dull.pcap && fabric_sm && fabric_nets "$@" || return 1
for n in $nodes; do
    fabric_on $n sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0 "net.ipv6.conf.ib$n.keep_addr_on_down=1"
    ip -n n$n addr add fd00::$((n+1))/64 dev ib$n
    sink $n
done
sleep 3
end=$((SECONDS+seconds))
for a in $nodes; do
    for b in $nodes; do
        [ $a != $b ] || continue
        fabric_on $a ping -q -i 2 -w "$seconds" 10.0.0.$((b+1)) & pids="$pids $!"
        fabric_on $a ping -q -i 2 -w "$seconds" fd00::$((b+1)) & pids="$pids $!"
    done
done
round=0
while [ $SECONDS -lt $end ]; do
    a=$((round%3)) b=$(((round+1+round/3%2)%3))
    if [ $((round%2)) = 0 ]; then group=239.7.0.$((round%40)) six=; else group=ff15::7:$((round%40)) six=-6; fi
    fabric_join $a ib$a $group || return 1
    sleep 1
    fabric_on $b ping $six -q -c 3 -i 0.3 -I ib$b $group
    bulk $a 10.0.0.$((b+1))
    fabric_leave
    case $((round%25)) in     # 25: each node in turn
    9) ip -n n$a neigh flush dev ib$a ;;
    21) ip -n n$a link set ib$a down; sleep 2; ip -n n$a link set ib$a up; fabric_link $a ib$a || return 1 ;;
    esac
    sleep 1; round=$((round+1))
done
kill $pids; wait $pids
fabric_capture_end
