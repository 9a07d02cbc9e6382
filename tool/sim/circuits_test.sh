#!/bin/sh
# leat sim FABRIC --circuits FILE: the example, clocks, both models, captures, mistakes.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
example=share/circuits/exchange.circuits
file=$folder/c
# circuits FILTER WORD...: what is of its JSON
circuits() {
    filter=$1
    shift
    "$leat" sim "$@" --json 2> /dev/null | jq -c "$filter"
}

# ---- the example
exits 0 "" "$leat" sim clos444 --circuits $example --load 0.3 --cycles 2e6 --seed 7 --json
cp "$folder/stdout" "$folder/first"
same "no losses" "$(jq -c '[.lost, .cells_unknown, ([.cbr_circuits[], .voice_circuits[] | .lost + .cells_extra + .cells_damaged] | add)]' "$folder/first")" '[0,0,0]'
same "what is played is what was sent" "$(jq -c '[.cbr_circuits[] | .octets_wrong + .octets_replaced] | add' "$folder/first")" 0
same "an E1 cell lasts 183.6 us" "$(jq -c '[.cbr_circuits[0] | .cells_sent, .packetisation_us]' "$folder/first")" '[544,183.594]'
same "time stamps find the clock" "$(jq -c '.cbr_circuits[0] | (.recovered_ppm - .clock_ppm | fabs) < 6 and .wander_us < 2 and .slips == 0' "$folder/first")" true
same "voice is in time" "$(jq -c '.voice_circuits[0] | [.frames_sent == .frames_played + 1 or .frames_sent == .frames_played, .frames_late, .talk_share > 0.9]' "$folder/first")" '[true,0,true]'
same "speakers pause" "$(jq -c '.voice_circuits[1].talk_share | . > 0.2 and . < 0.6' "$folder/first")" true
exits 0 "" "$leat" sim clos444 --circuits $example --load 0.3 --cycles 2e6 --seed 7 --json
cmp -s "$folder/stdout" "$folder/first" || fail "two runs differ"
exits 0 "" "$leat" sim clos444 --circuits $example --load 0.3 --cycles 2e6 --seed 7
has "certificate" "$(cat "$folder/stdout")" "$(jq -r .certificate "$folder/first")"
has "circuits" "$(cat "$folder/stdout")" "     5  2048.000  srts        +50"

# ---- an idle network: cells wait for the next cycle, slotted ones for a slot as well
same "no jitter" "$(circuits '.cbr_circuits[0] | .delay_us.min >= 3.55 and .delay_us.max <= 3.6 and .cdv_us <= 0.05' clos444 --circuits cbr:from=0,to=5,rate=E1)" true
same "jitter of slots" "$(circuits '.cbr_circuits[0].cdv_us | . > 2 and . <= 2.7' torus:4,4/cells --circuits cbr:from=0,to=5,rate=E1,srts)" true

# ---- clocks
same "a clock that nobody recovers slips" "$(circuits '.cbr_circuits[0] | .overruns > 3 and .slips == .overruns' bmx:2 --circuits cbr:from=0,to=1,rate=T3,clock=+500ppm,playout=10us --cycles 2e6)" true
same "adaptive" "$(circuits '.cbr_circuits[0] | (.recovered_ppm + 80 | fabs) < 10 and .slips == 0' bmx:2 --circuits cbr:from=0,to=1,rate=E3,clock=-80ppm,adaptive,playout=1ms --load 0.3 --cycles 1e7)" true

# ---- both models, and two sources of errors
for what in "--load 0.5" "--bit-errors 1e-6,1e-5 --loss 1e-3 --insert 1e-3 --duplicate 1e-3 --hec" "--fault switch:5@20000..60000 --load 0.3"; do
    # shellcheck disable=SC2086
    same "models of $what" "$(circuits 'del(.model)' clos444 --circuits $example --cycles 80000 $what)" "$(circuits 'del(.model)' clos444 --circuits $example --cycles 80000 --model rtl $what)"
done
same "FEC corrects" "$(circuits '.cbr_circuits[0] | [.lost > 20, .aal1.octets_corrected > 500, .octets_wrong]' bmx:2 --circuits cbr:from=0,to=1,rate=T3,fec=interleaved --loss 2e-3 --cycles 2e6)" '[true,true,0]'
same "a broken link" "$(circuits '.cbr_circuits[0] | .lost > 10 and .lost == .aal1.lost or .slips > 0' clos444 --circuits cbr:from=0,to=4,rate=E1 --fault link:0-4@500000..600000 --cycles 2e6)" true
same "physical lines" "$(circuits '.cbr_circuits[0] | .octets_wrong == 0 and .lost == 0' torus:2,2/cells/line=stm1 --circuits cbr:from=0,to=3,rate=E1,srts --cycles 1e6)" true

# ---- captures: each cell when it is sent and when it has arrived, with the sequence numbers of AAL1
exits 0 "" "$leat" sim clos444 --circuits cbr:from=0,to=5,rate=E3 --cycles 100000 --json --record "$folder/r.leatrec"
sent=$(jq '.cbr_circuits[0] | .cells_sent + .cells_delivered' "$folder/stdout")
exits 0 "" "$leat" export "$folder/r.leatrec" --pcapng "$folder/r.pcapng"
"$leat" decode "$folder/r.pcapng" --json > "$folder/cells"
same "recorded" "$(grep -c '"vci":8192' "$folder/cells")" "$sent"
same "sequence numbers" "$(jq -r 'select(.fields.vpi == 0) | .fields.payload[0:2]' "$folder/cells" | head -n 9 | tr '\n' ' ')" "00 17 2d 3a 4e 59 63 74 00 "

# ---- an interrupt gives the figures so far
"$leat" sim clos444 --circuits $example --load 0.3 --cycles 1e12 --json > "$folder/stdout" 2> /dev/null &
pid=$!
sleep 2
kill -INT $pid
wait $pid
same "interrupted" "$(jq -c '[.status, .cycles > 0 and .cycles < 1e12, .cbr_circuits[0].cells_sent > 0]' "$folder/stdout")" '["interrupted",true,true]'

# ---- mistakes
wrong() {
    printf '%b\n' "$1" > "$file"
    exits 2 "$2" "$leat" sim clos444 --circuits "$file"
}
wrong "" "$file:1: no circuit up to the end of the file"
wrong "cbr from=0 to=1 rate=E1\ncbb from=1" "$file:2: 'cbb', did you mean cbr? expected cbr or voice"
wrong "cbr to=1 rate=E1" "$file:1: no from, expected a port"
wrong "cbr from=0 to=16 rate=E1" "$file:1: to '16', expected 0 to 15"
wrong "cbr from=3 to=3 rate=E1" "from and to are 3, expected two ports"
wrong "cbr from=0 to=1" "no rate, expected one"
wrong "cbr from=0 to=1 rate=E2" "rate 'E2', expected 1kb/s to 155.52Mb/s"
wrong "cbr from=0 to=1 rate=5" "rate '5', expected 1kb/s"
wrong "cbr from=0 to=1 rate=E1 clock=50" "clock '50', expected whole ppm"
wrong "cbr from=0 to=1 rate=E1 clock=-1001ppm" "clock '-1001ppm', expected whole ppm"
wrong "cbr from=0 to=1 rate=E1 clock=201ppm srts" "srts with a clock of 201 ppm, expected -200 to +200"
wrong "cbr from=0 to=1 rate=E1 srts adaptive" "recovery for the second time"
wrong "cbr from=0 to=1 rate=E1 srts fec=interleaved" "srts with fec=interleaved, expected none"
wrong "cbr from=0 to=1 structure=6 srts" "srts with structure, expected none"
wrong "cbr from=0 to=1 structure=6 fec=interleaved" "structure with fec=interleaved, expected one"
wrong "cbr from=0 to=1 structure=5000" "no rate, expected one"
wrong "cbr from=0 to=1 structure=0" "structure '0', expected 1 to 65535"
wrong "cbr from=0 to=1 rate=T3 playout=0.9s" "playout '0.9s', expected at most"
wrong "cbr from=0 to=1 rate=E1 channels=3" "unknown key 'channels'"
wrong "voice from=0 to=1 frame=1us" "frame '1us' at 64000 bit/s, expected up to 1 s with 1 to 4096 whole octets"
wrong "voice from=0 to=1 playout=auto" "playout 'auto', expected 0 to 1 second"
wrong "voice from=0 to=1 pause=1s" "pause without silence=on"
wrong "voice from=0 to=1 silence=on talk=1ms" "talk '1ms', expected at least a frame"
wrong "voice from=0 to=1 channels=0" "channels '0', expected 1 to 4096"
wrong "voice from=0 to=1 channels=4096 rate=1kb/s frame=1s\nvoice from=1 to=2" "$file:2: 4097 channels with this line, expected at most 4096"
wrong "cbr from=1 to=2 rate=100Mb/s\ncbr from=1 to=3 rate=T3" "$file:2: port 1 sends"
wrong "$(yes 'cbr from=0 to=1 rate=1kb/s' | head -n 257)" "$file:257: one line too many, expected at most 256"
for option in --record --json; do
    exits 2 "$option and --circuits name one file" "$leat" sim clos444 --circuits "$file" $option="$file"
done
exits 2 "--traffic with --circuits, expected only --load" "$leat" sim clos444 --circuits $example --traffic W
exits 2 "switches choose a wire for each cell" "$leat" sim torus:4,4/cells/routing=adaptive/vcs=3 --circuits $example
exits 2 "--circuits has no meaning for mesh:4,4" "$leat" sim mesh:4,4 --circuits $example
exits 2 "with this clock" "$leat" sim clos444 --circuits $example --cycles 1e15
finish
