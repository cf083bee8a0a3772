# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions to sharkd, the daemon that shows what Wireshark's windows show."""
import json
import subprocess

from tap import SHARKD


def ask_sharkd(requests):
    """The answers, without their numbers; None: there is no sharkd here. It is an error if a request stays without one."""
    text = "".join(json.dumps(dict(r, jsonrpc="2.0", id=i)) + "\n" for i, r in enumerate(requests, 1))
    try:
        out = subprocess.run(SHARKD + ["-"], input=text, capture_output=True, text=True, timeout=300, check=False)
    except FileNotFoundError:
        return None
    if "there is no program" in out.stderr:  # script/with-plugins says so
        return None
    answers = [json.loads(line) for line in out.stdout.splitlines() if line.startswith('{"jsonrpc"')]
    if len(answers) != len(requests):
        raise RuntimeError("sharkd gave %d answers to %d requests: exit status %d, %s" %
                           (len(answers), len(requests), out.returncode, out.stderr[-2000:]))
    return [{k: v for k, v in a.items() if k != "id"} for a in answers]
