#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: clock
# test: lock=groups of the played device
# test: timeout=300
"""ipoib-capture as Wireshark's extcap, on the played devices of tests/replay/: what it tells, captures into a FIFO that is
closed, and tshark itself with it.

Environment and output as tests/capture.py (IPOIB_SRC, IPOIB_BUILD, IPOIB_BIN, IPOIB_TSHARK)."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import capture
from capture import CAPTURE, FED, SANITIZED, Result, end, environment, fed, read_pcapng, run, start
from tap import BUILD, TSHARK, test, tests

tests.clear()  # those are tests/capture.py's own
INTERFACE = "ipoib-mlx5_0-1"
BROADCAST = "group ff12:401b:ffff::ffff:ffff 0xc000 0xb1b\n"
PATIENCE = 4 if SANITIZED else 1


def lines(scenario, *arguments, status=0):
    result = run(scenario, *arguments).expect(status)
    return result.out.decode().splitlines()


def sentences(text):
    """[(word, {key: value})] of extcap's lines, taken apart as Wireshark does: a value ends at the first brace."""
    return [(line.split(" ", 1)[0], dict(re.findall(r"\{([^={]+)=([^}]*)\}", line))) for line in text]


def capture_to(scenario, *arguments):
    """Starts a capture; returns the process and the FIFO's reading end."""
    if os.path.exists("fifo"):
        os.unlink("fifo")
    os.mkfifo("fifo")
    process = start(scenario, "--capture", "--extcap-interface", INTERFACE, "--fifo", "fifo", *arguments)
    return process, open("fifo", "rb", buffering=0)


def read_frames(fifo, count):
    """What comes, until so many frames have come (the time limit of the test is that of the waiting)."""
    data = b""
    while not data or len(read_pcapng(data, True)[1]) < count:
        piece = fifo.read(65536)
        assert piece, "it ended after %d octets" % len(data)
        data += piece
    return data


@test("interfaces: the ports with InfiniBand, of devices that cannot be opened too; no device is no error")
def interfaces():
    scenario = ("device mlx5_0\nports 2\ndevice rxe0\nport active ethernet\ndevice cxgb4_0\ntransport iwarp\n"
                "device mlx5_9\nfail open EACCES\ndevice mlx5-odd\nport down ib\n")
    for version in ("--extcap-version=4.0", "--extcap-version=4.6.9"):
        told = sentences(lines(scenario, "--extcap-interfaces", version))
        assert [word for word, _ in told] == ["extcap"] + 4 * ["interface"]
        assert told[0][1]["version"] == run("", "--version").out.decode().split()[-1]
        assert [values["value"] for _, values in told[1:]] == ["ipoib-mlx5_0-1", "ipoib-mlx5_0-2", "ipoib-mlx5_9-1", "ipoib-mlx5-odd-1"]
        assert told[1][1]["display"] == "ipoib-capture: mlx5_0 port 1"
    result = subprocess.run([CAPTURE, "--extcap-interfaces"], env={**environment(""), "IPOIB_REPLAY": "/dev/null"},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert len(result.stdout.splitlines()) == 1 and result.stderr == b""
    assert len(sentences(lines("", "--extcap-version"))) == 1
    assert lines("device mlx5-odd\n", "--extcap-interface", "ipoib-mlx5-odd-1", "--extcap-dlts")[0].startswith("dlt {number=197}{name=ERF}")


@test("the configuration is what the options take; the mode that comes first is what the port can do")
def configuration():
    for scenario, mode in (("", "sniffer"), ("fail flow EOPNOTSUPP\n", "multicast")):
        told = sentences(lines(scenario, "--extcap-interface", INTERFACE, "--extcap-config"))
        calls = {v["number"]: v["call"] for word, v in told if word == "arg"}
        defaults = {calls[v["arg"]]: v["value"] for word, v in told if word == "value" and v["default"] == "true"}
        assert defaults == {"--mode": mode, "--groups": "all"}
        assert all("display" in v and v["type"] in ("selector", "string", "unsigned", "boolflag") for w, v in told if w == "arg")
    usage = run("", "--help").out.decode()
    for call in calls.values():
        assert call in usage, call
    for word, values in told:
        if word == "value":
            run(FED, calls[values["arg"]], values["value"], "-w", "x.pcap", "-s", "--duration", "0.1").expect(0)


@test("capture filters are refused, with what to do instead; none is fine")
def filters():
    assert lines("", "--extcap-interface", INTERFACE, "--extcap-capture-filter", "") == []
    told = lines("", "--extcap-interface", INTERFACE, "--extcap-capture-filter", "arp")
    assert len(told) == 1 and "no capture filters" in told[0] and "display filter" in told[0]
    run("", "--capture", "--extcap-interface", INTERFACE, "--fifo", "never", "--extcap-capture-filter=arp").expect(2, "no capture filters")
    assert not os.path.exists("never")


@test("nonsense is refused with a message and status 2")
def nonsense():
    for arguments in ("--extcap-dlts", "--extcap-interface x --extcap-dlts", "--extcap-interface ipoib-mlx5_0 --extcap-config",
                      "--extcap-interface ipoib-mlx5_0-0 --extcap-dlts", "--extcap-interface ipoib--1 --extcap-dlts",
                      "--extcap-interface %s" % INTERFACE, "--capture --extcap-interface %s" % INTERFACE, "--capture --fifo x",
                      "--capture --extcap-interface %s --fifo x --nonsense" % INTERFACE,
                      "--capture --extcap-interface %s --fifo x --snaplen 99999" % INTERFACE):
        result = run("", *arguments.split()).expect(2, "ipoib-capture: ")
        assert result.out == b"", arguments
    assert not os.path.exists("x")
    run("", "--capture", "--extcap-interface", "ipoib-mlx5_7-1", "--fifo", "x").expect(1, "no RDMA device mlx5_7")
    run("fail flow EPERM\n", "--capture", "--extcap-interface", INTERFACE, "--fifo", "x").expect(1, "CAP_NET_RAW", "setcap")


@test("SIGTERM ends a capture within a second: the FIFO has all, as pcapng, and nothing is told")
def ended_by_signal():
    for more in ((), ("--mode", "multicast", "--pkey", "", "--snaplen", "")):
        process, fifo = capture_to(BROADCAST + "rate 1000\n" + FED, *more)
        data = read_frames(fifo, 1 if more else len(fed()))
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        data += fifo.read()
        assert time.monotonic() - begin < PATIENCE, "too late"
        result = end(process).expect(0)
        assert (result.out, result.err) == (b"", ""), result.err
        link, frames, interface, statistics = read_pcapng(data)
        assert link == 197 and interface[2] == b"mlx5_0" and statistics[-1][4] == len(frames)
        got = [octets[16:] for _, _, octets, _ in frames]
        assert (got == fed()) if not more else (len(got) == 1 and b"rebuilt" in interface[1])
        fifo.close()


@test("a closed FIFO ends a capture within a second, busy or idle, and nothing is told")
def ended_by_reader():
    for more in ((), ("--mode", "multicast")):
        for scenario in ("", "synthetic 100\nrate 1000\n", "synthetic 100\nrate 500000\n"):
            process, fifo = capture_to(BROADCAST + scenario, *more)
            assert fifo.read(100)[:4] == b"\x0a\x0d\x0d\x0a"
            time.sleep(0.3)
            fifo.close()
            begin = time.monotonic()
            result = end(process)
            assert time.monotonic() - begin < PATIENCE, "too late: %s %r" % (more, scenario)
            assert (result.out, result.err) == (b"", ""), result.err


@test("options reach the capture, and losses are told")
def options():
    # All come at once, however busy the machine is: so many as there are buffers are taken, and one of these is an error.
    process, fifo = capture_to("synthetic 100\nrate 100000\nburst 3000\ntotal 3000\nat 1000 error 12\n",
                               "--snaplen", "60", "--max-burst", "10", "--jumbo-mtu")
    data = read_frames(fifo, 1023)
    process.send_signal(signal.SIGTERM)
    frames = read_pcapng(data + fifo.read())[1]
    fifo.close()
    end(process).expect(1, "1 frames could not be delivered", "1023 packets, 61380 octets, 1 drops")
    assert len(frames) == 1023 and {(len(octets), wire) for _, wire, octets, _ in frames} == {(76, 116)}


def tshark(scenario, *arguments):
    os.makedirs("extcap", exist_ok=True)
    os.chmod(".", 0o755)
    if not os.path.exists("extcap/ipoib-capture"):
        shutil.copy(CAPTURE, "extcap")  # no link: this clone may lie where others than its owner may not go
    return subprocess.run([*TSHARK, *arguments], env={**environment(scenario), "WIRESHARK_EXTCAP_DIR": os.path.abspath("extcap")},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)


@test("tshark -D lists the port, tshark -i captures from it, live, in both modes")
def live_tshark():
    if os.environ.get("IPOIB_PRELOAD"):
        return  # script/with-plugins leaves extcaps out then
    out = tshark(FED, "-D").stdout.decode()
    assert re.search(r"^\d+\. %s \(ipoib-capture: mlx5_0 port 1\)$" % INTERFACE, out, re.MULTILINE), out
    fields = ("-T", "fields", "-e", "infiniband.lrh.dlid", "-e", "arp.opcode", "-e", "frame.interface_name")
    result = tshark("rate 500\n" + FED, "-i", INTERFACE, "-c", str(len(fed())), *fields)
    got = result.stdout.decode().splitlines()
    assert result.returncode == 0 and len(got) == len(fed()), result
    assert [int(line.split("\t")[0]) for line in got] == [f[2] << 8 | f[3] for f in fed()]
    assert any(line.split("\t")[1] == "2" for line in got), "the plugin decodes ARP replies"
    result = tshark(BROADCAST + "synthetic 100\nrate 100\n", "-i", INTERFACE, "-o", "extcap.ipoib_mlx5_0_1.mode:multicast", "-c", "20", *fields)
    assert result.returncode == 0 and {line.split("\t")[0] for line in result.stdout.decode().splitlines()} == {str(0xc000)}, result


@test("installed, it stands where this Wireshark looks for extcaps")
def installed():
    subprocess.run(["cmake", "--install", BUILD, "--prefix", os.path.abspath("usr")], stdout=subprocess.DEVNULL, check=True)
    tool = subprocess.run(["tshark", "-G", "folders"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
    folders = [line.split(":", 1)[1].strip() for line in tool.splitlines() if "xtcap path" in line and "ersonal" not in line]
    assert folders and folders[0].startswith("/usr/"), tool
    link = os.path.abspath("usr" + folders[0][len("/usr"):] + "/ipoib-capture")
    assert os.path.islink(link) and os.path.samefile(link, "usr/bin/ipoib-capture"), link
    assert not os.readlink(link).startswith("/"), "it would break where the tree is packaged"


if __name__ == "__main__":
    sys.exit(capture.main())
