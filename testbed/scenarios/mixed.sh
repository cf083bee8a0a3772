# SPDX-License-Identifier: GPL-2.0-or-later
# mixed: two HCAs back to back; the first in connected mode with MTU 65520, the second in datagram mode.
# Expected: the datagram-mode peer nevertheless announces the RC flag and accepts the REQ. The first sends over RC, the
# second over UD: a datagram of 5000 octets is an RC First and Last in one direction, and IP fragments in the
# other.
fabric_up && fabric_capture mixed.pcap && fabric_sm && fabric_nets connected:65520 datagram || return 1
fabric_on 0 ping -c 3 -i 0.2 10.0.0.2 && fabric_on 0 ping -c 2 -i 0.2 -s 5000 10.0.0.2 || return 1
fabric_on 1 ping -c 2 -i 0.2 -s 5000 10.0.0.1 || return 1      # its echoes: a connected peer that has to reply
ip -n n0 link set ib0 down; sleep 1
fabric_capture_end
