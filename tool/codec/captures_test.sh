#!/bin/sh
# Captures: all carriages, damaged packets, damaged files, the adaptation layers in cells.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
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
for format in atm atmtask aton esp packetway poets atonserial; do
    "$leat" encode $format | "$leat" decode --format $format --json
done > "$folder/all.json"
exits 0 "" "$leat" encode --from-json "$folder/all.json" --pcapng "$folder/all.pcapng"
exits 0 "" "$leat" decode --json "$folder/all.pcapng"
cp "$folder/stdout" "$folder/again.json"
same "formats of the capture" "$(jq -r .format "$folder/again.json" | tr '\n' ' ')" "atm atmtask aton esp packetway poets atonserial "
exits 0 "" "$leat" encode --from-json "$folder/again.json" --pcapng "$folder/copy.pcapng"
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
same "channel" "$(jq -c .carriage "$folder/stdout")" '{"interface":"UNI","vpi":3,"vci":77}'
for format in aal1 aal2 aal34 q2931; do
    exits 0 "" "$leat" encode $format --pcapng "$folder/$format.pcapng"
    exits 0 "" "$leat" decode --format $format --json "$folder/$format.pcapng"
    cp "$folder/stdout" "$folder/again.json"
    exits 0 "" "$leat" encode --from-json "$folder/again.json"
    same "$format through cells" "$(cat "$folder/stdout")" "$("$leat" encode $format)"
done

# Records of POETS hosts are in no capture.
for format in poetsaddr poetsdebug; do
    exits 2 "$format: no capture carries it, expected its octets: --hex or --raw" "$leat" encode $format --pcapng "$folder/$format.pcapng"
    exits 0 "" "$leat" decode --format $format --json "$folder/aal5.pcapng"
    same "no $format" "$(wc -c < "$folder/stdout")" 0
done

# What travels in AAL5 is found there; what carries something else is passed over, and a damaged PDU is told.
for format in atmllc atmvcmux atmarp; do
    exits 0 "" "$leat" encode $format carriage.vci=99 --pcapng "$folder/$format.pcapng"
    exits 0 "" "$leat" decode --format $format --json "$folder/$format.pcapng"
    cp "$folder/stdout" "$folder/again.json"
    exits 0 "" "$leat" encode --from-json "$folder/again.json"
    same "$format through AAL5" "$(cat "$folder/stdout")" "$("$leat" encode $format)"
done
exits 0 "" "$leat" decode --format atmllc --json "$folder/atmarp.pcapng"
same "ATMARP has an LLC header" "$(jq -r '.fields.type + .fields.payload' "$folder/stdout")" "ARP$("$leat" encode atmarp)"
exits 0 "" "$leat" decode --format atmarp --json "$folder/atmllc.pcapng"
same "no ATMARP" "$(wc -c < "$folder/stdout")" 0
pdu=$("$leat" encode aal5 payload="$("$leat" encode atmllc)")
"$leat" encode atm vci=99 pt=user-1 payload="${pdu%?}0" --pcapng "$folder/damaged_llc.pcapng"
exits 1 "octet 48: checksum" "$leat" decode --format atmllc --json "$folder/damaged_llc.pcapng"
# Signalling is AAL5 on VCI 5; other channels are not taken for it.
exits 0 "" "$leat" encode q2931 type=RELEASE call=7 --pcapng "$folder/signal.pcapng"
exits 0 "" "$leat" decode --format q2931 --json "$folder/signal.pcapng"
same "signalling" "$(jq -c '[.carriage.vpi, .carriage.vci, .fields.type]' "$folder/stdout")" '[0,5,"RELEASE"]'
exits 0 "" "$leat" decode --format aal5 --json "$folder/signal.pcapng"
same "signalling in AAL5" "$(jq -r .fields.payload "$folder/stdout")" "$("$leat" encode q2931 type=RELEASE call=7)"
exits 0 "" "$leat" decode --format q2931 --json "$folder/aal5.pcapng"
same "no signalling" "$(wc -c < "$folder/stdout")" 0
exits 0 "" "$leat" encode aal5 payload=0102 carriage.vci=5 --pcapng "$folder/signal.pcapng"
exits 1 "q2931: octet 2: buffer ends" "$leat" decode --format q2931 --json "$folder/signal.pcapng"
exits 0 "" "$leat" encode atm vci=5 pt=user-1 --pcapng "$folder/signal.pcapng"
exits 1 "q2931: octet 48: checksum" "$leat" decode --format q2931 --json "$folder/signal.pcapng"
cat "$folder/aal5.pcapng" > "$folder/cut.pcapng"
python3 - "$folder/cut.pcapng" <<'PY'
import sys
data = open(sys.argv[1], 'rb').read()
open(sys.argv[1], 'wb').write(data[:-88])   # the last cell's block is 12 + 20 + 56 octets
PY
exits 1 "aal5: octet 2976: buffer ends" "$leat" decode --format aal5 --json "$folder/cut.pcapng"
same "an unfinished packet" "$(jq -c '[.carriage.vci, .error.code]' "$folder/stdout")" '[77,"SHORT"]'

# The network-network interface has a VPI of 12 bits.
exits 0 "" "$leat" encode aal5 payload=0102 carriage.interface=NNI carriage.vpi=0xabc --pcapng "$folder/nni.pcapng"
exits 0 "" "$leat" decode --format aal5 --nni --json "$folder/nni.pcapng"
same "a channel of the NNI" "$(jq -c .carriage "$folder/stdout")" '{"interface":"NNI","vpi":2748,"vci":32}'
exits 0 "" "$leat" decode --format atm --nni --json "$folder/nni.pcapng"
same "a cell of the NNI" "$(jq .fields.vpi "$folder/stdout")" 2748
exits 2 "--nni goes with" "$leat" decode --nni "$folder/nni.pcapng"

# A packet without an end is told once, then passed over until its end.
python3 - "$leat" > "$folder/long.json" <<'PY'
import json
for n in range(3001):
    print(json.dumps({"format": "atm", "fields": {"vci": 40, "pt": "user-1" if n == 3000 else "user-0"}}))
PY
exits 0 "" "$leat" encode --from-json "$folder/long.json" --pcapng "$folder/long.pcapng"
exits 1 "aal5: octet 65568: length" "$leat" decode --format aal5 --json "$folder/long.pcapng"
same "one error for one packet" "$(jq -c .error.code "$folder/stdout")" '"LENGTH"'

# Prototype cells: damaged ones are theirs too, and so are those whose VPI makes a check of zero.
for vpi in 0x12 0x115 0xf3f 1; do
    exits 0 "" "$leat" encode atmtask vpi=$vpi message.name=abc --pcapng "$folder/task.pcapng"
    exits 0 "" "$leat" decode --json "$folder/task.pcapng"
    same "prototype cell on VPI $vpi" "$(jq -r .format "$folder/stdout")" atmtask
done
python3 - "$folder/task.pcapng" <<'PY'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
data[-20] ^= 1
open(sys.argv[1], 'wb').write(data)
PY
exits 1 "atmtask: octet 51: checksum" "$leat" decode "$folder/task.pcapng"
exits 1 "atmtask: octet 51: checksum" "$leat" decode --format atmtask "$folder/task.pcapng"

# What came from Ethernet goes back to Ethernet, the ring's header and all.
for name in carriage_aton_ether carriage_packetway_ether carriage_esp_ether; do
    exits 0 "" "$leat" decode --json "$folder/$name.pcap"
    cp "$folder/stdout" "$folder/ether.json"
    exits 0 "" "$leat" encode --from-json "$folder/ether.json" --pcapng "$folder/ether.pcapng"
    exits 0 "" "$leat" decode --json "$folder/ether.pcapng"
    cmp -s "$folder/stdout" "$folder/ether.json" || fail "$name there and back"
done
exits 0 "" "$leat" encode aton carriage.ringId=5 --pcapng "$folder/ring.pcapng"
exits 0 "" "$leat" decode --json "$folder/ring.pcapng"
same "ring header" "$(jq -c '[.via, .carriage.ringId]' "$folder/stdout")" '["ethernet",5]'

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
same "all are there" "$(jq -r .format "$folder/stdout" | wc -l)" 7
same "two are damaged" "$(jq -r 'select(.error != null) | .format' "$folder/stdout" | tr '\n' ' ')" "atm esp "
cp "$folder/stdout" "$folder/damaged.json"
exits 0 "" "$leat" encode --from-json "$folder/damaged.json" --pcapng "$folder/damaged2.pcapng"
cmp -s "$folder/damaged.pcapng" "$folder/damaged2.pcapng" || fail "damaged packets do not pass through as they are"
exits 1 "packet 1: atm" "$leat" decode "$folder/damaged.pcapng"

# Damaged files: what could be read is printed, then the place, exit 2.
size=$(wc -c < "$folder/all.pcapng")
head -c $((size - 7)) "$folder/all.pcapng" > "$folder/short.pcapng"
exits 2 "damaged capture" "$leat" decode --json "$folder/short.pcapng"
same "packets before the damage" "$(wc -l < "$folder/stdout")" 6
cut=1
while [ $cut -lt "$size" ]; do
    head -c $cut "$folder/all.pcapng" > "$folder/cut"
    got=0
    "$leat" decode --json --input capture "$folder/cut" > /dev/null 2> "$folder/stderr" || got=$?
    [ $got -eq 0 ] || [ $got -eq 2 ] || fail "capture cut at $cut: exit $got"
    ! grep -q 'runtime error\|Sanitizer' "$folder/stderr" || fail "capture cut at $cut: sanitizer"
    cut=$((cut + 13))
done
# ---- interrupted ---------------------------------------------------------------------------------

# At any moment of its beginning, as just before it waits for input: it ends, without a part of a capture.
mkfifo "$folder/pipe"
python3 - "$leat" "$folder/pipe" "$folder/cut.pcapng" << 'PY' || fail "an encode outlives SIGTERM"
import os, signal, subprocess, sys, time
leat, pipe, cut = sys.argv[1:]
for i in range(200):
    feed = os.open(pipe, os.O_RDWR)
    process = subprocess.Popen([leat, "encode", "esp", "--from-json", pipe, "--pcapng", cut], stderr=subprocess.DEVNULL)
    os.write(feed, b'{"opcode":"NOP"}\n')
    time.sleep(0.00005 * i)
    process.send_signal(signal.SIGTERM)
    process.wait(300)
    os.close(feed)
PY
no_part "an encode that was interrupted early"

finish
