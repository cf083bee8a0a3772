#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what tshark and the plugin show of the test captures with what the documents say they hold.

    decode.py [CAPTURE...]          captures by file name; default: all that have an expectation

Each capture with a file in tests/frames/expect (CAPTURE.txt, form in its README) is read twice, in one pass
and in two (-2), with one tshark each.  Output is TAP: one line per capture and mode, the failing lines below.
Environment: IPOIB_TSHARK (command that runs tshark with the plugin, default script/tshark), IPOIB_SRC (source tree).
"""
import ipaddress
import os
import re
import subprocess
import sys
import tempfile

from tap import SRC, TSHARK, faultless, finish, tap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'frames'))
import ib                                                                               # noqa: E402
from fixture import tape                                                                # noqa: E402

EXPECT = os.path.join(SRC, 'tests', 'frames', 'expect')
FOLDERS = [os.path.join(SRC, 'testdata', 'built'), os.path.join(SRC, 'testdata')]
COLUMNS = {'info': '_ws.col.Info', 'src': '_ws.col.Source', 'dst': '_ws.col.Destination',
           'proto': 'frame.protocols'}
OPTIONS = ['-o', 'ip.check_checksum:TRUE', '-o', 'udp.check_checksum:TRUE']
SEPARATOR, AGGREGATOR = '\t', '\x1e'
TIMEOUT = 120
CRC_SOURCES = ['datagram.pcap', 'connected.pcap']       # captures of real traffic, with ICRC and VCRC


class Line:
    """One line of an expectation: which frames, which mode, what."""

    def __init__(self, where, frames, mode, field, op, value):
        self.where, self.frames, self.mode = where, frames, mode
        self.field, self.op, self.value = field, op, value


def frame_set(text):
    """'1,3-5' as a set of numbers; '*' as None, all."""
    if text == '*':
        return None
    out = set()
    for part in text.split(','):
        first, _, last = part.partition('-')
        out.update(range(int(first), int(last or first) + 1))
    return out


def parse(path):
    """(lines, frame count or None) of an expectation file and those that it includes."""
    lines, count = [], None
    with open(path, encoding='utf-8') as f:
        text = f.read().split('\n')
    for number, raw in enumerate(text, 1):
        line = re.sub(r'(^|\s)#(\s.*|$)', '', raw).strip()
        if not line:
            continue
        where = '%s:%d' % (os.path.basename(path), number)
        if line.startswith('include '):
            more, n = parse(os.path.join(os.path.dirname(path), line.split(None, 1)[1]))
            lines += more
            count = n if n is not None else count
            continue
        m = re.fullmatch(r'frames\s*=\s*(\d+)', line)
        if m:
            count = int(m[1])
            continue
        m = re.fullmatch(r'([\d,*-]+)(?:@([12]))?\s+(!)?([\w.-]+)(?:\s+(=|~|!~|has|all)(?:\s+(.*))?)?', line)
        if not m or (m[3] and m[5]) or (m[5] and m[6] is None):
            raise ValueError('%s: cannot be read: %s' % (where, line))
        op = 'absent' if m[3] else (m[5] or 'present')
        lines.append(Line(where, frame_set(m[1]), int(m[2] or 0), COLUMNS.get(m[4], m[4]), op, m[6]))
    return lines, count


# ---- comparing values -----------------------------------------------------------------------------


def forms(value):
    """The ways to read a printed value: text, number, octets, IPv6 address; values agree if one is shared."""
    v = value.strip().lower()
    v = {'true': '1', 'false': '0'}.get(v, v)
    out = {('text', v)}
    try:
        out.add(('number', int(v, 0) if v.startswith('0x') else int(v, 10)))
    except ValueError:
        pass
    if re.fullmatch(r'[0-9a-f]{2}(:[0-9a-f]{2})*', v):
        out.add(('octets', v.replace(':', '')))
    if re.fullmatch(r'([0-9a-f]{2}){4,}', v):
        out.add(('octets', v))
    if v.count(':') >= 2:
        try:
            out.add(('ipv6', ipaddress.IPv6Address(v).packed))
        except ValueError:
            pass
    return out


def same(a, b):
    return bool(forms(a) & forms(b))


def contains(got, wanted):
    """Every wanted value stands among the values got, each as often as it is wanted."""
    rest = list(got)
    for w in wanted:
        hit = next((g for g in rest if same(g, w)), None)
        if hit is None:
            return False
        rest.remove(hit)
    return True


def holds(line, got):
    """Whether the values of a frame's field (a list, empty if absent) are as the line says."""
    if line.op == 'absent':
        return not got
    if line.op == 'present':
        return bool(got)
    if line.op == '~':
        return bool(re.search(line.value, ','.join(got)))
    if line.op == '!~':
        return not re.search(line.value, ','.join(got))
    wanted = [w.strip() for w in line.value.split(',')]
    if line.op == 'has':
        return contains(got, wanted)
    return len(got) == len(wanted) and all(same(g, w) for g, w in zip(got, wanted))


# ---- running tshark -------------------------------------------------------------------------------

unknown_fields = set()


def tshark_fields(capture, fields, two_pass):
    """{frame number: {field: [values]}} and an error text ('' if tshark ended well and said nothing bad)."""
    while True:
        asked = [f for f in fields if f not in unknown_fields]
        args = TSHARK + ['-n'] + OPTIONS + (['-2'] if two_pass else []) + ['-r', capture, '-T', 'fields']
        args += ['-E', 'occurrence=a', '-E', 'separator=/t', '-E', 'aggregator=' + AGGREGATOR]
        for f in ['frame.number'] + asked:
            args += ['-e', f]
        try:
            run = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return {}, 'no end after %d s' % TIMEOUT
        err = run.stderr.decode(errors='replace')
        if "fields aren't valid" not in err:
            break
        bad = {x.strip() for x in err.split("fields aren't valid")[1].split('\n')} & set(asked)
        if not bad:
            return {}, err
        unknown_fields.update(bad)
    frames = {}
    for row in run.stdout.decode(errors='replace').split('\n'):
        cells = row.split(SEPARATOR)
        if not cells[0].isdigit():
            continue
        values = [c.split(AGGREGATOR) if c else [] for c in cells[1:]]
        frames[int(cells[0])] = dict(zip(asked, values))
    noise = [x for x in err.split('\n') if x and 'Running as user' not in x and 'could be dangerous' not in x]
    if run.returncode:
        return frames, 'exit status %d: %s' % (run.returncode, ' '.join(noise)[:300])
    bad = [x for x in noise if re.search(r'(?i)dissector bug|assert|error|not match|sanitizer|cut short', x)]
    return frames, ' '.join(bad)[:300]


def check(capture, lines, count, mode):
    """The complaints about one capture in one mode."""
    fields = sorted({l.field for l in lines})
    frames, error = tshark_fields(capture, fields, mode == 2)
    out = [error] if error else []
    if count is not None and len(frames) != count:
        out.append('%d frames, expected %d' % (len(frames), count))
    for line in lines if frames else []:
        if line.mode not in (0, mode):
            continue
        if line.op == 'all':
            got = [v for n in sorted(line.frames or frames) for v in frames.get(n, {}).get(line.field, [])]
            wanted = [w.strip() for w in line.value.split(',')]
            if len(got) != len(wanted) or not all(same(g, w) for g, w in zip(got, wanted)):
                out.append('%s: frames together %s: expected %s, got %s' %
                           (line.where, line.field, line.value, ','.join(got) or 'nothing'))
            continue
        for number in sorted(frames if line.frames is None else line.frames):
            if number not in frames:
                out.append('%s: no frame %d' % (line.where, number))
                continue
            got = frames[number].get(line.field, [])
            if not holds(line, got):
                unknown = ' (no such field)' if line.field in unknown_fields else ''
                wanted = {'absent': 'nothing', 'present': 'a value'}.get(line.op)
                wanted = wanted or line.op + ' ' + line.value
                out.append('%s: frame %d %s: expected %s, got %s%s' %
                           (line.where, number, line.field, wanted, ','.join(got) or 'nothing', unknown))
    return out


def find(name):
    return next((os.path.join(d, name) for d in FOLDERS if os.path.exists(os.path.join(d, name))), None)


# ---- real frames with a change that no capture has

def with_immediate(p):
    """A UD SEND with immediate data (IBA 9.2.1): no IPoIB, whatever its MGID."""
    p['opcode'] = 0x65
    p.payload[:0] = bytes(4)


def mra_of_lap(p):
    p.payload = bytearray(ib.cm_mra(p['mad.tid'], p['cm.local'], p['cm.remote'], message=2))


def rej_of_none(p):
    p.payload = bytearray(ib.cm_rej(p['mad.tid'], p['cm.local'], p['cm.remote'], 4, message=2))


CHANGED = [     # capture, frame, change, what the frame's tree has in a line
    ('datagram.pcap', 41, with_immediate, 'MGID: ff12:401b:ffff::ffff:ffff'),
    ('connected.pcap', 48, mra_of_lap, 'Answers: LAP (2)'),
    ('connected.pcap', 48, rej_of_none, 'Answers: no message (2)'),
]


def check_changed(folder):
    for name, number, change, wanted in CHANGED:
        t = tape(name)
        change(t[number])
        path = os.path.join(folder, name)
        with open(path, 'wb') as f:
            f.write(t.pcap())
        for options in ([], ['-2']):
            out = subprocess.run(TSHARK + options + ['-V', '-r', path, '-Y', 'frame.number == %d' % number], capture_output=True, text=True)
            tap(wanted in out.stdout, '%s, %s%s: %s' % (name, change.__name__, ', two passes' if options else '', wanted),
                [line for line in out.stdout.splitlines() if wanted.split(':')[0] in line] or out.stderr)


def main(argv):
    names = argv[1:] or sorted(n[:-4] for n in os.listdir(EXPECT) if n.endswith('.txt'))
    if len(argv) == 1:
        build = os.path.join(SRC, 'tests', 'frames', 'build.py')
        made = subprocess.run([sys.executable, build, FOLDERS[0], '--check'], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        said = made.stdout.decode().split('\n')[:-1]
        tap(made.returncode == 0, 'testdata/built is what build.py makes', said)
        for name in CRC_SOURCES:
            good, bad = ib.crcs(find(name)) if find(name) else (0, 0)
            tap(good and not bad, 'CRCs of the real %s are what the builder makes' % name,
                '%d right, %d wrong' % (good, bad))
        built = sorted(n for n in os.listdir(FOLDERS[0]) if n.startswith('built-'))
        orphans = [n for n in built if not os.path.exists(os.path.join(EXPECT, n + '.txt'))]
        faultless('every built capture has an expectation', orphans)
        with tempfile.TemporaryDirectory(prefix='ipoib-decode.') as folder:
            os.chmod(folder, 0o755)
            check_changed(folder)
    for name in names:
        capture = find(name)
        if not capture:
            tap(False, name, 'no such capture')
            continue
        lines, count = parse(os.path.join(EXPECT, name + '.txt'))
        for mode in (1, 2):
            faultless('%s, %s' % (name, 'one pass' if mode == 1 else 'two passes'), check(capture, lines, count, mode))
    return finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv))
