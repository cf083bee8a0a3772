# SPDX-License-Identifier: GPL-2.0-or-later
# corrupt: two HCAs on a switch, datagram mode. A bit of packets from n0 is inverted: first on the cable, so that the VCRC is
# wrong; then in the HCA before it computes the VCRC, so that only the ICRC is wrong.
# Expected: the switch drops packets with a wrong VCRC. It forwards packets with a wrong ICRC, and n1's HCA drops these. Both
# count them. The capture has every packet as it was on the wire. No corrupt packet reaches IP.
# IPv6 is off: the switch would drop IPv6 packets to a group that n1 has not joined (yet), before n1's HCA could count them.
fabric_up topo=1 seed=4391 && fabric_sm && fabric_nets || return 1
for n in 0 1; do fabric_on $n sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 || return 1; done
fabric_capture corrupt.pcap
fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 || return 1
for kind in vcrc icrc; do
    fabric_fault h0 ${kind}_ppm=300000
    fabric_on 0 ping -q -c 100 -i 0.02 -W 1 10.0.0.2
    fabric_fault h0 ${kind}_ppm=0
    fabric_on 0 ping -q -c 2 -i 0.2 -W 5 10.0.0.2 || return 1
done
echo "corrupted $(fabric_count h0 corrupted), bad VCRC at the switch $(fabric_count s0.1 bad_vcrc)," \
    "bad ICRC at h1 $(fabric_count h1 bad_icrc)"
vcrc=$(fabric_count s0.1 bad_vcrc) icrc=$(fabric_count h1 bad_icrc)
[ "$vcrc" -gt 10 ] && [ "$icrc" -gt 10 ] && [ $((vcrc+icrc)) = "$(fabric_count h0 corrupted)" ] || return 1
[ "$(fabric_on 1 awk '/^Ip: [0-9]/ { print $5 }' /proc/net/snmp)" = 0 ] || return 1      # InHdrErrors
perfquery -C vqib1 -P 1 | grep -E 'RcvErrors' | grep -q "[.]$icrc\$" || return 1
fabric_capture_end
