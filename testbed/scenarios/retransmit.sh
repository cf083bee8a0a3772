# SPDX-License-Identifier: GPL-2.0-or-later
# retransmit [LOST_PPM]: a program (tools/ib-connect.c) connects to the IPoIB of the second HCA as a
# connected-mode peer that requests 7 retries, and sends echo requests of 40000 octets while 3 % of all
# packets are lost. The kernel receives them and is configured not to reply. First connection: captured at the
# sender (a lost packet is in the capture, and its retransmission repeats the PSN). Second connection: captured at
# the receiver (a lost packet is missing).
fabric_up ibmtu=4 && fabric_sm && fabric_nets connected:65520 && fabric_capture retransmit.pcap || return 1
hardware=$(fabric_address 1 ib1)
service=0x1000000000$(echo "$hardware" | cut -d: -f2-4 | tr -d :)
fabric_on 1 sysctl -q -w net.ipv4.icmp_echo_ignore_all=1
fabric_set loss_ppm "${1:-30000}"
for seen in 1 0; do
    fabric_set cap_lost $seen
    ib-connect fe80::11:7500:0:100 fe80::11:7500:0:110 "$service" 000000030000fff4 \
        10.0.0.1 10.0.0.2 40000 2 || return 1
done
fabric_set loss_ppm 0
# InEchos: all of them arrived complete
[ "$(fabric_on 1 awk '/^Icmp: [0-9]/ {print $10}' /proc/net/snmp)" = 4 ] || return 1
fabric_capture_end
