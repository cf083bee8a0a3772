# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that the programs write, where other users can create files too: nothing that another
user put there is followed or written, and no contents become readable for more users.

Expected: the rule in lib/cli/place.h. The kernel's fs.protected_* settings refuse some of these
cases; the message shows that it was the program. Folders that are not sticky are never theirs."""
import contextlib
import itertools
import os
import shutil
import stat
import struct
import subprocess
import threading

import pytest
from support import capfile, paths, wait
from support.check import ENCAP
from support.folders import open_folder
from support.needs import needs, needs_own_mounts
from support.played_capture import REPLAY

OTHER, USER, THIRD = 65534, 61234, 61235
PATIENCE = 60  # seconds
KEY = "000102030405060708090a0b0c0d0e0f\n"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for files of other users")


@pytest.fixture(name="programs", scope="module")
def fixture_programs():
    """A folder that all users can read: the programs, a simulated device, and the inputs."""
    with open_folder() as folder:
        for name in ("ipoib-check", "ipoib-capture", "ipoib-probe"):
            shutil.copy(os.path.join(paths.BIN, name), folder / name)
        shutil.copytree(REPLAY, folder / "replay")
        (folder / "scenario").write_text("device hca0\nsynthetic 100\n")
        shutil.copy(ENCAP, folder / "in.pcap")
        report = [folder / "ipoib-check", "--format", "json", "-o", folder / "report.json"]
        subprocess.run([*report, folder / "in.pcap"], check=False)
        (folder / "pipe").write_text('#!/bin/sh\n"$@" | cat\n')
        (folder / "pipe").chmod(0o755)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        yield folder


class Place:
    """Two folders of the user who runs the programs, `shared` and `home`, the latter private."""

    def __init__(self, programs, root, user):
        self.programs, self.root, self.user = programs, root, user
        self.prefix = []  # of each command
        self.shared = self.folder(root / "shared", user, 0o1777)
        self.home = self.folder(root / "home", user, 0o700)
        for name in ("in.pcap", "report.json"):
            self.file(self.home / name, user, 0o644, (programs / name).read_bytes())

    def folder(self, path, owner, mode):
        path.mkdir()
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path

    def link(self, path, target, owner):
        path.symlink_to(target)
        os.lchown(path, owner, owner)
        return path

    def file(self, path, owner, mode=0o666, text="precious"):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path

    def run(self, program, *arguments, **more):
        played = {
            "IPOIB_REPLAY": str(self.programs / "scenario"),
            "LD_LIBRARY_PATH": str(self.programs / "replay"),
        }
        options = {"user": self.user, "group": self.user, "extra_groups": [], "umask": 0o022}
        return subprocess.run(
            [*self.prefix, str(self.programs / program), *map(str, arguments)],
            cwd=self.home,
            env={**os.environ, **(played if program == "ipoib-capture" else {})},
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
            check=False,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **options, **more},
        )


@pytest.fixture(name="place", params=[0, USER], ids=["root", "user"])
def fixture_place(request, programs):
    with open_folder() as root:
        yield Place(programs, root, request.param)


# Every way to name an output: the program, and its arguments.
CAPTURE = ("ipoib-capture", "-s", "--count", "3", "-w", "OUT")
WRITERS = {
    "report": ("ipoib-check", "-o", "OUT", "in.pcap"),
    "list": ("ipoib-check", "--list", "-o", "OUT"),
    "explain": ("ipoib-check", "--explain", "rfc4391.6.reserved-zero", "-o", "OUT"),
    "annotate": ("ipoib-check", "--annotate", "OUT", "in.pcap"),
    "merge": ("ipoib-check", "--merge", "-o", "OUT", "report.json"),
    "convert": ("ipoib-capture", "convert", "in.pcap", "OUT"),
    "share": ("ipoib-capture", "convert", "--share", "in.pcap", "OUT"),
    "key": ("ipoib-capture", "convert", "--share-key", "OUT", "in.pcap", "shared.pcap"),
    "live": CAPTURE,
    "probe-list": ("ipoib-probe", "--list", "-o", "OUT"),
    "probe": ("ipoib-probe", "-d", "no-such-device", "-o", "OUT", "10.0.0.1"),
    "probe-capture": ("ipoib-probe", "-d", "no-such-device", "-w", "OUT", "10.0.0.1"),
}
ALL = pytest.mark.parametrize("writer", WRITERS)
SOME = pytest.mark.parametrize("writer", ["report", "annotate", "convert", "live", "key"])


def write(place, writer, out, **more):
    program, *arguments = WRITERS[writer]
    return place.run(program, *[out if a == "OUT" else a for a in arguments], **more)


def expect_refused(place, writer, out, says):
    done = write(place, writer, out)
    assert done.returncode in (1, 2) and f"{out}: " in done.stderr and says in done.stderr, done
    assert "remove it, or name a file in another folder" in done.stderr


def expect_written(place, writer, out, target=None):
    """The output has new contents, and is the user's; a probe without a device has no report, and
    only a new file of packets gets a header."""
    done = write(place, writer, out)
    assert " is a" not in done.stderr, done
    if writer == "probe":
        return
    data = (target or out).read_bytes()
    if writer == "probe-capture" and data == b"precious":
        assert "no packet was sent or received: the file keeps its old contents" in done.stderr
    else:
        assert b"precious" not in data and data, done


def snapshot(*folders):
    """Everything in the folders."""
    found = {}
    for folder in folders:
        for at, names, files in os.walk(folder):
            for name in names + files:
                path = os.path.join(at, name)
                st = os.lstat(path)
                regular = stat.S_ISREG(st.st_mode)
                found[path] = (st.st_ino, st.st_mode, st.st_uid, regular and capfile.load(path))
    return found


def others_link(place, folder):
    victim = place.file(place.home / "victim", place.user, 0o600)
    return place.link(folder / "out", victim, OTHER), "out is a symbolic link of another user"


def others_dangling_link(place, folder):
    return (
        place.link(folder / "out", place.home / "new", OTHER),
        "out is a symbolic link of another",
    )


def others_file(place, folder):
    return place.file(folder / "out", OTHER), "out is a file of another user (uid 65534"


def others_fifo(place, folder):
    os.mkfifo(folder / "out")
    os.chown(folder / "out", OTHER, OTHER)
    (folder / "out").chmod(0o666)
    return folder / "out", "out is a FIFO of another user (uid 65534"


def others_folder_link(place, folder):
    """Its own link in the path, not at its end."""
    place.folder(place.home / "inner", place.user, 0o700)
    place.file(place.home / "inner" / "out", place.user, 0o600)
    place.link(folder / "link", place.home / "inner", OTHER)
    return folder / "link" / "out", "link is a symbolic link of another user (uid 65534"


def others_link_of_proc(place, folder):
    return place.link(folder / "out", "/proc/self/fd/1", OTHER), "out is a symbolic link of another"


def hard_link(place, folder):
    """What is the user's own, under another name."""
    victim = place.file(place.home / "victim", place.user, 0o600)
    os.link(victim, folder / "out")
    return folder / "out", "out has another name (a hard link)"


def hard_link_to_a_link(place, folder):
    """A link of the user's own leads elsewhere in another folder."""
    place.file(place.home / "victim", place.user, 0o600)
    own = place.link(place.home / "own", str(place.home / "victim"), place.user)
    os.link(own, folder / "out", follow_symlinks=False)
    return folder / "out", "out has another name (a hard link)"


def own_link_to_others_link(place, folder):
    target, says = others_link(place, folder)
    return place.link(place.home / "mine", target, place.user), says


TRAPS = [
    others_link,
    others_dangling_link,
    others_file,
    others_fifo,
    others_folder_link,
    others_link_of_proc,
    hard_link,
    hard_link_to_a_link,
    own_link_to_others_link,
]


def expect_trap_avoided(place, writer, trap, folder):
    """Nothing in the folders of the user changes."""
    out, says = trap(place, folder)
    before = snapshot(place.shared, place.home)
    expect_refused(place, writer, out, says)
    assert snapshot(place.shared, place.home) == before


@ALL
@pytest.mark.parametrize("mode", [0o1777, 0o775])
@pytest.mark.parametrize("trap", [others_link, others_file], ids=lambda trap: trap.__name__)
def test_every_output_where_others_can_write(place, writer, mode, trap):
    place.shared.chmod(mode)
    expect_trap_avoided(place, writer, trap, place.shared)


@SOME
@pytest.mark.parametrize("mode", [0o1777, 0o757])
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_every_trap(place, writer, mode, trap):
    place.shared.chmod(mode)
    expect_trap_avoided(place, writer, trap, place.shared)


@SOME
@pytest.mark.parametrize("trap", [others_link, others_file, hard_link], ids=lambda t: t.__name__)
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_folder_that_another_user_made_in_a_shared_folder(place, writer, trap, mode):
    """/tmp/captures can be a trap as a whole."""
    inner = place.folder(place.shared / "captures", OTHER, mode)
    out, says = trap(place, inner)
    before = snapshot(place.shared, place.home)
    expect_refused(place, writer, out, says)
    assert snapshot(place.shared, place.home) == before


@ALL
def test_new_file_in_a_shared_folder(place, writer):
    expect_written(place, writer, place.shared / "out")
    assert place.root.joinpath("shared", "out").exists() or writer == "probe"
    for path in place.shared.iterdir():
        assert path.stat().st_uid == place.user and path.name == "out"


@SOME
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_new_file_in_a_shared_folder_of_another_user(place, writer, mode):
    """As projects have them in /scratch."""
    inner = place.folder(place.shared / "project", OTHER, mode)
    expect_written(place, writer, inner / "out")
    assert (inner / "out").stat().st_uid == place.user


@ALL
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_own_file_in_a_shared_folder(place, writer, mode):
    place.shared.chmod(mode)
    text = KEY if writer == "key" else "precious"
    out = place.file(place.shared / "out", place.user, 0o600, text)
    expect_written(place, writer, out)
    assert out.stat().st_mode & 0o777 == 0o600


@ALL
@pytest.mark.parametrize("where", ["home", "shared"])
def test_own_link(place, writer, where):
    """`-o latest.json`, a link of this user."""
    folder = getattr(place, where)
    text = KEY if writer == "key" else "precious"
    place.file(folder / "run-7.json", place.user, 0o600, text)
    out = place.link(folder / "latest.json", "run-7.json", place.user)
    expect_written(place, writer, out, folder / "run-7.json")
    assert out.is_symlink() and not (folder / "run-7.json").is_symlink()
    assert sorted(p.name for p in place.shared.iterdir()) in ([], ["latest.json", "run-7.json"])


@SOME
def test_own_hard_link_in_a_private_folder(place, writer):
    out = place.file(place.home / "out", place.user, 0o600, KEY if writer == "key" else "precious")
    os.link(out, place.home / "other-name")
    expect_written(place, writer, out)


# ---- root in the folder of another user: a folder that the administrator gave to that user


@pytest.fixture(name="alice")
def fixture_alice(programs):
    """Root, and alice's home in a folder of root's."""
    with open_folder() as root:
        place = Place(programs, root, 0)
        place.folder(root / "alice", USER, 0o755)
        yield place


@pytest.mark.parametrize("writer", ["report", "annotate", "convert", "live"])
@pytest.mark.parametrize("mode", [0o755, 0o775])
def test_root_writes_what_belongs_to_the_owner_of_the_folder(alice, writer, mode):
    folder = alice.root / "alice"
    folder.chmod(mode)
    expect_written(alice, writer, alice.file(folder / "file", USER, 0o600))
    alice.file(folder / "target", USER, 0o600)
    link = alice.link(folder / "latest", "target", USER)
    expect_written(
        alice, writer, link, folder / "target" if writer in ("convert", "live") else link
    )
    new = alice.link(folder / "new", "made", USER)
    expect_written(alice, writer, new)


@SOME
@pytest.mark.parametrize("folder_is_theirs", [False, True])
def test_root_follows_no_link_to_what_is_not_the_owners(alice, writer, folder_is_theirs):
    victim = alice.file(alice.home / "victim", 0, 0o600)
    out = alice.link(alice.root / "alice" / "out", victim, USER)
    if folder_is_theirs:
        alice.link(alice.root / "alice" / "folder", alice.home, USER)
        out = alice.root / "alice" / "folder" / "victim"
    before = snapshot(alice.home)
    says = "a symbolic link of another user (uid 61234) leads to victim, which is not that user's"
    expect_refused(alice, writer, out, says)
    new = alice.link(alice.root / "alice" / "new", alice.home / "made", USER)
    expect_refused(alice, writer, new, "leads to made, which is not that user's")
    assert snapshot(alice.home) == before


@pytest.mark.parametrize("writer", ["report", "annotate", "convert", "share", "probe-capture"])
@pytest.mark.parametrize("target", ["/proc/self/fd/1", "/dev/stdout", "/proc/{}/cwd/log"])
def test_root_follows_no_link_to_proc(alice, writer, target):
    """There the same name is another file for each process: root's own log."""
    log = alice.file(alice.home / "log", 0, 0o600)
    out = alice.link(alice.root / "alice" / "out", target.format(os.getpid()), USER)
    with open(log, "ab") as stdout, contextlib.chdir(alice.home):
        done = write(alice, writer, out, stdout=stdout)
    assert done.returncode in (1, 2), done
    assert "a symbolic link of another user (uid 61234) leads to /proc" in done.stderr, done
    assert log.read_text() == "precious"


def test_root_follows_the_folder_of_a_process_only_to_what_is_its_users(alice):
    """The process of another user can be in a folder of root."""
    victim = alice.file(alice.root / "victim", 0, 0o600)
    with subprocess.Popen(["sleep", "60"], cwd=alice.root, user=USER) as process:
        wait.until(lambda: os.stat(f"/proc/{process.pid}/fd").st_uid == USER, "its own user")
        done = write(alice, "report", f"/proc/{process.pid}/cwd/victim")
        process.kill()
    assert done.returncode == 2 and "which is not that user's" in done.stderr, done
    assert victim.read_text() == "precious"


def test_key_of_another_user_is_refused(alice):
    """Its owner could undo the mapping."""
    key = alice.file(alice.root / "alice" / "key", USER, 0o600, KEY)
    done = write(alice, "key", key)
    assert done.returncode == 1 and "belongs to another user (uid 61234)" in done.stderr, done
    assert not (alice.home / "shared.pcap").exists()


# ---- a user namespace that maps only this user: all others have one number there, 65534


@pytest.fixture(name="rootless")
def fixture_rootless(programs):
    """The user is root in the namespace, but may write in a folder of the real root only what is
    new."""
    with open_folder() as root:
        place = Place(programs, root, USER)
        place.prefix = ["unshare", "--user", "--map-root-user"]
        os.chown(place.shared, 0, 0)
        if place.run("ipoib-check", "--list").returncode != 0:
            pytest.skip("a user cannot have a user namespace here")
        yield place


def thirds(trap):
    """The trap of a user that the namespace does not map, and no number of its own stands for."""

    def set_trap(place, folder):
        out, says = trap(place, folder)
        os.lchown(out, THIRD, THIRD)
        return out, says

    set_trap.__name__ = trap.__name__
    return set_trap


@SOME
@pytest.mark.parametrize(
    "trap",
    [thirds(others_link), thirds(others_file), thirds(others_fifo), others_folder_link],
    ids=lambda trap: trap.__name__,
)
def test_users_without_a_number_of_their_own(rootless, writer, trap):
    out, says = trap(rootless, rootless.shared)
    before = snapshot(rootless.shared, rootless.home)
    expect_refused(rootless, writer, out, says)
    assert snapshot(rootless.shared, rootless.home) == before


@SOME
def test_own_files_in_a_user_namespace(rootless, writer):
    expect_written(rootless, writer, rootless.shared / "new")
    text = KEY if writer == "key" else "precious"
    out = rootless.file(rootless.shared / "old", USER, 0o600, text)
    expect_written(rootless, writer, out)
    expect_written(rootless, writer, rootless.file(rootless.home / "old", USER, 0o600, text))


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_devices_in_a_user_namespace(rootless, name):
    done = write(rootless, "list", name)
    assert done.returncode == 0 and bool(done.stdout) == (name != "/dev/null"), done


SERIES = ("ipoib-capture", "-s", "--count", "3", "--ring-packets", "2", "-w")


def test_series_through_a_link_of_another_user(place, alice):
    place.link(place.shared / "folder", place.home, OTHER)
    alice.link(alice.root / "alice" / "folder", alice.home, USER)
    for p, folder in ((place, place.shared), (alice, alice.root / "alice")):
        before = snapshot(p.home)
        done = p.run(*SERIES, folder / "folder" / "series.pcap")
        assert done.returncode == 1 and "symbolic link of another user" in done.stderr, done
        assert snapshot(p.home) == before


@SOME
def test_root_writes_nothing_of_a_third_user(alice, writer):
    folder = alice.root / "alice"
    expect_refused(
        alice, writer, alice.file(folder / "out", THIRD), "out is a file of another user"
    )
    (folder / "out").unlink()
    os.link(alice.file(alice.home / "victim", 0, 0o600), folder / "out")
    expect_refused(alice, writer, folder / "out", "out has another name (a hard link)")


# ---- devices, pipes and standard output


@pytest.mark.parametrize("writer", ["report", "annotate", "convert"])
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_names(place, writer, name):
    program, *arguments = [name if a == "OUT" else a for a in WRITERS[writer]]
    if writer == "annotate":
        arguments += ["-o", "report"]
    done = place.run("pipe", place.programs / program, *arguments)  # a pipe of this user
    assert done.stdout and "cannot be written" not in done.stderr + done.stdout, done


@pytest.mark.parametrize("writer", ["report", "annotate", "convert", "live"])
def test_device(place, writer):
    done = write(place, writer, "/dev/null")
    assert done.returncode in (0, 1) and "cannot be written" not in done.stderr, done


@pytest.mark.parametrize("writer", ["report", "convert", "live"])
@pytest.mark.parametrize("where", ["home", "shared"])
def test_own_fifo(place, writer, where):
    fifo = getattr(place, where) / "fifo"
    os.mkfifo(fifo)
    os.chown(fifo, place.user, place.user)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as cat:
        write(place, writer, fifo)
        assert cat.communicate(timeout=PATIENCE)[0]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_standard_output_that_is_a_file(place):
    with open(place.file(place.home / "out", place.user), "wb") as out:
        done = write(place, "report", "/dev/stdout", stdout=out)
    assert done.returncode == 1 and (place.home / "out").stat().st_size > 100, done


@pytest.mark.parametrize("writer", ["list", "convert", "live"])
def test_log_that_is_appended_to_is_not_emptied(place, writer):
    """>> opens it so."""
    log = place.file(place.home / "log", place.user, 0o600, "line 1\n")
    with open(log, "ab") as out:
        done = write(place, writer, "/dev/stdout", stdout=out)
    data = log.read_bytes()
    assert data.startswith(b"line 1\n") and len(data) > 100, done


# ---- files that cannot be replaced are overwritten


@pytest.mark.parametrize("writer", ["report", "list", "annotate", "merge", "convert"])
def test_own_file_in_a_folder_of_root(programs, writer):
    """Only root can create a name there."""
    with open_folder() as root:
        place = Place(programs, root, USER)
        out = place.file(root / "out", USER, 0o640)
        expect_written(place, writer, out)
        assert (out.stat().st_uid, mode(out)) == (USER, 0o640)


@pytest.mark.parametrize("writer", ["report", "annotate", "merge", "convert"])
def test_file_that_is_a_mount_point(place, writer):
    """As a container has a single file of the host's."""
    needs_own_mounts()
    out, source = (place.file(place.home / n, place.user, 0o600) for n in ("out", "source"))
    place.prefix = ["setpriv", f"--reuid={place.user}", f"--regid={place.user}", "--clear-groups"]
    script = f'mount --bind {source} {out} && exec "$@"'
    place.prefix = ["unshare", "--mount", "sh", "-c", script, "sh", *place.prefix]
    done = write(place, writer, out, user=0, group=0)
    assert done.returncode in (0, 1) and out.read_text() == "precious", done
    assert b"precious" not in source.read_bytes() and source.stat().st_size > 100


# ---- modes: no contents become readable for more users

GROUP = 61000  # not that of the user


def mode(path):
    return path.stat().st_mode & 0o777


def set_modes(place, input_mode, group=None, name="in.pcap"):
    path = place.home / name
    os.chown(path, place.user, place.user if group is None else group)
    path.chmod(input_mode)


@pytest.mark.parametrize("before", [None, 0o600, 0o644, 0o666])
@pytest.mark.parametrize(
    "input_mode, group, allowed",
    [
        (0o600, None, 0o600),
        (0o640, None, 0o640),
        (0o640, GROUP, 0o600),
        (0o644, GROUP, 0o644),
        (0o604, None, 0o604),
        (0o660, None, 0o660),
        (0o444, None, 0o444),
        (0o400, None, 0o400),
    ],
)
@pytest.mark.parametrize("writer", ["annotate", "merge", "convert"])
def test_output_has_no_more_readers_than_the_input(
    place, writer, before, input_mode, group, allowed
):
    """The umask is 0022, and takes its bits from new files. convert leaves the owner's bits."""
    out = place.home / "out"
    if before is not None:
        place.file(out, place.user, before)
    set_modes(place, input_mode, group, "report.json" if writer == "merge" else "in.pcap")
    assert write(place, writer, out).returncode in (0, 1)
    if writer == "convert":
        assert mode(out) == (before or 0o600) & (allowed | 0o700)
    else:
        assert mode(out) == (before or 0o644) & allowed


ACL = "system.posix_acl_"
OWNER, NAMED, ITS_GROUP, MASK, OTHERS = 1, 2, 4, 16, 32  # acl(5), linux/posix_acl.h


def set_acl(path, *entries, kind="access"):
    """Entries: a tag, permissions and, of a named user, the number."""
    packed = [struct.pack("<HHI", tag, bits, *(who or [0xFFFFFFFF])) for tag, bits, *who in entries]
    try:
        os.setxattr(path, ACL + kind, struct.pack("<I", 2) + b"".join(packed))
    except OSError as error:
        pytest.skip(f"this file system has no access control lists: {error}")


def has_acl(path):
    return ACL + "access" in os.listxattr(path)


LIMITED = pytest.mark.parametrize(
    "writer, name", [("annotate", "in.pcap"), ("merge", "report.json"), ("convert", "in.pcap")]
)


@LIMITED
@pytest.mark.parametrize("before", [None, 0o666])
def test_output_of_an_input_with_an_access_control_list(place, writer, name, before):
    """A mode of 0640, of which the group's bits are the list's mask: the group may not read."""
    set_modes(place, 0o640, name=name)
    entries = (OWNER, 6), (NAMED, 4, THIRD), (ITS_GROUP, 0), (MASK, 4), (OTHERS, 0)
    set_acl(place.home / name, *entries)
    out = place.home / "out"
    if before:
        place.file(out, place.user, before)
    assert write(place, writer, out).returncode in (0, 1)
    assert mode(out) == 0o600 and not has_acl(out)


@LIMITED
@pytest.mark.parametrize("before", [None, 0o660])
def test_output_with_an_access_control_list(place, writer, name, before):
    """From its folder, or of its own: its users are not asked whether they may read the input."""
    set_modes(place, 0o640, name=name)
    folder = place.folder(place.home / "out", place.user, 0o755)
    entries = (OWNER, 7), (NAMED, 5, THIRD), (ITS_GROUP, 5), (MASK, 7), (OTHERS, 0)
    set_acl(folder, *entries, kind="default")
    out = folder / "out"
    if before:
        place.file(out, place.user, before)
        assert has_acl(out)
    assert write(place, writer, out).returncode in (0, 1)
    assert mode(out) == 0o600 and not has_acl(out)


@LIMITED
def test_group_that_may_not_read_the_input(place, writer, name):
    """0604: its members would be among the others if the output has another group."""
    set_modes(place, 0o604, GROUP, name)
    out = place.file(place.home / "out", place.user, 0o644)
    assert write(place, writer, out).returncode in (0, 1)
    assert mode(out) == 0o600


@pytest.mark.parametrize("writer", ["annotate", "convert"])
def test_standard_output_by_its_name_gets_no_more_readers(place, writer):
    set_modes(place, 0o600)
    program, *arguments = ["/dev/stdout" if a == "OUT" else a for a in WRITERS[writer]]
    out = place.file(place.home / "out", place.user, 0o644, "")
    with open(out, "wb") as stdout:
        more = ["-o", "/dev/null"] if writer == "annotate" else []
        place.run(program, *arguments, *more, stdout=stdout)
    assert mode(out) == 0o600 and out.stat().st_size > 100


def test_output_that_cannot_be_narrowed_keeps_its_contents(programs):
    """Only its owner can change the mode of a file."""
    with open_folder() as root:
        place = Place(programs, root, USER)
        folder = place.folder(root / "third", THIRD, 0o755)
        out = place.file(folder / "out", THIRD, 0o666)
        done = write(place, "convert", out)
        assert "has more readers than the input, and its mode cannot be changed" in done.stderr
        assert done.returncode == 1 and out.read_text() == "precious" and mode(out) == 0o666


def test_owner_of_the_output_who_may_not_read_the_input(alice):
    set_modes(alice, 0o600)
    out = alice.file(alice.root / "alice" / "out", USER, 0o600)
    done = write(alice, "convert", out)
    assert done.returncode == 1 and "who cannot read the input" in done.stderr, done
    assert out.read_text() == "precious"
    assert write(alice, "share", out).returncode == 0
    assert write(alice, "annotate", out).returncode == 1
    assert (out.stat().st_uid, mode(out)) == (0, 0o600)


REPORTS = pytest.mark.parametrize("writer", ["report", "list", "probe-list"])


@REPORTS
@pytest.mark.parametrize("bits", [0o600, 0o640, 0o664, 0o666])
@pytest.mark.parametrize("group", [None, GROUP])
def test_report_that_exists_keeps_its_mode_and_group(place, writer, bits, group):
    out = place.file(place.home / "out", place.user, bits)
    os.chown(out, place.user, place.user if group is None else group)
    out.chmod(bits)
    done = write(place, writer, out, extra_groups=[] if group is None else [group])
    assert done.returncode in (0, 1) and b"precious" not in out.read_bytes(), done
    assert (mode(out), out.stat().st_gid) == (bits, place.user if group is None else group)


@REPORTS
def test_report_whose_group_cannot_be_kept(programs, writer):
    """The members of both groups get what all users have."""
    with open_folder() as root:
        place = Place(programs, root, USER)
        out = place.file(place.home / "out", USER, 0o664)
        os.chown(out, USER, GROUP)
        out.chmod(0o664)
        assert write(place, writer, out).returncode in (0, 1)
        assert (mode(out), out.stat().st_gid) == (0o644, USER)
        os.chown(out, USER, GROUP)
        out.chmod(0o640)
        assert write(place, writer, out).returncode in (0, 1)
        assert mode(out) == 0o600


@REPORTS
def test_report_keeps_its_owner_for_root(alice, writer):
    out = alice.file(alice.root / "alice" / "out", USER, 0o640)
    assert write(alice, writer, out).returncode in (0, 1)
    st = out.stat()
    assert (mode(out), st.st_uid, st.st_gid) == (0o640, USER, USER)
    assert b"precious" not in out.read_bytes()


@REPORTS
def test_report_keeps_its_access_control_list(place, writer):
    out = place.file(place.home / "out", place.user, 0o660)
    entries = (OWNER, 6), (NAMED, 6, THIRD), (ITS_GROUP, 0), (MASK, 6), (OTHERS, 0)
    set_acl(out, *entries)
    before = os.getxattr(out, ACL + "access")
    assert write(place, writer, out).returncode in (0, 1)
    assert os.getxattr(out, ACL + "access") == before and mode(out) == 0o660


def test_merged_report_is_for_those_who_can_read_all(place):
    for name, bits in {"a.json": 0o640, "b.json": 0o604, "c.json": 0o644}.items():
        shutil.copy(place.home / "report.json", place.home / name)
        set_modes(place, bits, name=name)

    def merged(*names):
        out = place.home / "out"
        out.unlink(missing_ok=True)
        place.run("ipoib-check", "--merge", "-o", out, *names)
        return mode(out)

    assert merged("c.json") == 0o644
    assert merged("a.json", "c.json") == 0o640
    assert merged("a.json", "b.json") == merged("b.json", "a.json", "missing") == 0o600
    set_modes(place, 0o640, GROUP, "b.json")
    assert merged("a.json", "b.json") == 0o600, "two groups"


@pytest.mark.parametrize("writer, allowed", [("annotate", 0o600), ("convert", 0o600)])
def test_output_of_a_pipe_is_private(place, writer, allowed):
    out = place.file(place.home / "out", place.user, 0o644)
    arguments = ["-" if a == "in.pcap" else out if a == "OUT" else a for a in WRITERS[writer][1:]]
    with subprocess.Popen(["cat", place.home / "in.pcap"], stdout=subprocess.PIPE) as cat:
        place.run(WRITERS[writer][0], *arguments, stdin=cat.stdout)
    assert mode(out) == allowed and out.read_bytes() != b"precious"


def test_shared_capture_keeps_its_mode(place):
    """It is meant to be given away."""
    set_modes(place, 0o600)
    assert write(place, "share", place.home / "new").returncode == 0
    assert mode(place.home / "new") == 0o600
    out = place.file(place.home / "out", place.user, 0o644)
    assert write(place, "share", out).returncode == 0
    assert mode(out) == 0o644


def test_annotated_capture_is_never_readable_meanwhile(place):
    """Neither the temporary file nor the file that was there before."""
    set_modes(place, 0o600)
    out = place.file(place.home / "out", place.user, 0o644)
    log = place.home / "calls"
    program = [place.programs / "ipoib-check", "--annotate", out, place.home / "in.pcap"]
    needs("strace", "test")
    subprocess.run(["strace", "-f", "-e", "trace=openat", "-o", log, *program], check=False)
    created = [c for c in log.read_text().splitlines() if "O_CREAT" in c and "out." in c]
    assert len(created) == 1 and ", 0600)" in created[0], created


# ---- an attacker who does not wait


@pytest.mark.parametrize("writer", ["list", "convert"])
def test_names_that_change_while_the_program_runs(place, writer):
    """Another user exchanges a link, a hard link and the user's own file in a shared folder."""
    place.shared.chmod(0o777)
    victim = place.file(place.home / "victim", place.user, 0o600)
    place.link(place.shared / "link", victim, OTHER)
    os.link(victim, place.shared / "hard")
    place.file(place.shared / "own", place.user, 0o644, "old")
    stop = threading.Event()

    def exchange():
        for name in itertools.cycle(["link", "own", "hard"]):
            if stop.is_set():
                return
            os.link(place.shared / name, place.shared / "next", follow_symlinks=False)
            os.replace(place.shared / "next", place.shared / "out")
            # nothing is done if both names are of one file
            (place.shared / "next").unlink(missing_ok=True)

    attacker = threading.Thread(target=exchange)
    attacker.start()
    try:
        for _ in range(100):
            write(place, writer, place.shared / "out")
    finally:
        stop.set()
        attacker.join()
    assert victim.read_text() == "precious"
