# SPDX-License-Identifier: GPL-2.0-or-later
# foreign: other protocols between the same HCAs, no IPoIB except the ARP that finds the peer.
# Expected: ibv_ud_, rc_ and uc_pingpong (UD with and without GRH, RC and UC First/Middle/Last); an RDMA-CM
# connection by rping (SEND, RDMA READ, RDMA WRITE), one by rdma_client, one that is rejected (REJ, reason
# 8); ibping's vendor MADs.
# findings: noted ulp.identify
#   The connections of rping and rdma_client are identified as those of the RDMA CM, and not checked.
fabric_up && fabric_sm && fabric_nets && fabric_capture foreign.pcap || return 1
set -- $(ls /sys/class/infiniband | sort -V); first=$1 second=$2
pingpong() {    # pingpong KIND [OPTION...]
    local kind=$1; shift
    ibv_${kind}_pingpong -d "$second" "$@" >/dev/null &
    fabric_await /proc/net/tcp ':4853 .* 0A ' >/dev/null || return 1     # the server listens on port 18515
    ibv_${kind}_pingpong -d "$first" "$@" 127.0.0.1 || return 1
    wait $!
}
pingpong ud -n 3 -s 1024 && pingpong ud -n 2 -s 512 -g 0 &&
    pingpong rc -n 2 -s 9000 && pingpong rc -n 2 -s 64 -g 0 && pingpong uc -n 2 -s 9000 || return 1
listens() { fabric_until sh -c "rdma resource show cm_id | grep -q 'LISTEN.* comm $1 '"; }
fabric_on 1 rping -s -a 10.0.0.2 -C 2 -S 100 & listens rping || return 1
fabric_on 0 rping -c -a 10.0.0.2 -C 2 -S 100 -v || return 1
wait $!
fabric_on 1 rdma_server -s 10.0.0.2 & listens rdma_server || return 1
fabric_on 0 rdma_client -s 10.0.0.2 || return 1
wait $!
! fabric_on 0 rdma_client -s 10.0.0.2 -p 7777 || return 1
ibping -C "$second" -S & pid=$!
fabric_ibping "$first" $(($(cat /sys/class/infiniband/"$second"/ports/1/lid))) || return 1
kill $pid
fabric_capture_end
