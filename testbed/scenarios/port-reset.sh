# SPDX-License-Identifier: GPL-2.0-or-later
# port-reset [MODE[:MTU]]: two HCAs on a switch; n1's port is disabled at the switch for three seconds, then reset (down and
# up at once).
# Expected: the switch's trap 128, OpenSM's sweep without n1 and then with it, PortState Init, Armed, Active; n1 joins its groups
# again. While the link is down no DREQ can be sent: a connection ends without one, or continues if it can.
fabric_up topo=1 nhca=2 && fabric_capture port-reset.pcap && fabric_sm && fabric_nets "$@" || return 1
peer=$(fabric_link_local 1 ib1) || return 1
set -- $(ls /sys/class/infiniband | sort -V)
traffic() {
    fabric_on 0 ping -c 3 -i 0.3 10.0.0.2 && fabric_on 1 ping -c 2 -i 0.3 10.0.0.1 &&
        fabric_on 0 ping -6 -c 2 -i 0.3 "$peer%ib0"
}
active() { fabric_await /sys/class/infiniband/$1/ports/1/state ACTIVE && fabric_link 1 ib1 && sleep 3; }
fabric_join 1 ib1 239.1.2.3 && traffic || return 1
ibportstate -C $1 -D 0,1 2 disable || return 1
! fabric_on 0 ping -c 3 -i 0.5 -W 1 10.0.0.2 || return 1
sleep 2
ibportstate -C $1 -D 0,1 2 enable && active $2 && traffic || return 1
ibportstate -C $1 -D 0,1 2 reset; sleep 1; active $2 && traffic || return 1
fabric_leave
fabric_capture_end
