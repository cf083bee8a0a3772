# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept answers of tshark (support/kept.py): the same question is asked once, and no answer is out of
date. A program that counts its starts stands for tshark."""
import fcntl
import multiprocessing
import subprocess

import pytest

from support import kept

ASKED = ["-T", "fields"]


@pytest.fixture(name="starts")
def _starts(tmp_path, monkeypatch):
    """A function that asks about a capture, and the list of the starts so far."""
    plugins = tmp_path / "plugins" / "4.0" / "epan"
    plugins.mkdir(parents=True)
    (plugins / "ours.so").write_bytes(b"first build")
    monkeypatch.setenv("IPOIB_PLUGINS", str(tmp_path / "plugins"))
    monkeypatch.setattr(kept, "FOLDER", str(tmp_path / "kept"))
    (tmp_path / "a.pcap").write_bytes(b"frames")
    return Starts(tmp_path)


class Starts:
    def __init__(self, folder, status=0):
        self.folder, self.log, self.status = folder, folder / "log", status

    def ask(self, name="a.pcap", arguments=tuple(ASKED)):
        return kept.answer(self.folder / name, arguments, self.start).stdout

    def start(self):
        with open(self.log, "a", encoding="utf-8") as f:
            f.write("start\n")
        return subprocess.CompletedProcess([], self.status, f"answer {self.count()}", "")

    def count(self):
        return len(self.log.read_text().splitlines())


def test_a_question_is_asked_once(starts):
    assert [starts.ask(), starts.ask()] == ["answer 1", "answer 1"]


def test_a_copy_of_the_capture_has_the_same_answer(starts):
    (starts.folder / "b.pcap").write_bytes(b"frames")
    assert [starts.ask(), starts.ask("b.pcap")] == ["answer 1", "answer 1"]


def change_capture(starts, _):
    (starts.folder / "a.pcap").write_bytes(b"others")


def build_plugin(starts, _):
    (starts.folder / "plugins/4.0/epan/ours.so").write_bytes(b"second build")


def change_variable(_, monkeypatch):
    monkeypatch.setenv("IPOIB_PRELOAD", "libasan.so")


@pytest.mark.parametrize("change", [change_capture, build_plugin, change_variable])
def test_a_change_is_asked_about(starts, monkeypatch, change):
    starts.ask()
    change(starts, monkeypatch)
    assert starts.ask() == "answer 2"


@pytest.mark.parametrize("name, arguments", [("a.pcapng", ASKED), ("a.pcap", [*ASKED, "-2"])])
def test_another_question_is_asked(starts, name, arguments):
    starts.ask()
    (starts.folder / name).write_bytes(b"frames")
    assert starts.ask(name, arguments) == "answer 2"


def test_a_test_of_another_name_gets_the_same_answer(starts, monkeypatch):
    starts.ask()
    monkeypatch.setenv("IPOIB_TEST", "another")
    assert starts.ask() == "answer 1"


def test_a_failed_run_is_not_kept(starts):
    starts.status = 2
    assert [starts.ask(), starts.ask()] == ["answer 1", "answer 2"]


def test_without_a_folder_nothing_is_kept(starts, monkeypatch):
    (starts.folder / "file").write_bytes(b"")
    monkeypatch.setattr(kept, "FOLDER", str(starts.folder / "file" / "kept"))
    assert [starts.ask(), starts.ask()] == ["answer 1", "answer 2"]


def test_an_answer_that_is_not_whole_is_asked_for_again(starts):
    starts.ask()
    (answer,) = [p for p in (starts.folder / "kept").iterdir() if not p.suffix]
    answer.write_text('{"args": []')
    assert starts.ask() == "answer 2"


def test_a_test_that_hangs_does_not_keep_the_others(starts, monkeypatch):
    monkeypatch.setattr(kept, "PATIENCE", 0.2)
    starts.ask()
    (answer,) = [p for p in (starts.folder / "kept").iterdir() if not p.suffix]
    answer.unlink()
    with open(f"{answer}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert starts.ask() == "answer 2"


def test_tests_at_the_same_time_start_one(starts):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        answers = [pool.apply_async(starts.ask) for _ in range(8)]
        assert {a.get(60) for a in answers} == {"answer 1"}
    assert starts.count() == 1
