# SPDX-License-Identifier: GPL-2.0-or-later
# enforcement: three HCAs on a switch; n0 and n1 are members of P_Key 0x8002. n2 is not, but sends an echo request with that P_Key
# to n1 (a packet that a program builds, as a defective or malicious HCA could).
# Expected: OpenSM has configured the switch's ports to enforce partitions: n2's port of the switch drops and counts the packet,
# and n1 does not receive it. Without OpenSM's enforcement it reaches IP on n1, because an HCA cannot know which P_Keys the
# sender has.
cat > /tmp/partitions.conf <<'CONF'
Default=0x7fff,ipoib:ALL=full;
Two=0x0002,ipoib:0x0011750000000100=full,0x0011750000000110=full;
CONF
intrude() { # sends 20 echo requests from n2 to n1's ib1.8002; sets $arrived to the number that arrived
    local before refused
    before=$(echoes) refused=$(fabric_count s0.3 rx_constraint)
    python3 - "$(fabric_address 1 ib1.8002)" \
        "$(cat /sys/class/infiniband/vqib1/ports/1/lid)" "$(cat /sys/class/infiniband/vqib2/ports/1/lid)" <<'PYTHON' || return 1
import struct, sys
qpn = int(sys.argv[1].replace(":", "")[2:8], 16)
dlid, slid = int(sys.argv[2], 16), int(sys.argv[3], 16)
def checksum(b):
    s = sum(struct.unpack("!%uH" % (len(b) // 2), b))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return struct.pack("!H", ~s & 0xffff)
icmp = bytes([8, 0, 0, 0, 0, 1, 0, 1]) + bytes(16)
icmp = icmp[:2] + checksum(icmp) + icmp[4:]
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0, bytes([10, 2, 0, 3]), bytes([10, 2, 0, 2]))
ip = ip[:10] + checksum(ip) + ip[12:]
payload = struct.pack("!HH", 0x0800, 0) + ip + icmp
for psn in range(20):       # BTH: UD SEND Only, P_Key, QPN, PSN; DETH: OpenSM's Q_Key, source QPN
    bth = struct.pack("!BBHII", 0x64, 0, 0x8002, qpn, psn) + struct.pack("!II", 0x0b1b, 0x777)
    lrh = struct.pack("!BBHHH", 0, 2, dlid, (8 + len(bth) + len(payload) + 4) // 4, slid)
    open("/dev/vqib_wire", "wb", 0).write(bytes([2, 0, 0, 0]) + lrh + bth + payload)
PYTHON
    fabric_until all_counted
    arrived=$(($(echoes)-before))
}
# the switch port counted each of the 20 as dropped, or IP on n1 counted it as received
all_counted() { [ $(($(fabric_count s0.3 rx_constraint)-refused+$(echoes)-before)) -ge 20 ]; }
echoes() { fabric_on 1 awk '/^Icmp: [0-9]/ { print $10 }' /proc/net/snmp; }

fabric_up topo=1 nhca=3 cap_mode=2 && fabric_capture enforcement.pcap && fabric_sm -P /tmp/partitions.conf && fabric_nets &&
    fabric_child 0 8002 10.2.0.1 && fabric_child 1 8002 10.2.0.2 && fabric_on 0 ping -c 2 -i 0.2 10.2.0.2 || return 1
intrude || return 1
echo "enforced: $arrived arrived, $(fabric_count s0.3 rx_constraint) refused at s0.3"
[ $arrived = 0 ] && [ "$(fabric_count s0.3 rx_constraint)" = 20 ] || return 1
kill $FABRIC_SM; wait $FABRIC_SM
fabric_sm -P /tmp/partitions.conf -Z off && sleep 2 && intrude || return 1
echo "not enforced: $arrived arrived, $(fabric_count s0.3 rx_constraint) refused at s0.3"
[ $arrived = 20 ] && [ "$(fabric_count s0.3 rx_constraint)" = 20 ] || return 1
fabric_on 0 ping -c 2 -i 0.2 10.2.0.2 || return 1
fabric_capture_end
