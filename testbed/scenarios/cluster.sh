# SPDX-License-Identifier: GPL-2.0-or-later
# cluster PROBE CHECK: sixteen HCAs on two switches, one node each. ClusterShell's worker "exec" runs PROBE (ipoib-probe) in the
# network namespace of every node, four at a time; CHECK (ipoib-check) merges the sixteen reports. Two nodes are misconfigured.
# Expected: sixteen reports. The report of n5 says that the MTU of its interface differs from the link's; the report of n9 says
# that its port is in two partitions.
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
