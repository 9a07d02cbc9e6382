#!/bin/sh
# Captures: all carriages, damaged packets, damaged files, the adaptation layers in cells.
set -u
leat=$1
. "$(dirname "$0")/lib.sh"
python3 "$(dirname "$0")/carriages.py" "$leat" "$folder" || fail "carriages.py"

# One packet of each carriage, as raw pcap files that others' tools would write.
for file in "$folder"/carriage_*.pcap; do
    name=$(basename "$file" .pcap)
    format=${name#carriage_}
    format=${format%%_*}
    exits 0 "" "$leat" decode --json "$file"
    same "$name" "$(jq -r '.format + " " + (.error | tostring)' "$folder/stdout")" "$format null"
done
exits 0 "packets of other formats, passed over: 3" "$leat" decode --json "$folder/foreign.pcap"
same "foreign packets" "$(wc -c < "$folder/stdout")" 0
exits 0 "passed over: 1" "$leat" decode --json "$folder/fragment.pcap"

# All formats in one capture, there and back: the same octets.
for format in atm atmtask aton esp packetway poets; do
    "$leat" encode $format | "$leat" decode --format $format --json
done > "$folder/all.json"
exits 0 "" "$leat" encode --json "$folder/all.json" --pcapng "$folder/all.pcapng"
exits 0 "" "$leat" decode --json "$folder/all.pcapng"
cp "$folder/stdout" "$folder/again.json"
same "formats of the capture" "$(jq -r .format "$folder/again.json" | tr '\n' ' ')" "atm atmtask aton esp packetway poets "
exits 0 "" "$leat" encode --json "$folder/again.json" --pcapng "$folder/copy.pcapng"
cmp -s "$folder/all.pcapng" "$folder/copy.pcapng" || fail "a capture there and back differs"
"$leat" decode --json < "$folder/all.pcapng" | cmp -s - "$folder/again.json" || fail "a capture from a pipe differs"
exits 0 "passed over" "$leat" decode --format esp --json "$folder/all.pcapng"
same "one format of many" "$(jq -r .format "$folder/stdout")" esp

# The frame of POETS keeps direction and hardware address.
exits 0 "" "$leat" encode poets carriage.hwAddr=0x411 carriage.direction=toHost --pcapng "$folder/poets.pcapng"
exits 0 "" "$leat" decode --json "$folder/poets.pcapng"
same "carriage" "$(jq -c '[.carriage.direction, .carriage.hwAddr]' "$folder/stdout")" '["toHost",1041]'

# Adaptation layers travel in cells.
octets=$(head -c 3000 /dev/zero | tr '\0' 'x' | od -An -v -tx1 | tr -d ' \n')
exits 0 "" "$leat" encode aal5 payload=$octets carriage.vpi=3 carriage.vci=77 --pcapng "$folder/aal5.pcapng"
exits 0 "" "$leat" decode --json "$folder/aal5.pcapng"
same "cells" "$(jq -s 'length' "$folder/stdout")" 63
exits 0 "" "$leat" decode --format aal5 --json "$folder/aal5.pcapng"
same "aal5" "$(jq -r .fields.payload "$folder/stdout")" "$octets"
same "channel" "$(jq -c .carriage "$folder/stdout")" '{"vpi":3,"vci":77}'
for format in aal1 aal2 aal34; do
    exits 0 "" "$leat" encode $format --pcapng "$folder/$format.pcapng"
    exits 0 "" "$leat" decode --format $format --json "$folder/$format.pcapng"
    cp "$folder/stdout" "$folder/again.json"
    exits 0 "" "$leat" encode --json "$folder/again.json"
    same "$format through cells" "$(cat "$folder/stdout")" "$("$leat" encode $format)"
done
cat "$folder/aal5.pcapng" > "$folder/cut.pcapng"
python3 - "$folder/cut.pcapng" <<'PY'
import sys
data = open(sys.argv[1], 'rb').read()
open(sys.argv[1], 'wb').write(data[:-88])   # the last cell's block is 12 + 20 + 56 octets
PY
exits 1 "packets without an end: 1" "$leat" decode --format aal5 "$folder/cut.pcapng"

# Damaged packets are each reported, the reading goes on, exit 1; they pass through encode as they are.
python3 - "$folder/all.pcapng" "$folder/damaged.pcapng" <<'PY'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read()); at = 0; n = 0
while at < len(data):
    kind, length = struct.unpack_from('<II', data, at)
    if kind == 6:
        n += 1
        if n in (1, 4): data[at + 28 + 5] ^= 0x20; data[at + 28 + 3] ^= 0x40
    at += length
open(sys.argv[2], 'wb').write(data)
PY
exits 1 "packet 4: esp" "$leat" decode --json "$folder/damaged.pcapng"
same "all are there" "$(jq -r .format "$folder/stdout" | wc -l)" 6
same "two are damaged" "$(jq -r 'select(.error != null) | .format' "$folder/stdout" | tr '\n' ' ')" "atm esp "
cp "$folder/stdout" "$folder/damaged.json"
exits 0 "" "$leat" encode --json "$folder/damaged.json" --pcapng "$folder/damaged2.pcapng"
cmp -s "$folder/damaged.pcapng" "$folder/damaged2.pcapng" || fail "damaged packets do not pass through as they are"
exits 1 "packet 1: atm" "$leat" decode "$folder/damaged.pcapng"

# Damaged files: what could be read is printed, then the place, exit 2.
size=$(wc -c < "$folder/all.pcapng")
head -c $((size - 7)) "$folder/all.pcapng" > "$folder/short.pcapng"
exits 2 "damaged capture" "$leat" decode --json "$folder/short.pcapng"
same "packets before the damage" "$(wc -l < "$folder/stdout")" 5
cut=1
while [ $cut -lt "$size" ]; do
    head -c $cut "$folder/all.pcapng" > "$folder/cut"
    got=0
    "$leat" decode --json --input capture "$folder/cut" > /dev/null 2> "$folder/stderr" || got=$?
    [ $got -eq 0 ] || [ $got -eq 2 ] || fail "capture cut at $cut: exit $got"
    ! grep -q 'runtime error\|Sanitizer' "$folder/stderr" || fail "capture cut at $cut: sanitizer"
    cut=$((cut + 13))
done
finish
