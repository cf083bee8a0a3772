# SPDX-License-Identifier: GPL-2.0-or-later
# qpn-change [MODE[:MTU]]: two HCAs back to back, P_Key 0x8001. n1's interface ib1.8001 is deleted and created again with the
# same IP address: it has another QPN. n0 sends all the time; its neighbour entries are reachable for 4 s instead of
# 30 s. n1 does not announce its new address.
# Expected: n0 sends to the old QPN until its unicast ARP requests get no reply, sends a broadcast request and then sends to
# the new QPN; the same for NS over IPv6. In connected mode n1's DREQ closes the connections, and n0's REQs to the old
# Service-ID are rejected until n0 knows the new address.
cat > /tmp/partitions.conf <<'CONF'
Default=0x7fff,ipoib:ALL=full;
One=0x0001,ipoib:ALL=full;
CONF
spec=${1:-datagram}
fabric_up && fabric_capture qpn-change.pcap && fabric_sm -P /tmp/partitions.conf && fabric_nets || return 1
fabric_child 0 8001 10.1.0.1 "$spec" && fabric_child 1 8001 10.1.0.2 "$spec" &&
    peer=$(fabric_link_local 1 ib1.8001) && fabric_address 1 ib1.8001 || return 1
for v in 4 6; do fabric_on 0 sh -c "echo 4000 > /proc/sys/net/ipv$v/neigh/ib0.8001/base_reachable_time_ms"; done
fabric_on 0 ping -c 2 -i 0.3 10.1.0.2 || return 1
fabric_on 0 ping -w 25 10.1.0.2 > /tmp/ping4 & four=$!
fabric_on 0 ping -6 -w 25 "$peer%ib0.8001" > /tmp/ping6 & six=$!
sleep 2; ip -n n1 link del ib1.8001; qpn-skip "$(ls /sys/class/infiniband | sort -V | tail -1)" 5
fabric_child 1 8001 10.1.0.2 "$spec" || return 1
fabric_address 1 ib1.8001
wait $four; wait $six; cat /tmp/ping4 /tmp/ping6
fabric_on 0 ping -c 2 -i 0.3 10.1.0.2 || return 1
fabric_capture_end
