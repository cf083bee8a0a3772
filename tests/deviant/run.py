#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [FAULT...]: each fault of the deviant peer (or these), and ipoib-probe, which has to find it and nothing else.

It runs in the machine of the virtual fabric (tests/deviant/fabric.sh), with the programs in /fabric-out. Output: TAP."""
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

PROBE, DEVIANT = "/fabric-out/ipoib-probe", "/fabric-out/deviant"
KERNEL_ADDRESS = "10.0.0.5"
ADDRESS, SOURCE, SOURCE6, ANSWER_MS = "10.0.0.9", "10.0.0.77", "fe80::77", "150"
REPORT = "/tmp/report.json"
NO_SERVICE = "rfc4755.3.5.service-id"
LONGEST = 60  # seconds of one probe, though nobody answers any more


class Peer:
    """A running deviant peer; address6 is its link-local address."""

    def __init__(self, device, fault):
        command = [DEVIANT, "-d", device, "-a", ADDRESS, "--" + fault]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError("the deviant peer does not stand on the link")
        self.address6 = line[1]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


def not_as_expected(result):
    """Of what is shown and never counted, what would be a failure if it counted."""
    return result["level"] == "INFO" and result["outcome"] == "noted" and result["expected"]


def probe(target, arguments=()):
    """What the probe finds: (rules and stages that fail, or are not as expected; the report; what it said; its exit status)"""
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


def judge_failures(found, result):
    """Which rules and stages fail that should not, or should and do not."""
    failed, report, _, _ = result
    rules, _ = expectation(found)
    complaints = ["%s is found, and is not there" % r for r in sorted(failed - rules)]
    complaints += ["%s is not found" % r for r in sorted(rules - failed)]
    return complaints + list(explain(report, failed ^ rules))


def judge(found, result):
    """What is wrong with what the probe found; nothing where it is as the table has it."""
    _, report, said, status = result
    complaints = judge_failures(found, result)
    _, words = expectation(found)
    if ("untested" in words) != any(t.get("error") for t in report["summary"]["targets"]):
        complaints.append("exit status %d: could it test?" % status)
    if ("unusable" in words) != ("in use" in said):
        complaints.append("of the source: %s" % said.strip())
    return complaints + not_noted(report, [w[6:] for w in words if w.startswith("noted:")])


def not_noted(report, stages):
    """Complaints about these stages, each of which has to be noted."""
    noted = {r["id"] for r in report["results"] if r["outcome"] == "noted"}
    return ["%s is not noted" % s for s in stages if s not in noted]


def check(option, probed, found, arguments=()):
    peers = [Peer("vqib2", option)]
    if "rival" in probed:
        peers.append(Peer("vqib3", "right"))
    try:
        target = (
            ADDRESS if "ipv4" in probed else "fabric" if "fabric" in probed else peers[0].address6
        )
        return judge(found, probe(target, arguments))
    finally:
        for p in peers:
            p.end()


# ---- faults on the wire


def read_rewritings(path):
    """[(name, peer, end, rules, found, what it does)]"""
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
        complaints = judge(found, probe(ADDRESS if peers else KERNEL_ADDRESS, ["--disruptive"]))
        return complaints + [
            "no packet was as in '%s'" % r for r, n in zip(rules, hits(end)) if not n
        ]
    finally:
        rewrite(end, "off")
        for p in peers:
            p.end()


# ---- what is nobody's fault, and one that is the fabric's


def with_right_peer(change, undo, found="", arguments=()):
    """The probe and a right peer, where something happens half a second into the run."""
    peer = Peer("vqib2", "right")
    timer = threading.Timer(0.5, change)
    timer.start()
    begin = time.monotonic()
    try:
        complaints = judge_failures(found, probe(ADDRESS, arguments))
        if time.monotonic() - begin > LONGEST:
            complaints.append("it took %.0f s" % (time.monotonic() - begin))
        return complaints
    finally:
        timer.cancel()
        undo()
        peer.end()


def check_restart():
    """A right peer that is ended, and started with another queue pair while it is tested."""
    peers = [Peer("vqib2", "right")]

    def restart():
        peers[0].end()
        peers.append(Peer("vqib2", "right"))

    timer = threading.Timer(3, restart)
    timer.start()
    try:
        result = probe(ADDRESS)
        return judge_failures("", result) + not_noted(result[1], ["peer.changed"])
    finally:
        timer.join()
        peers[-1].end()


def set_loss(ppm):
    for name in glob.glob("/sys/kernel/debug/vqib/*/loss_ppm"):
        with open(name, "w") as f:
            f.write(str(ppm))


# A response that is doubled or late may not count for a later request.
TAKEN_FOR_ANOTHER = {
    "right": "",
    "reserved-minded": "rfc4391.6.reserved-ignored",
    "grh-needed": "rfc4391.6.grh-optional",
    "flags-minded": "rfc4391.9.1.1.flags-ignored",
}


def set_fault(end, name, value):
    with open("/sys/kernel/debug/vqib/%s/%s" % (end, name), "w") as f:
        f.write(str(value))


def in_network(option, found, fault, value):
    """The probe finds what it finds in a network without faults."""
    peer = Peer("vqib2", option)
    set_fault("h2", fault, value)
    try:
        return judge(found, probe(ADDRESS))
    finally:
        set_fault("h2", fault, 0)
        peer.end()


def later_than_asked(option, found):
    """Each response comes after the time that the probe waits: it may find less, and never something else."""
    peer = Peer("vqib2", option)
    set_fault("h2", "delay_us", 600000)
    try:
        failed, report, _, status = probe(ADDRESS)
        wrong = failed - set(found.split()) - {"peer.reachable"}
        complaints = ["%s is found, and is not there" % r for r in sorted(wrong)]
        complaints += list(explain(report, wrong))
        if found and status == 0:
            complaints.append("a deviant peer is conformant")
        return complaints
    finally:
        set_fault("h2", "delay_us", 0)
        peer.end()


def signal_opensm(number):
    os.kill(int(os.environ["OPENSM"]), number)


def other_tests():
    for option, found in TAKEN_FOR_ANOTHER.items():
        yield (
            "doubled-" + option,
            found,
            "each packet of the peer comes twice",
            functools.partial(in_network, option, found, "dup_ppm", 1000000),
        )
        yield (
            "late-" + option,
            found,
            "each packet of the peer takes 600 ms, longer than the probe waits",
            functools.partial(later_than_asked, option, found),
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
    yield ("restarts", "", "the peer gets another queue pair half-way", check_restart)
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
        "the group's Q_Key is not a controlled one, and that is not excused",
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
        if "connected" in probed:  # it announces connections and can take none
            found += " " + NO_SERVICE
        yield option, found, does, functools.partial(check, option, probed, found)


def wire_tests():
    for name, peer, end, rules, found, does in read_rewritings(
        os.path.join(os.path.dirname(__file__), "rewritings")
    ):
        yield "wire-" + name, found, does, functools.partial(
            check_rewriting, peer, end, rules, found
        )


def main():
    tests = list(itertools.chain(deviant_tests(), wire_tests(), other_tests()))
    unknown = set(sys.argv[1:]) - {t[0] for t in tests}
    if unknown:
        sys.exit("run.py: no such fault: " + ", ".join(sorted(unknown)))
    if sys.argv[1:]:
        tests = [t for t in tests if t[0] in sys.argv[1:]]
    failures = 0
    for number, (option, found, does, run) in enumerate(tests, 1):
        begin = time.monotonic()
        try:
            complaints = run()
        except Exception as e:  # the others are tried all the same
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
