# SPDX-License-Identifier: GPL-2.0-or-later
# cluster PROBE CHECK: sixteen HCAs on two switches, a node each. ClusterShell's worker "exec" runs PROBE, which is ipoib-probe, in
# every node's network namespace, four at a time; CHECK, which is ipoib-check, merges the sixteen reports. Two nodes are not as the others.
# Expected: sixteen reports; of n5 it is told that its interface's MTU is not the link's, of n9 that its port is in two partitions.
# arguments: $IPOIB_BIN/ipoib-probe $IPOIB_BIN/ipoib-check
probe=$1 check=$2 reports=/fabric-out/reports
{ echo 'Default=0x7fff, ipoib : ALL=full;'; echo 'P1=0x8001 : 0x0011750000000190=full;'; } > /tmp/partitions
fabric_up topo=sixteen && fabric_sm -P /tmp/partitions && fabric_nets || return 1
ip -n n5 link set ib5 mtu 1500
mkdir $reports
fabric_capture cluster.pcap || return 1
clush -q -R exec -f 4 -w 'n[0-15]' --outdir=$reports ip netns exec %h "$probe" -d vqib%rank --node %h --format json fabric < /dev/null > /tmp/said 2>&1
fabric_capture_end
[ "$(ls $reports | wc -l)" = 16 ] || { cat /tmp/said; return 1; }
for node in $reports/*; do mv "$node" "$node.json"; done
"$check" --merge --format text -o /fabric-out/merged.txt $reports/*.json; echo "merged: exit status $?"
"$check" --merge --format json -o /fabric-out/merged.json $reports/*.json
tail -20 /fabric-out/merged.txt
