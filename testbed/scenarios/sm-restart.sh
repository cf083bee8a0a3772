# SPDX-License-Identifier: GPL-2.0-or-later
# sm-restart [MODE[:MTU]]: two HCAs back to back; OpenSM is killed, which loses its table of groups, and started again.
# Expected: traffic continues without an SM; the new one sets ClientReregister in n1's PortInfo, and n1 joins all its groups
# again, including 239.1.2.3. Linux continues to use its old memberships during this. Connections stay open.
fabric_up && fabric_capture sm-restart.pcap && fabric_sm && fabric_nets "$@" || return 1
sleep 1
fabric_on 0 sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0; fabric_on 1 sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0
fabric_join 1 ib1 239.1.2.3 && fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 && sleep 1 &&
    fabric_on 0 ping -c 2 -i 0.2 -I ib0 239.1.2.3 || return 1
kill -KILL $FABRIC_SM; wait $FABRIC_SM 2>/dev/null; rm -rf /tmp/osm
fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 || return 1
fabric_sm && sleep 4 || return 1
fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 && fabric_on 0 ping -c 2 -i 0.2 -I ib0 239.1.2.3 &&
    fabric_on 1 ping -c 2 -i 0.2 10.0.0.1 || return 1
fabric_leave; sleep 1
fabric_capture_end
