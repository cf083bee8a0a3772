# SPDX-License-Identifier: GPL-2.0-or-later
# sniffer PROGRAM [MODE[:MTU]]: two HCAs back to back; PROGRAM (ipoib-capture) captures on n1's port by its HCA while the wire is
# captured too.
# Expected: from its first frame until the capture on the wire ends, sniffer.erf has the same packets as sniffer.pcap, in both
# directions, with equal bytes including the CRCs; the program reports no loss. A second sniffer on the same port captures as much.
# arguments: $IPOIB_BIN/ipoib-capture
program=$1; shift
fabric_up && fabric_sm && fabric_nets "$@" && fabric_capture sniffer.pcap || return 1
$FABRIC_SNIFF "$program" --list || return 1
$FABRIC_SNIFF "$program" -d vqib1 -w /fabric-out/sniffer.erf > /tmp/one 2>&1 & one=$!
$FABRIC_SNIFF "$program" -d vqib1 --format=pcapng -w /fabric-out/sniffer.pcapng > /tmp/two 2>&1 & two=$!
fabric_await /tmp/one '^Ready to capture' && fabric_await /tmp/two '^Ready to capture' || { cat /tmp/one /tmp/two; return 1; }
fabric_on 0 ping -c 5 -i 0.2 10.0.0.2 && fabric_on 0 ping -c 3 -i 0.2 -s 8000 10.0.0.2 || return 1
peer=$(fabric_link_local 1 ib1) && fabric_on 0 ping -6 -c 2 -i 0.2 "$peer%ib0" || return 1
fabric_capture_end || return 1
kill $one $two; wait $one; rc=$?; wait $two; rc2=$?
cat /tmp/one /tmp/two
[ $rc = 0 ] && [ $rc2 = 0 ] && [ "$(fabric_count h1 sniffer_missed)" = 0 ]
