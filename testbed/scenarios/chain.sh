# SPDX-License-Identifier: GPL-2.0-or-later
# chain: four HCAs on three switches in a row (topologies/chain.topo), captured on every link.
# Expected: OpenSM finds the switches by directed routes of up to four hops; all pairs ping each other; a packet from n0 to n3
# crosses four links unchanged; multicast is forwarded along the tree. Then the cable between s0 and s1 is unplugged: n1, on n0's
# side, still replies to pings; n3 does not until the cable is plugged in again.
fabric_up topo=chain cap_mode=2 && fabric_capture chain.pcap && fabric_sm && fabric_nets || return 1
for n in 0 1 2 3; do fabric_on $n sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0; done
for a in 0 1 2 3; do
    for b in 0 1 2 3; do
        [ $a = $b ] || fabric_on $a ping -q -c 1 10.0.0.$((b+1)) || return 1
    done
done
for h in 0 1 2 3; do echo "LID of h$h $(cat /sys/class/infiniband/vqib$h/ports/1/lid)"; done
fabric_join 3 ib3 239.1.2.3 && sleep 1 && fabric_on 0 ping -c 2 -i 0.5 -I ib0 239.1.2.3 || return 1
fabric_leave
fabric_port s0.5 DOWN; sleep 1
fabric_on 0 ping -c 1 10.0.0.2 || return 1
! fabric_on 0 ping -c 1 -W 1 10.0.0.4 || return 1
fabric_port s0.5 UP
for n in 2 3; do fabric_active h$n && fabric_link $n ib$n || return 1; done
fabric_on 0 ping -c 3 -W 10 10.0.0.4 || return 1
fabric_capture_end
