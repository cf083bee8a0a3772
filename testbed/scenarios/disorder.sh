# SPDX-License-Identifier: GPL-2.0-or-later
# disorder [MODE[:MTU]]: two HCAs back to back; the cable loses, repeats, reorders and delays the packets of n0. The capture has
# the packets that arrive at n1.
# Expected: with a delay of 20 ms in one direction a ping takes 20 ms; duplicates arrive twice (over UD ping prints DUP!, over RC
# the HCA acknowledges and drops them); over UD echo requests arrive in another order; the packets that drop_next drops are missing.
fabric_up cap_lost=0 seed=4391 && fabric_sm && fabric_nets "$@" && fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 || return 1
fabric_capture disorder.pcap
fabric_fault h0 delay_us=20000
fabric_on 0 ping -c 3 -i 0.2 10.0.0.2 > /tmp/ping || return 1
cat /tmp/ping
awk -F/ '/^rtt/ { exit !($4 >= 20) }' /tmp/ping || return 1     # the minimum
fabric_fault h0 delay_us=0 dup_ppm=200000
fabric_on 0 ping -q -c 50 -i 0.05 10.0.0.2 || return 1
fabric_fault h0 dup_ppm=0 reorder_ppm=200000 reorder_us=120000
fabric_on 0 ping -q -c 50 -i 0.05 10.0.0.2
fabric_fault h0 reorder_ppm=0
sleep 1
fabric_fault h0 drop_next=3
fabric_on 0 ping -q -c 10 -i 0.1 -W 1 10.0.0.2
sleep 1
fabric_on 0 ping -q -c 2 -W 10 10.0.0.2 || return 1
for what in lost duplicated reordered; do
    n=$(fabric_count h0 $what); echo "$what $n"
    [ "$n" -gt 2 ] || return 1
done
[ "$(fabric_count h0 lost)" = 3 ] || return 1
fabric_capture_end
