# SPDX-License-Identifier: GPL-2.0-or-later
"""The test runner: script/run-tests counts test cases in the output of programs, also of a run that
is interrupted, and tests/support/isolated leaves no process.

The tests write the programs that run here, so their counts are known."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from support import wait
from support.needs import needs_own_mounts
from support.paths import SRC

RUN_TESTS = os.path.join(SRC, "script", "run-tests")
ISOLATED = os.path.join(SRC, "tests", "support", "isolated")
GONE = "all processes have ended"
IS_ROOT = os.geteuid() == 0


def program(path, text):
    """Writes a shell program."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/bash\n" + text + "\n")
    path.chmod(0o755)


def register(folder, programs, label="unit"):
    """Makes a build folder whose tests are shell commands by name. Returns the command that runs
    them."""
    lines, properties = [], 'SKIP_RETURN_CODE 77 TIMEOUT 2000 ENVIRONMENT "A=B C"'
    for name, command in programs.items():
        program(folder / name, command)
        lines.append(f'add_test({name} "{ISOLATED}" 1000 "{folder / name}")')
        lines.append(f"set_tests_properties({name} PROPERTIES {properties} LABELS {label})")
    (folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
    return [RUN_TESTS, "--all", "--build", str(folder)]


@pytest.fixture
def run_tests(tmp_path):
    """Runs script/run-tests --all on a build folder whose tests are shell commands by name."""

    def run(programs, *arguments, label="unit"):
        command = [*register(tmp_path, programs, label), *arguments]
        done = wait.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout

    return run


def last_line(text):
    return text.splitlines()[-1]


@pytest.mark.parametrize(
    "text, status, counts",
    [
        ("echo 'ok 1 - a'; echo 'ok 2 - b'; echo 1..2", 0, "2 passed, 0 failed, 0 skipped"),
        ("echo 'ok 1 - a'; echo 'not ok 2 - b'; exit 1", 1, "1 passed, 1 failed, 0 skipped"),
        ("echo 'ok 1 - a'; exit 3", 1, "1 passed, 1 failed, 0 skipped"),
        ("echo 'ok 1 - a'; kill -9 $$", 1, "1 passed, 1 failed, 0 skipped"),
        ("echo 'ok 1 # SKIP none here'; echo 'ok 2 - b'", 0, "1 passed, 0 failed, 1 skipped"),
        ("echo '===== 3 passed, 1 skipped in 0.10s ====='", 0, "3 passed, 0 failed, 0 skipped"),
        (
            "echo 'SKIPPED [2] a.py:1: needs x'; echo '= 3 passed, 2 skipped in 1.10s ='",
            0,
            "3 passed, 0 failed, 2 skipped",
        ),
        (
            "echo '= 1 failed, 3 passed, 1 error in 61.10s (0:01:01) ='; exit 1",
            1,
            "3 passed, 2 failed, 0 skipped",
        ),
        (
            "echo 'a.py::b PASSED [ 33%]'; echo 'a.py::c[x y] FAILED [ 66%]'; exit 124",
            1,
            "1 passed, 1 failed, 0 skipped",
        ),
        ("printf 'ok 1 - a\\nok 2 - b'", 0, "2 passed, 0 failed, 0 skipped"),
        ("exit 0", 0, "1 passed, 0 failed, 0 skipped"),
        ("exit 1", 1, "0 passed, 1 failed, 0 skipped"),
    ],
)
def test_cases_are_counted(run_tests, text, status, counts):
    got, out = run_tests({"program": text})
    assert (got, last_line(out)) == (status, counts), out


def test_answers_that_an_earlier_run_kept_are_removed(run_tests, tmp_path):
    folders = [tmp_path / "kept-answers", tmp_path / "variants/asan/kept-answers"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "answer").touch()
    there = " || ".join(f"test -e {folder}" for folder in folders)
    assert run_tests({"looks": f"if {there}; then exit 1; fi"})[0] == 0


def test_a_program_that_skips_gives_its_reason(run_tests):
    status, out = run_tests({"skips": "echo needs a device; exit 77", "passes": "exit 0"})
    assert status == 0, out
    assert "skipped: skips: needs a device" in out
    assert last_line(out) == "1 passed, 0 failed, 1 skipped"


def test_a_failure_shows_the_output_without_what_passed(run_tests):
    _, out = run_tests({"fails": "echo 'ok 1 - good one'; echo 'not ok 2 - x'; echo why; exit 1"})
    shown = [line for line in out.splitlines() if line.startswith("    |")]
    assert "FAILED fails" in out and shown == ["    | not ok 2 - x", "    | why"]


def test_require_all_refuses_a_skip_that_is_not_listed(run_tests):
    programs = {"skips": "echo 'ok 1 # SKIP no such list'; echo 'ok 2 - b'"}
    status, out = run_tests(programs, "--require-all")
    assert status == 1, out
    assert "FAILED: skipped: skips" in out
    assert last_line(out) == "1 passed, 1 failed, 0 skipped"


def test_run_without_a_test_fails(run_tests):
    status, out = run_tests({"skips": "echo reason; exit 77"})
    assert status == 1, out


def test_tests_that_take_a_part_of_a_processor_run_at_once(run_tests, tmp_path):
    """Each waits until all four have started. CTest takes a test without PROCESSORS for one quarter."""
    meet = f"touch {tmp_path}/$(basename $0).here; for i in $(seq 300); do test $(ls {tmp_path}/*.here | wc -l) = 4 && exit 0; sleep 0.1; done; exit 1"
    status, out = run_tests({name: meet for name in "abcd"}, "--jobs", "2")
    assert (status, last_line(out)) == (0, "4 passed, 0 failed, 0 skipped"), out


SECOND_TIME = "test -e $0.ran && { echo 'ok 1 - a'; exit 0; }; touch $0.ran; echo why; exit 1"


def test_clocked_test_that_failed_is_run_again_without_others(run_tests):
    programs = {"slow": SECOND_TIME, "passes": "exit 0"}
    status, out = run_tests(programs, "--jobs", "2", label="fabric")
    assert (status, last_line(out)) == (0, "2 passed, 0 failed, 0 skipped"), out
    assert "RUN AGAIN slow: failed while other tests ran, passed alone" in out
    assert "| why" in out


@pytest.mark.parametrize(
    "programs, jobs, label",
    [
        ({"always": "exit 1"}, 2, "fabric"),
        ({"alone": SECOND_TIME}, 1, "fabric"),
        ({"unit": SECOND_TIME}, 2, "unit"),
        ({name: SECOND_TIME for name in "abcdef"}, 2, "fabric"),
    ],
    ids=["fails twice", "nothing ran beside it", "has no clock", "too many"],
)
def test_failure_in_the_second_run_is_a_failure(run_tests, programs, jobs, label):
    status, out = run_tests(programs, "--jobs", str(jobs), label=label)
    assert (status, last_line(out)) == (1, f"0 passed, {len(programs)} failed, 0 skipped"), out


def processes(marker):
    """The processes with the marker in their command line, except this one."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read()
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if marker.encode() in words and state != "Z" and int(pid) != os.getpid():
            yield int(pid)


def is_running(marker):
    return any(True for _ in processes(marker))


# ---- a run that is interrupted


# It hangs when CTest has read its output.
IS_READ = "fcntl.ioctl(1, termios.FIONREAD, bytes(4)) == bytes(4)"
UNTIL_READ = f"python3 -c 'import fcntl, termios\nwhile not {IS_READ}: pass'"
HANGS = f"echo 'ok 1 - a'; echo 'ok 2 - b'; {UNTIL_READ}; touch {{0}}/started; sleep 1000 # {{0}}"
HANGS_ALONE = {"two": "echo 'ok 1 - a'; echo 'ok 2 - b'", "hangs": HANGS, "later": "exit 0"}
FAILS_FIRST = {"fails": "echo 'not ok 1 - a'; exit 1", **HANGS_ALONE}


def interrupt(command, folder, send):
    """Starts the command in a session of its own, calls send(process) when the test "hangs" runs.
    Returns the exit status and the lines of stdout."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    wait.until((folder / "started").exists, "the test runs")
    send(process)
    out = wait.communicate(process)[0]
    wait.until(lambda: not is_running(str(folder)), GONE)
    return process.returncode, out.splitlines()


@pytest.mark.parametrize("to_group", [False, True], ids=["process", "group"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("programs, failed", [(HANGS_ALONE, 1), (FAILS_FIRST, 2)])
def test_interrupted_run_counts_what_ran(tmp_path, programs, failed, number, to_group):
    """The interruption is one failure."""
    texts = {name: text.format(tmp_path) for name, text in programs.items()}
    command = [*register(tmp_path, texts), "--jobs", "1"]
    send = os.killpg if to_group else os.kill
    status, lines = interrupt(command, tmp_path, lambda p: send(p.pid, number))
    assert status == 128 + number
    ended = "ended early: 1 test (hangs after N s); not run: 1 test (later)"
    expected = [f"interrupted by {number.name}: {ended}", f"4 passed, {failed} failed, 0 skipped"]
    assert [re.sub(r"after \d+ s", "after N s", line) for line in lines[-2:]] == expected, lines
    assert any(line.startswith("FAILED fails (") for line in lines) == (programs is FAILS_FIRST)


def test_end_of_ctest_is_an_interruption(tmp_path):
    command = [*register(tmp_path, {"hangs": HANGS.format(tmp_path)}), "--jobs", "1"]

    def kill_ctest(runner):
        (ctest,) = subprocess.check_output(["pgrep", "-P", str(runner.pid)], text=True).split()
        os.kill(int(ctest), signal.SIGKILL)

    status, lines = interrupt(command, tmp_path, kill_ctest)
    assert (status, lines[-1]) == (1, "2 passed, 1 failed, 0 skipped")
    assert lines[-2].startswith("interrupted by signal 9 to ctest: ended early: 1 test (hangs ")


def test_killed_runner_leaves_no_process(tmp_path):
    command = [*register(tmp_path, {"hangs": HANGS.format(tmp_path)}), "--jobs", "1"]
    assert interrupt(command, tmp_path, lambda p: p.kill())[0] == -signal.SIGKILL


@pytest.fixture
def own_scripts(tmp_path):
    """A copy of script/test and .ci/run, with no other program of the project."""
    for name in ("script/test", "script/in-group.sh", ".ci/run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(os.path.join(SRC, name), tmp_path / name)
    return tmp_path


BUILDS = "touch {0}/started; (sleep 1000; : {0}) & sleep 1001; : {0}"
COUNTS = """trap 'trap "" TERM; kill %1; echo "3 passed, 1 failed, 0 skipped"; exit 143' TERM
sleep 1000 & touch {0}/started; wait"""


def test_build_that_is_interrupted_leaves_no_process(own_scripts):
    program(own_scripts / "script/bootstrap", BUILDS.format(own_scripts))
    command = [own_scripts / "script/test"]
    status, lines = interrupt(command, own_scripts, lambda p: p.terminate())
    assert status == 128 + signal.SIGTERM
    assert lines == [
        "interrupted by SIGTERM while building; not run: all tests",
        "0 passed, 1 failed, 0 skipped",
    ]


@pytest.mark.parametrize(
    "number, status", [(None, 124), (signal.SIGTERM, 143), (signal.SIGINT, 143)]
)
def test_interrupted_ci_ends_with_the_counts(own_scripts, monkeypatch, number, status):
    """None: the time limit, which a timeout on the PATH makes short."""
    program(own_scripts / "script/bootstrap", "exit 0")
    program(own_scripts / "script/test", COUNTS.format(own_scripts))
    if number is None:
        program(own_scripts / "bin/timeout", 'exec /usr/bin/timeout "$1" "$2" 1 "${@:4}"')
        monkeypatch.setenv("PATH", f"{own_scripts / 'bin'}:{os.environ['PATH']}")
    run = interrupt(
        [own_scripts / ".ci/run"], own_scripts, lambda p: number and p.send_signal(number)
    )
    assert run == (status, ["3 passed, 1 failed, 0 skipped"])


# ---- tests/support/at_once.py

AT_ONCE = os.path.join(SRC, "tests", "support", "at_once.py")
FIVE = """
import os, pytest
@pytest.mark.parametrize("number", range(5))
def test_number(number):
    open(f"{os.environ['RAN']}/{number}.{os.getpid()}", "x").close()
    assert number != int(os.environ["WRONG"])
    while number == int(os.environ["HANGS"]): pass
"""


@pytest.fixture(name="at_once")
def fixture_at_once(tmp_path):
    """The command and the environment that run five tests in parts, and the folder that shows which
    ran, each with its process."""
    ran = tmp_path / "ran"
    ran.mkdir()
    (tmp_path / "test_five.py").write_text(FIVE)
    # -p conftest: as in tests/, whose conftest.py has --part
    pytest_of = [sys.executable, "-m", "pytest", "-v", "-p", "conftest", str(tmp_path)]

    def command(parts, wrong=-1, hangs=-1):
        given = {"RAN": str(ran), "WRONG": str(wrong), "HANGS": str(hangs)}
        path = {"PYTHONPATH": os.path.join(SRC, "tests"), "PYTHONDONTWRITEBYTECODE": "1"}
        return [sys.executable, AT_ONCE, str(parts), *pytest_of], {**os.environ, **given, **path}

    return command, ran


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("wrong", [-1, 3])
def test_parts_run_each_test_once_and_are_counted(at_once, run_tests, parts, wrong):
    command, ran = at_once
    words, environment = command(parts, wrong)
    settings = [f"{name}={environment[name]}" for name in ("RAN", "WRONG", "HANGS", "PYTHONPATH")]
    status, out = run_tests({"five": shlex.join(["exec", "env", *settings, *words])})
    assert status == (wrong >= 0)
    failed = int(wrong >= 0)
    assert last_line(out) == f"{5 - failed} passed, {failed} failed, 0 skipped"
    names = sorted(path.name.split(".") for path in ran.iterdir())
    assert [number for number, _ in names] == list("01234")
    assert len({process for _, process in names}) == min(parts, 5)


def test_parts_that_are_ended_show_what_ran(at_once):
    """The hanging part does not, and its cases count as far as they went."""
    words, environment = at_once[0](2, hangs=2)
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        wait.until(lambda: len(list(at_once[1].iterdir())) == 4, "all others ran")
        process.terminate()
        out = process.communicate()[0]
    assert process.returncode == 128 + signal.SIGTERM
    assert "2 passed, 3 deselected" in out and "test_number[0] PASSED" in out


# ---- tests/support/isolated


@pytest.fixture
def hanging(tmp_path):
    """A program that starts others, reports this, and hangs; its path is unique."""
    path = tmp_path / "hangs"
    # A user's process in a session of its own survives the test: it must not keep the output open.
    output = "" if IS_ROOT else "> /dev/null 2>&1"
    path.write_text(
        textwrap.dedent(
            f"""\
            #!/bin/sh
            setsid sh -c 'while :; do sleep 1; done # {path}' {output} &
            echo its last words
            touch {tmp_path}/started
            while :; do sleep 1; done
            """
        )
    )
    path.chmod(0o755)
    yield path
    for pid in processes(str(path)):
        os.kill(pid, signal.SIGKILL)


def test_a_test_that_hangs_is_ended_and_named(hanging):
    done = wait.run([ISOLATED, "1", str(hanging)], capture_output=True, text=True)
    assert done.returncode == 124
    assert "its last words" in done.stdout
    assert last_line(done.stdout) == f"isolated: ended after 1 s: {hanging}"
    if IS_ROOT:
        wait.until(lambda: not is_running(str(hanging)), GONE)


@pytest.fixture
def busy():
    """Three busy processes for each processor."""
    begun = [
        subprocess.Popen(["sh", "-c", "while :; do :; done"])
        for _ in range(3 * len(os.sched_getaffinity(0)))
    ]
    yield
    for process in begun:
        process.kill()
        process.wait()


def test_limit_grows_with_the_load(busy):
    del busy
    assert subprocess.run([ISOLATED, "1", "sleep", "2.2"], check=False).returncode == 0


def test_clock_runs_more_slowly_on_a_busy_machine(monkeypatch):
    """Four processes are ready to run on each processor."""
    monkeypatch.setattr(wait, "slowness", lambda: 4)
    clock, begin = wait.Clock(), time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        wait.run(["sleep", "100"], timeout=0.4)
    took = time.monotonic() - begin
    assert took >= 1.6 and took / 5 < clock.seconds() <= took / 3.9


@pytest.mark.parametrize("script", ["cat; sleep 1.5", "sleep 1.5; cat"], ids=["output", "input"])
def test_slow_program_is_waited_for_more_than_once(script):
    """Its input and output do not fit into a pipe."""
    done = wait.run(["sh", "-c", script], input=b"x" * 200_000, capture_output=True)
    assert done.stdout == b"x" * 200_000


@pytest.mark.skipif(not IS_ROOT, reason="an ordinary user has no process namespace")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_no_process(hanging, tmp_path, number):
    """The runner is a shell that the signal ends, like CTest; SIGINT goes to the whole group."""
    runner = subprocess.Popen(
        ["python3", "-c", "import subprocess, sys; subprocess.call(sys.argv[1:])"]
        + [ISOLATED, "100", str(hanging)],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait.until((tmp_path / "started").exists, "the test runs")
    if number == signal.SIGINT:
        os.killpg(runner.pid, number)
    else:
        runner.send_signal(number)
    wait.end_of(runner)
    wait.until(lambda: not is_running(str(hanging)), GONE)


def test_a_mount_ends_with_the_test(tmp_path):
    needs_own_mounts()
    (tmp_path / "mounted").mkdir()
    command = f"mount -t tmpfs none {tmp_path}/mounted && grep -c {tmp_path} /proc/mounts"
    done = subprocess.run(
        [ISOLATED, "10", "sh", "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    with open("/proc/mounts", encoding="utf-8") as f:
        assert str(tmp_path) not in f.read()


IN_CHROOT = """cd $0; mkdir proc dev tmp usr src; ln -s usr/bin usr/lib usr/lib64 .
mount --bind /usr usr; mount --rbind /dev dev; mount --bind "$1" src; mount -t proc proc proc
exec chroot . sh -c "$2" """
KEEPS_A_PROCESS = """unshare --mount true 2> /dev/null && exit 9
src/tests/support/isolated 10 sh -c 'setsid sleep 1000 > /dev/null 2>&1 & echo $$'; pgrep -c sleep"""


def test_chroot_keeps_no_process(tmp_path):
    """The root of a chroot is a folder, not a mount point: unshare cannot make it private. The
    shell is one of the first processes of its own namespace."""
    needs_own_mounts()
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    command += ["sh", "-ec", IN_CHROOT, str(tmp_path), SRC, KEEPS_A_PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shell, remaining = map(int, done.stdout.split())
    assert shell < 10 and remaining == 0, done


def test_the_exit_status_is_the_commands():
    assert subprocess.run([ISOLATED, "10", "sh", "-c", "exit 5"], check=False).returncode == 5
