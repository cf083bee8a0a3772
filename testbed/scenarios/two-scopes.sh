# SPDX-License-Identifier: GPL-2.0-or-later
# two-scopes: two HCAs back to back, P_Key 0xffff, with two IPoIB links: the broadcast group of one has scope 2
# (link-local), that of the other has scope 5 (site-local). OpenSM creates both groups; n0 and n1 have an interface on each, ib0
# and ib0.5. The second is a child interface with the same P_Key; its broadcast address is set manually before it comes up.
# This is done while its MTU is too small for IPv6, because Linux maps ff02::1 when it sets up IPv6 on an interface.
# Expected: the groups of both links, ff12:... and ff15:...; each interface joins those of its own link; ARP and ICMP on both.
# findings: inconclusive rfc4391.4.1.scope-link-local
#   RFC 4391 section 4.1: the scope should be 2 unless the link spans IB subnets. That of the second link is 5, and no capture
#   shows that the link has one subnet only.
cat > /tmp/partitions.conf <<'CONF'
Default=0x7fff,ipoib:
mgid=ff15:401b:ffff::ffff:ffff,scope=5
ALL=full;
CONF
wide() {    # wide NODE ADDRESS
    ip -n "n$1" link add link "ib$1" name "ib$1.5" type ipoib pkey 0xffff &&
        ip -n "n$1" link set "ib$1.5" mtu 1200 &&
        ip -n "n$1" link set "ib$1.5" broadcast 00:ff:ff:ff:ff:15:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff &&
        ip -n "n$1" link set "ib$1.5" mtu 2044 &&
        ip -n "n$1" addr add "$2/24" dev "ib$1.5" && ip -n "n$1" link set "ib$1.5" up && fabric_link "$1" "ib$1.5"
}
fabric_up && fabric_capture two-scopes.pcap && fabric_sm -P /tmp/partitions.conf && fabric_nets || return 1
wide 0 10.5.0.1 && wide 1 10.5.0.2 || { dmesg | tail -3; grep ' 0x01 ->' /tmp/osm/log; return 1; }
ip -n n1 -o link
peer=$(fabric_link_local 1 ib1) && peer5=$(fabric_link_local 1 ib1.5) || return 1
for n in 0 1; do fabric_on $n sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0; done
fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 && fabric_on 0 ping -c 2 -i 0.2 10.5.0.2 && fabric_on 0 ping -6 -c 1 "$peer%ib0" &&
    fabric_on 0 ping -6 -c 1 "$peer5%ib0.5" || return 1
fabric_join 1 ib1 239.1.2.3 && fabric_join 1 ib1.5 239.1.2.3 && sleep 1 && fabric_on 0 ping -c 2 -i 0.2 -I ib0 239.1.2.3 &&
    fabric_on 0 ping -c 2 -i 0.2 -I ib0.5 239.1.2.3 || return 1
fabric_leave; sleep 1
fabric_capture_end
