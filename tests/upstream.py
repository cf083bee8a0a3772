#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""doc/upstream.md says what Wireshark without the plugin shows of each capture of testdata/upstream: does it?

Of each fault of the page the command is run as it stands there. It must print what the page has under "Shows" in every
version that the page names; in another one, or where it prints what is under "Should show", a remark tells so, for
Wireshark may have been mended. The captures are those that tests/frames/upstream.py makes, each is on the page and in
testdata/upstream/README.md. What should be shown is shown with the plugin, where the page says that it is right.

Environment: IPOIB_SRC, IPOIB_PLUGINS (script/tshark). Output: TAP."""
import collections
import os
import re
import subprocess
import sys

from tap import SRC, finish, remark, tap

FOLDER = "testdata/upstream"
# One fault of the page: heading, the command, both outputs, the versions
FAULT = re.compile(r"### (?P<name>[^\n]*)\n\n    (?P<command>IPOIB_PLUGINS= script/tshark [^\n]*)\n\n"
                   r"Shows:\n\n(?P<shows>(?:    [^\n]*\n)+)\nShould show:\n\n(?P<should>(?:    [^\n]*\n)+)\n"
                   r"(?P<why>.*?)\n\nSeen in (?P<versions>[\d., and]+)\. With the plugin: (?P<plugin>right|the same|partly right)\.\n", re.DOTALL)
Fault = collections.namedtuple("Fault", "name command shows should versions plugin")


def page(name):
    with open(os.path.join(SRC, name), encoding="utf-8") as f:
        return f.read()


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def faults(text):
    found = []
    for section in re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]:
        m = FAULT.match(section)
        if not m:
            tap(False, section.splitlines()[0] + ": has command, outputs and versions")
            continue
        found.append(Fault(m["name"], m["command"], lines(m["shows"]), lines(m["should"]),
                           re.findall(r"\d+\.\d+", m["versions"]), m["plugin"]))
    return found


def run(command):
    """The lines that the page's command prints; on stderr, if there are none on stdout."""
    done = subprocess.run(["bash", "-c", command], cwd=SRC, capture_output=True, text=True)
    return lines(done.stdout) or lines(done.stderr)


def wireshark():
    said = run("IPOIB_PLUGINS= script/tshark --version")
    found = re.search(r"\b(\d+\.\d+)\.\d+", said[0] if said else "")
    if not found:
        sys.exit("tshark does not say its version: %s" % said)
    return found[1]


def judge(fault, version):
    got = run(fault.command)
    if got == fault.should:
        tap(True, fault.name)
        remark("Wireshark %s has mended: %s" % (version, fault.name))
    elif got == fault.shows or version in fault.versions:
        tap(got == fault.shows, fault.name, ["prints: " + line for line in got[:5]])
    else:
        tap(True, fault.name)
        remark("Wireshark %s shows something else: %s" % (version, fault.name))
    return got == fault.shows


def judge_plugin(fault, still_so):
    """What should be shown is what the plugin shows, where the page says so; the rest holds as long as the fault is there."""
    got = run(fault.command.replace("IPOIB_PLUGINS= ", "", 1))
    is_now = "right" if got == fault.should else "the same" if got == fault.shows else "partly right"
    good = is_now == fault.plugin or (not still_so and fault.plugin != "right")
    tap(good, fault.name + ": with the plugin " + fault.plugin, ["prints: " + line for line in got[:5]])


def check_captures(found):
    done = subprocess.run([sys.executable, "-B", "tests/frames/upstream.py", FOLDER, "--check"], cwd=SRC,
                          capture_output=True, text=True)
    tap(done.returncode == 0, "the captures are those that upstream.py makes", lines(done.stdout + done.stderr))
    names = {n for n in os.listdir(os.path.join(SRC, FOLDER)) if n != "README.md"}
    shown = {m for f in found for m in re.findall(FOLDER + r"/([\w.-]+)", f.command)}
    listed = set(re.findall(r"^\| ([\w.-]+\.pcap(?:ng)?) \|", page(FOLDER + "/README.md"), re.MULTILINE))
    tap(names == shown, "every capture has its fault on the page", sorted(names ^ shown))
    tap(names == listed, "every capture has its line in README.md", sorted(names ^ listed))


def main():
    found = faults(page("doc/upstream.md"))
    check_captures(found)
    for f in found:
        tap(f.shows != f.should, f.name + ": shows and should show differ")
    version = wireshark()
    for f in found:
        judge_plugin(f, judge(f, version))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
