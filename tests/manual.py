#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: here-only
"""The manual pages of doc/man: mandoc finds nothing to complain of, and they have the options that --help has, no more and no
fewer. Environment: IPOIB_SRC, IPOIB_BIN. Output: TAP."""
import os
import re
import shutil
import subprocess
import sys

from tap import BIN, SRC, faultless, finish, skip, tap

MAN = os.path.join(SRC, "doc", "man")
# program: the calls whose texts tell its options
HELPS = {"ipoib-capture": [["--help"], ["convert", "--help"]], "ipoib-check": [["--help"]], "ipoib-probe": [["--help"]]}
OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z0-9][a-zA-Z0-9-]*)")


def help_options(program):
    """The options that begin a line of the help, or follow one that does."""
    found = set()
    for call in HELPS[program]:
        text = subprocess.run([os.path.join(BIN, program), *call], stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in text.splitlines():
            if re.match(r" {0,6}-", line):
                found.update(OPTION.findall(re.split(r" {2,}", line.strip())[0]))
    return found


def page_options(path):
    """Those of the page's option paragraphs: mdoc's ".It Fl d , -device Ar DEV", man's lines after .TP and .TQ."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().replace("\\-", "-").splitlines()
    items = [re.split(" (?:Ar|Cm) ", line[len(".It Fl "):])[0] for line in lines if line.startswith(".It Fl ")]
    if items:
        return {"-" + word.strip() for item in items for word in item.split(" , ")}
    at = lines.index(".SH OPTIONS")
    end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith(".SH"))
    heads = [line for before, line in zip(lines[at:end], lines[at + 1:end]) if before in (".TP", ".TQ")]
    return set(OPTION.findall(re.sub(r'[",]|\.BR? ', " ", " ".join(heads)).replace("\\fI", " ")))


def main():
    if not shutil.which("mandoc"):
        subprocess.run([os.path.join(SRC, "script", "bootstrap"), "--with", "manual", "--packages-only"], stdout=subprocess.DEVNULL,
                       check=False)
    for name in sorted(os.listdir(MAN)):
        path, program = os.path.join(MAN, name), name.rsplit(".", 1)[0]
        if shutil.which("mandoc"):
            said = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False).stdout.splitlines()
            faultless("mandoc has no complaint of " + name, said)
        else:
            skip("mandoc has no complaint of " + name, "mandoc is not to be had")
        if program in HELPS:
            told, written = help_options(program), page_options(path)
            tap(len(told) > 5 and told == written, "%s has the options of --help" % name,
                ["only in --help: %s" % sorted(told - written), "only in the page: %s" % sorted(written - told)])
    return finish()


if __name__ == "__main__":
    sys.exit(main())
