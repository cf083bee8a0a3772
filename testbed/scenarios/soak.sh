# SPDX-License-Identifier: GPL-2.0-or-later
# soak [SECONDS [LOADS [LEAST]]]: the module under load, after it has been loaded and unloaded LOADS times (2), each time with
# OpenSM and IPoIB on it (and twice more, for the two modes). Sixteen HCAs on two switches, in datagram mode and then in connected
# mode, for SECONDS each (20). Each node sends TCP at full rate to the next one while 1 % of all packets are lost, others arrive
# twice, late or corrupted, and a cable between the switches is unplugged from time to time.
# A long run, on two processors: FABRIC_CLOCK=host FABRIC_TIMEOUT=3600 testbed/fabric once testbed/scenarios/soak.sh OUT 600 20
# Expected: the kernel logs no complaint (fabric_complaints, which runs after every scenario). In each mode the sixteen nodes
# receive at least LEAST octets (100000 for each second). Afterwards, without loss, each node reaches the next: this is in the
# captures soak-datagram.pcap and soak-connected.pcap.
# arguments: 10 0
# clock: host
seconds=${1:-20} loads=${2:-2} least=${3:-}
least=${least:-$((100000*seconds))}
quiet() { ! fabric_complaints; }
for n in $(seq "$loads"); do
    fabric_up topo=sixteen && fabric_sm && fabric_nets && fabric_on 0 ping -q -c 1 -w 10 10.0.0.16 >/dev/null && fabric_down && quiet ||
        { echo "load $n failed" >&2; return 1; }
done
echo "loaded and unloaded $loads times"
for mode in datagram connected:65520; do
    fabric_up topo=sixteen && fabric_sm && fabric_nets $mode || return 1
    fabric_fault all loss_ppm=10000 dup_ppm=1000 reorder_ppm=1000 vcrc_ppm=1000 icrc_ppm=1000
    bulk "$seconds" 16 > /tmp/bulk & pid=$!
    end=$((SECONDS+seconds-5))
    while [ $SECONDS -lt $end ]; do
        sleep $((seconds/6+1))
        fabric_port s0.10 DOWN; sleep 1; fabric_port s0.10 UP
    done
    wait $pid || return 1
    cat /tmp/bulk
    fabric_fault all loss_ppm=0 dup_ppm=0 reorder_ppm=0 vcrc_ppm=0 icrc_ppm=0
    sum=$(awk -F'[:,] *' '{ for (i = 2; i <= NF; i += 2) sum += $i } END { printf "%.0f", sum }' /tmp/bulk)
    echo "$mode: $sum octets of TCP in $seconds s"
    [ "$sum" -ge "$least" ] || { echo "less than $least" >&2; return 1; }
    for e in all h0 s0.9 s0.10; do
        echo "$mode $e: $(fabric_count $e tx_packets) packets sent, $(fabric_count $e lost) lost, $(fabric_count $e duplicated) twice," \
            "$(fabric_count $e reordered) late, $(fabric_count $e corrupted) corrupted"
    done
    # the sum of all ends: a single end may have sent so few packets that none was lost
    [ "$(fabric_count all lost)" -gt 0 ] || { echo "nothing was lost" >&2; return 1; }
    sleep 5
    fabric_capture "soak-${mode%:*}.pcap"
    for a in $(seq 0 15); do
        fabric_on $a ping -q -c 1 -w 60 10.0.0.$(((a+1)%16+1)) >/dev/null || { echo "n$a does not reach the next" >&2; return 1; }
    done
    fabric_capture_end && quiet && fabric_down || return 1
done
quiet
