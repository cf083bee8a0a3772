# SPDX-License-Identifier: GPL-2.0-or-later
# lmc: three HCAs on a switch, LMC 1: each port has two LIDs.
# Expected: PortInfo with LMC 1 and even LIDs; IPoIB uses the LIDs of the SA's PathRecords, which are the base LIDs; n2 queries
# the SA for all paths to n1, and also receives those with the other LIDs; ibping to n1's other LID arrives (vendor MADs).
# findings: noted sm.lmc-paths
#   The SM sets LMC 1 in PortInfo.
fabric_up topo=1 nhca=3 && fabric_capture lmc.pcap && fabric_sm -l 1 && fabric_nets || return 1
peer=$(fabric_link_local 1 ib1) && fabric_on 2 ping -c 2 -i 0.2 10.0.0.2 && fabric_on 0 ping -c 2 -i 0.2 10.0.0.3 &&
    fabric_on 2 ping -6 -c 2 -i 0.2 "$peer%ib2" || return 1
set -- $(ls /sys/class/infiniband | sort -V)
saquery -C "$3" -P 1 PR --sgid-to-dgid fe80::11:7500:0:120-fe80::11:7500:0:110 | grep -E 'lid' || return 1
ibping -C "$2" -S & pid=$!
fabric_ibping "$3" $(($(cat /sys/class/infiniband/"$2"/ports/1/lid)+1)) || return 1
kill $pid
fabric_capture_end
