#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [--each-rule | FAULT...]: runs ipoib-probe against the deviant peer with each fault, with as
many as find every rule once, or with these.

The probe must find that fault and nothing else. Runs in a virtual machine of the fabric
(tests/probe/deviant/fabric.sh), with the programs in /tmp. Output: TAP."""
import functools
import glob
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time

PROBE, DEVIANT = "/tmp/ipoib-probe", "/tmp/deviant"
KERNEL_ADDRESS = "10.0.0.5"
ADDRESS, SOURCE, SOURCE6, ANSWER_MS = "10.0.0.9", "10.0.0.77", "fe80::77", "150"
REPORT = "/tmp/report.json"
NO_SERVICE = "rfc4755.3.5.service-id"
EACH_RULE_TOO = ("right", "late-right", "loss", "restarts", "sm-stops")
LONGEST = 60  # seconds of one probe run, also if the peer stops replying


class Peer:
    """A running deviant peer; address6 is its link-local address."""

    def __init__(self, device, fault):
        command = [DEVIANT, "-d", device, "-a", ADDRESS, "--" + fault]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError("the deviant peer did not start")
        self.address6 = line[1]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


def not_as_expected(result):
    """Is it a note of level INFO that would be a failure at a higher level?"""
    return result["level"] == "INFO" and result["outcome"] == "noted" and result["expected"]


def probe(target, arguments=()):
    """Returns (rules and stages that failed or were not as expected, report, messages, exit status)."""
    source = SOURCE6 if ":" in target else SOURCE
    command = [
        PROBE,
        "-d",
        "vqib1",
        "--timeout",
        ANSWER_MS,
        "--format",
        "json",
        "-o",
        REPORT,
        "-w",
        "/tmp/last.pcapng",
    ]
    command += [] if target == "fabric" else ["--source", source]
    run = subprocess.run(command + list(arguments) + [target], capture_output=True, text=True)
    report = json.load(open(REPORT))
    failed = {r["id"] for r in report["results"] if r["outcome"] == "fail" or not_as_expected(r)}
    return failed, report, run.stderr, run.returncode


def expectation(found):
    words = set(found.split())
    said = {w for w in words if w in ("untested", "unusable") or w.startswith("noted:")}
    return words - said, said


def explain(report, ids):
    for r in report["results"]:
        if r["id"] in ids:
            yield "%s %s: %s; %s" % (
                r["outcome"],
                r["id"],
                r["actual"],
                json.dumps(r.get("evidence")),
            )


def compare_failures(found, result):
    """Complaints: rules and stages that failed and should not have, and the reverse."""
    failed, report, _, _ = result
    rules, _ = expectation(found)
    complaints = [
        "%s was found, but the peer does not violate it" % r for r in sorted(failed - rules)
    ]
    complaints += ["%s was not found" % r for r in sorted(rules - failed)]
    return complaints + list(explain(report, failed ^ rules))


def compare(found, result):
    """Complaints: differences between the result of the probe and the table. Empty if there are none."""
    _, report, said, status = result
    complaints = compare_failures(found, result)
    _, words = expectation(found)
    if ("untested" in words) != any(t.get("error") for t in report["summary"]["targets"]):
        complaints.append("exit status %d: 'untested' expected or reported, not both" % status)
    if ("unusable" in words) != ("in use" in said):
        complaints.append("message about the source: %s" % said.strip())
    return complaints + not_noted(report, [w[6:] for w in words if w.startswith("noted:")])


def not_noted(report, stages):
    """Complaints: those of these stages that were not noted."""
    noted = {r["id"] for r in report["results"] if r["outcome"] == "noted"}
    return ["%s was not noted" % s for s in stages if s not in noted]


def check(option, probed, found, arguments=()):
    peers = [Peer("vqib2", option)]
    if "second" in probed:
        peers.append(Peer("vqib3", "right"))
    try:
        target = (
            ADDRESS if "ipv4" in probed else "fabric" if "fabric" in probed else peers[0].address6
        )
        return compare(found, probe(target, arguments))
    finally:
        for p in peers:
            p.end()


# ---- rewritten packets


def read_rewritings(path):
    """Returns [(name, peer, end, rules, found, description)]."""
    lines = [line.strip() for line in open(path)]
    rows = [
        [field.strip() for field in line.split("|")]
        for line in lines
        if line and not line.startswith("#")
    ]
    return [
        (name, peer, end, [r.strip() for r in rules.split(";") if r.strip()], found, does)
        for name, peer, end, rules, found, does in rows
    ]


def rewrite(end, rule):
    with open("/sys/kernel/debug/vqib/%s/rewrite" % end, "w") as f:
        f.write(rule)


def hits(end):
    return [
        int(line.rsplit(None, 1)[1]) for line in open("/sys/kernel/debug/vqib/%s/rewrite" % end)
    ]


def check_rewriting(peer, end, rules, found):
    peers = [Peer("vqib2", "right")] if peer == "deviant" else []
    try:
        for rule in rules:
            rewrite(end, rule)
        complaints = compare(found, probe(ADDRESS if peers else KERNEL_ADDRESS, ["--disruptive"]))
        return complaints + [
            "no packet matched '%s'" % r for r, n in zip(rules, hits(end)) if not n
        ]
    finally:
        rewrite(end, "off")
        for p in peers:
            p.end()


# ---- faults of the network and of the fabric, not of the peer


def with_right_peer(change, undo, found="", arguments=()):
    """Probes a peer without a fault; change() is called half a second into the run."""
    peer = Peer("vqib2", "right")
    timer = threading.Timer(0.5, change)
    timer.start()
    begin = time.monotonic()
    try:
        complaints = compare_failures(found, probe(ADDRESS, arguments))
        if time.monotonic() - begin > LONGEST:
            complaints.append("the run took %.0f s" % (time.monotonic() - begin))
        return complaints
    finally:
        timer.cancel()
        undo()
        peer.end()


def received(end):
    """Packets that the end's port has received."""
    with open("/sys/kernel/debug/vqib/%s/counters" % end) as f:
        return int(dict(line.split() for line in f)["rx_packets"])


RESTART_AFTER = 10  # packets: the probe has found the peer, and has most of its checks before it


def check_restart():
    """Restarts a peer without a fault, with another queue pair, while it is probed."""
    peers = [Peer("vqib2", "right")]
    before, ended = received("h2"), threading.Event()

    def restart():
        while received("h2") < before + RESTART_AFTER and not ended.wait(0.05):
            pass
        peers[0].end()
        peers.append(Peer("vqib2", "right"))

    restarting = threading.Thread(target=restart)
    restarting.start()
    try:
        result = probe(ADDRESS)
        return compare_failures("", result) + not_noted(result[1], ["peer.changed"])
    finally:
        ended.set()
        restarting.join()
        peers[-1].end()


def set_loss(ppm):
    for name in glob.glob("/sys/kernel/debug/vqib/*/loss_ppm"):
        with open(name, "w") as f:
            f.write(str(ppm))


# A duplicate or late response must not be taken as the response to a later request.
MISMATCHED = {
    "right": "",
    "reserved-minded": "rfc4391.6.reserved-ignored",
    "grh-needed": "rfc4391.6.grh-optional",
    "flags-minded": "rfc4391.9.1.1.flags-ignored",
}


def set_fault(end, name, value):
    with open("/sys/kernel/debug/vqib/%s/%s" % (end, name), "w") as f:
        f.write(str(value))


def in_network(option, found, fault, value):
    """With this network fault the probe must find the same as without it."""
    peer = Peer("vqib2", option)
    set_fault("h2", fault, value)
    try:
        return compare(found, probe(ADDRESS))
    finally:
        set_fault("h2", fault, 0)
        peer.end()


def later_than_timeout(option, found):
    """Each response arrives after the timeout of the probe: it may find less, but nothing else."""
    peer = Peer("vqib2", option)
    set_fault("h2", "delay_us", 600000)
    try:
        failed, report, _, status = probe(ADDRESS)
        wrong = failed - set(found.split()) - {"peer.reachable"}
        complaints = ["%s was found, but the peer does not violate it" % r for r in sorted(wrong)]
        complaints += list(explain(report, wrong))
        if found and status == 0:
            complaints.append("a deviant peer is reported as conformant")
        return complaints
    finally:
        set_fault("h2", "delay_us", 0)
        peer.end()


def signal_opensm(number):
    os.kill(int(os.environ["OPENSM"]), number)


def other_tests():
    for option, found in MISMATCHED.items():
        yield (
            "duplicated-" + option,
            found,
            "each packet of the peer is duplicated",
            functools.partial(in_network, option, found, "dup_ppm", 1000000),
        )
        yield (
            "late-" + option,
            found,
            "each packet of the peer takes 600 ms, longer than the timeout of the probe",
            functools.partial(later_than_timeout, option, found),
        )
    yield (
        "slow-right",
        "",
        "each packet of the peer takes 100 ms",
        functools.partial(in_network, "right", "", "delay_us", 100000),
    )
    nothing, controlled = lambda: None, "rfc4391.13.qkey-controlled"
    yield (
        "loss",
        "",
        "every tenth packet is lost",
        functools.partial(with_right_peer, lambda: set_loss(100000), lambda: set_loss(0)),
    )
    yield ("restarts", "", "the peer restarts with another queue pair half-way", check_restart)
    yield (
        "sm-stops",
        "",
        "the subnet manager stops half-way",
        functools.partial(
            with_right_peer,
            lambda: signal_opensm(signal.SIGSTOP),
            lambda: signal_opensm(signal.SIGCONT),
        ),
    )
    yield (
        "qkey-not-controlled",
        controlled,
        "the group's Q_Key is not a controlled one, and no known deviation covers it",
        functools.partial(with_right_peer, nothing, nothing, controlled, ["--deviations", "none"]),
    )


# ---- all


def deviant_tests():
    table = [
        line.rstrip("\n").split("\t")
        for line in subprocess.run(
            [DEVIANT, "--table"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    ]
    for option, probed, found, does in table:
        if "connected" in probed:  # it announces connected mode and accepts no connection
            found += " " + NO_SERVICE
        yield option, found, does, functools.partial(check, option, probed, found)


def wire_tests():
    for name, peer, end, rules, found, does in read_rewritings(
        os.path.join(os.path.dirname(__file__), "rewritings")
    ):
        yield "wire-" + name, found, does, functools.partial(
            check_rewriting, peer, end, rules, found
        )


def each_rule(tests):
    """The tests that expect a finding that no earlier one expects, and those of faults of the network
    that must not add one."""
    expected, chosen = set(), []
    for test in tests:
        option, found = test[0], set(test[1].split())
        if found - expected or option in EACH_RULE_TOO:
            chosen.append(test)
        expected |= found
    return chosen


def choose(tests, arguments):
    if arguments == ["--each-rule"]:
        return each_rule(tests)
    unknown = set(arguments) - {t[0] for t in tests}
    if unknown:
        sys.exit("run.py: no such fault: " + ", ".join(sorted(unknown)))
    return [t for t in tests if t[0] in arguments] if arguments else tests


def main():
    tests = list(itertools.chain(deviant_tests(), wire_tests(), other_tests()))
    tests = choose(tests, sys.argv[1:])
    failures = 0
    for number, (option, found, does, run) in enumerate(tests, 1):
        begin = time.monotonic()
        try:
            complaints = run()
        except Exception as e:  # run the other tests
            complaints = [repr(e)]
        failures += bool(complaints)
        print("%sok %d - %s: %s" % ("not " if complaints else "", number, option, does))
        print(
            "".join("# %s\n" % c for c in complaints) + "# %.1f s" % (time.monotonic() - begin),
            flush=True,
        )
    print("1..%d" % len(tests))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
