# SPDX-License-Identifier: GPL-2.0-or-later
# fabric FOLDER [OPTION...]: the deviant peer and ipoib-probe on the virtual fabric; for testbed/fabric once, results in TAP in
# /fabric-out/tap. h0 runs OpenSM, h1 is the probe's, in another partition too, h4 a peer's in connected mode, all with the kernel's
# IPoIB; h2 is the deviant peer's, h3 that of a second one.
{ echo 'Default=0x7fff, ipoib : ALL=full;'; echo 'Other=0x0001 : 0x0011750000000110=full;'; } > /tmp/partitions
fabric_up topo=1 nhca=5 && fabric_sm -P /tmp/partitions || return 1
echo connected > /sys/class/net/ib4/mode
for i in 0 1 4; do
    ip netns add n$i; ip link set ib$i netns n$i; ip -n n$i addr add 10.0.0.$((i+1))/24 dev ib$i; ip -n n$i link set ib$i up
done
fabric_link 0 ib0 && fabric_link 1 ib1 && fabric_link 4 ib4 && ip -n n4 link set ib4 mtu 65520 && fabric_on 1 ping -c 1 10.0.0.1 || return 1
cp /fabric-out/ipoib-probe /fabric-out/deviant /tmp/ # each start of a program in /fabric-out reads it from the host again
OPENSM=$FABRIC_SM python3 "$1/run.py" "${@:2}" > /fabric-out/tap 2>/fabric-out/errors
