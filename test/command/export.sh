#!/bin/sh
# leat export: every export says what was recorded, damaged recordings are told, no half file stays.
set -u
leat=$(realpath "$1")
. "$(dirname "$0")/lib.sh"
for seed in 1 2 3; do
    python3 "$(dirname "$0")/recording.py" "$leat" "$folder" "$seed" || fail "recording.py, seed $seed"
done
sound=$folder/300.leatrec
size=$(wc -c < "$sound")

# Any of the three alone, from a pipe too; all together are the same.
for shape in pcapng vcd perfetto; do
    end=$shape
    [ $shape != perfetto ] || end=json
    exits 0 "" "$leat" export "$sound" --$shape "$folder/alone.$end"
    cmp -s "$folder/alone.$end" "$sound.$end" || fail "--$shape alone differs"
    input=$sound exits 0 "" "$leat" export - --$shape "$folder/piped.$end"
    cmp -s "$folder/piped.$end" "$sound.$end" || fail "--$shape from a pipe differs"
done

# leat itself reads the capture: packets of random octets are damaged (1), the file is not (2).
exits 1 "" "$leat" decode --json "$folder/alone.pcapng"

# Wrong command lines.
exits 2 "expected one recording" "$leat" export
exits 2 "expected one recording" "$leat" export "$sound" "$sound" --vcd "$folder/no.vcd"
exits 2 "at least one of --pcapng, --vcd, --perfetto" "$leat" export "$sound"
exits 2 "--pcapng and --vcd name one file" "$leat" export "$sound" --pcapng "$folder/no" --vcd "$folder/no"
(cd "$folder" && "$leat" export "$sound" --vcd ./no --pcapng no 2> stderr; echo $? > code)
same "one file under two names" "$(cat "$folder/code")" 2
has "one file under two names" "$(cat "$folder/stderr")" "--pcapng and --vcd name one file, expected two"
for shape in pcapng vcd perfetto; do
    exits 2 "--$shape: '' is no file name" "$leat" export "$sound" --$shape ''
    cp "$sound" "$folder/same"
    exits 2 "--$shape and the input name one file, expected two" "$leat" export "$folder/same" --$shape "$folder/same"
    cmp -s "$sound" "$folder/same" || fail "--$shape: the recording is not what it was"
done
exits 2 "No such file" "$leat" export "$folder/none.leatrec" --vcd "$folder/no.vcd"
exits 2 "Is a directory" "$leat" export "$folder" --vcd "$folder/no.vcd"
exits 1 "No such file" "$leat" export "$sound" --pcapng "$folder/no.pcapng" --vcd "$folder/none/no.vcd"

# Damaged recordings: the octet, what is wrong, what was expected.
wrong() { # TEXT: what is in $folder/wrong.leatrec
    exits 2 "$1" "$leat" export "$folder/wrong.leatrec" --pcapng "$folder/no.pcapng" --vcd "$folder/no.vcd" --perfetto "$folder/no.json"
}
printf '' > "$folder/wrong.leatrec";           wrong "wrong.leatrec: octet 0: the recording ends here (SHORT)"
echo '{"opcode":1}' > "$folder/wrong.leatrec"; wrong "octet 0: not a file of this kind (MAGIC), expected LEATREC and version 1"
printf 'LEATREC\002' > "$folder/wrong.leatrec"; wrong "octet 7: not a file of this kind (MAGIC), expected LEATREC and version 1"
for len in 5 9 100 $((size - 1)); do
    head -c "$len" "$sound" > "$folder/wrong.leatrec"
    wrong "octet $len: the recording ends here (SHORT), expected records up to a CLOSE"
done
{ cat "$sound"; printf '\006'; } > "$folder/wrong.leatrec"
wrong "octet $size: length field or buffer length is not allowed (LENGTH), expected the end of the file"
printf 'LEATREC\001\004\000\000\003\001s\023\001\010' > "$folder/wrong.leatrec"
wrong "octet 16: field value does not fit its width or its limits (RANGE), expected a VALUE: signal, value of its width"
printf 'LEATREC\001\007' > "$folder/wrong.leatrec"
wrong "octet 8: unknown type, opcode or operator (TYPE), expected a kind of record"
for file in "$folder"/no*; do
    [ ! -e "$file" ] || fail "a failed export leaves $file"
done

# A file that was there stays as it was, if the export fails.
echo before > "$folder/kept.vcd"
exits 2 "" "$leat" export "$folder/wrong.leatrec" --vcd "$folder/kept.vcd"
same "a file that was there" "$(cat "$folder/kept.vcd")" before

# Every flipped bit of a small recording: an answer, 0 or 2.
python3 - "$leat" "$folder" <<'PY' || fail "a flipped bit"
import subprocess, sys
leat, folder = sys.argv[1:]
sound = open(folder + "/10.leatrec", "rb").read()[:600]
for bit in range(0, 8 * len(sound), 11):
    octets = bytearray(sound)
    octets[bit // 8] ^= 1 << bit % 8
    open(folder + "/bit.leatrec", "wb").write(octets)
    run = subprocess.run([leat, "export", folder + "/bit.leatrec", "--pcapng", folder + "/bit.pcapng", "--vcd", folder + "/bit.vcd",
                          "--perfetto", folder + "/bit.json"], capture_output=True, text=True)
    if run.returncode not in (0, 2) or "runtime error" in run.stderr or "Sanitizer" in run.stderr:
        sys.exit("bit %d: exit %d: %s" % (bit, run.returncode, run.stderr))
PY

# A full disk is told; pipes are written as they are.
if [ -e /dev/full ]; then
    exits 1 "/dev/full: No space left" "$leat" export "$sound" --vcd /dev/full --perfetto "$folder/full.json"
    [ ! -e "$folder/full.json" ] || fail "a file appears beside one that failed"
    no_part "a full disk"
fi
mkfifo "$folder/fifo"
cat "$folder/fifo" > "$folder/through" &
exits 0 "" "$leat" export "$sound" --perfetto "$folder/fifo"
wait
cmp -s "$folder/through" "$sound.json" || fail "a trace through a pipe differs"

# Interrupted while it waits for the rest, it leaves no file.
mkfifo "$folder/live"
"$leat" export "$folder/live" --vcd "$folder/live.vcd" 2> "$folder/stderr" &
pid=$!
exec 8> "$folder/live"
head -c 200 "$sound" >&8
tries=0
while [ -z "$(find "$folder" -name 'live.vcd.part.*')" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -TERM $pid
got=0; wait $pid || got=$?
exec 8>&-
same "exit after SIGTERM" $got 143
[ ! -e "$folder/live.vcd" ] || fail "an interrupted export leaves a file"
no_part "an interrupted export"
finish
