#!/bin/sh
# leat esp send and exec: against a plain model of routers, what is shown, over the loopback, bad scripts.
set -u
leat=$(realpath "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"

# ---- the plain model -----------------------------------------------------------------------------
python3 "$here/esp_exec_model.py" "$leat" "${LEAT_SEED:-1}" 40 "$folder" || fail "differs from the model"

# ---- what is shown -------------------------------------------------------------------------------
cat > "$folder/census" << 'END'
# Children are counted, then values are summed.
send members opcode=COUNT computationId=42 tag=1 thresh=1 flags=X
expect root opcode=COUNT computationId=42 within 1s
silence root within 100ms
send members opcode=COLLECT computationId=42 compValTag=2 val=1@ chldCntTag=1 op=ADD flags=X
expect root opcode=COLLECT val=46 # 10 + 11 + 12 + 13
END
exits 0 "" "$leat" esp exec "$folder/census" --tree 2,2 --members 4
same "text" "$(sed '/^certificate/d' "$folder/stdout")" "         3ms  root from member.0: COUNT 0x2a compValTag=0x1 thresh=1 flags=X
       106ms  root from member.3: COLLECT 0x2a compValTag=0x2 val=46 chldCntTag=0x1 op=ADD flags=X
sent 8, arrived 2
routers executed 12 instructions: 6 stopped, 0 aborted, 0 without room; 0 packets lost
$folder/census: 5 steps, 3 expectations met"
json() { "$leat" esp "$@" --json; }
same "JSON" "$(json exec "$folder/census" --tree 2,2 --members 4 | jq -c '[.schema,.steps,.met,.sent,.arrived,.executed,.status]')" '["leat.esp.exec/1",5,3,8,2,12,"done"]'
same "standard input" "$("$leat" esp exec - --tree 2,2 --members 4 --json < "$folder/census" | jq .met)" 3
for arguments in "exec $folder/census --tree 2,2 --members 4" "send --tree 2,2 flags=X|R"; do
    # shellcheck disable=SC2086
    json $arguments | python3 "$here/../../share/schema/check.py" > "$folder/said" 2>&1 || fail "$arguments: $(head -n 3 "$folder/said")"
done
same "a seed" "$(json exec "$folder/census" --tree 2,2 --loss 0.3 --seed 4 --wait 1s 2> /dev/null | jq .certificate)" "$(json exec "$folder/census" --tree 2,2 --loss 0.3 --seed 4 --wait 1s 2> /dev/null | jq .certificate)"

# ---- there and back ------------------------------------------------------------------------------
same "reflected, executed on both ways" "$(json send opcode=COUNT thresh=9 'flags=X|R|XR' --tree 3,2 | jq -c '[.executed,[.arrivals[]|[.at_host,.from_host,.at_ns,.fields.flags]]]')" \
    '[6,[["root","member.0",4000000,"XR|R|X"],["member.0","root",8000000,"XR|X"]]]'
exits 1 "1 of 1 packets did not come back in 3s" "$leat" esp send opcode=COUNT thresh=0 'flags=X|R' --tree 2,2
same "an abort is seen" "$(json send opcode=COLLECT 'flags=X|R' --tree 2,2 | jq -c '[.aborted,.arrivals[1].fields.flags]')" '[1,"E"]'
printf 'send member.1 to member.2 opcode=NOP flags=R\nexpect member.2 opcode=NOP flags=R\nexpect member.1 opcode=NOP flags=0\n' > "$folder/across"
exits 0 "" "$leat" esp exec "$folder/across" --tree 3,2 --members 4
same "many" "$(json send thresh=2 --count 5 --every 3ms --tree 2,2 | jq -c '[.sent,.arrived,[.arrivals[].at_ns]]')" '[5,2,[3000000,6000000]]'
printf 'send member.0 thresh=9\nwait 6ms\nsend member.0 thresh=1\nsilence root opcode=COUNT thresh=1\n' > "$folder/late"
exits 1 "late:4: expected silence at root; there came: COUNT" "$leat" esp exec "$folder/late" --tree 1,1 --tau 5ms
exits 0 "" "$leat" esp exec "$folder/late" --tree 1,1 --tau 10ms
# A step without opcode= looks at the fields that it names, of any instruction.
printf 'send member.0 opcode=COLLECT flags=X\nsilence root flags=E|X within 1s\n' > "$folder/any"
exits 1 "any:2: expected silence at root; there came: COLLECT" "$leat" esp exec "$folder/any" --tree 1,1
printf 'send member.0 opcode=NOP computationId=42\nexpect root computationId=42\n' > "$folder/any"
exits 0 "" "$leat" esp exec "$folder/any" --tree 1,1
same "an interval" "$(json send opcode=NOP --count 3 --tree 1,1 | jq -c '[.arrivals[].at_ns]')" '[2000000,1002000000,2002000000]'
same "many come back" "$(json send opcode=NOP flags=R --count 40000 --every 1ms --tree 1,1 | jq '.status')" '"done"'

# ---- over the loopback ---------------------------------------------------------------------------
exits 1 "1 of 1 packets did not come back in 50ms" "$leat" esp send flags=R --to "127.0.0.1:9" --bind 127.0.0.1:42531 --wait 50ms
"$leat" esp exec - --play root --bind 127.0.0.1:42532 --wait 60s --json > "$folder/root" << 'END' &
expect root opcode=COUNT thresh=7 flags=R
wait 300ms
END
root=$!
comes_to "a packet comes back" '[2,"NOP"]' sh -c "'$leat' esp send opcode=NOP flags=R --to 127.0.0.1:42532 --bind 127.0.0.1:42533 --wait 200ms --json | jq -c '[.sent+.arrived,.arrivals[0].fields.opcode]'"
exits 0 "" "$leat" esp send thresh=7 flags=R --to 127.0.0.1:42532 --bind 127.0.0.1:42533 --wait 60s
wait $root || fail "the root: $(cat "$folder/root")"
same "at the root" "$(jq -c '[.met,.arrivals[-1].fields.thresh,.arrivals[-1].from_host]' "$folder/root")" '[1,7,"127.0.0.1:42533"]'

# ---- what did not happen -------------------------------------------------------------------------
sed 's/46/45/' "$folder/census" > "$folder/off"
exits 1 "off:6: expected at root: opcode=COLLECT val=45, which did not come; 1 other packet came, the last one: COLLECT 0x2a compValTag=0x2 val=46" \
    "$leat" esp exec "$folder/off" --tree 2,2 --members 4 --json
same "status" "$(jq -c '[.status,.met]' "$folder/stdout")" '["failed",2]'

# ---- bad scripts ---------------------------------------------------------------------------------
bad() {
    text=$1
    shift
    exits 2 "$text" "$@"
    same "nothing shown by: $*" "$(cat "$folder/stdout")" ""
}
script() {
    # shellcheck disable=SC2059
    printf "$2" > "$folder/script"
    bad "script:$1" "$leat" esp exec "$folder/script" --tree 2,2 --members 4
}
script "1: 'jump', expected one of send, wait, expect, silence" 'jump root\n'
script "2: expected: wait TIME" '# first\nwait\n'
script "1: 'soon', expected a time, as 20ms" 'wait soon\n'
script "1: 'never', expected a time" 'expect root thresh=1 within never\n'
script "1: expected: send HOST FIELD=VALUE ..." 'send thresh=1\n'
script "1: no field, expected some" 'send root\n'
script "1: host 'member.4', expected root, members, or member.0 to member.3" 'send member.4 thresh=1\n'
script "1: to 'members', expected one host" 'send root to members thresh=1\n'
script "1: to 'nobody', expected root" 'send root to nobody thresh=1\n'
script "1: thresh: expected a number" 'send root thresh=x\n'
script "1: thesh: no such field here, did you mean thresh?" 'send root thesh=1\n'
script "1: 'more', expected FIELD=VALUE" 'send root thresh=1 more\n'
script "1: opcode: a management packet, expected an instruction" 'send root opcode=JOIN\n'
script "1: 'compValTag=2', expected FIELD=VALUE, each field once" 'send root opcode=COUNT tag=2 compValTag=2\n'
script "1: chldCntTag: equals an earlier tag" 'send root opcode=COLLECT compValTag=2 chldCntTag=2\n'
script "1: more than 24 words" "send root $(seq 30 | tr '\n' ' ')\n"
script "2: host 'x'" 'send root thresh=1\nexpect x thresh=1\n'
bad "no step, expected some" "$leat" esp exec /dev/null --tree 2,2
bad "" "$leat" esp exec "$folder/missing" --tree 2,2
bad "expected: exec FILE" "$leat" esp exec
bad "--to does not go with --tree" "$leat" esp send thresh=1 --to 127.0.0.1 --tree 2,2
bad "--loss does not go with packets from this host" "$leat" esp send thresh=1 --to 127.0.0.1 --loss 0.1
bad "send needs --to with an address, or routers to simulate" "$leat" esp send thresh=1
bad "expected: send FIELD=VALUE" "$leat" esp send --tree 2,2
bad "--to 'nowhere', expected ADDRESS[:PORT]" "$leat" esp send thresh=1 --to nowhere --bind 127.0.0.1:42534
bad "--host 'x=nowhere', expected NAME=ADDRESS[:PORT]" "$leat" esp exec "$folder/off" --play root --host x=nowhere --bind 127.0.0.1:42534
bad "--bind 'nowhere'" "$leat" esp send thresh=1 --to 127.0.0.1 --bind nowhere
bad "'members' and 'root' are two hosts, expected --play" "$leat" esp exec "$folder/off" --to 127.0.0.1
finish
