#!/bin/sh
# leat export: every export has what was recorded, damaged recordings are reported, no partial file stays.
set -u
leat=$(realpath "$1")
. "$(dirname "$0")/../../test/lib.sh"
for seed in 1 2 3; do
    python3 "$(dirname "$0")/recording.py" "$leat" "$folder" "$seed" || fail "recording.py, seed $seed"
done
sound=$folder/300.leatrec
size=$(wc -c < "$sound")

# Any of the files alone, from a pipe too; all together are the same.
for shape in pcapng vcd perfetto csv; do
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
exits 2 "at least one of --pcapng, --vcd, --perfetto, --csv, --otf2" "$leat" export "$sound"
exits 2 "--pcapng and --vcd name one file" "$leat" export "$sound" --pcapng "$folder/no" --vcd "$folder/no"
(cd "$folder" && "$leat" export "$sound" --vcd ./no --pcapng no 2> stderr; echo $? > code)
same "one file under two names" "$(cat "$folder/code")" 2
has "one file under two names" "$(cat "$folder/stderr")" "--pcapng and --vcd name one file, expected two"
for shape in pcapng vcd perfetto csv; do
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
    exits 2 "$1" "$leat" export "$folder/wrong.leatrec" --pcapng "$folder/no.pcapng" --vcd "$folder/no.vcd" --perfetto "$folder/no.json" --csv "$folder/no.csv"
}
printf '' > "$folder/wrong.leatrec";           wrong "wrong.leatrec: octet 0: the recording ends here (SHORT)"
echo '{"opcode":1}' > "$folder/wrong.leatrec"; wrong "octet 0: not a file of this kind (MAGIC), expected LEATREC and version 2"
printf 'LEATREC\001' > "$folder/wrong.leatrec"; wrong "octet 7: not a file of this kind (MAGIC), expected LEATREC and version 2"
for len in 5 9 100 $((size - 1)); do
    head -c "$len" "$sound" > "$folder/wrong.leatrec"
    wrong "octet $len: the recording ends here (SHORT), expected records up to a CLOSE"
done
{ cat "$sound"; printf '\006'; } > "$folder/wrong.leatrec"
wrong "octet $size: length field or buffer length is not allowed (LENGTH), expected the end of the file"
printf 'LEATREC\002\004\000\000\003\001s\023\001\010' > "$folder/wrong.leatrec"
wrong "octet 16: field value does not fit its width or its limits (RANGE), expected a VALUE: signal, value of its width"
printf 'LEATREC\002\007' > "$folder/wrong.leatrec"
wrong "octet 8: unknown type, opcode or operator (TYPE), expected a kind of record"
for file in "$folder"/no*; do
    [ ! -e "$file" ] || fail "a failed export leaves $file"
done

# An archive: in a new folder or an empty one, whole or not at all.
if "$leat" export "$sound" --otf2 "$folder/archive" 2> "$folder/stderr"; then
    [ -s "$folder/archive/traces.otf2" ] || fail "no traces.otf2"
    mkdir "$folder/empty"
    same "the mode of an archive" "$(stat -c %A "$folder/archive")" "$(stat -c %A "$folder/empty")"
    # Again: an archive of ours is replaced, nothing else is.
    inode=$(stat -c %i "$folder/archive")
    exits 0 "" "$leat" export "$sound" --otf2 "$folder/archive"
    [ "$(stat -c %i "$folder/archive")" != "$inode" ] || fail "the archive is not replaced"
    [ -s "$folder/archive/traces.otf2" ] || fail "no traces.otf2 the second time"
    no_part "an archive that is replaced"
    inode=$(stat -c %i "$folder/archive")
    exits 2 "SHORT" "$leat" export - --otf2 "$folder/archive" < /dev/null
    same "an export that fails leaves the archive" "$(stat -c %i "$folder/archive")" "$inode"
    for strange in notes traces/notes; do
        echo mine > "$folder/archive/$strange"
        exits 2 "--otf2 $folder/archive: exists, expected a new folder, an empty one, or an archive that leat wrote" "$leat" export "$sound" --otf2 "$folder/archive"
        same "what was there stays" "$(cat "$folder/archive/$strange")" mine
        rm "$folder/archive/$strange"
    done
    cp -r "$folder/archive" "$folder/foreign"
    sed -i 's/leat /else /' "$folder/foreign/traces.otf2"
    exits 2 "exists, expected a new folder" "$leat" export "$sound" --otf2 "$folder/foreign"
    ln -s archive "$folder/link"
    exits 2 "exists, expected a new folder" "$leat" export "$sound" --otf2 "$folder/link"
    exits 2 "--otf2 $sound: exists, expected a new folder" "$leat" export "$sound" --otf2 "$sound"
    exits 2 "--otf2 '-', expected a folder" "$leat" export "$sound" --otf2 -
    exits 2 "--otf2: '' is no file name" "$leat" export "$sound" --otf2 ''
    exits 2 "--csv and --otf2 name one file" "$leat" export "$sound" --otf2 "$folder/no" --csv "$folder/no"
    exits 1 "No such file" "$leat" export "$sound" --otf2 "$folder/none/no" --csv "$folder/no.csv"
    exits 0 "" "$leat" export "$sound" --otf2 "$folder/empty/" --csv "$folder/with.csv"
    [ -s "$folder/empty/traces.otf2" ] || fail "an empty folder stays empty"
    cmp -s "$folder/with.csv" "$sound.csv" || fail "a table beside an archive differs"
    exits 2 "SHORT" "$leat" export - --otf2 "$folder/no" < /dev/null
    # Its lanes have nothing but cells.
    "$leat" sim bmx:2 --traffic W --cycles 1000 --record "$folder/cells.leatrec" --record-hops 0 > /dev/null
    exits 1 "the recording has no lane with spans or messages" "$leat" export "$folder/cells.leatrec" --otf2 "$folder/no" --csv "$folder/no.csv"
    # Messages of AAL units; and more events than a location has memory for.
    "$leat" sim clos444 --load 0.2 --cycles 30000 --record "$folder/units.leatrec" > /dev/null
    python3 -c 'import sys
spans = b"\x06\x01\x10\x01\x01\x06\x01\x11\x01" * 60000
sys.stdout.buffer.write(b"LEATREC\x02\x03\0\0\0\x01a\x05\x01n" + spans + b"\x1f\x82\xd3\x0e")' > "$folder/spans.leatrec"
    for name in units spans; do
        exits 0 "" "$leat" export "$folder/$name.leatrec" --otf2 "$folder/$name" --csv "$folder/$name.csv"
        command -v otf2-print > /dev/null || continue
        otf2-print "$folder/$name/traces.otf2" > "$folder/$name.txt" 2> "$folder/stderr" || fail "otf2-print: $?"
        same "what otf2-print complains of in $name" "$(cat "$folder/stderr")" ""
        for pair in MPI_SEND:leaves MPI_RECV:arrives 'ENTER:(begin|instant)' 'LEAVE:(begin|instant)'; do
            same "${pair%%:*} of $name" "$(grep -c "^${pair%%:*} " "$folder/$name.txt")" "$(awk -F, -v of="^${pair#*:}\$" '$2 ~ of && $6 < 2^34' "$folder/$name.csv" | wc -l)"
        done
    done
    grep -q ',leaves,.*,16,.$' "$folder/units.csv" || fail "no message of 16 octets in units.csv"
    [ "$(wc -c < "$folder/spans/traces/1.evt")" -gt 600000 ] || fail "spans.otf2 has few events"
    no_part "archives"
else
    has "an archive that cannot be written" "$(cat "$folder/stderr")" "this leat was built without libotf2-trace-dev"
fi
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
                          "--perfetto", folder + "/bit.json", "--csv", folder + "/bit.csv"], capture_output=True, text=True)
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
is_begun() { find "$folder" -name 'live.vcd.part.*' | grep -q .; }
wait_until is_begun
kill -TERM $pid
got=0; wait $pid || got=$?
exec 8>&-
same "exit after SIGTERM" $got 143
[ ! -e "$folder/live.vcd" ] || fail "an interrupted export leaves a file"
no_part "an interrupted export"
finish
