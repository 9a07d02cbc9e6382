#!/bin/sh
# leat sim and leat fabric time: the check values, one certificate for both models, bad options.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

# json FILTER COMMAND...: what the command's JSON says
json() {
    filter=$1
    shift
    exits 0 "" "$leat" "$@" --json
    jq -c "$filter" "$folder/stdout"
}
figures='del(.model, .wall_seconds, .cycles_per_second, .threads)'

# ---- the check workload of spec/atm.md, 8 ------------------------------------------------------
for model in rtl cell; do
    for row in "2000 1 1 592 463 0 531fc4cf1e674c5e" \
               "20000 1 1.00 5831 5524 2351 0c5f1c411bae1632" \
               "20000 7 0.6 5830 5498 1389 a56c5da194053512"; do
        # shellcheck disable=SC2086
        set -- $row
        same "W, $1 cycles, seed $2, load $3, $model" \
            "$(json '[.cells_offered, .cells_delivered, .suspensions, .delivery_hash]' \
                sim clos444 --traffic W --cycles "$1" --seed "$2" --load "$3" --model $model)" \
            "[$4,$5,$6,\"$7\"]"
    done
done
exits 0 "" "$leat" sim clos444 --traffic W --cycles 2000
has "W for people" "$(cat "$folder/stdout")" "delivery hash"

# ---- one certificate for both models -------------------------------------------------------------
issue="sim clos444 --traffic uniform --load 0.8 --cycles 1000000 --seed 7"
# shellcheck disable=SC2086
cell=$(json "$figures" $issue --model cell)
# shellcheck disable=SC2086
same "both models" "$(json "$figures" $issue --model rtl)" "$cell"
# shellcheck disable=SC2086
same "the same run again, cell being the default" "$(json "$figures" $issue)" "$cell"
same "keys" "$(jq -c '[has("fabric", "model", "seed", "cycles", "cells_offered", "cells_delivered",
    "messages_delivered", "throughput", "suspensions", "retransmissions", "certificate",
    "wall_seconds", "cycles_per_second")] | all' "$folder/stdout")" true
same "keys of latency" "$(jq -c '.latency_cycles | keys' "$folder/stdout")" '["max","mean","p50","p99"]'
same "W alone has a delivery hash" "$(jq 'has("delivery_hash")' "$folder/stdout")" false
has "a certificate is 16 hex digits" "$(jq -r .certificate "$folder/stdout" | tr '0-9a-f' x)" xxxxxxxxxxxxxxxx
[ "$(json .certificate sim clos444 --load 0.8 --cycles 20000 --seed 8)" != \
  "$(json .certificate sim clos444 --load 0.8 --cycles 20000 --seed 7)" ] || fail "seeds do not matter"

# ---- the same for every number of threads ------------------------------------------------------
for traffic in uniform hotspot broadcast; do
    run="sim clos:16,4,8 --traffic $traffic --load 0.4 --cycles 10000 --blocks 60"
    # shellcheck disable=SC2086
    one=$(json "$figures" $run)
    for threads in 2 3 4; do
        # shellcheck disable=SC2086
        same "$threads threads: $run" "$(json "$figures" $run --threads $threads)" "$one"
    done
done
exits 2 "--threads" "$leat" sim clos444 --threads 0
exits 0 "an ATM fabric with /cells has one thread" "$leat" sim torus:16,16/cells --cycles 100 --threads 2
exits 0 "" "$leat" sim clos:16,31,16 --cycles 100 --threads 2
same "no warning if there are more" "$(cat "$folder/stderr")" ""

for traffic in uniform permutation hotspot broadcast bursty; do
    for fabric in bmx:5/buffer=1 clos:2,3,4 bmx:3/switching=vc; do
        run="sim $fabric --traffic $traffic --load 0.4 --cycles 20000 --bytes 50 --blocks 30 --descriptors 2 \
            --retransmit 3000 --obsolete 500 --transmissions 3"
        # shellcheck disable=SC2086
        cell=$(json "$figures" $run)
        # shellcheck disable=SC2086
        same "both models: $run" "$(json "$figures" $run --model rtl)" "$cell"
        same "altered: $run" "$(echo "$cell" | jq '[.altered, .bad_cells, .lines.damaged]' -c)" "[0,0,0]"
        [ "$(echo "$cell" | jq .messages_delivered)" -gt 0 ] || fail "nothing delivered: $run"
    done
done

# ---- errors on the lines ---------------------------------------------------------------------------
faults="--bit-errors 1e-5,2e-5 --loss 0.001 --insert 1e-3 --duplicate 0.002 --hec --retransmit 4000 --bytes 60"
# shellcheck disable=SC2086
cell=$(json "$figures" sim clos444 --load 0.1 --cycles 200000 $faults)
# shellcheck disable=SC2086
same "both models with errors" "$(json "$figures" sim clos444 --load 0.1 --cycles 200000 $faults --model rtl)" "$cell"
same "all kinds of errors came" "$(echo "$cell" | jq '.lines | [.header_bits, .payload_bits, .damaged, .lost, .inserted,
    .duplicated, .hec_corrected] | map(. > 0) | all')" true
same "cells on lines are counted where lines have errors" "$(echo "$cell" | jq '.lines.cells > 1000')" true
same "and only there" "$(json .lines.cells sim clos444 --cycles 1000)" null
same "errors are repaired" "$(echo "$cell" | jq -c '[.altered, .messages_duplicated, .retransmissions > 0]')" "[0,0,true]"
# ---- faults inside -------------------------------------------------------------------------------
faults="--fault link:0-4@1000..5000 --fault switch:5@3000..9000 --fault ber:1e-5 --fault port:3@2000..2300 --fault flap:5-9@100../777,333 --retransmit 2000"
# shellcheck disable=SC2086
cell=$(json "$figures" sim clos444 --load 0.2 --cycles 30000 $faults)
# shellcheck disable=SC2086
same "both models with faults inside" "$(json "$figures" sim clos444 --load 0.2 --cycles 30000 $faults --model rtl)" "$cell"
same "cells are lost and repaired" "$(echo "$cell" | jq -c '[.losses.cut > 0, .losses.corrupted > 0, .cells_rerouted > 0,
    .lost == ([.losses[]] | add), .altered, .messages_duplicated, .retransmissions > 0]')" "[true,true,true,true,0,0,true]"
same "W with faults" "$(json "$figures" sim clos444 --traffic W --load 0.1 --cycles 5000 --fault switch:4@99..4000 --model rtl)" \
    "$(json "$figures" sim clos444 --traffic W --load 0.1 --cycles 5000 --fault switch:4@99..4000)"
same "a middle switch that never was" "$(json '[.lost, .cells_rerouted > 0]' sim clos444 --traffic W --load 0.05 --cycles 20000 --fault switch:4)" "[0,true]"
same "cells in a torus" "$(json '[.losses.no_way > 0, .losses.cut > 0]' \
    sim torus:4,4/cells --load 0.2 --cycles 30000 --retransmit 2000 --fault link:0-1@1000.. --fault port:7@9000..)" "[true,true]"
exits 2 "--fault link:0-8: no wire between routers 0 and 8, expected a neighbour of router 0: 4, 5, 6, 7" "$leat" sim clos444 --fault link:0-8
exits 2 "--fault switch:1: no router 1, expected 0 to 0" "$leat" sim bmx:4 --fault switch:1
exits 2 "--fault port:16: no terminal 16, expected 0 to 15" "$leat" sim clos444 --fault port:16
exits 2 "--fault wire:3: 'wire' is no fault, expected link:, flap:, router: (or switch:), port: or ber:" "$leat" sim hypercube:4/cells --fault wire:3
exits 0 "cells that are lost are not sent again within the run" "$leat" sim clos444 --cycles 2000 --fault ber:1e-6
# A run may end in any cycle: between a translation and its check, for one.
for cycles in $(seq 190 210); do
    faults="--load 1 --cycles $cycles --bit-errors 0.05,0"
    # shellcheck disable=SC2086
    same "both models after $cycles cycles" "$(json "$figures" sim bmx:4 $faults --model rtl)" "$(json "$figures" sim bmx:4 $faults)"
done
dead=$(json '[.undeliverable > 0, .lines.outage > 0]' sim bmx:4 --load 0.1 --cycles 100000 --retransmit 2000 --dead 3)
same "cells for a dead port are given up" "$dead" "[true,true]"
dead=$(json '[.undeliverable, .lines.outage > 0]' sim bmx:4 --load 0.1 --cycles 100000 --retransmit 2000 --dead 3@5000..9000,1@0..100)
same "cells for a port that comes back are not" "$dead" "[0,true]"

# ---- a way back after cells were given up --------------------------------------------------------------
back="sim clos444 --load 0.05 --cycles 400000 --dead 3@50000..150000 --retransmit 5000"
# shellcheck disable=SC2086
cell=$(json "$figures" $back)
# shellcheck disable=SC2086
same "both models resynchronise alike" "$(json "$figures" $back --model rtl)" "$cell"
same "a port comes back" "$(echo "$cell" | jq -c '[.messages_given_up, .resynchronised > 0, .unsynchronised, .messages_duplicated,
    .messages_offered - .messages_delivered - .messages_given_up + .given_up_delivered < 10]')" "[130,true,0,0,true]"
# shellcheck disable=SC2086
same "the prototype does not" "$(json '[.certificate, .unsynchronised, .resynchronised]' $back --no-resync)" '["0c1980b48404de0c",30,0]'
# shellcheck disable=SC2086
exits 0 "30 streams (a port to another) wait for cells that were given up" "$leat" $back --no-resync
# Nothing is given up: it is the same with and without it.
same "no cell given up, no difference" "$(json "$figures" sim clos444 --load 0.2 --cycles 50000 --loss 0.01 --retransmit 5000)" \
    "$(json "$figures" sim clos444 --load 0.2 --cycles 50000 --loss 0.01 --retransmit 5000 --no-resync)"
exits 0 "--dead 3@5000 has no effect, expected a cycle within the 1000 of the run" "$leat" sim bmx:4 --dead 3@5000 --cycles 1000
exits 0 "--hec has no effect, expected errors in headers with it" "$leat" sim bmx:4 --hec --cycles 1000
exits 0 "cells that are lost are not sent again within the run: --retransmit is 400000" "$leat" sim bmx:4 --loss 0.1 --cycles 1000
exits 0 "" "$leat" sim bmx:4 --bit-errors 1e-5 --hec --cycles 1000 --retransmit 500 --dead 3@1000
same "faults that have an effect are not mentioned" "$(cat "$folder/stderr")" ""
exits 0 "--lose is called --loss now" "$leat" sim bmx:4 --lose 0.1 --cycles 1000 --retransmit 500
exits 2 "--no-resync has no meaning with --traffic W" "$leat" sim clos444 --traffic W --no-resync
exits 2 "--no-resync has no meaning for mesh:2,2" "$leat" sim mesh:2,2 --no-resync

# ---- a network that locks ------------------------------------------------------------------------------
for model in cell rtl; do
    exits 1 "clos444: deadlock: nothing moves any more (last delivery in cycle 184672)" \
        "$leat" sim clos444 --traffic hotspot --load 0.9 --cycles 4000000 --json --model $model
    same "a lock, $model" "$(jq -c '[.cycles, .last_delivery_cycle, .saturated, .deadlock, .certificate]' "$folder/stdout")" \
        '[307200,184672,true,[{"port":0,"since_cycle":200704}],"c3361e0d950eed87"]'
done
exits 1 "deadlock" "$leat" sim clos444 --traffic hotspot --load 0.9 --cycles 400000
has "for people" "$(cat "$folder/stdout")" "307200 cycles (15.36 ms of network time), deadlock"
same "saturation" "$(for load in 0.1 0.2 0.3 0.8; do json '[.saturated, .deadlock]' sim clos444 --load $load --cycles 200000; done | tr '\n' ' ')" \
    "[false,null] [false,null] [true,null] [true,null] "
same "W does not tell" "$(json '[.saturated, .deadlock]' sim clos444 --traffic W --load 0.6 --cycles 2000)" "[null,null]"

# ---- time ------------------------------------------------------------------------------------------
same "an idle network skips" "$(json .cycles sim clos444 --load 0 --cycles 1000000000000000)" 1000000000000000
same "also without AAL units" "$(json .cycles sim clos444 --traffic W --load 0 --cycles 1000000000000000 --model rtl)" 1000000000000000
interrupted INT "$leat" sim clos444 --load 1 --cycles 1000000000000000 --json
same "exit code of an interrupted run" $got 130
same "figures so far" "$(jq -c '[.cycles > 0, .cells_delivered > 0]' "$folder/stdout")" "[true,true]"
same "no progress but on a terminal" "$(cat "$folder/stderr")" ""

# ---- recordings --------------------------------------------------------------------------------------
exits 0 "" "$leat" sim clos444 --load 0.2 --cycles 20000 --seed 3 --json --record "$folder/run.leatrec"
delivered=$(jq .messages_delivered "$folder/stdout")
exits 0 "" "$leat" export "$folder/run.leatrec" --perfetto "$folder/run.json" --pcapng "$folder/run.pcapng"
same "an arrow's end per message delivered" "$(jq '[.traceEvents[] | select(.ph == "f" and .cat == "message")] | length' "$folder/run.json")" "$delivered"
same "every arrow's end has its beginning" "$(jq '[.traceEvents[] | select(.ph == "s") | .id] as $begun
    | [.traceEvents[] | select(.ph == "f") | .id] - $begun | length' "$folder/run.json")" 0
exits 0 "" "$leat" decode --json "$folder/run.pcapng"
same "recorded cells are sound" "$(jq -r .error "$folder/stdout" | sort -u)" null
# Registers do not tell which cell is where: without hops, both models record the same.
exits 0 "" "$leat" sim clos444 --load 0.2 --cycles 20000 --seed 3 --json --record "$folder/rtl.leatrec" --model rtl
exits 0 "" "$leat" sim clos444 --load 0.2 --cycles 20000 --seed 3 --json --record "$folder/cell.leatrec" --record-hops 0
cmp -s "$folder/cell.leatrec" "$folder/rtl.leatrec" || fail "the models' recordings differ"
exits 2 "--record-hops, expected --record with it" "$leat" sim clos444 --record-hops 5
# hops FABRIC CELLS [OPTION...]: each packet or cell goes from wire to wire, and the figures are those of a run without a recording.
hops() {
    fabric=$1
    shift
    exits 0 "" "$leat" sim "$fabric" --load 0.3 --cycles 6000 --seed 5 --json "$@"
    certificate=$(jq -r .certificate "$folder/stdout")
    for i in 1 2; do
        exits 0 "" "$leat" sim "$fabric" --load 0.3 --cycles 6000 --seed 5 --json "$@" --record "$folder/hops$i.leatrec"
        same "$fabric: certificate with a recording" "$(jq -r .certificate "$folder/stdout")" "$certificate"
    done
    cmp -s "$folder/hops1.leatrec" "$folder/hops2.leatrec" || fail "$fabric: recordings of two runs differ"
    exits 0 "" "$leat" export "$folder/hops1.leatrec" --csv "$folder/hops.csv"
    python3 "$(dirname "$0")/hops_check.py" "$folder/hops.csv" "$fabric" || fail "hops_check.py: $fabric $*"
}
hops clos444
hops clos:2,3,4/buffer=1 --bytes 200
hops bmx:4
hops torus:3,3/cells
hops mesh:4,4 --flits 3
hops clos:2,3,4/switch=voq
hops mesh:4,4 --fault link:5-6@1000..3000
exits 0 "" "$leat" sim mesh:4,4 --load 0.3 --cycles 2000 --record "$folder/few.leatrec" --record-hops 100
exits 0 "" "$leat" export "$folder/few.leatrec" --csv "$folder/few.csv"
same "hops that were asked for" "$(grep -c ,passes, "$folder/few.csv")" 100
exits 2 "--record '-', expected a file" "$leat" sim mesh:2,2 --record -
exits 2 "--record with --device, expected the processor" "$leat" sim mesh:2,2 --device 0 --record "$folder/x"
exits 0 "" "$leat" sim bmx:4/buffer=1 --traffic W --load 1 --cycles 3000 --json --record "$folder/w.leatrec"
delivered=$(jq .cells_delivered "$folder/stdout")
exits 0 "" "$leat" export "$folder/w.leatrec" --perfetto "$folder/w.json"
same "a cell out per delivery" "$(jq '[.traceEvents[] | select(.name == "frame out")] | length' "$folder/w.json")" "$delivered"
exits 1 "nosuch" "$leat" sim clos444 --cycles 100 --record "$folder/nosuch/x"

# ---- leat fabric time ----------------------------------------------------------------------------------
for model in rtl cell; do
    exits 0 "" "$leat" fabric time clos444 --bytes 4,1000,5000,67912 --json --model $model
    same "delays, $model" "$(jq -c '[.bytes, .cells, .cycles]' "$folder/stdout" | tr '\n' ' ')" \
        "[4,1,193] [1000,29,11640] [5000,140,57521] [67912,1887,779222] "
done
exits 0 "" "$leat" fabric time clos444/clock=20MHz --bytes 4 --from 3 --to 9 --json
same "microseconds" "$(jq .time_us "$folder/stdout")" 9.65
exits 0 "" "$leat" fabric time clos444
same "the table of the thesis" "$(awk 'NR > 2 && $3 == $4' "$folder/stdout" | wc -l)" 15
exits 0 "" "$leat" fabric time clos444 --bytes 4 --from 7 --to 6
has "the formula" "$(cat "$folder/stdout")" "T(N)"
exits 0 "" "$leat" fabric time clos444 --bytes 4 --from 7 --to 7
! grep -qF 'T(N)' "$folder/stdout" || fail "the formula is shown for a port to itself, where it does not hold"
exits 0 "" "$leat" fabric time bmx:2 --bytes 4
same "a single switch saves two stages" "$(awk 'NR == 2 {print $4} NR == 3 {print $1, $2, $3, $4}' "$folder/stdout")" "T(N)-12
4 1 181 181"
exits 0 "" "$leat" fabric time bmx:20 --bytes 4 --json
same "channels take two cycles more" "$(jq .cycles "$folder/stdout")" 183

# ---- bad input -------------------------------------------------------------------------------------------
exits 2 "expected one fabric" "$leat" sim
exits 2 "expected one fabric" "$leat" sim clos444 bmx:2
exits 2 "unknown fabric 'taurus', expected one of" "$leat" sim taurus
exits 2 "k is 65, expected 2 to 64" "$leat" sim bmx:65
exits 2 "--traffic 'heavy', expected one of uniform permutation hotspot broadcast bursty W" "$leat" sim clos444 --traffic heavy
exits 2 "--traffic 'unifrom', did you mean uniform? expected one of" "$leat" sim clos444 --traffic unifrom
exits 2 "(see leat fabric list); did you mean mesh:?" "$leat" sim msh:8,8
exits 2 "(see leat fabric list); did you mean clos444?" "$leat" sim clos44/buffer=2
exits 2 "(see leat fabric list); did you mean ring?" "$leat" sim rng16
exits 2 "/table=DEPTH; did you mean buffer?" "$leat" sim clos444/bufer=2
exits 2 "; did you mean propagation?" "$leat" sim ring16/propagatoin=2
exits 2 "; did you mean rate?" "$leat" sim ether16/rat=10
exits 2 "(frames)" "$leat" sim ether16/rate=0
! grep -q "did you mean" "$folder/stderr" || fail "a wrong value is taken for a wrong key"
exits 2 "--model 'bit', expected one of cell rtl flit" "$leat" sim clos444 --model bit
exits 2 "--model 'flit', expected rtl or cell" "$leat" sim clos444 --model flit
for load in 1.1 -0.5 x "" . e-3 1.000001 1.0000001 0.5x 1e9 1e- 1e-7 0.00000049 99999999999999999999; do
    exits 2 "--load '$load', expected 0 to 1 in steps of 1e-6" "$leat" sim clos444 --load "$load"
done
for load in "0.3333333 0.333333" "0.1234565 0.123457" "0.33333333333333331 0.333333" "0.6666666666666666666666 0.666667" \
            "0.9999999 1" "1.00000000 1" "1E-6 0.000001" "25e-2 0.25" ".5 0.5" "1. 1" "5E-7 0.000001" "0.000 0"; do
    same "--load ${load% *}" "$(json .load sim bmx:2 --cycles 100 --load "${load% *}")" "$(echo "${load#* }" | jq .)"
done
exits 2 "--load '0.605', expected whole hundredths with --traffic W" "$leat" sim clos444 --traffic W --load 0.605
exits 2 "--cycles '0', expected a whole number, 1 to 1000000000000000" "$leat" sim clos444 --cycles 0
exits 2 "--cycles '1000000000000001', expected a whole number, 1 to 1000000000000000" "$leat" sim clos444 --cycles 1000000000000001
exits 2 "--seed 'x', expected a whole number, 0 to 18446744073709551615" "$leat" sim clos444 --seed x
exits 2 "--bytes '67913', expected 0 to 67912 octets" "$leat" sim clos444 --bytes 67913
exits 2 "--bytes '17', expected 0 to 16 octets" "$leat" sim clos444 --blocks 1 --bytes 17
exits 2 "--blocks '65535', expected a whole number, 1 to 65534" "$leat" sim clos444 --blocks 65535
exits 2 "--descriptors '0', expected a whole number, 1 to 65535" "$leat" sim clos444 --descriptors 0
exits 2 "--retransmit '0', expected a whole number, 1 to 4294967295" "$leat" sim clos444 --retransmit 0
exits 2 "--obsolete '4294967296', expected a whole number, 1 to 4294967295" "$leat" sim clos444 --obsolete 4294967296
exits 2 "--transmissions '256', expected a whole number, 1 to 255" "$leat" sim clos444 --transmissions 256
for chance in 2 x 1e-10 0.0000000001 "" 1e; do
    exits 2 "--loss '$chance', expected 0 to 1 in steps of 1e-9" "$leat" sim clos444 --loss "$chance"
done
exits 2 "--insert '2', expected 0 to 1" "$leat" sim clos444 --insert 2
exits 2 "--duplicate '2', expected 0 to 1" "$leat" sim clos444 --duplicate 2
for errors in "1," ",1" "2,0" "0,2" x "0,0,0"; do
    exits 2 "--bit-errors '$errors', expected HEADER,PAYLOAD" "$leat" sim clos444 --bit-errors "$errors"
done
for dead in 16 x "" 3@ 3@5.6 3@5..5 3@5..x @5 3@9..5; do
    exits 2 "--dead '$dead', expected PORT or PORT@FROM..TO: a port of 0 to 15" "$leat" sim clos444 --dead "1,$dead"
done
exits 2 "expected at most 64 outages" "$leat" sim clos444 --dead "0$(printf ',0%.0s' $(seq 64))"
exits 2 "--bytes has no meaning with --traffic W" "$leat" sim clos444 --traffic W --bytes 4
exits 2 "--hec has no meaning with --traffic W" "$leat" sim clos444 --traffic W --hec
exits 2 "--record: '' is no file name" "$leat" sim clos444 --record ''
echo link:0-4 > "$folder/faults"
exits 2 "--record and --fault-file name one file" "$leat" sim clos444 --fault-file "$folder/faults" --record "$folder/faults"
exits 2 "--record and standard output name one file" "$leat" sim clos444 --record "$folder/stdout"
exits 0 "" "$leat" sim bmx:2 --cycles 100 --record /dev/null
exits 2 "--admit has no meaning without --contracts" "$leat" sim clos444 --admit all
exits 2 "--record '-', expected a file" "$leat" sim clos444 --record -
exits 2 "--cycles 1000000000000000, expected at most 368934881474191 with --record" "$leat" sim clos444 --record "$folder/x" --cycles 1000000000000000
exits 2 "time: expected one fabric" "$leat" fabric time
exits 2 "--bytes '67913', expected sizes of 0 to 67912 bytes" "$leat" fabric time clos444 --bytes 4,67913
exits 2 "--bytes '', expected sizes of 0 to 67912 bytes" "$leat" fabric time clos444 --bytes 4,,5
exits 2 "--from '16', expected a whole number, 0 to 15" "$leat" fabric time clos444 --from 16
exits 2 "--to 'x', expected a whole number, 0 to 15" "$leat" fabric time clos444 --to x
exits 2 "--model 'bit', expected one of rtl cell" "$leat" fabric time clos444 --model bit
exits 2 "--vpi does not go with time, expected one of --bytes" "$leat" fabric time clos444 --vpi
# An option is refused where its row does not list the fabric's kind.
while IFS='|' read -r option fabric; do
    exits 2 "${option%%=*} has no meaning for $fabric, which is" "$leat" sim "$fabric" "$option"
done << END
--flits=2|clos444
--flit-bits=8|clos444
--cut-through=no|clos444
--idle=min@5|mesh:2,2
--record=x|ring16
--model=cell|ring16
--bit-errors=0.1|ring16
--unsafe|ether4
--forwarding=address|ether4
--fault-file=x|twosan
--contracts=x|twosan
END
# Names that are alike: the first line says what each is, and KIND:NAME leaves no doubt.
first() { "$leat" "$@" | head -n 1; }
has "clos:4,4,4" "$(first fabric show clos:4,4,4)" "clos444, an ATM fabric: "
same "with a switch" "$(first fabric show clos:4,4,4/switch=vc)" "clos:4,4,4/switch=vc: a network of switches"
same "flits:" "$(first fabric show flits:clos:4,4,4)" "clos:4,4,4/switch=vc: a network of switches"
has "atm:" "$(first sim atm:clos:4,4,4 --cycles 100)" "clos444, an ATM fabric, cell model"
has "ring16" "$(first sim ring16 --cycles 100)" "model=word, a token ring, traffic"
has "ring:16" "$(first sim ring:16 --cycles 100)" "ring:16, a network of switches, traffic"
has "flits:ring16" "$(first sim flits:ring16 --cycles 100)" "ring:16, a network of switches, traffic"
has "ether4" "$(first sim ether4 --cycles 100)" "buffer=64, an Ethernet, traffic"
has "twosan" "$(first sim twosan --cycles 100)" "twosan, a PacketWay network, forwarding planned"
exits 2 "ether:clos444: it is not an Ethernet, expected a name as etherN" "$leat" sim ether:clos444
# Without --load, a mesh is not saturated.
for mesh in mesh:8,8 mesh:16,16; do
    same "default load of $mesh" "$("$leat" sim $mesh --cycles 20000 --json | jq -c '[.load, .saturated]')" "[0.1,false]"
done
# A fabric is named in one way in all verbs.
same "--fabric" "$(json .fabric sim --fabric mesh:2,2 --cycles 100) $(json .fabric fabric show --fabric=mesh:3,3)" '"mesh:2,2" "mesh:3,3"'
exits 2 "expected" "$leat" sim --fabric
exits 2 "expected one fabric" "$leat" sim mesh:2,2 --fabric mesh:3,3
# A message alone: its flits, heads included, behind the first one, which passes 3 routers of 3 cycles and 4 wires.
same "time in a torus" "$("$leat" fabric time torus:4,4 --bytes 4,1000 --json | jq -c '[.bytes, .time_us]')" "[4,0.015]
[1000,0.081]"
if [ -c /dev/full ]; then
    got=0; "$leat" sim clos444 --cycles 100 > /dev/full 2> "$folder/stderr" || got=$?
    same "sim to a full disk" $got 1
    got=0; "$leat" fabric time clos444 > /dev/full 2> "$folder/stderr" || got=$?
    same "fabric time to a full disk" $got 1
fi
finish
