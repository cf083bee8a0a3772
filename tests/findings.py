#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the checks of single packets find in testdata: on real Linux traffic its known deviations and nothing else, in
the built captures the faults that were built in, each counted by hand from tests/frames/build.py.

Environment: IPOIB_SRC, IPOIB_BUILD. Output: TAP."""
import glob
import os
import subprocess
import sys

SRC = os.environ.get("IPOIB_SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BUILD = os.environ.get("IPOIB_BUILD") or os.path.join(SRC, "build")
NOT_READ = 3  # exit status of findings: libpcap cannot read the capture
SERVICE_ID, UD_QPN, PRIVATE = "rfc4755.3.5.service-id", "rfc4755.3.2.ud-qpn-in-private-data", "rfc4755.6.private-data"


def linux(reqs, rtus, rejs=0):
    """Linux's IPoIB: Service-IDs begin with 0x10; RTU and REJ carry no private data."""
    return {k: v for k, v in {SERVICE_ID: reqs, UD_QPN: rtus + rejs, PRIVATE: rtus}.items() if v}


EXPECTED = {
    # real traffic; messages as testdata/README.md tells them
    "connected.pcap": linux(2, 2),
    "mixed.pcap": linux(1, 1),
    "loss.pcap": linux(4, 4),
    "retransmit.pcap": linux(2, 2),
    # REQs 5, 11, 17, 35, 37, 39 have Linux's form, 3 the RFC's; RTUs 13, 19; REJs 4, 6, 36, 38, 40; 17's private data is 0
    "cm-reject.pcap": {SERVICE_ID: 6, UD_QPN: 8, PRIVATE: 3, "rfc4755.5.1.receive-mtu": 1},
    # built
    "built-arp.pcap": {"rfc4391.9.1.1.reserved-flags": 1, "rfc4755.3.1.flags": 1},  # 10: flags 0x3f
    "built-arp-faults.pcap": {"rfc4391.9.2.arp-hardware-type": 2,     # 2, 3
                              "rfc4391.9.2.arp-hardware-length": 2,   # 1, 4
                              "rfc4391.9.1.1.format": 1},             # 6
    "built-encap.pcap": {"rfc4391.6.reserved-zero": 1},
    "built-lengths.pcap": {"rfc4391.6.encapsulation-header": 3,       # 8 to 10: 1 to 3 octets
                           "rfc4391.9.1.1.format": 1},                # 13
    "built-mgid.pcap": {"rfc4391.4.mgid-t-flag": 1, "rfc4391.4.mgid-format": 1},    # 6, 10
    "built-nd-faults.pcap": {"rfc4391.9.3.nd-option-length": 3,       # 2, 5, 6
                             "rfc4391.9.3.nd-option-padding": 1},     # 1
    "built-cm-linux.pcap": dict(linux(2, 2), **{"rfc4755.6.reserved-zero": 2}),     # 7, 8
    "built-cm-reject.pcap": linux(3, 0, 1),                           # 3, 4, 7; 8
    "built-cm-reuse.pcap": linux(2, 2),
    "built-cm-uc.pcap": linux(0, 1),
    "built-never.pcap": linux(1, 1),
    "built-rc.pcap": linux(1, 1),
    "built-rc-interleaved.pcap": linux(2, 2),
    "built-rc-largest.pcap": linux(1, 1),
}


def main():
    captures = sorted(glob.glob(os.path.join(SRC, "testdata/*.pcap")) + glob.glob(os.path.join(SRC, "testdata/built/*.pcap")))
    failures = passes = 0
    for n, capture in enumerate(captures, 1):
        name = os.path.basename(capture)
        out = subprocess.run([os.path.join(BUILD, "bin/findings"), capture], capture_output=True, text=True)
        if out.returncode == NOT_READ:
            print("ok %d - %s # SKIP libpcap cannot read it" % (n, name))
            continue
        found = {}
        for line in out.stdout.splitlines():
            rule, passed, failed, _, _ = line.split()
            passes += int(passed)
            if int(failed):
                found[rule] = int(failed)
        good = out.returncode == 0 and found == EXPECTED.get(name, {})
        failures += not good
        print("%sok %d - %s" % ("" if good else "not ", n, name))
        if not good:
            print("# expected %s\n# found %s %s" % (EXPECTED.get(name, {}), found, out.stderr.strip()[:500]))
    if passes < 1000:
        print("# only %d checks passed: too few for a test" % passes)
        failures += 1
    print("1..%d" % len(captures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
