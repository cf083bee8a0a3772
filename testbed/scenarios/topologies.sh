# SPDX-License-Identifier: GPL-2.0-or-later
# topologies: fabric_up with valid and invalid topologies.
# Expected: two switches in a ring of two cables, an HCA without a cable, and two HCAs back to back come up as described in
# their files. An impossible topology is rejected with a message that names it, and no device of it remains.
refused() { # refused PATTERN PARAMETER...: fabric_up does not, and its message matches
    local pattern=$1; shift
    ! fabric_up "$@" 2> /tmp/message && grep -q "$pattern" /tmp/message && [ ! -e /sys/module/vqib ] && return 0
    echo "not refused as expected: $*" >&2; cat /tmp/message >&2; return 1
}
refused 'h0:h0' links=h0:h0 && refused 'h1:s0.1' links=h0:s0.1,h1:s0.1 && refused 'h16:s0.1' links=h16:s0.1 &&
    refused 's0.0:h0' links=s0.0:h0 && refused 's0.32:h0' links=s0.32:h0 && refused 's8.1:h0' links=s8.1:h0 &&
    refused '"h0"' links=h0 && refused 'no HCA' links=s0.1:s1.1 && refused 'nhca 2 to 16' topo=1 nhca=17 &&
    refused 'ibmtu' ibmtu=6 && refused 'cannot read' topo=nowhere || return 1
echo 'h0 s0.1 s0.2' > /tmp/bad.topo
refused 'bad.topo:1: not two ends' topo=/tmp/bad.topo || return 1

fabric_up topo=0 && fabric_capture topologies.pcap && fabric_sm && fabric_nets && fabric_on 0 ping -c 1 10.0.0.2 && fabric_capture_end && fabric_down || return 1

cat > /tmp/ring.topo <<'TOPO'
h0 s0.1     # h1 has no cable
h2 s1.1
s0.2 s1.2
s0.3 s1.3
TOPO
fabric_up topo=/tmp/ring.topo || return 1
grep -q "peer none" /sys/kernel/debug/vqib/h1/state || return 1
opensm -f /tmp/osm.log > /tmp/osm.out 2>&1 & FABRIC_SM=$!
fabric_active h0 && fabric_active h2 && fabric_active s0.3 || return 1
ibtracert -C vqib0 -P 1 "$(cat /sys/class/infiniband/vqib0/ports/1/lid)" "$(cat /sys/class/infiniband/vqib2/ports/1/lid)" || return 1
fabric_down
