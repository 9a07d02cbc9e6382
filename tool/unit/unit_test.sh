#!/bin/sh
# leat unit: against a second model on random stimuli; bad stimuli; files; interruption.
set -u
leat=$(realpath "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"
vectors=proto/atm/vectors/unit

# ---- the second model, on random stimuli ---------------------------------------------------------
python3 "$here/unit_model.py" random "$leat" "${LEAT_SEED:-1}" 8 || fail "differs from the model"

# ---- lengths, standard input, formats -----------------------------------------------------------
exits 0 "" "$leat" unit ppd "$vectors/ppd_success.stimuli"
same "default length: 128 after the last stimulus" "$(wc -l < "$folder/stdout")" $((111 + 128))
printf 'inputs\nfifo3\n10 010203\n' > "$folder/stimuli"
exits 0 "" "$leat" unit spd "$folder/stimuli"
same "a stream counts to its end" "$(wc -l < "$folder/stdout")" $((12 + 128))
exits 0 "" "$leat" unit spd "$folder/stimuli" --cycles 7
same "--cycles" "$(wc -l < "$folder/stdout")" 7
input="$folder/stimuli" exits 0 "" "$leat" unit spd - --cycles=12
same "from standard input" "$(tail -n 1 "$folder/stdout" | jq -c '[.cycle,.signals["tstspd.xpm_src[3].tail"]]')" "[12,3]"
printf '\r\n # nothing\r\n\tinputs # here\r\n' > "$folder/stimuli"
exits 0 "" "$leat" unit bmx "$folder/stimuli"
same "nothing stimulated" "$(wc -l < "$folder/stdout")" 128
exits 0 "" "$leat" unit spd "$vectors/spd_suspend.stimuli" --format thesis
cp "$folder/stdout" "$folder/thesis"
has "a line of the thesis" "$(cat "$folder/thesis")" "::::::::: clock cycle number 19 :::::::::

tstspd.xpm_src[0]->(head, tail, size) = (0, 19, 19)
tstspd.xpm_src[1]->(head, tail, size) = (0, 12, 12)
tstspd.xpm_src[2]->(head, tail, size) = (0, 12, 12)
tstspd.xpm_src[3]->(head, tail, size) = (0, 0, 0)
suspend = 1
tstspd.(siqnum, lsthead, trsmit) = (2, 0, 1)
tstspd.iqcnt[0,1,2,3] = (0, 0, 0, 0)
tstspd.(buf, byte) = (85, 85)
tstspd.(bufind, byteind) = (0, 1)
"

# ---- files --------------------------------------------------------------------------------------
exits 0 "" "$leat" unit spd "$vectors/spd_suspend.stimuli" --format thesis -o "$folder/trace" --vcd "$folder/wave.vcd"
same "nothing beside the file" "$(wc -c < "$folder/stdout")" 0
cmp -s "$folder/trace" "$folder/thesis" || fail "-o differs from standard output"
[ -s "$folder/wave.vcd" ] || fail "no waveform"
exits 1 "No such file" "$leat" unit spd "$vectors/spd_suspend.stimuli" -o "$folder/nosuch/trace"
exits 1 "No such file" "$leat" unit spd "$vectors/spd_suspend.stimuli" -o "$folder/kept" --vcd "$folder/nosuch/wave"
[ ! -e "$folder/kept" ] || fail "half a result was left behind"
same "the mode of a new file" "$(stat -c %a "$folder/trace")" "$(printf %o $((0666 & ~$(umask))))"
no_part "a waveform that cannot be opened"
if [ -e /dev/full ]; then
    exits 1 "/dev/full: No space left" "$leat" unit spd "$vectors/spd_suspend.stimuli" -o "$folder/kept" --vcd /dev/full
    [ ! -e "$folder/kept" ] || fail "a trace appears beside a waveform that failed"
    no_part "a waveform that fails"
    exits 1 "No space left" "$leat" unit spd "$vectors/spd_suspend.stimuli" -o /dev/full --cycles 100000000
fi
"$leat" unit spd "$vectors/spd_suspend.stimuli" --cycles 100000 --vcd "$folder/piped.vcd" 2> "$folder/stderr" | head -n 1 > "$folder/stdout"
[ ! -e "$folder/piped.vcd" ] || fail "a waveform of a trace that nobody read"
no_part "a reader that goes away"

# ---- one file under two names -------------------------------------------------------------------
good="$vectors/spd_suspend.stimuli"
ln -s "$folder" "$folder/here"
cp "$good" "$folder/in"
ln "$folder/in" "$folder/again"
for other in x ./x here/x; do
    (cd "$folder" && "$leat" unit spd in -o x --vcd "$other" 2> stderr; echo $? > code)
    same "-o x --vcd $other" "$(cat "$folder/code")" 2
    has "-o x --vcd $other" "$(cat "$folder/stderr")" "-o and --vcd name one file, expected two"
    [ ! -e "$folder/x" ] || fail "--vcd $other: a file appears"
done
for other in in ./in here/in again; do
    for option in -o --vcd; do
        (cd "$folder" && "$leat" unit spd in $option "$other" > stdout 2> stderr; echo $? > code)
        same "in $option $other" "$(cat "$folder/code")" 2
        has "in $option $other" "$(cat "$folder/stderr")" "$option and the input name one file, expected two"
    done
done
input="$folder/in" exits 2 "-o and the input name one file" "$leat" unit spd - -o "$folder/in"
cmp -s "$folder/in" "$good" || fail "the input is not what it was"
exits 2 "standard output and --vcd name one file" "$leat" unit spd "$good" --vcd -
exits 2 "standard output and --vcd name one file" "$leat" unit spd "$good" --vcd "$folder/stdout"
exits 0 "" "$leat" unit spd "$good" -o /dev/null --vcd /dev/null
exits 2 "-o: '' is no file name" "$leat" unit spd "$good" -o ''
exits 2 "--vcd: '' is no file name" "$leat" unit spd "$good" --vcd ''
exits 2 "'' is no file name" "$leat" unit spd ''
no_part "one file under two names"

# ---- interrupted: what is done is kept ----------------------------------------------------------
for signal in INT TERM HUP; do
    "$leat" unit bmx "$vectors/bmx_routing.stimuli" --cycles 100000000 -o "$folder/long" --vcd "$folder/long.vcd" 2> "$folder/stderr" &
    pid=$!
    waits_for 'long.part.*'
    kill -$signal $pid
    got=0; wait $pid || got=$?
    case $signal in INT) want=130 ;; TERM) want=143 ;; HUP) want=129 ;; esac
    same "exit after SIG$signal" $got $want
    cycles=$(tail -n 1 "$folder/long" | jq .cycle)
    same "whole cycles in the trace" "$(wc -l < "$folder/long")" "$cycles"
    same "the end of the waveform" "$(tail -n 1 "$folder/long.vcd")" "#$((cycles + 1))"
    rm -f "$folder/long" "$folder/long.vcd"
    no_part "SIG$signal"
done

# ---- wrong usage --------------------------------------------------------------------------------
good="$vectors/ppd_suspend.stimuli"
exits 2 "ppd: expected one file" "$leat" unit ppd
exits 2 "'spdpd', did you mean spdppd? expected one of ppd spd spdppd bmx aal" "$leat" unit spdpd "$good"
exits 2 "--format 'json', did you mean jsonl? expected one of jsonl thesis" "$leat" unit ppd "$good" --format json
exits 2 "--json and --format thesis, expected one of them" "$leat" unit ppd "$good" --json --format thesis
exits 2 "and -o, expected one file" "$leat" unit ppd "$good" --json "$folder/x.json" -o "$folder/y"
exits 0 "" "$leat" unit ppd "$good"
cp "$folder/stdout" "$folder/plain"
exits 0 "" "$leat" unit ppd "$good" --json "$folder/trace.json"
cmp -s "$folder/trace.json" "$folder/plain" || fail "--json FILE has something else"
same "completion of benches, not of pages" "$("$leat" help --complete -- unit s | tr '\n' ' ')" "spd spdppd "
exits 0 "" "$leat" unit ppd --help
has "help of a bench" "$(cat "$folder/stdout")" "leat unit ppd: an input unit with four crosspoint memories"
for cycles in 0 -1 abc '' 100000129 99999999999999999999 1e9; do
    exits 2 "--cycles '$cycles', expected a whole number, 1 to 100000128" "$leat" unit ppd "$good" "--cycles=$cycles"
done
exits 2 "No such file" "$leat" unit ppd "$folder/nosuch"
exits 2 "Is a directory" "$leat" unit ppd "$folder"

# ---- bad stimuli: file:line, what, and what was expected; no file -------------------------------
bad() { # BENCH TEXT MESSAGE
    printf "$2" > "$folder/bad"
    exits 2 "$folder/bad:$3" "$leat" unit "$1" "$folder/bad" -o "$folder/never" --vcd "$folder/never.vcd"
    same "lines on standard error: $3" "$(wc -l < "$folder/stderr")" 1
    for file in "$folder"/never*; do
        [ ! -e "$file" ] || fail "bad stimuli left $file behind"
    done
}
bad ppd ''                                 "1: the end of the file, expected the keyword inputs"
bad ppd '# only this\n\n'                  "3: the end of the file, expected the keyword inputs"
bad ppd 'byte\n1 01\n'                     "1: 'byte', expected the keyword inputs"
bad ppd 'outputs\ninputs\n'                "1: 'outputs', expected the keyword inputs"
bad ppd 'inputs\n\nbite\n'                 "3: unknown signal 'bite', expected one of byte byteind tstppd.trsltab.wadr tstppd.trsltab.datain tstppd.xpm_dst[0..3].head"
bad ppd 'inputs\nfifo0\n1 01\n'            "2: unknown signal 'fifo0'"
bad spd 'inputs\nfifo\n'                   "2: unknown signal 'fifo', expected one of fifo0..3 suspend"
bad spd 'inputs\nfifo4\n1 01\n'            "2: 'fifo4': index out of range, expected 0..3"
bad spd 'inputs\nfifo00\n1 01\n'           "2: unknown signal 'fifo00'"
bad ppd 'inputs\ntstppd.xpm_dst[4].tail\n' "2: 'tstppd.xpm_dst[4].tail': index out of range, expected 0..3"
bad ppd 'inputs\ntstppd.xpm_dst[x].tail\n' "2: unknown signal"
bad bmx 'inputs\nsuspend99999999999999\n'  "2: 'suspend99999999999999': index out of range, expected 0..3"
bad bmx 'inputs\nbyte\n'                   "2: unknown signal 'byte'"
bad ppd 'inputs\nbyte\n1 01\nbyte\n2 02\n' "4: 'byte' for the second time, expected each signal once"
bad ppd 'inputs\n1 01\n'                   "2: a value of no signal, expected a name first: one of byte"
bad ppd 'inputs\nbyte\n1\n'                "3: '1' without a value, expected a signal's name, or cycle and value"
bad ppd 'inputs\nbyte\n1 01 02\n'          "3: '1' and more than a value, expected a signal's name, or cycle and value"
bad ppd 'inputs\nbyte\n0 01\n'             "3: cycle 0 is out of range, expected 1..100000000"
bad ppd 'inputs\nbyte\n100000001 01\n'     "3: cycle 100000001 is out of range"
bad ppd 'inputs\nbyte\n99999999999999999999999 01\n' "3: cycle 99999999999999999999999 is out of range"
bad ppd 'inputs\nbyte\n-1 01\n'            "3: '-1' is no cycle, expected a decimal number from 1"
bad ppd 'inputs\nbyte\n0x1 01\n'           "3: '0x1' is no cycle"
bad ppd 'inputs\nbyte\n5 01\n4 02\n'       "4: byte: cycle 4 after line 3, which reaches to cycle 5, expected a later one"
bad ppd 'inputs\nbyte\n5 010203\n7 02\n'   "4: byte: cycle 7 after line 3, which reaches to cycle 7, expected a later one"
bad ppd 'inputs\nbyteind\n5 1\n5 0\n'      "4: byteind: cycle 5 after line 3"
bad ppd 'inputs\nbyte\n1 012\n'            "3: byte: odd number of digits (3), expected two per byte"
bad ppd 'inputs\nbyte\n1 0g\n'             "3: byte: '0g' is not hexadecimal, expected two digits per byte"
bad ppd 'inputs\nbyte\n100000000 0102\n'   "3: byte: the stream goes on after cycle 100000000"
bad ppd 'inputs\nbyteind\n1 2\n'           "3: byteind: 2 is out of range, expected 0..1"
bad ppd 'inputs\nbyteind\n1 a\n'           "3: byteind: 'a' is no decimal number, expected 0..1"
bad ppd 'inputs\ntstppd.trsltab.wadr\n1 100\n'  "3: tstppd.trsltab.wadr: 100 is out of range, expected 0..ff in hexadecimal"
bad ppd 'inputs\ntstppd.trsltab.wadr\n1 0xf\n'  "3: tstppd.trsltab.wadr: '0xf' is no hexadecimal number, expected 0..ff"
bad ppd 'inputs\ntstppd.trsltab.datain\n1 00000100000\n'    "3: tstppd.trsltab.datain: 11 digits, expected 14"
bad ppd 'inputs\ntstppd.trsltab.datain\n1 000001000000041\n' "3: tstppd.trsltab.datain: 15 digits, expected 14"
bad ppd 'inputs\ntstppd.xpm_dst[1].tail\n1 424\n' "3: tstppd.xpm_dst[1].tail: 424 is out of range, expected 0..423"
bad ppd 'inputs\ntstppd.xpm_dst[1].size\n1 425\n' "3: tstppd.xpm_dst[1].size: 425 is out of range, expected 0..424"
bad ppd 'inputs\ntstppd.xpm_dst[1].size\n1 1a\n'  "3: tstppd.xpm_dst[1].size: '1a' is no decimal number, expected 0..424"
bad bmx 'inputs\ntstppd.trsltab.wcmd2\n1 3\n' "3: tstppd.trsltab.wcmd2: 3 is out of range, expected 0..1"
bad ppd 'inputs\nby\033[31mte\n'          "2: unknown signal 'by?[31mte'"
bad ppd '\000\001\002\377\n'           "1: '????', expected the keyword inputs"

# Large, but bounded: a long stream, and a line that is too long.
python3 -c 'print("inputs\nbyte\n1 " + "5a" * 1000000 + "\nbyteind\n1 1")' > "$folder/long"
exits 0 "" "$leat" unit ppd "$folder/long" --cycles 3
python3 -c 'print("inputs\nbyte\n1 " + "5a" * 3000000)' > "$folder/long"
exits 2 "long:3: a longer line than 4194304 characters, expected none" "$leat" unit ppd "$folder/long"

# Garbage of any kind gets an answer.
python3 - "$folder" "$vectors/spdppd_link.stimuli" <<'PY'
import random, sys
r = random.Random(5)
good = open(sys.argv[2], "rb").read()
for i in range(40):
    text = bytearray(good)
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(text))
        text[at:at + r.randrange(3)] = bytes(r.choice(b"0189af \n#xyz\x00\xff") for _ in range(r.randrange(3)))
    open(f"{sys.argv[1]}/garbage{i}", "wb").write(text)
PY
for file in "$folder"/garbage*; do
    got=0
    "$leat" unit spdppd "$file" --cycles 50 > "$folder/stdout" 2> "$folder/stderr" || got=$?
    case $got in
    0) ;;
    2) has "place in $(cat "$folder/stderr")" "$(cat "$folder/stderr")" "$file:" ;;
    *) fail "garbage: exit $got: $(cat "$folder/stderr")" ;;
    esac
done
finish
