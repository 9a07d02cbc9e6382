#!/bin/sh
# leat unit aal: the published test, schedules of one's own, bad schedules, interruption.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
shipped=share/benches/two_messages.schedule

# ---- the published test -------------------------------------------------------------------------
exits 0 "cycle 219: aal34[5]: getnint 285" "$leat" unit aal -o "$folder/trace" --vcd "$folder/vcd"
has "the second message" "$(cat "$folder/stderr")" "aal34[5]: getnint 544"
has "the real" "$(cat "$folder/stderr")" "aal34[5]: getnfloat 1297.456"
same "nothing but the trace on standard output" "$(wc -c < "$folder/stdout")" 0
python3 - "$folder/trace" proto/atm/vectors/aal/aal_J.trace.jsonl << 'EOF' || fail "differs from the published trace"
import json, sys
got = {row["cycle"]: row["signals"] for row in map(json.loads, open(sys.argv[1]))}
compared = wrong = 0
for row in map(json.loads, open(sys.argv[2])):
    for name, value in row["signals"].items():
        compared += 1
        if got[row["cycle"]].get(name) != value:
            wrong += 1
            print(row["cycle"], name, "want", value, "got", got[row["cycle"]].get(name))
print(compared, "values,", wrong, "wrong;", len(got), "cycles")
sys.exit(wrong > 0 or compared != 2085 or sorted(got) != list(range(len(got))))
EOF
exits 0 "" "$leat" unit aal "$shipped"
cmp -s "$folder/stdout" "$folder/trace" || fail "the shipped schedule differs from the built-in one"
input="$shipped" exits 0 "" "$leat" unit aal -
cmp -s "$folder/stdout" "$folder/trace" || fail "standard input differs"
same "the waveform ends with the trace" "$(tail -n 1 "$folder/vcd")" "#$(wc -l < "$folder/trace")"
same "reset is in the waveform" "$(grep -A 1 '^#0$' "$folder/vcd" | tail -n 1 | grep -c '^[b01$]')" 1
exits 0 "" "$leat" unit aal --cycles 3
same "cycles 0 to 3" "$(jq -r .cycle < "$folder/stdout" | tr '\n' ' ')" "0 1 2 3 "

# ---- as the thesis prints it ------------------------------------------------------------------
exits 0 "" "$leat" unit aal --format thesis --cycles 300
print=$(sed -n '/number 115 :/,/number 116 :/p' "$folder/stdout")
for line in "::::::::: clock cycle number 115 :::::::::" \
    "aal34[1].state(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) = (0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1)" \
    "aal34[1].(ogmsgnum, ogbblknum, ogfb, oglb, ogfi, ogli, cursnd) = (1, 2, 0, 1, 2, 1886, 0)" \
    "aal34[1].(blktime[0], blkcomtype[0], blkdst[0], acknum[0], ogblktofr[0]) = (0, 0, 65535, 16, 0)" \
    "aal34[1].(buf, ogbyte) = (78, 4a)" "aal34[1].(bufi, ogbytei) = (1, 1)" \
    "aal34[5].icbyte = 1" "aal34[5].count = 34" "aal34[5].state(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) = (0, 0, 0, 0, 0, 0, 0, 0, 13, 0, 1)" \
    "aal34[5].(icblkinmsgnum, icbblknum, icfb, iclb, icfi, icli, iccurb) = (0, 0, 0, 0, 0, 1886, 0)" \
    "aal34[5].(blkinmsg[0], icblktofr[0]) = (1, 0)"; do
    has "print of cycle 115" "$print" "$line"
done
has "the block in work" "$(cat "$folder/stdout")" "aal34[1].(blktime[1], blkcomtype[1], blkdst[1], acknum[1], ogblktofr[1]) = (399981, 1, 5, 1, 0)"
has "states of our own: a search that finds" "$(sed -n '/number 180 :/,/number 181 :/p' "$folder/stdout")" \
    "aal34[5].state(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) = (0, 0, 0, 0, 0, 2, 0, 0, 4, 0, "

# ---- every kind of value there and back -------------------------------------------------------
cat > "$folder/kinds" << 'EOF'
inputs            # of all units, only these
  aal34[3]
    5 initsend
    5 setdst 12
    5 putnint -1 2147483647
    5 putnshort -32768 7
    5 putnlong -2147483648
    5 putnfloat 0.1 -3e-5
    5 putndfloat 0.1
    5 putncplx 1 -2.5
    5 putndcplx 1e300 2
    5 putbytes 00fF7e
    5 putstring "a # b"
    5 putstring ""
    5 snd ab 0 3
    9000 rcv x 0 0
    9000 getnint
    9000 initsend
    9000 putnint 1
    9000 snd ab 0 4   # the destination holds
  aal34[12]
    1 rcv ab 0 3 poll
    1 getnint 2
    1 getnshort 2
    1 getnlong
    1 getnfloat 2
    1 getndfloat
    1 getncplx
    1 getndcplx
    1 getbytes 3
    1 getstring
    1 getstring
    1 getbytes 1000
    9500 rcv ab 0 4
    9500 getnint
ouputs
  aal34[12] 0
  aal34[3] 30
EOF
exits 0 "" "$leat" unit aal "$folder/kinds" -o "$folder/kinds.trace"
same "what was got" "$(sed 's/.*aal34\[12\]: //; s/^getbytes 0000.* and/getbytes and/; /no such/d' "$folder/stderr" | tr '\n' '|')" \
    'getnint -1|getnint 2147483647|getnshort -32768|getnshort 7|getnlong -2147483648|getnfloat 0.1|getnfloat -3e-05|getndfloat 0.1|getncplx 1 -2.5|getndcplx 1e+300 2|getbytes 00ff7e|getstring "a # b"|getstring ""|getbytes and the end of the message|getnint 1|'
has "a request in vain" "$(cat "$folder/stderr")" "cycle 9080: aal34[3]: no such message for rcv"
same "what is shown of a unit with 30 blocks" "$(head -n 1 "$folder/kinds.trace" | grep -o '"aal34\[3\]' | wc -l)" $((34 + 16 + 7 * 30))
same "of one with none: those in work" "$(head -n 1 "$folder/kinds.trace" | grep -o '"aal34\[12\]' | wc -l)" $((34 + 16 + 7))
printf 'inputs\noutputs\naal34[0] 1887\n' > "$folder/all"
exits 0 "" "$leat" unit aal "$folder/all" --cycles 1
same "all blocks" "$(tail -n 1 "$folder/stdout" | grep -o '"aal34\[0\]' | wc -l)" $((34 + 16 + 7 * 1887))
exits 2 "13259 signals, expected at most" "$leat" unit aal "$folder/all" --vcd "$folder/none.vcd"
[ ! -e "$folder/none.vcd" ] || fail "a waveform that was refused"

# A message that is longer than the buffer, and one that nobody sends.
{ printf 'inputs\naal34[0]\n1 initsend\n1 putbytes '; head -c 140000 /dev/zero | tr '\0' 0
  printf '\n1 setdst 1\n1 snd t 0 0\n1 rcv t 0 0 poll\noutputs\n'; } > "$folder/long"
exits 0 "the message is longer than the send buffer and thrown away (exit)" "$leat" unit aal "$folder/long" --cycles 330000
exits 0 "not at rest after 100000 cycles" "$leat" unit aal "$folder/long"

# ---- bad schedules ----------------------------------------------------------------------------
# bad LINE MESSAGE TEXT: the text after the keyword inputs
bad() {
    printf 'inputs\n%b' "$3" > "$folder/bad"
    exits 2 "$folder/bad:$1: $2" "$leat" unit aal "$folder/bad" -o "$folder/none"
    [ ! -e "$folder/none" ] || fail "a trace of a bad schedule: $3"
}
bad 2 "'aal34[16]', expected a unit, aal34[0..15], an order with its cycle, or the keyword outputs" 'aal34[16]\n'
bad 2 "'aal34[]', expected a unit" 'aal34[]\n'
bad 2 "'tstppd', expected a unit" 'tstppd\n'
bad 2 "'7' and more, expected the end of the line" 'aal34[1] 7\n'
bad 2 "an order for no unit, expected a unit first: aal34[0..15]" '1 initsend\n'
bad 3 "'aal34[1]' for the second time, expected each unit once" 'aal34[1]\naal34[1]\n'
bad 3 "cycle 0, expected 1..100000000" 'aal34[1]\n0 initsend\n'
bad 3 "cycle 100000001, expected 1..100000000" 'aal34[1]\n100000001 initsend\n'
bad 3 "cycle 1x, expected 1..100000000" 'aal34[1]\n1x initsend\n'
bad 4 "cycle 4 after line 3 with cycle 5, expected none that is earlier" 'aal34[1]\n5 initsend\n4 putnint 1\n'
bad 3 "a cycle alone, expected an order behind it" 'aal34[1]\n5\n'
bad 3 "unknown order 'atmsnd', expected one of initsend putnint putnshort" 'aal34[1]\n5 atmsnd\n'
bad 3 "putnint here, expected initsend or rcv before it" 'aal34[1]\n5 putnint 1\n'
bad 4 "rcv here, expected snd before it, for the message being written" 'aal34[1]\n5 initsend\n5 rcv a 0 0\n'
bad 4 "putnint here, expected initsend before it" 'aal34[1]\n5 rcv a 0 0\n5 putnint 1\n'
bad 4 "snd without a destination, expected setdst before it" 'aal34[1]\n5 initsend\n5 snd a 0 0\n'
w='aal34[1]\n5 initsend\n'
bad 4 "putnint without a value, expected one or more" "${w}5 putnint\n"
bad 4 "putnint '2147483648', expected -2147483648..2147483647" "${w}5 putnint 1 2147483648\n"
bad 4 "putnint '99999999999999999999999', expected" "${w}5 putnint 99999999999999999999999\n"
bad 4 "putnshort '40000', expected -32768..32767" "${w}5 putnshort 40000\n"
bad 4 "putnfloat '1e39', expected a number that 4 octets can hold" "${w}5 putnfloat 1e39\n"
bad 4 "putndfloat 'nan', expected a number that 8 octets can hold" "${w}5 putndfloat nan\n"
bad 4 "putncplx: a real part alone, expected an imaginary part behind it" "${w}5 putncplx 1 2 3\n"
bad 4 "putbytes '123', expected two hexadecimal digits per octet" "${w}5 putbytes 123\n"
bad 4 "putbytes '1g', expected two hexadecimal digits per octet" "${w}5 putbytes 1g\n"
bad 4 "putbytes '', expected two hexadecimal digits per octet" "${w}5 putbytes\n"
bad 4 "putstring 'hello', expected a text in quotes" "${w}5 putstring hello\n"
bad 4 "putstring '\"hello', expected a text in quotes" "${w}5 putstring \"hello\n"
bad 4 "setdst '16', expected a port, 0..15, or broadcast" "${w}5 setdst 16\n"
bad 4 "setdst '', expected a port, 0..15, or broadcast" "${w}5 setdst\n"
bad 5 "snd 'long', expected a task's name of 1..3 characters" "${w}5 setdst 2\n5 snd long 1 1\n"
bad 5 "instance '-2', expected -1..2147483647" "${w}5 setdst 2\n5 snd rcv -2 1\n"
bad 5 "no message id, expected 0..2147483647" "${w}5 setdst 2\n5 snd rcv 1\n"
bad 3 "instance '-1', expected 0..2147483647" 'aal34[1]\n5 rcv rcv -1 1\n'
bad 3 "'pool' behind the message id, expected poll or nothing" 'aal34[1]\n5 rcv rcv 1 1 pool\n'
bad 4 "getnint '0', expected how many, 1..67912" 'aal34[1]\n5 rcv rcv 1 1\n5 getnint 0\n'
bad 4 "getbytes '', expected how many, 1..67912" 'aal34[1]\n5 rcv rcv 1 1\n5 getbytes\n'
bad 4 "'3' and more, expected the end of the line" 'aal34[1]\n5 rcv rcv 1 1\n5 getstring 3\n'
bad 3 "'1', expected a unit, aal34[0..15]" 'outputs\n1 initsend\n'
bad 3 "'1888', expected how many blocks are shown, 0..1887" 'outputs\naal34[1] 1888\n'
bad 4 "'aal34[1]' for the second time, expected each unit once" 'outputs\naal34[1]\naal34[1]\n'
printf 'aal34[1]\n' > "$folder/bad"
exits 2 "$folder/bad:1: 'aal34[1]', expected the keyword inputs" "$leat" unit aal "$folder/bad"
: > "$folder/bad"
exits 2 "$folder/bad:1: the end of the file, expected the keyword inputs" "$leat" unit aal "$folder/bad"
head -c 100000 /dev/urandom > "$folder/bad"
exits 2 "expected the keyword inputs" "$leat" unit aal "$folder/bad"

# ---- wrong usage, files -------------------------------------------------------------------------
exits 2 "none.schedule: No such file" "$leat" unit aal none.schedule
exits 2 "aal: expected one file at most" "$leat" unit aal "$shipped" "$shipped"
exits 2 "--cycles '0', expected a whole number, 1 to 100000128" "$leat" unit aal --cycles 0
exits 2 "--format 'vcd', expected one of jsonl thesis" "$leat" unit aal --format vcd
exits 2 "standard output and --vcd name one file" "$leat" unit aal --vcd -
exits 1 "No such file or directory" "$leat" unit aal -o "$folder/none/trace"
cp "$shipped" "$folder/in"
exits 2 "-o and the input name one file" "$leat" unit aal "$folder/in" -o "$folder/./in"
cmp -s "$folder/in" "$shipped" || fail "the schedule is not what it was"
if [ -w /dev/full ]; then
    exits 1 "No space left" "$leat" unit aal -o /dev/full
    case $(cat "$folder/stderr") in *"not at rest"*) fail "a full disk is taken for a network that does not rest" ;; esac
fi

# ---- interrupted: what is done is kept ----------------------------------------------------------
for signal in INT TERM; do
    "$leat" unit aal --cycles 100000000 -o "$folder/kept" --vcd "$folder/kept.vcd" 2> "$folder/stderr" &
    pid=$!
    waits_for 'kept.part.*'
    kill -$signal $pid
    got=0; wait $pid || got=$?
    case $signal in INT) want=130 ;; TERM) want=143 ;; esac
    same "exit after SIG$signal" $got $want
    cycles=$(tail -n 1 "$folder/kept" | jq .cycle)
    same "whole cycles in the trace" "$(wc -l < "$folder/kept")" "$((cycles + 1))"
    same "the end of the waveform" "$(tail -n 1 "$folder/kept.vcd")" "#$((cycles + 1))"
    rm -f "$folder/kept" "$folder/kept.vcd"
done
finish
