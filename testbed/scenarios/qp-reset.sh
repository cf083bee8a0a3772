# SPDX-License-Identifier: GPL-2.0-or-later
# qp-reset: two HCAs back to back in connected mode with MTU 65520; n1's interface goes down and comes up while n0 pings it.
# Expected: when n1's interface goes down, n1 closes its connections by DREQ and resets its UD queue pair: the QPN and the
# link-layer address stay the same, the PSNs start again. When it comes up, n1 joins its groups again, both open new
# connections, and pings succeed as before.
fabric_up && fabric_capture qp-reset.pcap && fabric_sm && fabric_nets connected:65520 || return 1
before=$(fabric_address 1 ib1)
fabric_on 0 ping -c 3 -i 0.2 -s 8000 10.0.0.2 && fabric_on 1 ping -c 3 -i 0.2 10.0.0.1 || return 1
fabric_on 0 ping -q -i 0.2 -w 8 10.0.0.2 & pid=$!
sleep 1; ip -n n1 link set ib1 down; sleep 1; ip -n n1 link set ib1 up; fabric_link 1 ib1 || return 1
wait $pid || return 1       # ping received some replies
[ "$(fabric_address 1 ib1)" = "$before" ] || return 1
fabric_on 0 ping -c 3 -i 0.2 -s 8000 10.0.0.2 && fabric_on 1 ping -c 3 -i 0.2 10.0.0.1 || return 1
fabric_capture_end
