# SPDX-License-Identifier: GPL-2.0-or-later
# crossing: two HCAs back to back in connected mode with MTU 65520. Both know each other's path from an exchange over UD
# (permanent neighbour entries without the RC flag). Then the entries get the RC flag, and one process sends a datagram from
# both sides at the same time, while the cable delays packets by 0.1 s: each side sends its REQ before the other's arrives.
# Expected: two crossing REQs, each sent before the response to the other. The response to both is a REP and both connections
# stay open, one for each direction.
# findings: deviation rfc4755.3.3.simultaneous
#   RFC 4755 section 3.3: of two crossing REQs, one MUST be rejected, with reason 28; Linux does not compare them.
fabric_up && fabric_capture crossing.pcap && fabric_sm && fabric_nets connected:65520 && sleep 3 || return 1
a=$(fabric_address 0 ib0) b=$(fabric_address 1 ib1)
know() {    # know FIRST_OCTET: sets a neighbour entry for the other node on both, with these flags in the link-layer address
    ip -n n0 neigh replace 10.0.0.2 lladdr "$1:${b#*:}" dev ib0 nud permanent &&
        ip -n n1 neigh replace 10.0.0.1 lladdr "$1:${a#*:}" dev ib1 nud permanent
}
know 00 && fabric_on 0 ping -c 1 10.0.0.2 && fabric_on 1 ping -c 1 10.0.0.1 && know 80 &&
    fabric_fault all delay_us=100000 || return 1
python3 -c '
import ctypes, os, socket
def udp(space):
    fd = os.open("/run/netns/" + space, os.O_RDONLY)
    assert ctypes.CDLL(None).setns(fd, 0) == 0
    return socket.socket(type=socket.SOCK_DGRAM)
one, two = udp("n0"), udp("n1")
one.sendto(b"from n0", ("10.0.0.2", 7)); two.sendto(b"from n1", ("10.0.0.1", 7))' || return 1
sleep 1
fabric_fault all delay_us=0
fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 && fabric_on 1 ping -c 2 -i 0.2 10.0.0.1 || return 1
ip -n n1 link set ib1 down; sleep 1
fabric_capture_end
