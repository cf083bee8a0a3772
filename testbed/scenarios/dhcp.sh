# SPDX-License-Identifier: GPL-2.0-or-later
# dhcp: two HCAs back to back; dnsmasq on n0 gives n1's systemd-networkd a lease of two minutes, with renewals every 4 s.
# Expected: discover, offer, request and ACK by broadcast; two renewals and a release by unicast.
# findings: deviation rfc4390.2.2.no-broadcast-flag rfc4390.2.1.chaddr
#   RFC 4390 section 2.2: a client with an address in ciaddr does not set the BROADCAST flag; systemd-networkd always does.
#   RFC 4390 section 2.1: chaddr is zero; systemd-networkd puts 16 bytes of its link-layer address into the release.
leases=/tmp/dhcp; log=$leases/log
fabric_up && fabric_capture dhcp.pcap && fabric_sm && fabric_nets || return 1
ip -n n1 addr flush dev ib1 scope global
[ -s /etc/machine-id ] || tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id # without one the client has no identifier
mkdir -p "$leases" /run/systemd/network /run/systemd/netif/{links,leases}
ip netns exec n0 dnsmasq --keep-in-foreground --user=root --conf-file=/dev/null --port=0 --interface=ib0 --bind-interfaces \
    --dhcp-range=10.0.0.50,10.0.0.99,2m --dhcp-option-force=option:T1,4 --no-ping --dhcp-authoritative --dhcp-leasefile="$leases/leases" \
    --log-facility="$log" & server=$!
fabric_await "$log" 'DHCP, IP range' || return 1

printf '%s\n' '[Match]' Name=ib1 '[Network]' DHCP=ipv4 LinkLocalAddressing=no > /run/systemd/network/ib.network
chown -R systemd-network: /run/systemd/netif
# udev does not run here: with a read-only /sys the client does not wait for it
ip netns exec n1 sh -c 'mount -o remount,ro /sys && exec /lib/systemd/systemd-networkd' & client=$!
acknowledged() { [ "$(grep -c DHCPACK "$log")" -ge "$1" ]; }
fabric_until acknowledged 3 || { cat "$log"; return 1; }
kill $client; wait $client     # it releases the address when it ends
kill $server; wait $server
fabric_capture_end
