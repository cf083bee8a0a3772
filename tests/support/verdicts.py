# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check's findings in many captures: the violated MUSTs and SHOULDs, without its default
known deviations.

Captures are compared by (rule, entity, actual value): the same violation in another frame is
equal."""
import json
import os
import re
import subprocess

from support.paths import BIN

# The remaining frames are too few.
NOTHING_CHECKED = ("no MUST was judged", "every applicable rule is inconclusive")
BATCH = 100  # captures in one run of ipoib-check


class Failed(Exception):
    """ipoib-check could not check a capture."""


def violations(result):
    """((rule, entity, actual value), first frame) of a violated rule. The number of a connection is
    left out: it counts the connections captured before it, so it names no entity of the whole
    capture."""
    for case in result["cases"]:
        entity = re.sub(r"^connection \d+$", "connection", case["subject"])
        yield (result["id"], entity, case["actual"]), case["frames"][0]
    if result["further_cases"]:
        raise Failed(f"{result['capture']}: {result['id']}: ipoib-check does not list every case")


def check_captures(paths):
    """The violations of each capture. --strict: a violated SHOULD is a violation too."""
    command = [os.path.join(BIN, "ipoib-check"), "--strict", "--format", "json", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise Failed(f"ipoib-check: exit status {done.returncode}: {done.stderr[-500:]}")
    report, found = json.loads(done.stdout), {path: [] for path in paths}
    for capture in report["summary"]["captures"]:
        if capture["error"] not in (None, "", *NOTHING_CHECKED) and capture["ipoib_frames"]:
            raise Failed(f"{capture['name']}: {capture['error']}")
    for result in report["results"]:
        if result["violation"]:
            found[result["capture"]] += violations(result)
    return [found[path] for path in paths]
