# SPDX-License-Identifier: GPL-2.0-or-later
# soak [SECONDS [LOADS]]: the module under strain, for 20 s a mode by default, after it has been loaded and unloaded twice.
# Sixteen HCAs on two switches; in datagram mode, then in connected mode, each sends TCP in bulk to the next one while 1 %
# of all packets are lost, others come twice, late or damaged, and a cable between the switches is pulled now and then.
# Expected: the kernel has nothing to say of its own; afterwards, without loss, each reaches the next.
# arguments: 10 1
# judged: not
seconds=${1:-20} loads=${2:-2}
complaints() {   # what the kernel has to complain about, but for Debian's rdmavt (see README.md)
    dmesg | awk '/WARNING: .* rvt_post_send/ { known = 1 } !known { print } /end trace/ { known = 0 }' |
        grep -E 'WARNING|BUG|Oops|Call Trace|general protection|blocked for more|list_(add|del) corruption|refcount_t|soft lockup|rcu.*stall|use-after-free|vqib: a capture lost|not empty!'
}
for n in $(seq "$loads"); do
    fabric_up topo=sixteen && fabric_sm && fabric_down || { echo "load $n failed" >&2; return 1; }
    ! complaints || return 1
done
for mode in datagram connected:65520; do
    fabric_up topo=sixteen && fabric_sm && fabric_nets $mode || return 1
    fabric_fault all loss_ppm=10000 dup_ppm=1000 reorder_ppm=1000 vcrc_ppm=1000 icrc_ppm=1000
    bulk "$seconds" 16 & pid=$!
    end=$((SECONDS+seconds-5))
    while [ $SECONDS -lt $end ]; do
        sleep $((seconds/6+1))
        fabric_port s0.10 DOWN; sleep 1; fabric_port s0.10 UP
    done
    wait $pid || return 1
    fabric_fault all loss_ppm=0 dup_ppm=0 reorder_ppm=0 vcrc_ppm=0 icrc_ppm=0
    sleep 5
    for a in $(seq 0 15); do
        fabric_on $a ping -q -c 1 -w 60 10.0.0.$(((a+1)%16+1)) >/dev/null || { echo "n$a does not reach the next" >&2; return 1; }
    done
    for e in h0 s0.9 s0.10; do
        echo "$mode $e: $(fabric_count $e tx_packets) packets sent, $(fabric_count $e tx_words) words, $(fabric_count $e lost) lost"
    done
    ! complaints || return 1
    fabric_down || return 1
done
! complaints
