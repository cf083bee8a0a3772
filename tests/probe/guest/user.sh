# SPDX-License-Identifier: GPL-2.0-or-later
# user PROBE CHECK LIB: ipoib-probe and ipoib-capture as an ordinary user; a scenario for testbed/fabric once, results in TAP in
# /fabric-out/tap. h0 runs OpenSM and is the peer, h1 is the user's. The partition 0x8001 has a controlled Q_Key.
probe=$1 check=$2
. "$3" || return 1
capture=/tmp/ipoib-capture nobody=65534 group=61234 groups="--clear-groups" caps="" program=$probe
cp /fabric-out/ipoib-capture $capture; chmod 755 $capture "$probe" "$check"
# as_user PROGRAM ARGUMENT...: with $groups and the capabilities $caps, in a home folder of its own
home=/tmp/home; mkdir -m 700 $home; chown $nobody:$nobody $home
as_user() { (cd $home && setpriv --reuid $nobody --regid $nobody $groups ${caps:+--inh-caps "$caps" --ambient-caps "$caps"} "$@"); }
# user STATUS ARGUMENT...: runs the probe as the user; the text is in /tmp/said, the report in /tmp/report
user() { local want=$1 got; shift; as_user "$program" --format json -o $home/report "$@" > /tmp/said 2>&1; got=$?; cat /tmp/said
    cp $home/report /tmp/report 2>/dev/null; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/said /tmp/report; return 1; }; }
# near STATUS: ipoib-probe node as the user, beside h1's interface
near() { fabric_on 1 setpriv --reuid $nobody --regid $nobody $groups "$probe" --state $home/state node > /tmp/said 2>&1; local got=$?
    cat /tmp/said; [ $got = "$1" ]; }
said() { grep -q -- "$1" /tmp/said || { cat /tmp/said; return 1; }; }
modes() { stat -c '%n %a %G' /dev/infiniband/umad1 /dev/infiniband/uverbs1 /dev/infiniband/rdma_cm | sed 's,/dev/infiniband/,,' | paste -sd' '; }
# What udev would do: subsystem and name of a device, group and mode of the rule
apply_rules() { local name; echo "ipoib:x:$group:" >> /etc/group
    sed -nE 's/^SUBSYSTEM=="([a-z_]+)", KERNEL=="([^"]+)", GROUP="([a-z]+)", MODE="([0-7]+)"$/\1 \2 \3 \4/p' /fabric-out/70-ipoib-tools.rules > /tmp/rules
    [ "$(wc -l < /tmp/rules)" = 3 ] || return 1
    while read -r subsystem pattern owners mode; do for name in /sys/class/$subsystem/$pattern; do
        [ -e "$name" ] || return 1; chgrp "$owners" "/dev/infiniband/${name##*/}" && chmod "$mode" "/dev/infiniband/${name##*/}" || return 1; done; done < /tmp/rules; }

{ echo 'Default=0x7fff, ipoib : ALL=full;'; echo 'Other=0x0001, ipoib, Q_Key=0x80010000 : ALL=full;'; } > /tmp/partitions
fabric_up && fabric_sm -P /tmp/partitions && fabric_nets || return 1
fabric_child 0 8001 10.1.0.1 && fabric_child 1 8001 10.1.0.2 && fabric_on 1 ping -c 1 10.0.0.1 && fabric_on 1 ping -c 1 10.1.0.1 || return 1

kernel() { modes; [ "$(modes)" = "umad1 600 root uverbs1 666 root rdma_cm 666 root" ]; }
try "the kernel's own modes: only root has umad*" kernel
nothing() { user 3 -d vqib1 10.0.0.1 && user 3 -d vqib1 fabric && near 3 && said umad; }
try "without umad*: exit status 3 for each target" nothing
for word in $FABRIC_SNIFF; do case $word in *.so) cp "${word#*=}" /tmp/shim.so; chmod 755 /tmp/shim.so ;; esac; done
sniff() { as_user env LD_PRELOAD=/tmp/shim.so $capture -d vqib1 -s -w $home/sniff --duration 1 > /tmp/said 2>&1; local s=$?; cat /tmp/said; [ $s = "$1" ]; }
try "without CAP_NET_RAW: no sniffer" eval 'sniff 1 && said CAP_NET_RAW'
multicast() { local s; as_user $capture --mode multicast -d vqib1 "$@" -s -w $home/multicast --duration 2 > /tmp/said 2>&1; s=$?; cat /tmp/said; return $s; }
try "without umad*: no multicast mode" eval '! multicast && said umad'

apply_rules || return 1
try "the rules: devices of the group" eval 'modes; [ "$(modes)" = "umad1 660 ipoib uverbs1 660 ipoib rdma_cm 660 ipoib" ]'
try "another user has no device now" eval 'user 3 -d vqib1 10.0.0.1 && user 3 -d vqib1 fabric && near 3'
groups="--groups $group"
peer() { user 0 -d vqib1 --source 10.0.0.77 --only rfc4391 10.0.0.1 && no_failure && is rfc4391.7.mtu-2044 pass && is rfc4391.2.ud-supported pass; }
try "a member of the group: a peer" peer
try "a member of the group: the fabric" eval 'user 0 -d vqib1 fabric && no_failure && is fabric.join pass'
cm() { fabric_on 1 setpriv --reuid $nobody --regid $nobody $groups "$probe" -d vqib1 --only peer.rdma-cm --format json -o $home/report 10.0.0.1; cp $home/report /tmp/report; is peer.rdma-cm pass; }
try "a member of the group: rdma_cm" cm
try "a member of the group: the node" near 0
try "a member of the group: multicast mode" eval 'multicast && said " 0 drops"'
try "a member of the group: still no sniffer" eval 'sniff 1 && said CAP_NET_RAW'
try "a controlled Q_Key needs CAP_NET_RAW: the probe" eval 'user 3 -d vqib1 --pkey 0x8001 10.1.0.1; grep CAP_NET_RAW /tmp/report'
try "a controlled Q_Key needs CAP_NET_RAW: multicast mode" eval '! multicast --pkey 0x8001 && said CAP_NET_RAW'
caps=+net_raw
try "with it: the probe" eval 'user 0 -d vqib1 --pkey 0x8001 --source 10.1.0.77 --only rfc4391.7 10.1.0.1 && no_failure'
try "with it: multicast mode" eval 'multicast --pkey 0x8001 && said " 0 drops"'
try "with it: the sniffer" eval 'sniff 0 && said " 0 drops"'
caps=""
# The recipe of doc/privileges.md: a program of the group with the capability
file() { cp "$probe" /tmp/capable && chgrp $group /tmp/capable && chmod 0750 /tmp/capable && setcap cap_net_raw+ep /tmp/capable; program=/tmp/capable
    user 0 -d vqib1 --pkey 0x8001 --source 10.1.0.78 --only rfc4391.7 10.1.0.1 && no_failure; }
try "the program has it: the probe" file
# By a shell, because setpriv starts a program with the rights of root.
outsider() { groups="--clear-groups"; as_user sh -c '"$0" --version' /tmp/capable > /tmp/said 2>&1; local s=$?; cat /tmp/said; [ $s = 126 ]; }
try "the program has it: others cannot run it" outsider
tap_end
