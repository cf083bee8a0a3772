#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of "ipoib-capture convert", with the captures of link type 247 (INFINIBAND) in testdata. Results in TAP.
# The files that go in are made, and those that come out are read, by the Python below, which shares nothing
# with the program; tshark, capinfos and tcpdump read them as well, where they are installed.
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

program=$(realpath "$bin/ipoib-capture")
captures=$src/testdata
cd "$work" || exit 1
# a sanitizer's finding is never taken for an error that the program told
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99

cat > files.py <<'PYTHON'
"""Capture files in Python: `dump FILE` prints one line per packet, the other commands make files."""
import random, struct, sys

def pcap(path, packets, link=247, order='<', nano=True, snaplen=65535):
    with open(path, 'wb') as f:
        f.write(struct.pack(order + 'IHHiIII', 0xa1b23c4d if nano else 0xa1b2c3d4, 2, 4, 0, 0, snaplen, link))
        for sec, sub, data, wire in packets:
            f.write(struct.pack(order + 'IIII', sec, sub, len(data), wire) + data)

def block(order, kind, body):
    n = len(body) + 12
    return struct.pack(order + 'II', kind, n) + body + struct.pack(order + 'I', n)

def pad(data):
    return data + bytes(-len(data) % 4)

def pcapng(path, packets, links=(247,), order='<', tsresol=9):
    with open(path, 'wb') as f:
        f.write(block(order, 0x0a0d0d0a, struct.pack(order + 'IHHq', 0x1a2b3c4d, 1, 0, -1)))
        for link in links:
            f.write(block(order, 1, struct.pack(order + 'HHI', link, 0, 0) +
                          struct.pack(order + 'HHBxxxHH', 9, 1, tsresol, 0, 0)))
        for i, (sec, sub, data, wire) in enumerate(packets):
            t = sec * 10 ** tsresol + sub
            f.write(block(order, 6, struct.pack(order + 'IIIII', i % len(links), t >> 32, t & 0xffffffff,
                                                len(data), wire) + pad(data)))

def erf(time, data, wire, kind=21, flags=4, lctr=0, ext=b'', padding=0):
    return (struct.pack('<Q', time) + struct.pack('>BBHHH', kind, flags, 16 + len(ext) + len(data) + padding,
                                                  lctr, wire) + ext + data + bytes(padding))

def options(body, order):
    found = {}
    while len(body) >= 4:
        code, n = struct.unpack_from(order + 'HH', body)
        if code == 0:
            break
        found[code] = body[4:4 + n]
        body = body[4 + n + -n % 4:]
    return found

def read_pcap(b):
    order, unit = {b'\xd4\xc3\xb2\xa1': ('<', 1000), b'\xa1\xb2\xc3\xd4': ('>', 1000),
                   b'\x4d\x3c\xb2\xa1': ('<', 1), b'\xa1\xb2\x3c\x4d': ('>', 1)}[b[:4]]
    link = struct.unpack_from(order + 'I', b, 20)[0]
    at = 24
    while at < len(b):
        sec, sub, cap, wire = struct.unpack_from(order + 'IIII', b, at)
        assert at + 16 + cap <= len(b), 'cut short'
        yield link, sec * 10 ** 9 + sub * unit, wire, b[at + 16:at + 16 + cap], 0
        at += 16 + cap

def read_pcapng(b):
    order, at, links = '<', 0, []
    while at < len(b):
        kind, n = struct.unpack_from('<II', b, at)
        assert n % 4 == 0 and n >= 12 and struct.unpack_from('<I', b, at + n - 4)[0] == n, 'block length'
        body = b[at + 8:at + n - 4]
        if kind == 0x0a0d0d0a:
            assert struct.unpack_from('<IHHq', body) == (0x1a2b3c4d, 1, 0, -1), 'SHB'
        elif kind == 1:
            assert options(body[8:], order)[9] == b'\x09', 'if_tsresol'
            links.append(struct.unpack_from('<H', body)[0])
        elif kind == 6:
            who, hi, lo, cap, wire = struct.unpack_from('<IIIII', body)
            more = options(body[20 + cap + -cap % 4:], order)
            drops = struct.unpack('<Q', more[4])[0] if 4 in more else 0
            yield links[who], hi << 32 | lo, wire, body[20:20 + cap], drops
        at += n

def read_raw(b):
    at = 0
    while at < len(b):
        n, = struct.unpack_from('>H', b, at + 10)
        assert n >= 16 and at + n <= len(b), 'record length'
        time, = struct.unpack_from('<Q', b, at)
        yield 197, round_ns(time), n, b[at:at + n], 0
        at += n

def round_ns(time):
    return (time >> 32) * 10 ** 9 + ((time & 0xffffffff) * 10 ** 9 + 2 ** 31 >> 32)

def read(path):
    b = sys.stdin.buffer.read() if path == '-' else open(path, 'rb').read()
    if b[:4] == b'\x0a\x0d\x0d\x0a':
        return read_pcapng(b)
    return read_pcap(b) if b[1:3] in (b'\xc3\xb2', b'\x3c\xb2', b'\xb2\xc3', b'\xb2\x3c') else read_raw(b)

def dump(path):
    for link, t, wire, data, drops in read(path):
        print(link, t, len(data), wire, data.hex(), drops)

def frames(path):
    """The frames within, whatever the link type: nanoseconds, captured and wire length, octets."""
    for link, t, wire, data, drops in read(path):
        if link == 197:
            t = round_ns(struct.unpack_from('<Q', data)[0])
            assert data[8:10] == b'\x15\x04', 'type 21, flags 4'
            rlen, lctr, wire = struct.unpack_from('>HHH', data, 10)
            assert (rlen, lctr) == (len(data), 0), 'rlen, lctr'
            data = data[16:]
        print(t, len(data), wire, data.hex())

def tshark_lines(path):
    """What tshark must say of each frame: time, length, captured length, ERF type, a protocol."""
    for _, t, wire, data, _ in read(path):
        print(f'{t // 10 ** 9}.{t % 10 ** 9:09d}', wire, len(data), 21, 'infiniband')

A = bytes.fromhex('f0020001000d0002') + bytes(range(44))
B = bytes.fromhex('f0020002000d0001') + bytes(range(100, 144))
T = 1700000000

def make():
    pcap('two.pcap', [(T, 1, A, len(A)), (T + 1, 999999999, B, len(B))])
    us = [(T, 999993, A, 52), (T, 999999, B, 52), (T + 1, 0, A, 52)]
    ns = [(sec, sub * 1000, data, wire) for sec, sub, data, wire in us]
    for name, order in (('le', '<'), ('be', '>')):
        pcap(f'us-{name}.pcap', us, order=order, nano=False)
        pcap(f'ns-{name}.pcap', ns, order=order)
        pcapng(f'ng-{name}.pcapng', ns, order=order)
        pcapng(f'ng-us-{name}.pcapng', us, order=order, tsresol=6)
    edge = [0, 1, 2, 4, 5, 499999999, 500000000, 500000001, 999992999, 999993000, 999999998, 999999999]
    edge += random.Random(1).sample(range(10 ** 9), 3000)
    pcap('times.pcap', [(s, n, A, 52) for s, n in zip([0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1] * 700, edge)])
    pcap('sliced.pcap', [(T, 5, A[:20], 52), (T, 6, B[:1], 4000), (T, 7, A, 52)])
    pcap('zero.pcap', [(T, 5, b'', 52), (T, 6, A, 52)])
    pcap('none.pcap', [])
    pcap('long.pcap', [(T, 5, bytes(65520), 65520), (T, 6, bytes(65519), 65519), (T, 7, A, 65536)],
         snaplen=262144)
    pcap('ether.pcap', [(T, 5, A, 52)], link=1)
    pcap('ipoib242.pcap', [(T, 5, A, 52)], link=242)
    pcapng('mixed.pcapng', [(T, 5, A, 52), (T, 6, B, 52)], links=(247, 1))
    t = T << 32
    host = bytes.fromhex('1100000000000001')          # one extension header (Host ID), no further one
    more = bytes.fromhex('9100000000000001') + host   # two
    other = [erf(t, A, 52), erf(t + 1, b'\0\0' + A, 52, kind=2), erf(t + 2, b'', 0, kind=48, padding=8),
             erf(t + 3, b'meta' * 2, 8, kind=27), erf(t + 4, A, 52, kind=21 | 0x80, ext=host),
             erf(t + 5, B, 52, kind=21 | 0x80, ext=more, lctr=7, flags=5), erf(t + 6, A, 52, padding=4),
             erf(t + 7, B, 52, kind=25)]
    open('other.erf', 'wb').write(b''.join(other))
    pcap('other.pcap', [(T, 0, r, len(r)) for r in other], link=197, nano=False)
    open('infiniband.erf', 'wb').write(other[0] + other[4] + other[5] + other[6])
    no_ext = erf(t, host[:1] + A[:3], 4, kind=21 | 0x80)             # says extension header, has 4 octets
    bad = [erf(t, A, 52), b'short', erf(t, A, 52, kind=0), no_ext, erf(t, B, 52)]
    pcap('bad.pcap', [(T, 0, r, len(r)) for r in bad], link=197, nano=False)
    r = erf(t, A, 52)
    pcap('cut.pcap', [(T, 0, r[:36], 68)], link=197, nano=False)     # as editcap -s leaves it: rlen untouched
    pcap('longer.pcap', [(T, 0, r + b'pad!', 72)], link=197, nano=False)  # octets behind the record
    ibdump = [(T, u, erf((T << 32) + u * 4295, A, 52), 68)
              for u in (0, 1, 131072, 500000, 999992, 999993, 999999)]
    pcap('ibdump.pcap', ibdump, link=197, nano=False)
    moved = [(T + 3600, 0, erf(t + 2 ** 31, A, 52), 68)]             # the file's time was edited
    pcap('moved.pcap', moved, link=197, nano=False)
    pcapng('moved.pcapng', moved, links=(197,))
    coarse = [(T, 500000, erf(t + 2 ** 31 + 500, A, 52), 68)]        # a coarser file time: 0.5 s + 116 ns
    pcapng('coarse.pcapng', coarse, links=(197,), tsresol=6)
    open('text.erf', 'wb').write(b'this is no capture file at all, it is only text\n')

if __name__ == '__main__':
    {'make': make, 'dump': dump, 'frames': frames, 'tshark': tshark_lines}[sys.argv[1]](*sys.argv[2:])
PYTHON

cat > hostile.py <<'PYTHON'
"""Every prefix of small files, and random changes: never a signal, and no packet before the cut is lost."""
import random, re, subprocess, sys
program, rng, bad = sys.argv[1], random.Random(4391), 0

def run(data, fmt):
    p = subprocess.run([program, 'convert', '--format', fmt, '-', '-'], input=data, capture_output=True,
                       timeout=20)
    return p.returncode, p.stdout, p.stderr.decode(errors='replace')

for name, ends in (('two.pcap', (24, 92, 160)), ('ng-le.pcapng', None), ('other.erf', None),
                   ('infiniband.erf', (0, 68, 144, 228, 300))):
    whole = open(name, 'rb').read()
    for n in range(len(whole)):
        status, out, err = run(whole[:n], 'erf,pcapng' if n % 2 else 'erf,raw')
        last = err.strip().splitlines()[-1]
        if status not in (0, 1) or not re.search(r'\d+ packets, \d+ octets, \d+ drops$', last):
            print(f'# {name} cut to {n}: status {status}, {last}'); bad = 1
        if ends and f' {max(0, sum(e <= n for e in ends) - 1)} packets' not in err:
            print(f'# {name} cut to {n}: {last}'); bad = 1
        if ends and (status == 0) != (n > 0 and n in ends):
            print(f'# {name} cut to {n}: status {status}'); bad = 1
    for i in range(120):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        status, out, err = run(bytes(data), rng.choice(('247', '247,pcapng', 'erf', 'raw')))
        if status not in (0, 1) or not re.search(r' drops$', err.strip().splitlines()[-1]):
            print(f'# {name} change {i}: status {status}: {err[-200:]}'); bad = 1
sys.exit(bad)
PYTHON

py() { python3 files.py "$@"; }

# convert STATUS TEXT ARGUMENT...: the exit status, an extended regular expression on stderr, the summary last
convert() {
    local want=$1 text=$2 status
    shift 2
    "$program" convert "$@" 2> err
    status=$?
    [ "$status" -eq "$want" ] || { echo "status $status, not $want: $*"; cat err; return 1; }
    grep -Eq -- "$text" err || { echo "no '$text' on stderr: $*"; cat err; return 1; }
    [ "$want" -eq 2 ] ||
        tail -n 1 err | grep -Eq '^ipoib-capture: [0-9]+ packets, [0-9]+ octets, [0-9]+ drops$'
}

good() { convert 0 ' 0 drops$' "$@"; }

same_frames() { py frames "$1" > a && py frames "$2" > b && cmp a b; }

# dumped FILE: its packets equal the lines on stdin
dumped() { py dump "$1" > a && diff - a; }

py make || exit 1
A=f0020001000d0002000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b
B=f0020002000d00016465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f

# --- real captures: there and back through every format

roundtrip() {
    good "$1" "there$2" && good "$3" "there$2" back.pcap || return 1
    same_frames "$1" "there$2" && py dump "$1" > a && py dump back.pcap > b && cmp a b
}

tshark_agrees() {
    good "$1" there.pcap && py tshark "$1" > a || return 1
    env HOME="$work" tshark -r there.pcap -T fields -E separator=' ' -e frame.time_epoch -e frame.len \
        -e frame.cap_len -e erf.types.type -e frame.protocols 2> tshark.err |
        sed -E 's/ erf:infiniband[^ ]*$/ infiniband/' > b
    [ ! -s tshark.err ] || grep -qi 'as user "root"' tshark.err || cat tshark.err
    cmp a b
}

counts_agree() {
    local n
    n=$(py dump "$1" | wc -l)
    [ "$(capinfos -Mrc "$2" | tail -n 1 | sed 's/.*[ \t]//')" = "$n" ] || { capinfos "$2"; return 1; }
    [[ $2 = *.erf ]] || [ "$(tcpdump -nr "$2" 2> /dev/null | grep -c '^[0-9:.]* ')" = "$n" ]
}

# libpcap cannot print ERF: tcpdump shows the octets, one line that begins with the time for each packet
found=0
for file in "$captures"/*.pcap; do
    [ "$(py dump "$file" 2> /dev/null | head -n 1 | cut -d' ' -f1)" = 247 ] || continue
    found=$((found + 1))
    name=$(basename "$file" .pcap)
    try "roundtrip-pcap $name" roundtrip "$file" .pcap -f247
    try "roundtrip-pcapng $name" roundtrip "$file" .pcapng -f247
    try "roundtrip-raw $name" roundtrip "$file" .erf -f247
    if command -v tshark > /dev/null; then
        try "tshark-reads $name" tshark_agrees "$file"
    else
        skip "tshark-reads $name" "no tshark"
    fi
    for suffix in pcap pcapng erf; do
        if command -v capinfos > /dev/null && command -v tcpdump > /dev/null; then
            try "counts-$suffix $name" counts_agree "$file" there.$suffix
        else
            skip "counts-$suffix $name" "no capinfos or no tcpdump"
        fi
    done
done
try "captures-found" test $found -gt 0

# --- the octets of the files

# ibdump's: header d4c3b2a1 0200 0400 0 0 ffff0000 c5000000, time 1 ns = ceil(4.29) units, type 21, flags 4,
# rlen 68, wlen 52; incl_len = orig_len = 68 = 0x44
golden_ibdump() {
    good two.pcap out.pcap && xxd -p out.pcap | tr -d '\n' > a
    printf '%s' d4c3b2a1020004000000000000000000ffff0000c5000000 \
        00f1536500000000 4400000044000000 0500000000f15365 1504 0044 0000 0034 "$A" \
        01f153653f420f00 4400000044000000 fcffffff01f15365 1504 0044 0000 0034 "$B" | cmp - a
}
try golden-ibdump-file golden_ibdump

golden_raw() {
    good two.pcap out.erf && xxd -p out.erf | tr -d '\n' > a
    printf '%s' 0500000000f15365 1504 0044 0000 0034 "$A" fcffffff01f15365 1504 0044 0000 0034 "$B" | cmp - a
}
try golden-raw golden_raw

back_is_the_same_file() { good two.pcap out.erf && good out.erf back.pcap && cmp two.pcap back.pcap; }
try back-is-the-same-file back_is_the_same_file

pcapng_times_agree() {
    good two.pcap out.pcapng && dumped out.pcapng << END
197 1700000000000000001 68 68 0500000000f153651504004400000034$A 0
197 1700000001999999999 68 68 fcffffff01f153651504004400000034$B 0
END
}
try pcapng-has-both-times pcapng_times_agree

# --- inputs of every kind; none of the times overflows from 999993 µs on, as ibdump's do
three_frames() {
    good "$1" out.pcap && py frames out.pcap | cmp - <(
        echo "1700000000999993000 52 52 $A"
        echo "1700000000999999000 52 52 $B"
        echo "1700000001000000000 52 52 $A")
}
for input in {us,ns}-{le,be}.pcap ng-{,us-}{le,be}.pcapng; do
    try "reads-$input" three_frames "$input"
done

times_survive() {
    good times.pcap out."$1" && good out."$1" back.pcap && cmp times.pcap back.pcap
}
for format in pcap pcapng erf; do
    try "nanoseconds-survive-$format" times_survive $format
done

tshark_times() {
    py tshark "$1" | cut -d' ' -f1 > a
    env HOME="$work" tshark -r "$2" -T fields -e frame.time_epoch 2> /dev/null | cmp a -
}
if command -v tshark > /dev/null; then
    # without the times after 2038, which tshark prints as negative ones
    python3 -c "
import files
files.pcap('until2038.pcap', [(p[1] // 10**9, p[1] % 10**9, p[3], p[2]) for p in files.read('times.pcap')
                              if p[1] < 2**31 * 10**9])"
    for format in pcap pcapng erf; do
        "$program" convert until2038.pcap t.$format 2> /dev/null
    done
    try tshark-nanoseconds-pcap tshark_times until2038.pcap t.pcap
    try tshark-nanoseconds-pcapng tshark_times until2038.pcap t.pcapng
else
    skip tshark-nanoseconds "no tshark"
fi

sliced() {
    good sliced.pcap out."$1" && same_frames sliced.pcap out."$1" &&
        good out."$1" back.pcap && cmp sliced.pcap back.pcap
}
for format in pcap pcapng erf; do
    try "lengths-of-sliced-packets-$format" sliced $format
done
sliced_container() { # 16 octets of record header more in both lengths
    good sliced.pcap out.pcap &&
        py dump out.pcap | cut -d' ' -f3,4 | cmp - <(printf '%s\n' '36 68' '17 4016' '68 68')
}
try sliced-lengths-in-pcap sliced_container

no_packets() {
    convert 0 ': 0 packets, 0 octets, 0 drops' none.pcap out.pcap && [ "$(stat -c %s out.pcap)" = 24 ]
}
try no-packets no_packets

streams() {
    convert 0 ': 2 packets, 104 octets, 0 drops' - - < two.pcap > out.pcap && same_frames two.pcap out.pcap &&
        "$program" convert two.pcap - 2> /dev/null | "$program" convert - - 2> /dev/null | cmp - two.pcap
}
try stdin-and-stdout streams

# A packet passes from pipe to pipe before the input ends
live() {
    local passed=1
    mkfifo live.in
    exec 7<> live.in
    "$program" convert - - < live.in 2> live.err 7>&- | (head -c 108 > live.out; touch live.done) 7>&- &
    head -c 92 two.pcap >&7
    for _ in $(seq 50); do
        [ -e live.done ] && passed=0 && break
        sleep 0.1
    done
    exec 7>&-
    wait
    [ "$passed" -eq 0 ] && [ "$(stat -c %s live.out)" = 108 ]
}
try live-pipe live

formats() { # IN --format OUT, and what the output is: link type and first octets
    local first
    good -f "$2" "$1" "$3" && first=$(xxd -l 4 -p "$3") && [ "$first" = "$5" ] || return 1
    [ "$(py dump "$3" | head -n 1 | cut -d' ' -f1)" = "$4" ]
}
try format-erf formats two.pcap erf out.x 197 d4c3b2a1
try format-247-to-247 formats two.pcap 247 out.x 247 4d3cb2a1
try format-pcapng formats two.pcap pcapng out.x 197 0a0d0d0a
try format-247-pcapng formats two.pcap 247,pcapng out.x 247 0a0d0d0a
try format-pcap-over-suffix formats two.pcap pcap out.pcapng 197 d4c3b2a1
try format-raw formats two.pcap raw out.x 197 05000000
try format-erf-to-erf formats infiniband.erf erf out.x 197 d4c3b2a1
try format-erf-to-247-pcapng formats infiniband.erf 247,pcapng out.x 247 0a0d0d0a

# --- ERF records of all kinds

other_to_247() { # types 2 and 25 are dropped, 27 and 48 have no packet, the rest are frames
    convert 1 ': 4 packets, 208 octets, 2 drops' "$1" out.pcapng -f247 || return 1
    grep -q '1 record left out: ERF type 2 ' err && grep -q '1 record left out: ERF type 25 ' err &&
        grep -q '2 ERF records without a packet' err &&
        grep -q '2 packets copied without ERF extension headers' err &&
        grep -q '7 packets had been lost' err || { cat err; return 1; }
    py dump out.pcapng | cut -d' ' -f1,3- | cmp - <(
        echo "247 52 52 $A 0"; echo "247 52 52 $A 0"; echo "247 52 52 $B 7"; echo "247 52 52 $A 0")
}
try other-records-from-raw other_to_247 other.erf
try other-records-from-pcap other_to_247 other.pcap

copied() { # every record octet for octet
    good -f "$2" "$1" out."$3" && good -f raw out."$3" back.erf && cmp other.erf back.erf
}
try other-records-are-copied-pcap copied other.erf erf pcap
try other-records-are-copied-pcapng copied other.erf erf,pcapng pcapng
try other-records-are-copied-from-pcap copied other.pcap erf erf

bad_records() {
    convert 1 ': 2 packets, 104 octets, 3 drops' bad.pcap out.pcap &&
        grep -q '3 packets left out: no ERF record' err &&
        py frames out.pcap | cut -d' ' -f4 | cmp - <(printf '%s\n' "$A" "$B")
}
try bad-records-are-counted bad_records

cut_record() { # 20 octets of the frame are there; the raw record's length is that of what is there
    good cut.pcap out.pcap && py dump out.pcap | cut -d' ' -f1,3,4,5 | cmp - <(echo "247 20 52 ${A:0:40}") &&
        good cut.pcap out.erf && same_frames out.pcap out.erf
}
try cut-record cut_record

longer_record() {
    good longer.pcap out.pcap && py frames out.pcap | cmp - <(echo "1700000000000000000 52 52 $A")
}
try octets-behind-a-record longer_record

ibdump_times() { # the file's microseconds are right; the last four records are late by more than one
    convert 0 "4 packets had ibdump's inexact ERF time" ibdump.pcap out.pcap &&
        py frames out.pcap | awk '{print int(substr($1, 11) / 1000)}' | cmp - <(
            printf '%s\n' 0 1 131072 500000 999992 999993 999999)
}

try ibdump-times-are-put-right ibdump_times

edited_times() { # FILE TIME: Wireshark shows the record's time of a pcap, the file's time of a pcapng
    good -f247 "$1" out.pcap && [ "$(py frames out.pcap | cut -d' ' -f1)" = "$2" ] &&
        good -f raw "$1" out.erf && good out.erf back.pcap && cmp out.pcap back.pcap
}
try edited-time-pcap edited_times moved.pcap 1700000000500000000
try edited-time-pcapng edited_times moved.pcapng 1700003600000000000
try coarse-file-time edited_times coarse.pcapng 1700000000500000116

zero_octets() {
    good zero.pcap out.pcap && good out.pcap back.pcap && cmp zero.pcap back.pcap &&
        convert 1 '1 packet left out: no octet' zero.pcap out.erf
}
try packet-without-octets zero_octets

too_long() { # 65519 octets is the longest frame that a record can have
    convert 1 ': 1 packets, 65519 octets, 2 drops' long.pcap out.pcap &&
        grep -q '2 packets left out: too long' err &&
        good out.pcap back.pcap && [ "$(py frames back.pcap | cut -d' ' -f2)" = 65519 ]
}
try too-long-for-erf too_long
try long-stays-247 good -f247 long.pcap out.pcap

# --- errors

try no-such-file convert 1 'nothing.pcap: cannot be opened: No such file' nothing.pcap out1.pcap
try output-untouched-without-input test ! -e out1.pcap
try directory-as-input convert 1 'cannot be read: Is a directory' . out1.pcap
try empty-file convert 1 'is empty' /dev/null out1.pcap
try text-file convert 1 'is no capture file' text.erf out1.pcap
try not-infiniband convert 1 'link type 1 \(EN10MB\) is not InfiniBand' ether.pcap out1.pcap
try ipoib-242-refused convert 1 'link type 242 .*is not InfiniBand' ipoib242.pcap out1.pcap
gzip -k two.pcap
try compressed convert 1 'is compressed' two.pcap.gz out1.pcap
try several-link-types convert 1 'mixed.pcapng: .*type' mixed.pcapng out1.pcapng

truncated() { # FILE OCTETS: one packet is written, then the message
    head -c "$2" "$1" > short
    convert 1 "short: .*(truncated|cut short)" short out.pcap && grep -q ': 1 packets, 52 octets' err &&
        py frames out.pcap | cut -d' ' -f4 | cmp - <(echo "$A")
}
try truncated-pcap truncated two.pcap 130
try truncated-raw truncated infiniband.erf 130
try truncated-raw-header truncated infiniband.erf 76

damaged() {
    (head -c 68 infiniband.erf; head -c 60 /dev/zero) > damaged.erf
    convert 1 'no ERF record at octet 68' damaged.erf out.pcap && grep -q ': 1 packets' err
}
try damaged-raw damaged

try unwritable convert 1 'cannot be created: ' two.pcap /nonexistent/out.pcap
for format in erf pcapng raw; do
    try "disk-full-$format" convert 1 '/dev/full: cannot be written.*No space' -f $format two.pcap /dev/full
done
try disk-full-large convert 1 '/dev/full: cannot be written.*No space' times.pcap /dev/full
disk_full_stdout() { convert 1 'standard output: cannot be written.*No space' two.pcap - > /dev/full; }
try disk-full-stdout disk_full_stdout
closed_stdout() { convert 1 'standard output: cannot be written' two.pcap - >&-; }
try closed-stdout closed_stdout
help_to_full() { "$program" --help > /dev/full 2> err; [ $? -eq 1 ]; }
try help-to-full-disk help_to_full

closed_stderr() { # the output must not become file 2 and take the messages
    "$program" convert - out.pcap < two.pcap 2>&- && same_frames two.pcap out.pcap
}
try closed-stderr closed_stderr

python3 -c "
import files
files.pcap('large.pcap', [(1, i, files.A * 20, 1040) for i in range(20000)])"
closed_pipe_large() {
    "$program" convert large.pcap - 2> err | head -c 100 > /dev/null
    [ "${PIPESTATUS[0]}" -eq 1 ] && grep -q 'Broken pipe' err
}
try closed-pipe closed_pipe_large

same_file() { # under each name the file is left alone
    cp two.pcap same.pcap && ln same.pcap hard.pcap && ln -s same.pcap soft.pcap
    for out in same.pcap ./same.pcap hard.pcap soft.pcap; do
        convert 1 'is the input itself' same.pcap "$out" && cmp two.pcap same.pcap || return 1
    done
    convert 1 'is the input itself' - same.pcap < same.pcap && cmp two.pcap same.pcap &&
        convert 1 'is the input itself' same.pcap - >> same.pcap && cmp two.pcap same.pcap
}
try same-file same_file

try usage-no-names convert 2 'needs two file names'
try usage-one-name convert 2 'needs two file names' two.pcap
try usage-three-names convert 2 'needs two file names' a b c
try usage-unknown-option convert 2 'unknown option --nonsense' --nonsense a b
try usage-unknown-format convert 2 'format nonsense is unknown' --format nonsense a b
try usage-format-contradiction convert 2 'contradicts itself' --format erf,247 a b
try usage-format-without-value convert 2 'needs a value' a b --format
try usage-247-raw convert 2 'raw ERF file cannot have' --format 247 two.pcap out.erf

program_usage() { # STATUS TEXT ARGUMENT...
    local want=$1 text=$2 status
    shift 2
    "$program" "$@" > out.txt 2>&1
    status=$?
    [ "$status" -eq "$want" ] && grep -q -- "$text" out.txt || { cat out.txt; return 1; }
}
try help program_usage 0 'Usage: ipoib-capture .OPTION' --help
try help-short program_usage 0 'Usage: ipoib-capture .OPTION' -h
try convert-help program_usage 0 'IN OUT' convert --help
try version program_usage 0 '^ipoib-capture [0-9]' -v
try unknown-subcommand program_usage 2 'unknown: confert' confert

# --- hostile input
try hostile python3 hostile.py "$program"

# --- flat memory: 400 MB through 48 MB of address space (not with a sanitizer, which reserves more)
flat_memory() {
    python3 -c "
import sys, struct, files
sys.stdout.buffer.write(open('none.pcap', 'rb').read())
for i in range(100):
    sys.stdout.buffer.write((struct.pack('<IIII', 1, i, 4096, 4096) + bytes(4096)) * 1000)" |
        (ulimit -v 49152; "$program" convert - /dev/null 2> err) &&
        grep -q ': 100000 packets, 409600000 octets' err
}
if nm -D "$program" 2> /dev/null | grep -q __asan_init; then
    skip flat-memory "sanitizer"
else
    try flat-memory flat_memory
fi

finish
