# SPDX-License-Identifier: GPL-2.0-or-later
# cable [MODE[:MTU]]: two HCAs on a switch; the cable of n1 is unplugged for two seconds.
# Expected: both ends of the link are Down and the switch sends trap 128. After the cable is plugged in again, OpenSM makes the
# port Active, n1 joins its groups again, and pings between the two succeed again.
fabric_up topo=1 && fabric_capture cable.pcap && fabric_sm && fabric_nets "$@" || return 1
fabric_on 0 ping -c 3 -i 0.3 10.0.0.2 || return 1
fabric_port h1 DOWN
grep -q '^Down' /sys/kernel/debug/vqib/s0.2/state || return 1
! fabric_on 0 ping -c 2 -i 0.5 -W 1 10.0.0.2 || return 1
fabric_port h1 UP && fabric_active h1 && fabric_link 1 ib1 && sleep 2 || return 1
fabric_on 0 ping -c 3 -W 10 10.0.0.2 && fabric_on 1 ping -c 2 -i 0.3 10.0.0.1 || return 1
[ "$(fabric_count h1 link_downed)" = 1 ] && [ "$(fabric_count s0.2 link_downed)" = 1 ] || return 1
fabric_capture_end
