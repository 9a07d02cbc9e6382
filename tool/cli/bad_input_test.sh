#!/bin/sh
# Bad input: a message that names the place and what was expected, the right exit code, no crash.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

exits 2 "unknown verb 'nosuch', expected one of atm decode" "$leat" nosuch
exits 2 "unknown option --nosuch" "$leat" decode --nosuch
exits 2 "--format needs a value" "$leat" decode --format
exits 2 "--nni takes no value" "$leat" decode --nni=1
exits 2 "unknown format 'nosuch', expected one of atm" "$leat" decode --format nosuch
exits 2 "expected one file" "$leat" decode a b
exits 2 "No such file" "$leat" decode "$folder/nosuch"
exits 2 "Is a directory" "$leat" decode --format esp "$folder"
exits 2 "unknown format 'x'" "$leat" formats x
exits 2 "unknown format 'atmtsk', did you mean atmtask? expected one of atm" "$leat" formats atmtsk
exits 2 "unknown verb 'x'" "$leat" help x
exits 2 "empty, expected hex text" "$leat" decode --format esp
exits 2 "--input 'captur', did you mean capture? expected one of hex raw capture" "$leat" decode --format esp --input captur demo

# A word behind --json that is refused as an operand may be its file; one that exists is read.
exits 2 "(if out.txt is the file for JSON: --json=out.txt)" "$leat" sim clos444 --json out.txt
exits 2 "(if out is the file for JSON: --json=out)" "$leat" fabric list --json out
exits 2 "(if $folder/out.txt is the file for JSON" "$leat" decode --format esp --json "$folder/out.txt"
exits 2 "unknown fabric 'msh:4,4'" "$leat" sim --json msh:4,4
! grep -q "file for JSON" "$folder/stderr" || fail "a fabric is taken for a file of JSON"
echo 0g > "$folder/in.txt"
exits 2 "is no hex digit" "$leat" decode --format esp --json "$folder/in.txt"
! grep -q "file for JSON" "$folder/stderr" || fail "an input is taken for a file of JSON"

text() { printf '%s\n' "$1" > "$folder/text"; }
text "01 02 0";   exits 2 "text:1:7: odd number of hex digits" "$leat" decode --format esp "$folder/text"
text "01 0g";     exits 2 "text:1:5: 'g' is no hex digit" "$leat" decode --format esp "$folder/text"
text "0102";      exits 2 "does not determine the format, expected --format" "$leat" decode "$folder/text"
printf '\357\273\277# \302\247 1\n0x00 0x11,0x22\n' > "$folder/text"
exits 2 "text:2: packet 1: esp: octet 3" "$leat" decode --format esp "$folder/text"
text "# nothing"; exits 0 "" "$leat" decode --format esp "$folder/text"
printf '\n\n# x\n0101\n' > "$folder/text"
exits 2 "text:4: packet 1: esp: octet 2" "$leat" decode --format esp "$folder/text"
printf '\001\002\003' > "$folder/raw"
exits 2 "octet 3" "$leat" decode --format esp "$folder/raw"
exits 2 "does not determine the format" "$leat" decode "$folder/raw"
head -c 54 /dev/zero > "$folder/cells"
exits 2 "packet 2" "$leat" decode --format atm "$folder/cells"

# A line that is no hex does not hide the others.
good=$("$leat" encode esp opcode=NOP)
printf '%s\nxyz\n%s\n' "$good" "$good" > "$folder/text"
exits 2 "text:2:1" "$leat" decode --format esp --json "$folder/text"
same "packets beside the bad line" "$(jq -s length "$folder/stdout")" 2

exits 2 "expected a format: one of" "$leat" encode
exits 2 "unknown format 'nosuch'" "$leat" encode nosuch
exits 2 "expected FIELD=VALUE" "$leat" encode esp opcode
exits 2 "the field is given twice, expected it once" "$leat" encode esp thresh=1 thresh=2
exits 2 "opcode: unknown value 'FOO', expected a number or one of NOP COUNT" "$leat" encode esp opcode=FOO
exits 2 "thrash: no such field here, did you mean thresh? expected one of" "$leat" encode esp thrash=1
exits 2 "opcode: unknown value 'conut', did you mean COUNT? expected a number or one of NOP" "$leat" encode esp opcode=conut
exits 2 "thresh: expected a number" "$leat" encode esp thresh=abc
exits 2 "vci: 65536 does not fit, expected 0..65535" "$leat" encode atm vci=65536
exits 2 "odd number of hex digits" "$leat" encode poets payload=123
exits 2 "expected one of --hex, --raw and --pcapng" "$leat" encode esp --hex --raw
exits 2 "is one too many" "$leat" encode esp --from-json "$folder/text" thresh=1
exits 2 "no such field" "$leat" encode esp --pcapng "$folder/x.pcapng" carriage.nosuch=1
[ ! -e "$folder/x.pcapng" ] || fail "half a capture was left behind"
no_part "a packet that cannot be encoded"
exits 2 "--pcapng: '' is no file name" "$leat" encode esp --pcapng ''
exits 2 "'' is no file name" "$leat" decode ''
echo '{"opcode":"NOP"}' > "$folder/in.json"
cp "$folder/in.json" "$folder/copy.json"
exits 2 "--pcapng and the input name one file, expected two" "$leat" encode esp --from-json "$folder/in.json" --pcapng "$folder/in.json"
input="$folder/in.json" exits 2 "--pcapng and the input name one file" "$leat" encode esp --from-json - --pcapng "$folder/in.json"
got=0; "$leat" encode esp --from-json "$folder/in.json" >> "$folder/in.json" 2> "$folder/stderr" || got=$?
same "an input that grows with the output" $got 2
cmp -s "$folder/in.json" "$folder/copy.json" || fail "the input is not what it was"
exits 1 "No such file or directory" "$leat" encode esp --pcapng "$folder/nosuch/x.pcapng"

json() { printf '%s\n' "$1" > "$folder/json"; }
json '';                                    exits 2 "empty, expected JSON" "$leat" encode esp --from-json "$folder/json"
json '{';                                   exits 2 "json:2:1: expected JSON" "$leat" encode esp --from-json "$folder/json"
json '{"opcode":}';                         exits 2 "json:1:11: expected JSON" "$leat" encode esp --from-json "$folder/json"
json 'hello';                               exits 2 "json:1:1: expected JSON" "$leat" encode esp --from-json "$folder/json"
json '[1]';                                 exits 2 "expected an object" "$leat" encode esp --from-json "$folder/json"
json '{"fields":{}}';                       exits 2 "no format given" "$leat" encode --from-json "$folder/json"
json '{"format":"nosuch","fields":{}}';     exits 2 "format 'nosuch', expected atm" "$leat" encode --from-json "$folder/json"
json '{"format":"atm","fields":{}}';        exits 2 "format 'atm', expected esp" "$leat" encode esp --from-json "$folder/json"
json '{"format":"esp","fields":null}';      exits 2 "neither fields nor octets" "$leat" encode --from-json "$folder/json"
json '{"thresh":99999999999999999999}';     exits 2 "json:1:11" "$leat" encode esp --from-json "$folder/json"
json '

{"thresh":1, "thrash":2}';                  exits 2 "json:3: packet 1: esp: thrash: no such field" "$leat" encode esp --from-json "$folder/json"
json '{"thresh":-1}';                       exits 2 "json:1:11" "$leat" encode esp --from-json "$folder/json"

# A capture goes through a link, keeps the mode of what was there, and into a pipe as it is.
ln -s "$folder/real.pcapng" "$folder/link.pcapng"
exits 0 "" "$leat" encode esp --pcapng "$folder/link.pcapng"
[ -L "$folder/link.pcapng" ] && [ -f "$folder/real.pcapng" ] || fail "a link was not followed"
chmod 600 "$folder/real.pcapng"
exits 0 "" "$leat" encode esp --pcapng "$folder/real.pcapng"
same "mode" "$(stat -c %a "$folder/real.pcapng")" 600
mkfifo "$folder/fifo"
cat "$folder/fifo" > "$folder/through" &
exits 0 "" "$leat" encode esp --pcapng "$folder/fifo"
wait
[ -p "$folder/fifo" ] || fail "a pipe was replaced by a file"
cmp -s "$folder/through" "$folder/real.pcapng" || fail "a capture through a pipe differs"

# A pipe shows what it has while it waits for more; interrupted, it ends with what it has shown.
mkfifo "$folder/live"
"$leat" decode --format esp --json "$folder/live" > "$folder/shown" 2> "$folder/stderr" &
pid=$!
exec 8> "$folder/live"
printf '%s\n%s\n' "$good" "$good" >&8
lines_shown() { wc -l < "$folder/shown"; }
comes_to "packets shown while the pipe is open" 2 lines_shown
kill -TERM $pid
got=0; wait $pid || got=$?
exec 8>&-
same "exit after SIGTERM" $got 143

# Every truncation and every flipped bit of the vectors through the command itself: an answer.
for file in proto/*/vectors/*.hex; do
    format=$(basename "$file" .hex)
    case $format in bad_*) continue ;; esac
    python3 - "$file" > "$folder/mutants.hex" <<'PY'
import sys
for line in open(sys.argv[1]):
    octets = bytes.fromhex(line.split('#')[0].strip())
    if not octets or len(octets) > 200: continue
    for n in range(1, len(octets)): print(octets[:n].hex())
    for bit in range(8 * len(octets)):
        damaged = bytearray(octets); damaged[bit // 8] ^= 1 << bit % 8
        print(damaged.hex())
PY
    [ -s "$folder/mutants.hex" ] || continue
    got=0
    "$leat" decode --format "${format%%_*}" --json "$folder/mutants.hex" > "$folder/out" 2> "$folder/err" || got=$?
    [ $got -eq 2 ] || fail "$file: mutants: exit $got"
    same "$file: answers" "$(wc -l < "$folder/out")" "$(wc -l < "$folder/mutants.hex")"
    ! grep -q 'runtime error\|Sanitizer' "$folder/err" || fail "$file: sanitizer: $(head -n 5 "$folder/err")"
    [ "$(wc -l < "$folder/err")" -le 22 ] || fail "$file: too many complaints"
done

# A full disk is told.
if [ -e /dev/full ]; then
    got=0; "$leat" formats > /dev/full 2> "$folder/stderr" || got=$?
    same "formats to a full disk" $got 1
    got=0; "$leat" encode esp > /dev/full 2> "$folder/stderr" || got=$?
    same "encode to a full disk" $got 1
    for words in 'help run' --version; do
        # shellcheck disable=SC2086
        got=0; "$leat" $words > /dev/full 2> "$folder/stderr" || got=$?
        same "$words to a full disk" $got 1
        has "$words to a full disk" "$(cat "$folder/stderr")" 'standard output: cannot write'
    done
fi

# Interrupted, encode leaves no half capture.
mkfifo "$folder/pipe"
"$leat" encode esp --from-json "$folder/pipe" --pcapng "$folder/cut.pcapng" 2> "$folder/stderr" &
pid=$!
exec 9> "$folder/pipe"
echo '{"opcode":"NOP"}' >&9
wait_until is_waiting $pid
kill -TERM $pid
got=0; wait $pid || got=$?
exec 9>&-
[ $got -ne 0 ] || fail "an interrupted encode says it is done"
[ ! -e "$folder/cut.pcapng" ] || fail "an interrupted encode leaves a file"
no_part "an interrupted encode"
# Keys that others can read or choose: whoever takes a key refuses them, and says what mends it.
key=$folder/key
echo '00010203 04050607 08090a0b 0c0d0e0f' > "$key"
# takes_key TEXT: what is said of the key, by each
takes_key() {
    exits 2 "$1" timeout $patience "$leat" esp route --dev none --key-file "$key"
    exits 2 "$1" timeout $patience "$leat" esp census 7 --members 1 --key-file "$key" --tau 1us
    exits 2 "$1" timeout $patience "$leat" ring join --dev none --address 1 --next 02:00:00:00:00:01 --previous 02:00:00:00:00:02 --key-file "$key"
    exits 2 "$1" timeout $patience "$leat" pktway ping 0x102 --san udp:127.0.0.1:0,bias=0x100,address=0x101 --key-file "$key"
    same "complaints of $key" "$(wc -l < "$folder/stderr")" 1
}
for mode in 640 604 644 620 602 666; do
    chmod $mode "$key"
    takes_key "$key: others may read or write the key (mode $mode), expected only its owner: chmod 600 $key"
done
for mode in 600 400; do
    chmod $mode "$key"
    exits 2 "--for '7200s', expected a time of 1ms to 3600s" "$leat" esp multicast 7 text --key-file "$key" --for 7200s
done
if [ "$(id -u)" -eq 0 ]; then
    chown 54321 "$key"
    takes_key "$key: the key belongs to user 54321, expected user 0 or root: chown 0 $key"
fi
# A FIFO that nobody writes to, a device and a folder: nobody waits for them.
mkfifo -m 600 "$folder/key.fifo"
for key in "$folder/key.fifo" /dev/zero "$folder"; do
    takes_key "$key: not a regular file, expected one with 32 hex digits"
done
finish
