# SPDX-License-Identifier: GPL-2.0-or-later
# An example of a test in the CI of another project (doc/fabric-in-ci.md): a DHCP server, which stands for the program that is
# tested, gives a lease to a client on another node.
# Expected: the client has an address of the range, and pings the server from it.
fabric_up && fabric_capture test.pcap && fabric_sm && fabric_nets || return 1
ip -n n1 addr flush dev ib1 scope global

fabric_on 0 dnsmasq --keep-in-foreground --user=root --conf-file=/dev/null --port=0 --interface=ib0 --bind-interfaces \
    --dhcp-range=10.0.0.50,10.0.0.99,10m --no-ping --dhcp-leasefile=/tmp/leases --log-facility=/tmp/server.log & server=$!
fabric_await /tmp/server.log 'DHCP, IP range' || return 1

[ -s /etc/machine-id ] || tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id # without one the client has no identifier
mkdir -p /run/systemd/network /run/systemd/netif/{links,leases}
printf '%s\n' '[Match]' Name=ib1 '[Network]' DHCP=ipv4 LinkLocalAddressing=no > /run/systemd/network/ib.network
chown -R systemd-network: /run/systemd/netif
# udev does not run here: with a read-only /sys the client does not wait for it
fabric_on 1 sh -c 'mount -o remount,ro /sys && exec /lib/systemd/systemd-networkd' & client=$!
has_lease() { ip -n n1 -4 addr show dev ib1 | grep -q 'inet 10\.0\.0\.[5-9][0-9]/24'; }
fabric_until has_lease || { cat /tmp/server.log; return 1; }
fabric_on 1 ping -c 1 10.0.0.1 || return 1

kill $client; wait $client
kill $server; wait $server
fabric_capture_end
