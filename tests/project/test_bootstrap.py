# SPDX-License-Identifier: GPL-2.0-or-later
"""script/bootstrap in a copy of its own, with fakes of apt-get, dpkg-query, cmake and the like: the
packages that it announces and installs, its error messages, and the options that it configures.
Nothing is installed, and no network is used."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support import wait

SRC = pathlib.Path(__file__).resolve().parents[2]
LISTED = [
    line.split()
    for line in (SRC / "script/packages").read_text().splitlines()
    if not line.startswith("#")
]
REAL = "awk bash cat chmod cut dirname find flock grep mkdir paste readlink rm sed sh sort".split()
REAL += ["env", "kill", "sleep", "tail", "touch", "tr"]

# "$state" is a folder: "installed" has the names of the packages, "calls" the calls, "apt-fails"
# the message of apt-get when it fails.
FAKES = {
    "id": 'cat "$state/uid"',
    "dpkg-query": 'for p; do ! grep -qx -e "$p" "$state/installed" || echo "ii  $p"; done',
    "apt-get": """echo "apt-get $*" >> "$state/calls"
cat "$state/said" > "$state/said-before-apt"
[ ! -e "$IPOIB_POLICY_RC_D" ] || cat "$IPOIB_POLICY_RC_D" > "$state/policy-seen"
if [ -e "$state/apt-fails" ]; then
    cat "$state/apt-fails"
    case "$*" in *" update") exit 0 ;; *) exit 100 ;; esac
fi
case "$*" in *" install "*) for p; do echo "$p" >> "$state/installed"; done ;; esac""",
    "apt-cache": """shift
for p; do
    if grep -qx -e "$p" "$state/no-candidate"; then
        printf '%s:\\n  Candidate: (none)\\n' "$p"
    else
        printf '%s:\\n  Candidate: %s\\n' "$p" "$(cat "$state/candidate")"
    fi
done""",
    "deb-systemd-helper": 'echo "deb-systemd-helper $*" >> "$state/calls"',
    "update-rc.d": 'echo "update-rc.d $*" >> "$state/calls"',
    "ninja": """case "$*" in
--help) [ -e "$state/old-ninja" ] || echo '  --quiet' ;;
*" -n") [ ! -e "$state/compiled" ] || echo 'ninja: no work to do.' ;;
*build.ninja) ;;
*) echo "ninja $*" >> "$state/calls"; touch "$state/compiled" ;;
esac""",
    "cmake": """echo "cmake $*" >> "$state/calls"
[ ! -e "$state/cmake-fails" ] || { echo 'CMake Error: no glib-2.0'; exit 1; }
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" > build/CMakeCache.txt
echo "CMAKE_GENERATOR:INTERNAL=Ninja" >> build/CMakeCache.txt
for option; do
    case $option in -D*) echo "${option#-D}" | sed 's/=/:BOOL=/' >> build/CMakeCache.txt ;; esac
done
rm -f "$state/compiled"
touch build/build.ninja""",
}
NO_NETWORK = """Err:1 http://deb.debian.org/debian bookworm InRelease
W: Failed to fetch http://deb.debian.org/debian/InRelease  Temporary failure resolving 'deb'
E: Unable to locate package gcc
"""


class Machine:
    """A folder with a copy of the script, and a PATH with only the fakes."""

    def __init__(self, folder):
        self.tree, self.state, self.bin = folder / "tree", folder / "state", folder / "bin"
        self.policy, self.os_release = folder / "policy-rc.d", folder / "os-release"
        self.cache = folder / "cache"
        for path in (self.tree / "script", self.state, self.bin):
            path.mkdir(parents=True)
        for name in ("bootstrap", "packages", "steps.sh"):
            shutil.copy(SRC / "script" / name, self.tree / "script" / name)
        for name in ("wireshark-checks", "wireshark-tree", "other-wireshark"):
            (self.tree / "script" / name).write_text(
                f'#!/bin/sh\necho "{name} $*" >> "{self.state}/calls"\n'
                f'[ ! -e "{self.state}/no-download" ] || exit 75\n'
            )
            (self.tree / "script" / name).chmod(0o755)
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name))
        for name, text in FAKES.items():
            (self.bin / name).write_text("#!/bin/sh\nstate='%s'\n%s\n" % (self.state, text))
            (self.bin / name).chmod(0o755)
        self.set(uid="0", installed="", calls="", candidate="4.0", no_candidate="", said="")
        self.release("ID=debian", 'VERSION_ID="12"')

    def set(self, **files):
        for name, text in files.items():
            (self.state / name.replace("_", "-")).write_text(text + "\n" if text else "")

    def release(self, *lines):
        self.os_release.write_text("\n".join(lines) + "\n")

    def get(self, name):
        path = self.state / name
        return path.read_text() if path.exists() else ""

    def run(self, *args, terminal=False):
        """The exit status, and the lines of the script's output; of a terminal, its text."""
        env = {
            "PATH": str(self.bin),
            "HOME": str(self.cache),
            "XDG_CACHE_HOME": str(self.cache),
            "IPOIB_POLICY_RC_D": str(self.policy),
            "IPOIB_OS_RELEASE": str(self.os_release),
        }
        command = [str(self.tree / "script/bootstrap"), *args]
        if terminal:
            command = [shutil.which("script"), "-qec", " ".join(command), "/dev/null"]
        with open(self.state / "said", "w") as said:
            done = wait.run(
                command,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=60,
                check=False,
            )
        text = self.get("said")
        return done.returncode, text if terminal else text.splitlines()

    def called(self, program):
        return [line for line in self.get("calls").splitlines() if line.startswith(program + " ")]

    def asked_for(self):
        """The packages that apt-get was to install."""
        installs = [line for line in self.called("apt-get") if " install " in line]
        return [word for word in installs[-1].split(" install ")[1].split() if word[0] != "-"]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def packages_of(*sets):
    return {name for of, name in LISTED if of in sets}


# ---- sets


def test_each_set_is_announced_before_it_is_installed(machine):
    status, said = machine.run("--with", "test", "--with", "lint", "--packages-only")
    assert status == 0, said
    begins = ["bootstrap: installing for the set %s: " % name for name in ("build", "test", "lint")]
    assert said.pop(0).startswith("bootstrap: step 1 of 1: installing ")
    assert [line[: len(begin)] for line, begin in zip(said, begins)] == begins
    assert machine.get("said-before-apt").splitlines()[1:4] == said[:3]
    announced = [name for line in said[:3] for name in line.split(": ")[2].split()]
    assert len(announced) == len(set(announced)), "a package of two sets is named once"
    assert sorted(announced) == sorted(machine.asked_for())
    assert set(announced) == packages_of("build", "test", "lint")


def test_only_what_is_missing_is_installed(machine):
    machine.set(installed="\n".join(packages_of("build") - {"tshark"}))
    status, said = machine.run("--packages-only")
    assert (status, said[1:]) == (0, ["bootstrap: installing for the set build: tshark"])


def test_no_output_if_nothing_is_missing(machine):
    machine.set(installed="\n".join(packages_of("build")))
    assert machine.run()[0] == 0
    assert machine.run() == (0, [])
    assert not machine.called("apt-get") and len(machine.called("cmake")) == 1


STEPS = ["installing N packages", "configuring build/", "compiling into build/"]


@pytest.mark.parametrize(
    "ready, steps",
    [
        pytest.param([], STEPS, id="nothing"),
        pytest.param(["packages"], STEPS[1:], id="packages"),
        pytest.param(["packages", "configured"], STEPS[2:], id="configured"),
        pytest.param(["packages", "configured", "compiled"], [], id="compiled"),
        pytest.param(["configured", "compiled"], STEPS[:1], id="packages removed"),
    ],
)
def test_each_step_has_its_number(machine, ready, steps):
    if "configured" in ready:
        assert machine.run()[0] == 0
    machine.set(installed="\n".join(packages_of("build")) if "packages" in ready else "")
    if "compiled" not in ready:
        (machine.state / "compiled").unlink(missing_ok=True)
    status, said = machine.run()
    said = [re.sub(r"\d+ packages; log: .*", "N packages", s) for s in said if ": step " in s]
    numbered = [f"bootstrap: step {n} of {len(steps)}: {s}" for n, s in enumerate(steps, 1)]
    assert (status, said) == (0, numbered)


def test_terminal_shows_the_progress(machine):
    """apt-get writes its status to the file descriptor that it gets, and ninja shows its own."""
    (machine.bin / "apt-get").write_text(
        f"#!/bin/sh\nstate='{machine.state}'\n"
        'case "$*" in *" install "*) echo "dlstatus:1:42.5:Retrieving file 3" >&3 ;; esac\n'
        + FAKES["apt-get"]
    )
    status, said = machine.run(terminal=True)
    assert status == 0, said
    assert "42 % Retrieving file 3" in said
    assert machine.called("ninja") == ["ninja -C build"]
    assert "step 3 of 3: compiling into build/" in said


@pytest.mark.parametrize("old, option", [(False, " --quiet"), (True, "")])
def test_ninja_is_silent_if_it_can_be(machine, old, option):
    if old:
        machine.set(**{"old-ninja": ""})
    assert machine.run("--tools")[0] == 0
    assert machine.called("ninja") == [f"ninja -C build{option}"]


def test_tools_need_no_wireshark(machine):
    assert machine.run("--tools", "--packages-only")[0] == 0
    assert set(machine.asked_for()) == packages_of("tools")
    assert not any("wireshark" in name or "tshark" in name for name in machine.asked_for())


def test_all_names_every_set(machine):
    assert machine.run("--with", "all", "--packages-only")[0] == 0
    assert set(machine.asked_for()) == {name for _, name in LISTED}


def test_the_plugin_needs_what_the_tools_need():
    assert packages_of("tools") < packages_of("build")


def test_every_line_of_the_list_is_a_known_set_once():
    head = (SRC / "script/packages").read_text()
    described = set(re.findall(r"^#   (\w+) ", head, re.MULTILINE))
    assert {of for of, _ in LISTED} == described
    assert len({tuple(line) for line in LISTED}) == len(LISTED)


@pytest.mark.parametrize("args", [["--with", "nonsense"], ["--with"], ["--nonsense"]])
def test_wrong_usage(machine, args):
    status, said = machine.run(*args)
    assert status == 2
    if args == ["--with", "nonsense"]:
        assert len(said) == 1 and "no set 'nonsense'" in said[0]
        assert said[0].endswith(" all") and all(of in said[0].split() for of, _ in LISTED)
    assert not machine.get("calls")


# ---- failures, each before anything is installed


def only_line(machine, *args):
    """The last line of a failure; only announcements come before it."""
    status, said = machine.run(*args)
    assert status == 1, said
    announced = (
        r"bootstrap: (installing for the set |step 1 of \d: installing |the set fabric installs)"
    )
    assert all(re.match(announced, line) for line in said[:-1]), said
    return said[-1]


def test_missing_network_is_reported(machine):
    machine.set(apt_fails=NO_NETWORK)
    line = only_line(machine)
    log = machine.cache / "ipoib-bootstrap/apt.log"
    assert line.startswith(
        "bootstrap: cannot download packages: no network or no mirror (W: Failed to fetch "
    )
    assert line.endswith("; log: %s" % log) and "Temporary failure resolving" in log.read_text()
    assert not machine.policy.exists()


def test_package_that_this_release_lacks_is_refused_before_a_download(machine):
    """apt-get would take an unknown name with a dot for a pattern, and install another package."""
    machine.release("ID=debian", 'VERSION_ID="13"')
    machine.set(no_candidate="linux-source", installed="\n".join(packages_of("build")))
    line = only_line(machine, "--with", "fabric", "--packages-only")
    assert "have no package linux-source (set fabric): nothing was installed" in line
    assert [call.split()[-1] for call in machine.called("apt-get")] == ["update"]
    assert "bootstrap: step" not in machine.get("said")


def test_kernel_package_is_announced(machine):
    status, said = machine.run("--with", "fabric", "--packages-only")
    assert status == 0, said
    kernel = [line for line in machine.get("said-before-apt").splitlines() if " kernel " in line]
    assert len(kernel) == 1 and "the set fabric installs a kernel package" in kernel[0]
    assert machine.run("--with", "lint", "--packages-only")[0] == 0
    assert " kernel " not in machine.get("said")


def test_another_failure_of_apt_is_its_first_error(machine):
    machine.set(apt_fails="Reading\nE: You don't have enough free space in /var.\nE: more")
    line = only_line(machine)
    assert "could not install the packages (E: You don't have enough free space in /var.)" in line


def test_old_debian_is_refused(machine):
    machine.release("ID=debian", 'VERSION_ID="11"')
    for options in ((), ("--tools", "--with", "test")):
        line = only_line(machine, *options)
        assert "Debian 11 is too old: Debian 12 or newer is needed; on Debian 11, --tools" in line
    assert not machine.get("calls")
    machine.release("ID=debian", 'VERSION_ID="10"')
    assert "Debian 10 is too old" in only_line(machine, "--tools")


def test_the_tools_alone_are_built_on_debian_11(machine):
    machine.release("ID=debian", 'VERSION_ID="11"')
    assert machine.run("--tools", "--packages-only")[0] == 0


@pytest.mark.parametrize("version", ['VERSION_ID="12"', 'VERSION_ID="13"', "VERSION_CODENAME=sid"])
def test_newer_debian_is_accepted(machine, version):
    machine.release("ID=debian", version)
    assert machine.run("--packages-only")[0] == 0


@pytest.mark.parametrize("candidate, good", [("3.6.2-2", False), ("4.2.2-1", True)])
def test_a_derivative_is_asked_for_its_wireshark(machine, candidate, good):
    machine.release("ID=ubuntu", 'PRETTY_NAME="Ubuntu X"')
    machine.set(candidate=candidate)
    status, said = machine.run("--packages-only")
    assert (status == 0) == good == bool(machine.get("calls"))
    if not good:
        assert (
            len(said) == 1 and "Ubuntu X has Wireshark 3.6.2-2, and the plugin needs 4" in said[0]
        )
        assert machine.run("--tools", "--packages-only")[0] == 0


def test_read_only_tree_is_reported(machine):
    (machine.tree / "build").write_text("")
    line = only_line(machine)
    assert line.startswith("bootstrap: cannot write %s/build: " % machine.tree)
    assert not machine.get("calls")


def test_missing_root_privilege_is_reported(machine):
    machine.set(uid="1000")
    line = only_line(machine, "--with", "test", "--with", "fuzz")
    assert "only root can install gcc " in line
    assert line.endswith(": sudo script/bootstrap --with test --with fuzz --packages-only")
    assert not machine.get("calls")


# ---- services


def test_no_service_is_started_and_none_is_enabled(machine):
    assert machine.run("--with", "cluster", "--with", "test", "--packages-only")[0] == 0
    assert "exit 101" in machine.get("policy-seen") and not machine.policy.exists()
    for name in (
        "opensm",
        "munge",
        "slurmctld",
        "slurmd",
        "prometheus",
        "prometheus-node-exporter",
    ):
        assert "deb-systemd-helper disable %s.service" % name in machine.get("calls")
        assert "update-rc.d %s disable" % name in machine.get("calls")


def test_policy_of_the_administrator_is_unchanged(machine):
    machine.policy.write_text("#!/bin/sh\nexit 0\n")
    machine.set(installed="opensm\nprometheus\nprometheus-node-exporter")
    assert machine.run("--with", "test", "--packages-only")[0] == 0
    assert machine.policy.read_text() == machine.get("policy-seen") == "#!/bin/sh\nexit 0\n"
    assert not machine.called("deb-systemd-helper")


# ---- another distribution


@pytest.fixture
def foreign(machine):
    for name in ("apt-get", "apt-cache", "dpkg-query"):
        (machine.bin / name).unlink()
    return machine


def test_another_distribution_that_has_everything_is_not_refused(foreign):
    steps = ["step 1 of 2: configuring build/", "step 2 of 2: compiling into build/"]
    assert foreign.run() == (0, [f"bootstrap: {step}" for step in steps])


def test_message_names_the_packages_on_another_distribution(foreign):
    foreign.set(cmake_fails="yes")
    status, said = foreign.run()
    assert status == 1 and "CMake Error: no glib-2.0" in said
    text = " ".join(line for line in said if line.startswith("bootstrap: "))
    for (
        name
    ) in "C compiler,cmake,ninja,pkg-config,libibverbs,libibumad,librdmacm,libpcap,GLib".split(","):
        assert name in text
    for name in ("jansson", "libxml2", "zlib", "libcap", "Wireshark"):
        assert name in text
    command = "cmake -S . -B build -DIPOIB_PLUGIN=OFF -DIPOIB_TESTS=OFF && cmake --build build"
    assert said[-1].endswith(command)


def test_another_distribution_cannot_install(foreign):
    assert "there is no apt-get here" in only_line(foreign, "--packages-only")


# ---- configuration


def options(machine):
    """The settings of plugin and tests in the last configuration."""
    text = (machine.tree / "build/CMakeCache.txt").read_text()
    return [
        re.search(r"^IPOIB_%s:BOOL=(\w+)" % name, text, re.M)[1] for name in ("PLUGIN", "TESTS")
    ]


@pytest.mark.parametrize(
    "calls, expected",
    [
        ([[]], ["ON", "OFF"]),
        ([["--with", "test"]], ["ON", "ON"]),
        ([["--tools"]], ["OFF", "OFF"]),
        ([[], ["--with", "test"]], ["ON", "ON"]),
        ([["--with", "test"], []], ["ON", "ON"]),
        ([["--tools"], []], ["ON", "OFF"]),
        ([["--with", "test"], ["--tools"]], ["ON", "ON"]),
    ],
)
def test_rebuild_leaves_built_parts_enabled(machine, calls, expected):
    for args in calls:
        assert machine.run(*args)[0] == 0
    assert options(machine) == expected


def test_failed_configuration_is_removed(machine):
    assert machine.run()[0] == 0
    machine.set(cmake_fails="yes")
    assert machine.run("--with", "test")[0] == 1
    (machine.state / "cmake-fails").unlink()
    assert machine.run()[0] == 0 and options(machine) == ["ON", "OFF"]


# ---- nothing else installs anything


def test_no_other_script_installs_packages():
    """Into the machine: the root of an image is another one."""
    found = []
    for folder in ("script", "testbed"):
        for path in (SRC / folder).iterdir():
            if path.is_file() and os.access(path, os.X_OK) and path.name != "bootstrap":
                lines = re.sub(r"\\\n", "", path.read_text()).splitlines()
                code = (line for line in lines if not line.lstrip().startswith("#"))
                found += [
                    path.name
                    for line in code
                    if re.search(r"\b(apt|apt-get|dpkg)\b.* (install|-i)\b", line)
                    and "chroot " not in line
                ]
    assert not found


@pytest.mark.parametrize(
    "package_set, fetched",
    [
        ("test", []),
        ("lint", ["wireshark-checks --fetch"]),
        ("upstream", ["wireshark-tree --fetch"]),
        ("wireshark", ["other-wireshark --unpack 4.4", "other-wireshark --unpack 4.6"]),
    ],
)
@pytest.mark.parametrize("download", [True, False], ids=["downloads", "no-download"])
def test_downloads_that_are_not_packages_belong_to_a_set(machine, package_set, fetched, download):
    """If the download fails, bootstrap goes on: the tests that need it are skipped."""
    if not download:
        machine.set(no_download="yes")
    status, said = machine.run("--with", package_set, "--packages-only")
    assert status == 0, said
    programs = ("wireshark-checks", "wireshark-tree", "other-wireshark")
    assert sum((machine.called(name) for name in programs), []) == fetched
