#!/bin/sh
# leat sim FABRIC --oam WHAT: defects of a fault, both models, what is measured, captures, mistakes.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
# oam FILTER WORD...: what is of its JSON
oam() {
    filter=$1
    shift
    "$leat" sim "$@" --json 2> /dev/null | jq -c "$filter"
}

# ---- nothing is wrong
same "no defects" "$(oam '[.defects, .oam_bad, .cells_unknown, .lost, ([.monitored[].near.lost] | add)]' clos444 --oam cc,pm=16 --load 0.5 --cycles 100000)" '[[],0,0,0,0]'
same "flows" "$(for f in clos444 clos444/switching=vc torus:4,4/cells; do oam .oam_flow $f --oam cc --cycles 10000; done | tr '\n' ' ')" '"F4" "F5" "F4" '
same "pairs" "$(oam '[.monitored[] | [.from, .to]]' clos444 --oam cc,0-5,9-3 --cycles 10000)" '[[5,0],[9,3],[0,5],[3,9]]'

# ---- a broken wire: AIS where it is passed, RDI back, LOC where no AIS comes
same "the way of one connection" "$(oam '[.defects[] | select(.defect != "LOC") | [.port, .peer, .defect, .broken]]' clos444 --oam cc,0-4 --cycles 200000 --fault link:0-4@50000..100000)" '[[4,0,"AIS","0>4"],[0,4,"RDI","0>4"]]'
same "in time" "$(oam '[.defects[] | select(.defect == "AIS") | .from_cycle < 51000 and .to_cycle >= 100000 and .to_cycle < 111000] | all' clos444 --oam cc --cycles 200000 --fault link:0-4@50000..100000)" true
same "a dead port hears nothing" "$(oam '[.defects[] | select(.port == 7 and .from_cycle < 150000) | .defect] | unique' clos444 --oam cc --cycles 200000 --fault port:7@50000..150000)" '["LOC"]'
same "rerouted" "$(oam '[.defects, .oam_cells.ais.cells_sent, .cells_rerouted > 0]' clos444 --oam cc,reroute --cycles 200000 --load 0.4 --fault link:0-4@50000..100000)" '[[],0,true]'
same "another topology" "$(oam '[.defects[] | select(.defect == "AIS") | .broken] | unique' torus:4,4/cells/switch=output --oam cc --cycles 100000 --fault link:1-2@20000..80000)" '["1>2","2>1"]'
same "without checks nothing is missed" "$(oam '[.defects[].defect] | unique' clos444 --oam ais --cycles 200000 --fault link:0-4@50000..150000)" '["AIS","RDI"]'

# ---- both models
for what in "--oam cc,pm=16 --fault switch:5@20000..60000 --load 0.6" "--oam cc,f5,segment,pm=32 --bit-errors 1e-5 --loss 1e-3 --insert 1e-3 --duplicate 1e-3 --hec"; do
    # shellcheck disable=SC2086
    same "models of $what" "$(oam 'del(.model)' clos444 --cycles 80000 $what)" "$(oam 'del(.model)' clos444 --cycles 80000 --model rtl $what)"
done

# ---- what is measured is what happened
same "lost" "$(oam '[.monitored[] | .cells_sent - .cells_delivered - .near.lost] | max < 8' clos444 --oam cc,pm=16 --load 0.6 --cycles 400000 --fault link:0-4@100000..200000)" true
same "the far end" "$(oam '[.monitored[] | .near.lost == .far.lost] | all' clos444 --oam pm=16 --load 0.6 --cycles 200000 --fault link:0-4@50000..60000)" true
same "errored blocks" "$(oam '[.monitored[].near.blocks_errored] | add > 20' clos444 --oam pm=16 --load 0.6 --cycles 200000 --bit-errors 0,1e-5)" true

# ---- captures: each kind of cell, with sound checks
exits 0 "" "$leat" sim clos444 --oam cc,pm=16 --load 0.6 --cycles 60000 --fault link:0-4@10000..50000 --record "$folder/r.leatrec"
exits 0 "" "$leat" export "$folder/r.leatrec" --pcapng "$folder/r.pcapng"
"$leat" decode "$folder/r.pcapng" --json > "$folder/cells"
same "kinds" "$(jq -r '.fields.oam.function // empty' "$folder/cells" | sort -u | tr '\n' ' ')" "AIS RDI backward-reporting continuity forward-monitoring "
same "all sound" "$(grep -vc '"error":null' "$folder/cells")" 0

# ---- people
exits 0 "" "$leat" sim clos444 --oam cc,pm=16 --load 0.5 --cycles 200000 --fault link:0-4@50000..100000
text=$(cat "$folder/stdout")
has "defects" "$text" "AIS          502"
has "of 16" "$text" "blocks of 16 cells"
has "certificate" "$text" "certificate"

# ---- mistakes
exits 2 "--oam 'x', expected cc, ais, pm=N" "$leat" sim clos444 --oam x
exits 2 "--oam '', expected cc" "$leat" sim clos444 --oam ''
exits 2 "--oam '3-3', expected two ports of 0 to 15" "$leat" sim clos444 --oam cc,3-3
exits 2 "--oam '5-0': this pair again" "$leat" sim clos444 --oam cc,0-5,5-0
exits 2 "--oam pm=100, expected blocks of 128, 256, 512 or 1024" "$leat" sim clos444 --oam pm=100
exits 2 "--oam period=10, expected 53 to 1000000000 cycles" "$leat" sim clos444 --oam cc,period=10
exits 2 "expected at least 1696: 16 connections of one line" "$leat" sim clos444 --oam cc,period=1000
exits 2 "f4, but its switches switch virtual channels, expected f5" "$leat" sim clos444/switching=vc --oam cc,f4
exits 2 "reroute has no meaning with bmx:4, expected a Clos network" "$leat" sim bmx:4 --oam cc,reroute
exits 2 "switches choose a wire for each cell" "$leat" sim torus:4,4/cells/routing=adaptive/vcs=3 --oam cc
exits 2 "--dead with --oam, expected --fault port:PORT@FROM..TO" "$leat" sim clos444 --oam cc --dead 3
exits 2 "--traffic with --oam, expected only --load" "$leat" sim clos444 --oam cc --traffic W
exits 2 "--calls with --oam, expected only" "$leat" sim clos444 --oam cc --calls random:erlangs=1
exits 2 "pairs, expected at most 32640" "$leat" sim hypercube:10/cells --oam cc
exits 2 "--oam" "$leat" sim mesh:4,4 --oam cc
finish
