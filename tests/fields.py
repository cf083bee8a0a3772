#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The names that users type exist with their types, and the pages of fields are what script/fields makes.

Environment: IPOIB_SRC, IPOIB_TSHARK. Output: TAP."""
import os
import shlex
import subprocess
import sys

from tap import SRC, TSHARK, finish, skip, tap

DOC_IS_OF = "4.0"  # built-in fields differ between versions; the page is made with this one
PAGES = {"doc/fields.md": [], "doc/man/ipoib-filter.4": ["--man"]}
PROMISED = """
type:UINT16 reserved:UINT16 lladdr:BYTES lladdr.flags:UINT8 lladdr.flags.rc:BOOLEAN lladdr.flags.uc:BOOLEAN
lladdr.flags.reserved:UINT8 lladdr.qpn:UINT24 lladdr.gid:IPv6 mgid:IPv6 mgid.flags:UINT8 mgid.transient:BOOLEAN mgid.scope:UINT8
mgid.signature:UINT16 mgid.pkey:UINT16 mgid.ipv4:IPv4 mgid.ipv6:IPv6 sa.status:UINT16 sa.join_state:UINT8 sa.mtu:UINT16
sa.rate:UINT8 sa.component_mask:UINT64 cm.service_id:UINT64 cm.service_id.qpn:UINT24 cm.ud_qpn:UINT24 cm.recv_mtu:UINT32
cm.reserved:UINT8 cm.mtu:UINT32 response_in:FRAMENUM response_to:FRAMENUM time:RELATIVE_TIME""".split()


def main():
    out = subprocess.run(TSHARK + ["-G", "fields"], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    types = {}
    for r in rows:
        if r[0] == "F":
            types.setdefault(r[2], set()).add(r[3].replace("FT_", ""))
    for promise in PROMISED:
        name, kind = promise.split(":")
        got = types.get("ipoib." + name)
        tap(got == {kind}, "ipoib.%s is %s" % (name, kind), "not %s" % got)
    version = subprocess.run(TSHARK + ["-v"], capture_output=True, text=True).stdout.split()[2]
    for page, options in PAGES.items():
        if not version.startswith(DOC_IS_OF + "."):
            skip(page, "made with Wireshark %s, this is %s" % (DOC_IS_OF, version))
            continue
        made = subprocess.run([sys.executable, os.path.join(SRC, "script/fields"), *options], capture_output=True, text=True,
                              env=dict(os.environ, IPOIB_TSHARK=shlex.join(TSHARK))).stdout
        with open(os.path.join(SRC, page), encoding="utf-8") as f:
            tap(f.read() == made, page + " is what script/fields makes")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
