# SPDX-License-Identifier: GPL-2.0-or-later
# site PROBE SECONDS: ipoib-probe node every ten seconds on each of sixteen hosts, while faults of cable, SM, partition, group,
# loss, bit errors and MTU come and go; a scenario for testbed/fabric once. For tests/probe/site_judge.py it writes
#   /fabric-out/changes: TIME begins|effective KIND on|off HOST...: a change begins, and is effective on these hosts
#   /fabric-out/runs/hN: the metrics of each run of host N, after a line: # run BEGIN END STATUS
# A host is an HCA with its interface. All are in the first network namespace: in another one the kernel does not show the counters
# of the port. Host 0 has OpenSM. Hosts 3, 7, 11 and 15 have a child interface: the partition is theirs.
seconds=$2 period=10 with_child="3 7 11 15" without_child=(1 6 9 13 4 8 12 2 14 5 10) broadcast=ff12:401b:ffff::ffff:ffff
cp "$1" "$(command -v sa-leave)" /tmp/ && probe=/tmp/ipoib-probe || return 1
mkfifo /tmp/nothing; mkdir -p /tmp/runs /tmp/metrics /tmp/state
: > /fabric-out/changes

# partitions [HOST]: the partition of the child interfaces without this host
partitions() {
    local host members=
    for host in $with_child; do
        [ "$host" = "${1:-}" ] || members="$members,$(printf '0x%016x' $((0x0011750000000100+16*host)))=full"
    done
    echo 'Default=0x7fff, ipoib : ALL=full;'; echo "Other=0x0001, ipoib : ${members#,};"
}
changes() { echo "$EPOCHREALTIME $*" >> /fabric-out/changes; }

# ---- the runs

# every_period HOST: the hosts are spread over the period, as the systemd timer spreads them.
every_period() {
    local host=$1 begin status next left metrics=/tmp/metrics/h$1.prom
    { set +x; } 2> /dev/null    # each line of the trace is a request to the host
    exec 8<> /tmp/nothing    # to wait without a process
    next=$((start+host*period*1000000/16))
    while [ ! -e /tmp/end ]; do
        left=$((next-${EPOCHREALTIME/./}))
        [ $left -le 0 ] || read -r -t "$((left/1000000)).$(printf %06d $((left%1000000)))" -u 8
        begin=$EPOCHREALTIME
        "$probe" -d "vqib$host" --state "/tmp/state/$host" --format prometheus -o "$metrics" node; status=$?
        { echo "# run $begin $EPOCHREALTIME $status"; echo "$(< "$metrics")"; } >> "/tmp/runs/h$host"
        next=$((next+period*1000000))
    done
}
start_runs() {
    local host start=$((${EPOCHREALTIME/./}+2000000))
    for host in $(seq 0 15); do every_period "$host" > "/tmp/said.$host" 2>&1 & loops="$loops $!"; done
}

# ---- the faults: KIND_on HOST and KIND_off HOST return when the change is effective

has_carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; }
await_carrier() { fabric_until has_carrier "$1" || { echo "$1 has no carrier"; return 1; }; }
has_pkey() { grep -qs 0x8001 "/sys/class/infiniband/vqib$1/ports/1/pkeys/"*; }
lost_pkey() { ! has_pkey "$1"; }
is_member() { saquery --smkey 1 -C vqib0 MCMR 2>/dev/null | awk -v port=":1$(printf %x "$1")0\$" '
    { sub(/\.+/, " ") } $1 == "MGID" { group = $2 } $1 == "PortGid" && $2 ~ port && group ~ /401b:ffff:.*ffff:ffff$/ { found = 1 } END { exit !found }'; }
all_are_members() { [ "$(saquery --smkey 1 -C vqib0 MCMR 2>/dev/null | awk '
    { sub(/\.+/, " ") } $1 == "MGID" { group = $2 } $1 == "PortGid" && group ~ /401b:ffff:.*ffff:ffff$/ { n++ } END { print n }')" = 16 ]; }
runs_all() { local host; for host in $(seq 0 15); do await_carrier "ib$host" || return 1; done; }
children_run() { local host; for host in $with_child; do await_carrier "ib$host.8001" || return 1; done; }
child_runs() { [ ! -e "/sys/class/net/ib$1.8001" ] || await_carrier "ib$1.8001"; }
switch_port() { echo "s$(($1/8)).$(($1%8+1))"; }

cable_on() { fabric_port "h$1" DOWN; }
cable_off() { fabric_port "h$1" UP && fabric_active "h$1" && await_carrier "ib$1" && child_runs "$1" && fabric_until is_member "$1"; }
sm_on() { kill -KILL "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; rm -rf /tmp/osm; }
sm_off() { fabric_sm -P /tmp/partitions && fabric_until all_are_members && runs_all && children_run; }
pkey_on() { partitions "$1" > /tmp/partitions; kill -HUP "$FABRIC_SM"; fabric_until lost_pkey "$1"; }
pkey_off() { partitions > /tmp/partitions; kill -HUP "$FABRIC_SM"; fabric_until has_pkey "$1" && await_carrier "ib$1.8001"; }
group_on() { /tmp/sa-leave "vqib$1" $broadcast; }
group_off() { ip link set "ib$1" down; ip link set "ib$1" up; await_carrier "ib$1" && fabric_until is_member "$1"; }
loss_on() { fabric_fault "h$1" loss_ppm=1000000; }
loss_off() { fabric_fault "h$1" loss_ppm=0; }
# A few lost packets are no fault: the kernel repeats its query.
fewlost_on() { fabric_fault "h$1" loss_ppm=20000; }
fewlost_off() { fabric_fault "h$1" loss_ppm=0; }
# Half of the packets to the host have bit errors; a ping to all hosts sends some.
errors_on() { fabric_fault "$(switch_port "$1")" vcrc_ppm=500000; ping -q -i 0.5 ff02::1%ib0 > /tmp/ping 2>&1 & ping=$!; }
errors_off() { fabric_fault "$(switch_port "$1")" vcrc_ppm=0; kill $ping; wait $ping 2>/dev/null; return 0; }
mtu_on() { ip link set "ib$1" mtu 1500; }
mtu_off() { ip link set "ib$1" mtu 2044; }

# fault KIND HOST: on for two periods and a half, then healthy for as long
fault() {
    local kind=$1 host=$2 hosts=$2
    [ "$kind" != sm ] || hosts=$(seq -s' ' 0 15)
    changes begins "$kind" on "$hosts"; "${kind}_on" "$host" || return 1; changes effective "$kind" on "$hosts"
    sleep $((period*5/2))
    changes begins "$kind" off "$hosts"; "${kind}_off" "$host" || return 1; changes effective "$kind" off "$hosts"
    sleep $((period*5/2))
}

partitions > /tmp/partitions
fabric_up topo=sixteen && fabric_sm -P /tmp/partitions || return 1
for host in $(seq 0 15); do ip link set "ib$host" up; done
for host in $with_child; do
    ip link add link "ib$host" name "ib$host.8001" type ipoib pkey 0x8001 && ip link set "ib$host.8001" up || return 1
done
runs_all && children_run && fabric_until all_are_members && sleep 3 || return 1
end=$((SECONDS+seconds)) loops='' round=0 result=0
start_runs
sleep $((period*3))
while [ $SECONDS -lt $end ] && [ $result = 0 ]; do
    # Kind and first host; the next round takes another host. A run asks the SA about one interface of a port: a fault that only
    # the SA's record shows is that of a host with one interface.
    set -- cable 5 loss 9 pkey 3 group 0 errors 12 fewlost 14 mtu 5 sm 0
    while [ $# -gt 0 ] && [ $SECONDS -lt $end ]; do
        case $1 in
        pkey) host=$(($2+4*(round%4))) ;;
        group | mtu) host=${without_child[(round+$2)%11]} ;;
        sm) host=0 ;;
        *) host=$((1+($2-1+4*round+round/4)%15)) ;;
        esac
        fault "$1" $host || { echo "$1 of host $host: the fault could not be switched"; result=1; break; }
        shift 2
    done
    round=$((round+1))
    cp -r /tmp/runs /fabric-out/
done
touch /tmp/end
wait $loops
cp -r /tmp/runs /fabric-out/
cat /tmp/said.* | head -20
return $result
