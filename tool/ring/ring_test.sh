#!/bin/sh
# leat ring on simulated rings: against a second model, the spec's times, faults, waveforms, bad input.
set -u
leat=$(realpath "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"

# ---- the second model ---------------------------------------------------------------------------
python3 "$here/ring_model.py" "$leat" "${LEAT_SEED:-1}" 40 "$folder" || fail "differs from the model"

# ---- the spec's own times, and what is shown ----------------------------------------------------
json() { "$leat" ring "$@" --json; }
for model in bit word; do
    same "T of 4 stations" "$(json sim --stations 4 --propagation 1 --command add --model $model | jq .bit_times)" 216
    same "T of 40 stations" "$(json sim --stations 40 --command max --model $model | jq .bit_times)" 232
    same "T of one" "$(json sim --stations 1 --width 64 --command or --model $model | jq .bit_times)" 280
done
printf '7 0x10\n# a comment\n3\n' > "$folder/three"
exits 0 "" "$leat" ring sim --stations 3 --operands "$folder/three" --command min
same "text" "$(cat "$folder/stdout")" "min over 3 stations, register 0, 32 bits, from station 1 (word model)
  Counter                           3  stations that took part
  Variable-1                        3
  Variable-2                        3  the station that holds it
  bit times                       216  closed form 216
  host-based                      434  2 packets, 2.0 times as long
  certificate        $(json sim --stations 3 --operands "$folder/three" --command min | jq -r .certificate)"
input="$folder/three" exits 0 "" "$leat" ring sort --stations 3 --operands - --json
same "from standard input" "$(jq -c .values "$folder/stdout")" "[3,7,16]"
same "to one station" "$(json sim --stations 3 --operands "$folder/three" --command add --to 2 | jq -c '[.counter,.variable1]')" "[2,23]"
same "seeds" "$(json sim --stations 9 --command add --seed 5 | jq .variable1)" "$(json sim --stations 9 --command add --seed 5 --model bit | jq .variable1)"

# ---- faults -------------------------------------------------------------------------------------
for model in bit word; do
    same "a station that left" "$(json sim --stations 5 --command add --model $model --fault leave:3@0 | jq .counter)" 4
    exits 1 "no answer to packet 1: it came back damaged" "$leat" ring sim --stations 5 --command add --model $model --fault bit:3@120
    same "nothing shown" "$(cat "$folder/stdout")" ""
    exits 1 "no answer to packet 1: it was lost" "$leat" ring sim --stations 5 --command add --model $model --fault forget:1@120
    # Station 2 sees another packet, and nobody else does: no checksum tells, Counter does.
    printf '11\n22\n33\n' > "$folder/double"
    double() { "$leat" ring sim --stations 3 --operands "$folder/double" --command add --model $model --fault bit:2@25 --fault bit:3@26 "$@"; }
    exits 1 "no answer to packet 1: 2 stations took part, expected 3; missing: 2" double
    same "nothing shown of a double fault" "$(cat "$folder/stdout")" ""
    same "fewer were asked for" "$(double --quorum 2 --json | jq -c '[.stations,.counter,.variable1]')" "[3,2,44]"
    exits 1 "expected 3; missing: 2" "$leat" ring average --stations 3 --operands "$folder/double" --model $model --fault bit:2@25 --fault bit:3@26
    exits 1 "1 stations took part, expected 2; missing: 3" "$leat" ring sim --stations 5 --command add --model $model --to 3 --fault leave:3@0
    same "a lost token" "$(json sim --stations 5 --command add --model $model --fault bit:3@5 | jq .counter)" 5
done

# ---- groups and expressions -----------------------------------------------------------------------
same "a group with the sender" "$(json sim --stations 3 --operands "$folder/three" --command add --only 1,3 --width 16 | jq -c '[.counter,.variable1]')" "[2,10]"
same "a group without it" "$(json sim --stations 3 --operands "$folder/three" --command min --only 2,3 | jq -c '[.counter,.variable1,.variable2]')" "[2,3,3]"
same "the sender as well" "$(json sim --stations 3 --operands "$folder/three" --command add --only 2,3 --sender in | jq -c '[.counter,.variable1]')" "[3,26]"
same "a register elsewhere" "$(json sim --stations 3 --operands "$folder/three" --command add --to 2 --sender out | jq -c '[.counter,.variable1]')" "[1,16]"
exits 1 "no answer to packet 1: 1 stations took part, expected 2; missing: 2" "$leat" ring sim --stations 4 --command add --only 2,3 --fault bit:2@25 --fault bit:3@26 --model bit
same "an expression" "$(json tree --stations 3 --operands "$folder/three" --expression 'max(lt(1,2),3)' | jq -c '[.counter,.value]')" "[3,3]"
same "in any order" "$(json tree --stations 3 --operands "$folder/three" --expression 'add( le(3 ,1), 2..2 )' | jq -c '[.counter,.value]')" "[3,17]"
# One execution region has one cost, however it is named.
for what in bit_times host_based_bit_times; do
    same "one station, or a list of one: $what" "$(json sim --stations 30 --command add --to 7 | jq .$what)" "$(json sim --stations 30 --command add --only 7 --sender in | jq .$what)"
done
has "nobody holds the least" "$("$leat" ring sim --stations 3 --command max --to 2 --sender out --disabled 2)" "65535  nobody takes part"
same "a right operand first" "$(json tree --stations 3 --operands "$folder/three" --expression 'lt(3,1)' --from 2 | jq -c '[.counter,.value]')" "[2,1]"
# Interfaces that hold back a slot put results back: a chain needs one slot, 144 + 33 symbols and 20 * 33 bits.
chain='lt(add(add(add(max(add(add(add(min(add(add(add(or(add(add(add(add(add(1,2),3),4),5),6),7),8),9),10),11),12),13),14),15),16),17),18),19)'
seq 20 > "$folder/twenty"
exits 2 "or --hold 33, with which results need no slots of their own" "$leat" ring tree --stations 20 --expression 'add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(1,2),3),4),5),6),7),8),9),10),11),12),13),14),15),16),17..20)'
exits 2 "at most 16 levels" "$leat" ring tree --stations 20 --expression "$chain"
for model in bit word; do
    same "a long chain, $model" "$(json tree --stations 20 --operands "$folder/twenty" --expression "$chain" --hold 33 --model $model | jq -c '[.counter,.value,.bit_times]')" "[19,0,$((144 + 33 + 20 * 33))]"
done
same "what a delay costs" "$(json sim --stations 20 --command add --hold 33 | jq -c '[.bit_times,.bit_times_expected]')" "[$((192 + 20 * 33)),$((192 + 20 * 33))]"
same "the longest ring" "$(json tree --stations 65534 --expression 'add(1..65534)' | jq .value)" "$(json sim --stations 65534 --command add | jq .variable1)"
# Where nothing but one packet moves, the bit model has time for the longest ring, too.
same "the longest ring, bit by bit" "$(json sim --stations 65534 --command max --model bit | jq -c .)" "$(json sim --stations 65534 --command max | jq -c .)"

# ---- the least loaded ---------------------------------------------------------------------------
printf '140\n7\n90\n' > "$folder/loads"
same "least loaded" "$(json least-loaded --stations 3 --operands "$folder/loads" | jq -c '[.command,.register,.least_load,.station]')" '["least-loaded",1,7,2]'
json least-loaded --stations 50 | jq -e '.least_load >= 1 and .least_load <= 400 and .counter == 50' > /dev/null || fail "random loads"
printf '140\n0\n90\n' > "$folder/unset"
exits 1 "register 1 of station 2 is 0, which is no load" "$leat" ring least-loaded --stations 3 --operands "$folder/unset"

# ---- interrupts are heard: this would take minutes ------------------------------------------------
for signal in TERM INT; do
    "$leat" ring sim --stations 65534 --propagation 200 --command add --model bit > /dev/null 2>&1 &
    sleep 0.5
    kill -s $signal $!
    code=0
    wait $! || code=$?
    case $signal in TERM) same "interrupted by TERM" $code 143 ;; INT) same "interrupted by INT" $code 130 ;; esac
done

# ---- waveforms ----------------------------------------------------------------------------------
exits 0 "" "$leat" ring sim --stations 3 --command add --vcd "$folder/ring.vcd"
grep -q '^\$scope module station\[3\] \$end' "$folder/ring.vcd" || fail "no station in the waveform"
same "end of the waveform" "$(tail -n 1 "$folder/ring.vcd")" "#241"
exits 1 "" "$leat" ring sim --stations 3 --command add --vcd "$folder/none.vcd" --fault bit:3@120
[ ! -e "$folder/none.vcd" ] || fail "a waveform of no answer"
no_part "waveforms"

# ---- recordings -----------------------------------------------------------------------------------
# Sums grow from station to station; the frame that comes back has the result; both are what the ring told.
seq 11 11 99 > "$folder/nine"
certificate=$(json sim --stations 9 --operands "$folder/nine" --command add | jq -r .certificate)
same "certificate with a recording" "$(json sim --stations 9 --operands "$folder/nine" --command add --record "$folder/ring.leatrec" | jq -r .certificate)" "$certificate"
exits 0 "" "$leat" export "$folder/ring.leatrec" --csv "$folder/ring.csv" --pcapng "$folder/ring.pcapng" --vcd "$folder/recorded.vcd"
same "sums at the stations" "$(awk -F, '$2 == "value" && $3 ~ /variable/ { printf "%s ", $5 }' "$folder/ring.csv")" "11 33 66 110 165 231 308 396 495 "
same "where the token was" "$(awk -F, '$2 == "value" && $3 == "ring.token" { printf "%s ", $5 }' "$folder/ring.csv" | uniq)" "0 0 1 2 3 4 5 6 7 8 "
same "stations that it passed" "$(grep -c ,passes, "$folder/ring.csv")" 8
same "the name of the ring" "$(awk -F, '$2 == "place" { print $4 }' "$folder/ring.csv")" ring9
same "frames" "$("$leat" decode --json "$folder/ring.pcapng" | jq -c '[.fields.variable1, .error]' | tail -n 1)" '[495,null]'
same "damaged frames" "$("$leat" decode --json "$folder/ring.pcapng" | jq -c 'select(.error)' | wc -l)" 0
# Bit by bit: what the waveform has, at the same times.
exits 0 "" "$leat" ring sim --stations 3 --command add --model bit --vcd "$folder/bits.vcd" --record "$folder/bits.leatrec"
exits 0 "" "$leat" export "$folder/bits.leatrec" --csv "$folder/bits.csv"
same "changes of symbols" "$(awk -F, '$2 == "value" && $3 == "ring.bits.symbol1"' "$folder/bits.csv" | wc -l)" \
    "$(python3 -c 'import re, sys
lines = open(sys.argv[1]).read().split("\n")
scope, ident = [], None
for line in lines:
    word = line.split()
    if word[:1] == ["$scope"]: scope.append(word[2])
    if word[:1] == ["$upscope"]: scope.pop()
    if word[:1] == ["$var"] and scope[-1] == "station[2]" and word[4] == "symbol": ident = word[3]
print(sum(1 for line in lines if re.fullmatch(r"(b[01]+ |[01])" + re.escape(ident), line)))' "$folder/bits.vcd")"
exits 1 "" "$leat" ring sim --stations 3 --command add --record "$folder/none.leatrec" --fault bit:3@120
[ ! -e "$folder/none.leatrec" ] || fail "a recording of no answer"
exits 2 "--record does not go with query" "$leat" ring query add --record "$folder/x"
exits 2 "--record is of simulated rings" "$leat" ring sort --live --record "$folder/x"
exits 2 "name one file" "$leat" ring sim --stations 3 --command add --vcd "$folder/x" --record "$folder/x"
exits 1 "expected at most" "$leat" ring sim --stations 40000 --command add --record "$folder/x"
no_part "recordings"

# ---- the ring as a fabric -------------------------------------------------------------------------
sim() { "$leat" sim "$@" --json; }
for traffic in uniform permutation hotspot broadcast bursty; do
    sim ring9/propagation=2/model=bit --traffic $traffic --load 0.6 --cycles 60000 | jq -c 'del(.model,.fabric,.wall_seconds,.cycles_per_second)' > "$folder/bit"
    sim ring9/propagation=2/model=word --traffic $traffic --load 0.6 --cycles 60000 | jq -c 'del(.model,.fabric,.wall_seconds,.cycles_per_second)' > "$folder/word"
    same "$traffic: both models" "$(cat "$folder/bit")" "$(cat "$folder/word")"
done
# 256 symbols of a packet, 24 of the round that it takes to come back, 1 to 23 of the token's way on.
sim ring16 --load 1 | jq -e '.throughput > 256 / (256 + 24 + 23) and .throughput < 256 / (256 + 24 + 1) and .messages_waiting > 0' > /dev/null || fail "saturation"
# Alone: 256 symbols, 12 bits of way on average, and half a round for the token less its first 11 symbols.
sim ring16 --load 0.001 --cycles 100000000 | jq -e '.latency_cycles.mean > 262 and .latency_cycles.mean < 275 and .messages_waiting <= 1' > /dev/null || fail "latency of single packets"
# Priorities: the higher the sooner, in both models alike; commands in idle time when there is some.
sim ring16/priority=3:7,4-5:2 --load 0.9 > "$folder/word"
sim ring16/priority=3:7,4-5:2/model=bit --load 0.9 > "$folder/bit"
jq -e '[.latency_of_priorities[] | .priority] == [7, 2, 0] and ([.latency_of_priorities[] | .mean] | . == sort) and ([.latency_of_priorities[] | .deliveries] | add) == .deliveries' "$folder/word" > /dev/null || fail "latency by priority"
same "both models with priorities" "$(jq -c 'del(.fabric, .model, .wall_seconds, .cycles_per_second)' "$folder/bit")" "$(jq -c 'del(.fabric, .model, .wall_seconds, .cycles_per_second)' "$folder/word")"
sim ring5 --load 0 --idle add@1000 | jq -e '.idle.counter == 5 and .idle.wait_cycles.max <= 48 and .idle.commands > 900000 / (1000 + 192 + 48 + 48) and .idle.commands < 1000000 / (1000 + 192 + 24)' > /dev/null || fail "idle time"
sim ring5 --load 0.9 --idle add@1000 | jq -e '.idle.wait_cycles.mean > 1000' > /dev/null || fail "no idle time"
same "shown as a fabric" "$("$leat" fabric show ring40/propagation=5/packet=100 --json | jq -c '[.stations, .round_bits, .monitor_bits, .packet_symbols]')" "[40,240,0,$((128 + 8 * 108))]"
same "shown, with the monitor's bits" "$("$leat" fabric show ring4/propagation=1 --json | jq -c '[.round_bits, .monitor_bits]')" "[24,16]"
has "shown as text" "$("$leat" fabric show ring16/priority=3-4:7)" "priority    7 at ports 3 to 4"
exits 0 "" "$leat" fabric check ring16
exits 0 "" "$leat" sim ring16/clock=4MHz/packet=100 --cycles 10000
has "name in full" "$(cat "$folder/stdout")" "ring16/propagation=0/packet=100/clock=250ns/model=word, a token ring, traffic uniform"
has "routers are another thing" "$("$leat" sim ring:16 --cycles 1000)" "ring:16, a network of switches, traffic uniform"

# ---- bad input ----------------------------------------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
wrong "'', expected one of sim join key stop" "$leat" ring
wrong "'xyz', expected one of sim join" "$leat" ring xyz --stations 3
wrong "'quary', did you mean query? expected one of sim join" "$leat" ring quary min
wrong "sim needs --stations" "$leat" ring sim --command add
wrong "sort needs --stations N, or --live" "$leat" ring sort
wrong "sim needs --command" "$leat" ring sim --stations 3
wrong "--stations means a simulated ring, expected no --live and no --dev beside sort" "$leat" ring sort --stations 3 --live
wrong "--stations does not go with query, expected one of --dev --register" "$leat" ring query min --stations 3
wrong "--quorum '4', expected a whole number, 1 to 3" "$leat" ring sim --stations 3 --command add --quorum 4
wrong "--command 'mul', expected one of add and or max min eq lt le" "$leat" ring sim --stations 3 --command mul
wrong "--command 'sort', expected" "$leat" ring sim --stations 3 --command sort
wrong "--command does not go with sort" "$leat" ring sort --stations 3 --command add
wrong "--stations '0', expected a whole number, 1 to 65534" "$leat" ring sim --stations 0 --command add
wrong "--stations '65535'" "$leat" ring sim --stations 65535 --command add
wrong "--width '24', expected one of 16 32 64" "$leat" ring sim --stations 3 --width 24 --command add
wrong "--register '64', expected a whole number, 0 to 63" "$leat" ring sim --stations 3 --register 64 --command add
wrong "--from '4', expected a whole number, 1 to 3" "$leat" ring sim --stations 3 --from 4 --command add
wrong "--model 'cell', expected one of bit word" "$leat" ring sim --stations 3 --model cell --command add
wrong "--vcd with --model word" "$leat" ring sim --stations 3 --model word --vcd "$folder/x.vcd" --command add
wrong "--propagation '9999999', expected a whole number, 0 to 1048576" "$leat" ring sim --stations 3 --propagation 9999999 --command add
wrong "--value is for" "$leat" ring sim --stations 3 --command add --value 3
wrong "--value '65536'" "$leat" ring sim --stations 3 --width 16 --command eq --value 65536
wrong "--disabled '4', expected stations of 1 to 3" "$leat" ring sim --stations 3 --command add --disabled 1,4
wrong "--tree 'mul', expected add and or max min eq lt le" "$leat" ring tree --stations 3 --tree add,mul
tree() { wrong "$1" "$leat" ring tree --stations 20 --expression "$2"; }
tree "--expression at '21)', expected a station of 1 to 20" 'add(1,21)'
tree "--expression at 'mul(1,2)', expected a station, or one of add and or" 'mul(1,2)'
tree "--expression has station 3 twice" 'add(1..5,3)'
tree "--expression at 'its end', expected ',' or ')'" 'add(1,2'
tree "--expression at '3', expected nothing more" 'add(1,2)3'
tree "--expression at ')', expected two operands of eq, lt and le" 'lt(1,2,3)'
tree "--expression at '1,2', expected '(' after a command" 'add 1,2'
tree "a last station that is not before the first" 'add(5..3)'
tree "--expression needs more than 17 slots" "add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(1,2),3),4),5),6),7),8),9),10),11),12),13),14),15),16),17..20)"
tree "at most 16 levels" "add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(1,2))))))))))))))))"
wrong "--to, --only and --expression all say who takes part" "$leat" ring tree --stations 3 --to 2 --expression 'add(1,2)'
wrong "--expression says what each station does" "$leat" ring tree --stations 3 --tree add --expression 'add(1,2)'
wrong "--hold '0', expected a whole number, 1 to 1024" "$leat" ring sim --stations 3 --command add --hold 0
wrong "--propagation 0 and --hold 1024 for 65534 stations, expected at most 16777216 bits in all" "$leat" ring sim --stations 65534 --command add --hold 1024
wrong "--only '4', expected stations of 1 to 3" "$leat" ring sim --stations 3 --command add --only 1,4
wrong "--group '32', expected a whole number, 0 to 31" "$leat" ring query min --group 32 --dev nosuch
wrong "--to and --group both say who takes part" "$leat" ring query min --group 3 --to 2 --dev nosuch
wrong "--fault 'bit:4@1', expected" "$leat" ring sim --stations 3 --command add --fault bit:4@1
wrong "--fault 'leave:3', expected" "$leat" ring sim --stations 3 --command add --fault leave:3
wrong "three:3: 3 operands, expected one for each of 4 stations" "$leat" ring sim --stations 4 --command add --operands "$folder/three"
wrong "three:3: operand 3, expected one for each of 2 stations" "$leat" ring sim --stations 2 --command add --operands "$folder/three"
printf '1\n70000\n' > "$folder/wide"
wrong "wide:2: operand 70000, expected one that fits 16 bits" "$leat" ring sim --stations 2 --width 16 --command add --operands "$folder/wide"
printf '1\nx\n' > "$folder/words"
wrong "words:2: 'x', expected a whole number" "$leat" ring sim --stations 2 --command add --operands "$folder/words"
wrong "'more', expected nothing behind sim" "$leat" ring sim more --stations 2 --command add
exits 2 "" "$leat" ring sim --stations 2 --command add --operands "$folder/missing"
wrong "--timeout '5h', expected a time of 1ms to 3600s" "$leat" ring query min --timeout 5h
wrong "--every '500ms', expected a time of 1s to 86400s" "$leat" ring set 1 load --every 500ms
exits 2 "leat: --timeout 50 is taken for 50ms: write the unit" "$leat" ring query min --dev nosuch --timeout 50
exits 2 "leat: --every 5 is taken for 5s: write the unit" "$leat" ring set 1 load --dev nosuch --every 5
exits 2 "leat: --key is called --key-file now" "$leat" ring join --key "$folder/missing"
exits 2 "leat: leat ring leave is called leat ring stop now" "$leat" ring leave --dev nosuch
wrong "'more' behind stop, expected nothing" "$leat" ring stop more
has "help of a subverb" "$("$leat" ring stop --help)" "leat ring stop: end the station of this host"
has "its default" "$("$leat" help ring query)" "--timeout TIME     live: how long to wait, 1ms to 3600s; default 1s"
for word in sim join key stop set get status query send receive least-loaded sort majority tree average gvt barrier elect work; do
    has "help of all subverbs" "$("$leat" ring --help)" "  $word "
    has "help of $word" "$("$leat" help ring $word)" "  leat ring $word "
done
wrong "'0' stations, expected 1 to 65534" "$leat" sim ring0
wrong "'x=3', expected propagation=" "$leat" sim ring16/x=3
wrong "ring1 has nobody to send to" "$leat" sim ring1
wrong "--fault has no meaning for ring16, which is a token ring" "$leat" sim ring16 --fault link:1-2
wrong "--traffic 'tornado', expected one of uniform" "$leat" sim ring16 --traffic tornado
wrong "'priority=3:8', expected propagation=" "$leat" sim ring16/priority=3:8
wrong "'priority=1:1,', expected propagation=" "$leat" sim ring16/priority=1:1,
wrong "priority 1 of ports 3 to 2, expected priorities 0 to 7 of ports 0 to 15" "$leat" sim ring16/priority=3-2:1
wrong "--idle 'sort@5', expected add" "$leat" sim ring16 --idle sort@5
wrong "--idle 'min@0', expected add" "$leat" sim ring16 --idle min@0
wrong "--idle 'min@18446744073709551615', expected add" "$leat" sim ring16 --idle min@18446744073709551615
wrong "--idle has no meaning for clos444" "$leat" sim clos444 --idle min@5
wrong "--bytes '101', expected 0 to 100 octets" "$leat" sim ring16/packet=100 --bytes 101
wrong "ring16: a token ring, expected an ATM fabric" "$leat" experiment echo --fabric ring16
wrong "show: --vpi has no meaning for ring16, which is a token ring" "$leat" fabric show ring16 --vpi
wrong "'x=3', expected" "$leat" fabric check ring16/x=3
wrong "--model has no meaning for ring16, which is a token ring" "$leat" run --fabric ring16 --model rtl --library mpi -- true
finish
