#!/bin/sh
# leat sim FABRIC --calls FILE: the example, random calls, recordings, every mistake.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
example=share/contracts/day.calls
file=$folder/c

# ---- the example ------------------------------------------------------------------------------
exits 0 "" "$leat" sim clos444 --calls $example --cycles 400000 --seed 7 --json
cp "$folder/stdout" "$folder/first"
same "what became of the calls" "$(jq -c '[.call_plan[] | [.from, .what, .cause]]' "$folder/first")" \
    '[[0,"released",null],[1,"released",null],[2,"released",null],[3,"released",null],[4,"released",null],[8,"blocked",37]]'
same "the lecture" "$(jq -c '[.call_plan[3].parties[] | [.to, .what]]' "$folder/first")" \
    '[[7,"released"],[9,"released"],[10,"released"],[13,"released"],[14,"released"]]'
same "who came later or left heard less" "$(jq -c '.call_plan[3] | [.parties[].cells_delivered] as $n
    | $n[0] > $n[3] and $n[0] > $n[4] and $n[3] > 0 and $n[0] - $n[1] < 2' "$folder/first")" true
same "nothing goes astray" "$(jq -c '[.misdelivered, .lost, .signal_lost]' "$folder/first")" '[0,0,0]'
same "copies by switches" "$(jq -c '.copies > 0 and .signal_cells > 100' "$folder/first")" true
exits 0 "" "$leat" sim clos444 --calls $example --cycles 400000 --seed 7 --json
cmp -s "$folder/stdout" "$folder/first" || fail "two runs differ"
exits 0 "" "$leat" sim clos444 --calls $example --cycles 400000 --seed 7
text=$(cat "$folder/stdout")
has "certificate" "$text" "certificate $(jq -r .certificate "$folder/first")"
has "why" "$text" "blocked, cause 37: 1 (the cell rate is not available)"

# ---- random calls: Erlang B (10 lines, 20 erlangs) is 0.53797 ---------------------------------
cat > "$file" << 'END'
random from=0 to=1 erlangs=20 hold=1s class=cbr pcr=33000 data=off
lines jitter=0us
END
exits 0 "" "$leat" sim mesh:2/cells --cycles 2e10 --calls "$file" --json
same "ten circuits" "$(jq -c '.circuits[0].inner' "$folder/stdout")" 10
same "Erlang B" "$(jq -c '.calls_offered > 15000 and (.blocking / 0.53797 - 1 | fabs) < 0.02
    and (.carried_erlangs / 9.2406 - 1 | fabs) < 0.02' "$folder/stdout")" true

# ---- every cell on VCI 5 is a cell of the recording -------------------------------------------
exits 0 "" "$leat" sim hypercube:2/cells --calls random:erlangs=0.5,hold=200us,class=cbr,pcr=10000 \
    --cycles 20000 --json --record "$folder/r.leatrec"
cells=$(jq '[.line_use[].cells] | add' "$folder/stdout")
exits 0 "" "$leat" export "$folder/r.leatrec" --pcapng "$folder/r.pcapng"
exits 0 "" "$leat" decode "$folder/r.pcapng" --json
same "recorded" "$(grep -c '"kind"' "$folder/stdout")" "$cells"
exits 0 "" "$leat" decode --format q2931 "$folder/r.pcapng" # messages of each line by themselves
has "messages" "$(cat "$folder/stdout")" "RELEASE-COMPLETE (90)"

# ---- what runs out is a cause -----------------------------------------------------------------
cat > "$file" << 'END'
random erlangs=9 hold=5ms class=ubr pcr=1000 data=off
lines calls=4
END
exits 0 "" "$leat" sim torus:3,3/cells --calls "$file" --json
same "no room for a call" "$(jq -c '[.causes[].cause, .calls_blocked > 10, .calls_lost, .signal_lost]' "$folder/stdout")" '[47,true,0,0]'

# ---- trees ------------------------------------------------------------------------------------
exits 0 "" "$leat" fabric show clos444 --multicast 1,5,7
has "copies" "$(cat "$folder/stdout")" "4 switches, 6 lines behind the first switch, 2 copies; as a cell for each port 9 lines"
exits 0 "" "$leat" fabric show hypercube:4/cells --multicast 1,5,7 --json
same "lines" "$(jq -c '[.switches, .tree_lines, .copies, .lines_alone]' "$folder/stdout")" '[5,7,2,9]'
exits 2 "port 5 twice" "$leat" fabric show clos444 --multicast 5,1,5
exits 2 "expected 0 to 15" "$leat" fabric show clos444 --multicast 16
exits 2 "expected an ATM fabric" "$leat" fabric show mesh:4,4 --multicast 1
exits 2 "--from without --multicast" "$leat" fabric show clos444 --from 1

# ---- mistakes ---------------------------------------------------------------------------------
wrong() {
    printf '%b\n' "$1" > "$file"
    exits 2 "$2" "$leat" sim clos444 --calls "$file"
}
wrong "" "$file:1: no call up to the end of the file"
wrong "call from=0 to=1 class=cbr pcr=1000\ncal from=1" "$file:2: 'cal', did you mean call? expected call, random or lines"
wrong "call from=0 to=16 class=cbr pcr=1000" "$file:1: to '16', expected 0 to 15"
wrong "call from=0 to=0 class=cbr pcr=1000" "$file:1: to=0, which is the caller"
wrong "call from=0 to=1,1 class=cbr pcr=1000" "$file:1: to=1 for the second time"
wrong "call from=0 to=3-1 class=cbr pcr=1000" "expected the lower port first"
wrong "call from=0 to=1@3 class=cbr pcr=1000" "expected @ADDED..DROPPED"
wrong "call from=0 to=1@4ms..4ms class=cbr pcr=1000" "'@4ms..4ms', expected an end after the beginning"
wrong "call from=0 to=1,2 class=cbr pcr=1000 ways=both" "ways=both with several parties"
wrong "call from=0 class=cbr pcr=1000" "no to, expected a port"
wrong "call from=0 to=1 pcr=1000" "no class"
wrong "call from=0 to=1 class=abr pcr=1000" "expected one of cbr, vbr-rt, vbr-nrt, ubr"
wrong "call from=0 to=1 class=cbr" "no pcr"
wrong "call from=0 to=1 class=cbr pcr=1000 scr=5" "scr, which only vbr-rt and vbr-nrt have"
wrong "call from=0 to=1 class=vbr-rt pcr=1000 scr=500" "no mbs"
wrong "call from=0 to=1 class=cbr pcr=1000 hold=5" "expected 0 to 1000 seconds with its unit"
wrong "random hold=1ms class=cbr pcr=1000" "expected erlangs=A, or sources=N and idle=TIME"
wrong "random erlangs=0 hold=1ms class=cbr pcr=1000" "erlangs '0'"
wrong "random erlangs=1 class=cbr pcr=1000" "no hold"
wrong "random erlangs=1 hold=0ms class=cbr pcr=1000" "hold '0ms', expected more than 0"
wrong "random erlangs=1000 hold=1ms class=cbr pcr=1000" "more than a call in a slot"
wrong "lines labels=0\n" "labels '0', expected 1 to 32768"
wrong "lines w=3\nlines w=4" "lines for the second time"
for option in --record --json; do
    exits 2 "$option and --calls name one file" "$leat" sim clos444 --calls "$file" $option="$file"
done
exits 2 "--json and --record name one file" "$leat" sim clos444 --calls "$file" --record "$folder/one" --json="$folder/one"
exits 2 "--record '-', expected a file" "$leat" sim clos444 --calls "$file" --record -
same "the input" "$(cat "$file")" "lines w=3
lines w=4"
exits 2 "--load with --calls, expected only" "$leat" sim clos444 --calls $example --load 0.3
exits 2 "wires that go both ways" "$leat" sim benes:8/cells --calls $example
exits 2 "output queues" "$leat" sim mesh:4,4/cells/switch=voq --calls $example
printf "lines labels=32768 buffer=65536\nrandom erlangs=1 hold=1ms class=cbr pcr=1000\n" > "$file"
exits 2 "MiB of queues, labels and calls" "$leat" sim hypercube:8/cells --calls "$file"
finish
