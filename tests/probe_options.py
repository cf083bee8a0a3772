#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of ipoib-probe, without a device: wrong usage is told and ends with 2, no device with 3, and --list and
--dry-run need none. Environment: IPOIB_SRC, IPOIB_BIN. Output: TAP."""
import json
import os
import subprocess
import sys
import tempfile

from tap import BIN, SRC, finish, tap

PROBE = os.path.join(BIN, 'ipoib-probe')
# A device name that cannot exist: also where the machine has an adapter nothing is sent.
NOWHERE = ['-d', 'no-such-device']


def run(*arguments):
    done = subprocess.run([PROBE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def wrong(words, *arguments):
    status, out, err = run(*arguments)
    tap(status == 2 and words in err and not out, 'wrong usage: ' + ' '.join(arguments))


wrong('no target')
wrong('no IPv4 or IPv6 address', 'nonsense')
wrong('not the address of one host', '224.0.0.1')
wrong('not the address of one host', '::')
wrong('too many addresses', '10.0.0.0/15')
wrong('too many addresses', 'fd00::/115')
wrong('no prefix length', '10.0.0.0/33')
wrong('no prefix length', '10.0.0.0/')
wrong('not the address of hosts', '224.0.0.0/24')
wrong('no rule is named', '--only', 'rfc9999', '10.0.0.1')
wrong('--pkey', '--pkey', '0x10000', '10.0.0.1')
wrong('no partition', '--pkey', '0x8000', '10.0.0.1')
wrong('--rate', '--rate', '0', '10.0.0.1')
wrong('--timeout', '--timeout', '-5', '10.0.0.1')
wrong('--source', '--source', '224.0.0.1', '10.0.0.1')
wrong('cannot be a target', '--source', '10.0.0.1', '10.0.0.1')
wrong('no format', '--format', 'xml', '10.0.0.1')
wrong('--node', '--node', 'n1', '10.0.0.1')
wrong('--node', '--node', '', '--format', 'json', '10.0.0.1')
wrong('probes nothing', '--list', '10.0.0.1')
wrong('looked at without', '--source', '10.0.0.77', 'fabric')
wrong('writes to a file', '-w', '-', '10.0.0.1')
with tempfile.TemporaryDirectory() as folder:
    here, there = os.path.join(folder, 'same'), os.path.join(folder, '.', 'same')
    wrong('one file', '-w', here, '-o', there, '10.0.0.1')
    tap(not os.listdir(folder), 'nothing was written')
    with open(here, 'w', encoding='ascii') as file:
        file.write('of before')
    os.link(here, os.path.join(folder, 'link'))
    wrong('is what -w writes', '-w', here, '-o', os.path.join(folder, 'link'), '10.0.0.1')
    with open(here, encoding='ascii') as file:
        tap(file.read() == 'of before', 'what was there is there')
    status, out, err = run(*NOWHERE, '-w', here, '-o', os.path.join(folder, 'report'), '10.0.0.1')
    tap(status == 3 and sorted(os.listdir(folder)) == ['link', 'report', 'same'], 'two files: as ever')

status, out, err = run(*NOWHERE, '10.0.0.1')
tap(status == 3 and 'no InfiniBand device' in err and 'NOT JUDGED' in out, 'no device: exit status 3, and it is said')
status, out, err = run(*NOWHERE, '--format', 'json', 'fabric', '10.0.0.1')
report = json.loads(out)
tap(status == 3 and report['tool'] == 'ipoib-probe' and [t['name'] for t in report['summary']['targets']] == ['fabric', '10.0.0.1'],
    'no device: a JSON report all the same')
tap('node' not in report, 'a report names no node by itself')
tap(json.loads(run(*NOWHERE, '--format', 'json', '--node', 'n\n7', 'fabric')[1])['node'] == 'n\\x0a7', '--node, as plain text')
stages = {r['id']: r for r in report['results']}
tap(stages['fabric.device']['outcome'] == 'fail' and stages['fabric.device']['advice'] and stages['fabric.join']['outcome'] == 'skipped',
    'the diagnosis ends at the device')
tap(all(key in r for r in report['results'] for key in ('id', 'level', 'section', 'outcome', 'expected', 'actual', 'evidence')),
    'every result has the members that are promised')
status, out, err = run(*NOWHERE, 'fabric')
tap(status == 3 and out.splitlines()[-1].startswith('fabric: VIOLATED: 1 stage failed; and not judged to its end: no InfiniBand device'),
    'the verdict counts the stages that failed')
status, out, err = run(*NOWHERE, '--format', 'tap', 'fabric')
tap(status == 3 and out.startswith('TAP version 13') and 'not ok 2 - fabric: fabric.device' in out, 'TAP')
tap(int(out.split('\n')[1].split('..')[1]) == sum(line.startswith(('ok ', 'not ok ')) for line in out.splitlines()), 'the plan of TAP')
status, out, err = run(*NOWHERE, '--format', 'junit', 'fabric')
schema = os.path.join(SRC, 'tests', 'junit.xsd')
valid = subprocess.run(['xmllint', '--noout', '--schema', schema, '-'], input=out, text=True, stderr=subprocess.PIPE, check=False)
tap(status == 3 and valid.returncode == 0, 'JUnit is valid')

status, out, err = run('--list', '--only', 'rfc4391.6')
tap(status == 0 and 'rfc4391.6.reserved-ignored' in out and 'one-qp' not in out, '--list names the checks of what is selected')
status, out, err = run('--list', '--format', 'json')
listed = json.loads(out)
told = {i for c in listed['checks'] + listed['stages'] for i in c['rules']} | {o['id'] for o in listed['other_rules']}
tap(len(told) >= 90, '--list tells of every rule that a probe can see what becomes of it')
status, out, err = run('--dry-run', '10.0.0.2', 'fe80::2', 'fabric')
tap(status == 0 and 'Nothing was sent' in out and 'only with --source' in out and 'fabric.census' in out, '--dry-run needs no device')
sys.exit(finish())
