#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian packages: the same commit gives the same octets, and on a bare Debian 12 they install with what they need,
# work from a folder without the sources, and go without a trace. Results in TAP.
# test: here-only
# test: timeout=1200
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

try "the packages are built" "$src/script/package" "$work/a"
try "and built again" "$src/script/package" "$work/b"
for deb in "$work"/a/*.deb; do
    try "${deb##*/} is the same" cmp "$deb" "$work/b/${deb##*/}"
done

. /etc/os-release
if ! "$src/script/bootstrap" --with other-wireshark --packages-only || [ "$(id -u)" != 0 ]; then
    skip "a bare system" "mmdebstrap is not to be had, or this is not root"
    finish
fi

# What is done on the bare system; each line that it prints is a result.
cat > "$work/a/try" <<'END'
cd /tmp/try
apt-get -q -y install --no-install-recommends tshark ./*.deb > log 2>&1 && echo installed || cat log
tshark -G plugins | grep -c '^ipoib.*\.so' | sed 's/^/plugins: /'
tshark -r connected.pcap -Y 'ipoib.rule.deviation == 1' -T fields -e ipoib.rule.id 2> /dev/null | tr ',' '\n' | grep -cx rfc4755.7.resolution-over-ud | sed "s/^/told: /"
ipoib-check connected.pcap > /dev/null; echo "ipoib-check: $?"
ipoib-check --format json none.pcap > /dev/null; echo "ipoib-check of none: $?"
ipoib-capture convert connected.pcap connected.erf 2> /dev/null; echo "convert: $?"
ipoib-probe 10.0.0.1 > /dev/null 2>&1; echo "ipoib-probe without a device: $?"
apt-get -q -y purge ipoib-tools ipoib-tools-doc wireshark-plugin-ipoib > log 2>&1
find / -xdev -path /tmp -prune -o -path /proc -prune -o -iname '*ipoib*' -not -path '*/dpkg/*' -not -path '/sys/*' -print | sed 's/^/left: /'
END
cp "$src/testdata/connected.pcap" "$work/a/"
"$src/script/apt-settings" > "$work/apt"
cat > "$work/expected" <<'END'
installed
plugins: 2
told: 2
ipoib-check: 0
ipoib-check of none: 2
convert: 0
ipoib-probe without a device: 3
END
rm -rf "$work/a/_CPack_Packages" "$work/b"
mkdir "$work/copy" && cp "$work"/a/*.deb "$work/a/try" "$work/a/connected.pcap" "$work/copy"
if mmdebstrap --mode=root --variant=apt --format=null --aptopt="$work/apt" --customize-hook="cp -r '$work/copy' \"\$1/tmp/try\"" \
    --customize-hook="chroot \"\$1\" sh /tmp/try/try > '$work/said'" \
    "$VERSION_CODENAME" /dev/null "${IPOIB_DEBIAN_MIRROR:-http://deb.debian.org/debian}" > "$work/log" 2>&1; then
    try "installed, working and gone again on a bare Debian" diff "$work/expected" "$work/said"
else
    skip "on a bare Debian" "$(grep -m1 '^E: ' "$work/log" || tail -n1 "$work/log")"
fi
finish
