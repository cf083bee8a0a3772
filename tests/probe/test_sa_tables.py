# SPDX-License-Identifier: GPL-2.0-or-later
"""Large tables of the subnet administration (SA): `ipoib-probe fabric` with the libibumad that
tests/capture/replay/ simulates.

libibverbs is not simulated here: the probe uses only the SA, as on a host without libibverbs
device. tests/capture/test_multicast.py tests ipoib-capture with such tables."""
import errno
import json
import os
import re
import resource
import signal
import subprocess
import time

import pytest

from support import wait
from support.capture import REPLAY, environment
from support.paths import BIN

pytestmark = pytest.mark.usefixtures("folder")
PROBE = os.path.join(BIN, "ipoib-probe")
LIBRARY = os.path.join(REPLAY, "libibumad.so.3")
GROUPS = 2
RECORD = 56  # bytes of a MCMemberRecord in a table (IBA 15.2.5.17, 8-byte aligned)
HEADER = 56  # bytes before the first record (IBA 15.2.1.1)
BOUND = 64 << 20  # the limit that ipoib-probe(1) names
WALL = 20  # s; on an idle machine it takes a tenth of one


def scenario(members, more=""):
    return f"""device played0
lid 9
gid fe80::2:c903:0:1896
sa-log {os.path.abspath("sa.log")}
group ff12:401b:ffff::ffff:ffff 0xc000 0xb1b
group ff12:601b:ffff::1 0xc006 0xb1b
sa-members {members}
{more}
"""


def sa_log():
    with open("sa.log", encoding="ascii") as f:
        return f.read().split("\n")


@pytest.fixture(name="library")
def only_libibumad():
    """A folder with only the simulated libibumad."""
    os.mkdir("library")
    os.symlink(LIBRARY, "library/libibumad.so.3")
    return os.path.abspath("library")


def run(library, given, *arguments):
    return wait.run(
        [PROBE, "-d", "played0", *arguments, "fabric"],
        env={**environment(given), "LD_LIBRARY_PATH": library},
        capture_output=True,
        text=True,
        timeout=WALL,
        check=False,
    )


def probe(library, members):
    """Its stages by name, and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(library, scenario(members), "--format", "json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout, done.stderr
    results = json.loads(done.stdout)["results"]
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {r["id"]: r for r in results if r["level"] == "STAGE"}, took


def test_census_of_200000_records(library):
    """100,000 members of the broadcast group, which is one group, and 100,000 groups of another
    partition."""
    stages, took = probe(library, 200_000)
    census = stages["fabric.census"]
    assert census["outcome"] == "pass", census
    assert census["actual"].startswith(
        f"{100_000 + GROUPS} groups, {100_000 + GROUPS} of IPoIB (100000 of other partitions)"
    )
    assert not [line for line in sa_log() if line.startswith("queued")]
    assert took < WALL, took
    print(f"{took:.2f} s of processor time")


@pytest.mark.parametrize("above", [False, True], ids=["largest", "larger"])
def test_table_at_the_bound(library, above):
    """The largest table that is accepted. A table with one more record is named and dropped, and
    the next request gets its response."""
    members = (BOUND - HEADER) // RECORD - GROUPS + above
    stages, _ = probe(library, members)
    census = stages["fabric.census"]
    size = HEADER + (members + GROUPS) * RECORD
    assert (size > BOUND) == above
    assert census["outcome"] == ("inconclusive" if above else "pass")
    if above:
        assert f"larger than 64 MiB ({size} bytes)" in census["actual"]
    assert stages["fabric.own-group"]["outcome"] == "fail", "the played SA makes no groups: 0x0200"
    assert "0x0200" in stages["fabric.own-group"]["actual"]
    assert not [line for line in sa_log() if line.startswith("queued")]


# --- an SA without a result: nothing undone is OK (exit status 2, and the reason)


GROUP = "0x0038"  # the attribute MCMemberRecord (IBA 15.2.5.17)
UNDONE = {  # the SA's fault: the stage without a result, the pattern of the reason
    "sa-status 0x0001": ("fabric.sm", "the SA at LID 1 is busy"),
    "sa-slow 2500": (
        "fabric.sm",
        r"the SA is slow: it answers after 2\.[5-9] s, and a query waits 1\.5 s",
    ),
    "sa-slow 1600": (
        "fabric.sm",
        r"the SA is slow: it answers after (1\.[6-9]|2\.\d) s, and a query waits 1\.5 s",
    ),
    "sa-slow 6000": (
        "fabric.sm",
        r"the SA is slow: it answers after 6\.\d s, and a query waits 1\.5 s",
    ),
    f"sa-status 0x0700 {GROUP}": (
        "fabric.broadcast-group",
        "the SA does not say whether P_Key 0xffff has a broadcast group: 0x0700, request denied \\(ERR_REQ_DENIED\\)",
    ),
}


@pytest.mark.parametrize("fault", UNDONE)
def test_sa_without_a_result_is_not_judged(library, fault):
    stage, reason = UNDONE[fault]
    done = run(library, scenario(0, fault), "--format", "json")
    report = json.loads(done.stdout)
    target = report["summary"]["targets"][0]
    stages = {r["id"]: r for r in report["results"] if r["level"] == "STAGE"}
    assert done.returncode == report["summary"]["exit_status"] == 2
    assert report["summary"]["verdict"] == target["verdict"] == "unjudged"
    assert re.search(reason, target["error"]), target["error"]
    assert stages[stage]["outcome"] == "inconclusive"
    assert target["undone"][0] == {"code": "no-result", "stage": stage}
    assert {"code": "not-run", "stage": "fabric.join"} in target["undone"]
    text = run(library, scenario(0, fault))
    assert text.returncode == 2
    assert text.stdout.splitlines()[-1] == f"fabric: NOT JUDGED: see {stage}"
    assert len(re.findall(f"(?:{reason})", " ".join(text.stdout.split()))) == 1


REFUSED = {  # what the SA refuses: the stage that says so, its outcome, its text
    "sa-status 0x0700 0x0018": (
        "fabric.sm",
        "inconclusive",
        "cannot be listed: the SA refuses: status 0x0700, request denied",
    ),
    "sa-status 0x0700 0x0014": (
        "fabric.census",
        "inconclusive",
        "the switches cannot be listed: the SA refuses: status 0x0700",
    ),
    f"sa-status 0x0700 {GROUP} 0x15": (
        "link.leave",
        "inconclusive",
        "leaving group ff12:401b:ffff::ffff:ffff: the SA refuses: status 0x0700",
    ),
    "sa-status 0x000c 0x0001": (
        "fabric.sm",
        "fail",
        "there is no SA at LID 1: the port there answers status 0x000c",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_refused_request_is_said(library, fault):
    stage, outcome, words = REFUSED[fault]
    done = run(library, scenario(0, f"sa-makes on\n{fault}"), "--format", "json")
    report = json.loads(done.stdout)
    stages = {r["id"]: r for r in report["results"] if r["level"] == "STAGE"}
    assert stages[stage]["outcome"] == outcome, stages[stage]
    assert words in stages[stage]["actual"]
    assert done.returncode == report["summary"]["exit_status"] == (1 if outcome == "fail" else 2)
    undone = report["summary"]["targets"][0]["undone"]
    assert ({"code": "no-result", "stage": stage} in undone) == (outcome == "inconclusive")


UNFIT = {  # what is wrong in the SA's answer: the stage that says so, its text
    "0x0038 0x02 48 0x2400": (
        "fabric.join",
        "the join was granted as SendOnlyNonMember, and the request was for FullMember",
    ),
    "0x0038 0x02 36 0x0000": (
        "fabric.join",
        "group ff12:401b:ffff::ffff:ffff has MLID 0x0000, and MLIDs are 0xc000 to 0xfffe",
    ),
    "0x0038 0x02 32 0x8000": (
        "fabric.join",
        "the join returns Q_Key 0x80000b1b, but the group's record has 0x00000b1b",
    ),
    "0x0038 0x01 36 0x0005": ("fabric.broadcast-group", "has MLID 0x0005"),
    "0x0018 0x12 0 0x0001 12": ("fabric.sm", "its table ends inside a record"),
    "0x0038 0x12 36 0x0000": ("fabric.census", "group ff12:401b:ffff::ffff:ffff has MLID 0x0000"),
    "0x0038 0x12 36 0xc000 20": ("fabric.census", "its table ends inside a record"),
    "0x0038 0x12 0 0x0000": ("fabric.census", "the list lacks the broadcast group"),
}


@pytest.mark.parametrize("fault", UNFIT)
def test_answer_that_does_not_fit_is_said(library, fault):
    """Report, JSON and exit status agree; OpenSM's answers (scenario without a fault) fit."""
    stage, words = UNFIT[fault]
    done = run(library, scenario(0, f"sa-makes on\nsa-spoils {fault}"), "--format", "json")
    report = json.loads(done.stdout)
    stages = {r["id"]: r for r in report["results"] if r["level"] == "STAGE"}
    assert stages[stage]["outcome"] == "inconclusive", stages[stage]
    assert words in stages[stage]["actual"]
    assert done.returncode == report["summary"]["exit_status"] == 2
    target = report["summary"]["targets"][0]
    assert {"code": "no-result", "stage": stage} in target["undone"]
    text = run(library, scenario(0, f"sa-makes on\nsa-spoils {fault}")).stdout
    assert words in " ".join(text.split())  # the screen wraps its lines
    sound = run(library, scenario(0, "sa-makes on"), "--format", "json").stdout
    assert "does not fit" not in sound and "list lacks" not in sound


def test_leave_at_the_end_belongs_to_the_last_target(library):
    """The report waits until the groups are left, with several targets and in text too."""
    fault = f"sa-makes on\nsa-status 0x0700 {GROUP} 0x15"
    done = run(library, scenario(0, fault), "fabric")
    first, last = done.stdout.split("\n\nfabric: not fully tested, ")
    assert "link.leave" not in first and "inconclusive  link.leave" in last
    assert done.returncode == 2 and "status 0x0700" in done.stderr


def test_stages_without_libibverbs_are_not_done(library):
    """The port is there for libibumad only: what needs a queue pair was not done."""
    done = run(library, scenario(0, "sa-makes on"), "--format", "json")
    undone = json.loads(done.stdout)["summary"]["targets"][0]["undone"]
    assert {"code": "not-run", "stage": "fabric.own-addresses"} in undone
    assert {"code": "not-run", "stage": "fabric.neighbours"} in undone
    assert done.returncode == 2


def test_sa_that_wakes_up_is_asked_again(library):
    """The first query waits 1.5 s. The SA responds from 2.2 s on: it is neither dead nor slow."""
    done = run(library, scenario(0, "sa-sleeps 2200"), "--format", "json")
    stages = {r["id"]: r for r in json.loads(done.stdout)["results"] if r["level"] == "STAGE"}
    assert stages["fabric.sm"]["outcome"] == "pass", stages["fabric.sm"]


@pytest.mark.parametrize("ms", [1600, 5000])
def test_late_answer_counts(library, ms):
    """Only the list of groups comes late: later than a query waits. It is used, and its time is reported."""
    fault = f"sa-makes on\nsa-slow {ms} {GROUP} 0x12"
    done = run(library, scenario(0, fault), "--format", "json")
    stages = {r["id"]: r for r in json.loads(done.stdout)["results"] if r["level"] == "STAGE"}
    assert stages["fabric.census"]["outcome"] == "pass", stages["fabric.census"]
    times = stages["fabric.sa-times"]
    late = rf"one answer of the SA took {ms / 1000:.1f} s, another [0-9.]+ ms"
    assert re.search(late, times["actual"]), times["actual"]
    assert "without one" not in times["actual"] and "load" in times["advice"]


def test_dead_sa_takes_ten_seconds(library):
    begin = time.monotonic()
    done = run(library, scenario(0, "sa-silent 0"), "--format", "json")
    took = time.monotonic() - begin
    stages = {r["id"]: r for r in json.loads(done.stdout)["results"] if r["level"] == "STAGE"}
    assert stages["fabric.sm"]["outcome"] == "fail"
    assert "the SA at LID 1 does not answer" in stages["fabric.sm"]["actual"]
    assert stages["fabric.sa-times"]["actual"] == "the SA: no answer to 1 request"
    assert 10 <= took < 15, took


def test_busy_sa_answers_at_once(library):
    """The time of its answers, not that of all repetitions."""
    done = run(library, scenario(0, "sa-status 0x0001"), "--format", "json")
    stages = {r["id"]: r for r in json.loads(done.stdout)["results"] if r["level"] == "STAGE"}
    found = re.fullmatch(
        r"the SA: (\d+) answers in ([\d.]+)/([\d.]+)/([\d.]+) ms, all with status busy",
        stages["fabric.sa-times"]["actual"],
    )
    assert found, stages["fabric.sa-times"]
    assert 3 <= int(found[1]) <= 10 and float(found[3]) < 20


@pytest.mark.parametrize("after", [round(0.1 * n, 1) for n in range(7)])
def test_interrupt(library, after):
    """At whatever time after the first join: each join is left, and the message that a leave was not confirmed does not
    come, for the SA confirms each one."""
    with subprocess.Popen(
        [PROBE, "-d", "played0", "fabric"],
        env={
            **environment(scenario(0, "sa-makes on\nsa-slow 40")),
            "LD_LIBRARY_PATH": library,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        wait.until(lambda: os.path.exists("sa.log"), "the first join")
        time.sleep(after)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=WALL)
    assert program.returncode == 128 + signal.SIGINT, (out, err)
    assert "did not confirm" not in err
    # FullMember and SendOnlyFullMember; other members go with the group
    log = [line for line in sa_log() if line.endswith((" 1", " 8"))]
    joined = [line.replace("join", "leave") for line in log if line.startswith("join")]
    assert joined and sorted(joined) == sorted(line for line in log if line.startswith("leave"))


def test_partition_that_has_the_group_is_named(library):
    """0x8001 has no broadcast group; the port is in 0xffff too, which has one."""
    done = run(library, scenario(0, "pkeys 0x8001 0xffff"), "--pkey", "0x8001", "--format", "json")
    stages = {r["id"]: r for r in json.loads(done.stdout)["results"] if r["level"] == "STAGE"}
    group = stages["fabric.broadcast-group"]
    assert done.returncode == 1 and group["outcome"] == "fail"
    assert "there is no IPoIB broadcast group for P_Key 0x8001" in group["actual"]
    assert group["actual"].endswith("; 0xffff has one")
    assert group["advice"].endswith("or use that partition: --pkey 0xffff")


# --- the played library itself: umad_recv(3), and ib_umad_read() of the kernel

MAD, GET_TABLE = 256, 0x12  # bytes; IBA 15.2.3
PROGRAM = """
import ctypes, json, sys
lib, head, mad = ctypes.CDLL(sys.argv[1], use_errno=True), 64, 256
fd = lib.umad_open_port(b"played0", 1)
agent = lib.umad_register(fd, 3, 2, 1, None)
question = bytearray(head + mad)
question[head:head + 4] = 1, 3, 2, 0x12
question[head + 16:head + 18] = 0x00, 0x38
lib.umad_send(fd, agent, bytes(question), mad, 100, 0)
results = []
for room in map(int, sys.argv[2:]):
    buffer, length = ctypes.create_string_buffer(head + room + 8), ctypes.c_int(room)
    ctypes.memset(ctypes.byref(buffer, head + room), 0xA5, 8)
    got = lib.umad_recv(fd, buffer, ctypes.byref(length), 10)
    filled = buffer.raw[head:head + room]
    results.append((got, length.value, filled[3:4].hex(), filled[mad:].strip(b"\\0") != b"",
                    buffer.raw[head + room:] == b"\\xa5" * 8))
lib.umad_close_port(fd)
print(json.dumps(results))
"""


def test_simulated_umad_recv_behaves_as_the_real_one():
    members = 40
    size = HEADER + (members + GROUPS) * RECORD
    rooms = [MAD - 1, MAD, size - 1, size, size]
    done = wait.run(
        ["/usr/bin/python3", "-c", PROGRAM, LIBRARY, *map(str, rooms)],
        env=environment(scenario(members)),
        capture_output=True,
        text=True,
        timeout=WALL,
        check=True,
    )
    nothing, first, almost, whole, after = json.loads(done.stdout)
    response, untouched = f"{GET_TABLE | 0x80:02x}", True
    # no room for the first segment: no data arrives, and the library's length is meaningless
    assert (nothing[0], nothing[2], nothing[4]) == (-errno.EINVAL, "00", untouched)
    # the first segment arrives, with the length of the whole; the rest of the buffer is unchanged
    assert first == [-errno.ENOSPC, size, response, False, untouched]
    assert almost == [-errno.ENOSPC, size, response, False, untouched]
    assert whole == [1, size, response, True, untouched]
    assert after[0] == -errno.ETIMEDOUT, "what was received is out of the queue"
    assert not os.path.exists("sa.log")


def test_records_that_are_not_received_are_noted():
    """Without this note the tests above would not detect it."""
    wait.run(
        ["/usr/bin/python3", "-c", PROGRAM, LIBRARY, str(MAD)],
        env=environment(scenario(40)),
        capture_output=True,
        timeout=WALL,
        check=True,
    )
    assert sa_log() == [f"queued {HEADER + 42 * RECORD}", ""]
