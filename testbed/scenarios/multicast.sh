# SPDX-License-Identifier: GPL-2.0-or-later
# multicast PROGRAM: four nodes on a switch; PROGRAM (ipoib-capture) captures on n3's port in multicast mode, while the wire is
# captured too.
# Expected: multicast.erf has what n1 and n2 send to groups: ARP, ND and a group that is created later, also while n3's own
# interface is down. After a capture, however it ended, n3's memberships are as before. One of two captures may end without
# effect on the other. The results of the steps are in /fabric-out/tap.
# arguments: $IPOIB_BIN/ipoib-capture
program=$1 tap=/fabric-out/tap n=0
: > $tap
try() { n=$((n+1)); if "${@:2}" > /tmp/try 2>&1; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' /tmp/try | tail -40; fi >> $tap; }
# prints n3's groups with its JoinStates, queried with OpenSM's SM_Key, except send-only ones (8): these depend on what the kernel sends
members() { saquery --smkey 1 -C vqib0 MCMR | awk '{ sub(/\.+/, " ") } $1 == "MGID" { group = $2 } $1 == "PortGid" { port = $2 }
    $1 == "JoinState" && port ~ /:130$/ && $2 !~ /^0x8/ { print group, $2 }' | sort; }
unchanged() { members > /tmp/after; cat /tmp/before; diff /tmp/before /tmp/after && fabric_on 3 ping -c 1 -W 2 10.0.0.2; }
# listen NAME ARGUMENT...: starts a capture to /fabric-out/NAME and waits until the file has its header; sets $pid
listen() { "$program" --mode multicast -d vqib3 -s -w "/fabric-out/$1" "${@:2}" > "/tmp/$1.said" 2>&1 & pid=$!
    fabric_until [ -s "/fabric-out/$1" ] || { cat "/tmp/$1.said"; return 1; }; }
# finish STATUS [SIGNAL]: ends the capture by the signal and checks its exit status
finish() { kill -"${2:-TERM}" $pid; wait $pid; local s=$?; [ $s = "$1" ] || { echo "exit status $s"; cat /tmp/*.said; return 1; }; }
ask_arp() { fabric_on 1 ip neigh flush all; fabric_on 2 ip neigh flush all; fabric_on 1 ping -c 1 -W 2 10.0.0.3; }
size() { stat -c %s "/fabric-out/$1"; }
asked() { ask_arp && sleep 1 && [ "$(size "$1")" -gt "$2" ]; }
grew() { fabric_until asked "$1" "$(size "$1")" || { echo "$1 did not grow"; return 1; }; }

fabric_up nhca=4 topo=1 && fabric_sm && fabric_nets && sleep 2 && fabric_capture multicast.pcap && "$program" --list || return 1
members > /tmp/before; grep ff12:401b:ffff::ffff:ffff /tmp/before || return 1

sending() { members | grep -q 'ff12:401b:ffff::f01:203 0x2'; }
seen() { listen multicast.erf || return 1
    ask_arp && fabric_on 1 ping -6 -c 1 -W 2 "$(fabric_link_local 2 ib2)%ib1" || return 1
    members | grep 'ff12:401b:ffff::ffff:ffff 0x3' || return 1
    fabric_join 1 ib1 239.1.2.3; fabric_until sending; sleep 0.5
    fabric_on 2 ping -c 2 -W 1 -s 1000 -I ib2 239.1.2.3; fabric_leave; sleep 1; finish 0; cat /tmp/multicast.erf.said
    grep -q ' 0 drops' /tmp/multicast.erf.said; }
try "a capture" seen
try "n3's memberships are unchanged" unchanged
killed() { local i; listen killed.erf && grew killed.erf && kill -KILL $pid || return 1; wait $pid
    # the contents of these captures depend on the time of the kill, so they are not in /fabric-out, where captures are checked
    for i in 1 2 3 4 5 6; do "$program" --mode multicast -d vqib3 -s -w /tmp/killed.erf & pid=$!
    sleep 0.$((RANDOM % 9)); kill -KILL $pid; wait $pid; done 2>/dev/null; fabric_until no_keeper; }
no_keeper() { ! pgrep -f keep-groups; }
try "SIGKILL at any time leaves no process" killed
try "after SIGKILL n3's memberships are unchanged" unchanged
host_leaves() { listen down.erf && ip -n n3 link set ib3 down && sleep 1 && grew down.erf && ip -n n3 link set ib3 up &&
    fabric_link 3 ib3 && sleep 1 && grew down.erf && finish 0; }
try "n3's own interface goes down and up: the capture continues" host_leaves
sleep 4 # IPv6 joins its groups on a link that comes up
try "after this capture n3's memberships are unchanged" unchanged
two() { listen one.erf && local one=$pid && listen two.erf && local two=$pid && grew one.erf && pid=$one && finish 0 && sleep 0.5 && grew two.erf && pid=$two && finish 0; }
try "of two captures one ends: the other continues" two
try "after both captures n3's memberships are unchanged" unchanged
no_interface() { ip -n n3 link set ib3 down; sleep 1; members > /tmp/before; listen alone.erf && grew alone.erf && finish 0 && members > /tmp/after &&
    diff /tmp/before /tmp/after; }
try "a capture while n3's interface is down" no_interface
sm() { ip -n n3 link set ib3 up; fabric_link 3 ib3; listen sm.erf && kill "$FABRIC_SM" && wait "$FABRIC_SM"; fabric_sm && sleep 5 && grew sm.erf && finish 0; }
try "the SM is restarted: the groups are joined again" sm
unprivileged() { setpriv --reuid 65534 --regid 65534 --clear-groups "$program" --mode multicast -d vqib3 -w /dev/null; [ $? = 1 ]; }
try "without privilege: exit status 1" unprivileged
fabric_capture_end
echo "1..$n" >> $tap
! grep '^not ok' $tap
