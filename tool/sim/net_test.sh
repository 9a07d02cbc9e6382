#!/bin/sh
# leat sim and leat fabric of networks: keys, determinism, faults, deadlocks, descriptions, bad input.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
share=$(dirname "$0")/../../share/fabrics

# json FILTER COMMAND...: what the command's JSON says
json() {
    filter=$1
    shift
    exits 0 "" "$leat" "$@" --json
    jq -c "$filter" "$folder/stdout"
}
figures='del(.wall_seconds, .cycles_per_second, .flit_hops_per_second)'

# ---- what a run tells ------------------------------------------------------------------------
run="sim mesh:4,4 --load 0.3 --cycles 5000 --seed 7"
# shellcheck disable=SC2086
first=$(json "$figures" $run)
# shellcheck disable=SC2086
same "the same run again" "$(json "$figures" $run)" "$first"
# shellcheck disable=SC2086
[ "$(json "$figures" ${run%7}8)" != "$first" ] || fail "seeds do not matter"
same "keys" "$(jq -c '[has("fabric", "model", "traffic", "load", "seed", "cycles", "cycle_ns", "flits_offered",
    "flits_delivered", "packets_delivered", "throughput", "latency_cycles", "suspensions",
    "schema", "status", "certificate", "wall_seconds", "cycles_per_second", "flit_hops",
    "flit_hops_per_second", "hops_mean", "warmup_cycles", "saturated", "losses", "packets_rerouted",
    "deadlock")] | all' "$folder/stdout")" true
same "nothing is lost" "$(echo "$first" | jq -c '[.losses[], .packets_offered - .packets_delivered - .packets_waiting]')" "[0,0,0,0,0]"
# shellcheck disable=SC2086
exits 0 "" "$leat" $run
has "for people" "$(cat "$folder/stdout")" "certificate"

# Any number of threads has the same results; a small network has fewer, and switches with queues one.
for run in "torus:16,16 --load 0.2" "torus:20,20/routing=adaptive --load 0.3 --flits 4 --warmup 100" \
    "mesh:16,32 --traffic all-to-all --rounds 1" "mesh:16,16/switch=voq --load 0.1" \
    "hyperx:16,20 --load 0.2 --fault link:1-2@100..300 --fault router:170@50..400 --fault ber:1e-5" \
    "fattree:8,3 --load 0.3 --traffic hotspot"; do
    # shellcheck disable=SC2086
    one=$(json "$figures | del(.threads)" sim $run --cycles 600 --links)
    for threads in 2 3 auto; do
        # shellcheck disable=SC2086
        same "$run with $threads threads" "$(json "$figures | del(.threads)" sim $run --cycles 600 --links --threads $threads)" "$one"
    done
done
same "threads of a large network" "$(json .threads sim torus:32,32 --cycles 100 --threads 3)" 3
same "threads of a small network" "$(json .threads sim mesh:8,8 --cycles 100 --threads 3)" 1
same "threads of switches with queues" "$(json .threads sim mesh:16,16/switch=voq --cycles 100 --threads 3)" 1
exits 0 "a network of voq switches has one thread" "$leat" sim mesh:16,16/switch=voq --cycles 100 --threads 3
for threads in 0 257 -1 many 2.5 ''; do
    exits 2 "--threads" "$leat" sim torus:32,32 --cycles 100 --threads "$threads"
done

# A message that meets no other: (pipeline + wire) per router, 2 at the ends, its other flits.
for row in "line:5 1 22" "line:5/pipeline=1 1 12" "line:5/wire=3 1 30" "line:5 4 25" "line:5/pipeline=5 1 32"; do
    # shellcheck disable=SC2086
    set -- $row
    echo "10 0 4" > "$folder/one.trace"
    same "alone in $1, $2 flits" \
        "$(json .latency_cycles.max sim "$1" --trace "$folder/one.trace" --flits "$2" --cycles 1000 --warmup 0)" "$3"
done

# Every topology, every architecture carries what it is given.
for fabric in line:4 ring:6 crossbar:5 grid:4 mesh:3,3 torus:4,3 hypercube:3 fly:2,3 benes:8 \
              clos:2,3,4/switch=vc fattree:2,3 dragonfly:1,2,1 hyperx:3,3 mesh8x8 \
              mesh:3,3/routing=updown mesh:3,3/routing=adaptive torus:4,4/routing=valiant \
              torus:4,4/routing=adaptive fattree:3,2/routing=adaptive hypercube:3/routing=valiant \
              ring:5/flow=cut-through mesh:3,3/flow=store-and-forward mesh:3,3/full=drop \
              crossbar:4/switch=fifo crossbar:4/switch=voq crossbar:4/switch=output \
              crossbar:4/switch=shared crossbar:4/switch=xpq crossbar:5/switch=batcher mesh:3,3/switch=voq \
              fly:2,3/switch=output clos:2,2,2/switch=xpq torus:3,3/switch=output/full=drop \
              "$share/campus.yaml" "$share/campus.edges" "$share/campus.edges/vcs=2/routing=adaptive"; do
    same "$fabric delivers" \
        "$(json '[.packets_offered > 0, .packets_delivered + .packets_waiting + ([.losses[]] | add) == .packets_offered,
            .packets_waiting < .packets_offered / 10, .deadlock]' sim "$fabric" --load 0.1 --cycles 3000 --flits 2)" \
        "[true,true,true,null]"
done

for traffic in uniform permutation transpose bit-reverse bit-complement shuffle tornado neighbour hotspot \
               broadcast bursty; do
    same "$traffic" "$(json '.packets_delivered > 0 and .traffic != null' \
        sim mesh:4,4 --traffic $traffic --load 0.1 --cycles 3000)" true
done
for traffic in all-to-all allreduce broadcast-tree; do
    same "$traffic" "$(json '[.round_cycles.count, .round_cycles.min <= .round_cycles.mean, .packets_waiting]' \
        sim mesh:2,2 --traffic $traffic --rounds 3 --cycles 10000)" "[3,true,0]"
done
printf '# cycle source destination flits\n0 0 5\n0, 1, 5, 3\n70 15 0 2\n' > "$folder/some.trace"
same "a trace" "$(json '[.packets_delivered, .flits_delivered]' sim mesh:4,4 --trace "$folder/some.trace" --cycles 1000)" "[3,6]"

# ---- saturation, deadlock ----------------------------------------------------------------------
same "below saturation" "$(json .saturated sim mesh:8,8 --load 0.35 --cycles 8000)" false
same "above saturation" "$(json '[.saturated, .throughput < 0.45]' sim mesh:8,8 --load 0.6 --cycles 8000)" "[true,true]"
exits 2 "wait for each other in a cycle: 0>1 vc0, 1>2 vc0" "$leat" sim ring:6/vcs=1 --load 0.5
exits 2 "in a cycle" "$leat" fabric check torus:4,4/vcs=1
exits 2 "in a cycle" "$leat" sim ring:6/switch=output
exits 1 "deadlock: nothing moves" "$leat" sim ring:6/vcs=1 --load 1 --flits 9 --unsafe --cycles 100000 --json
same "the buffers of a deadlock" "$(jq -c '[(.deadlock | length) >= 2, (.deadlock[0] | keys)]' "$folder/stdout")" \
    '[true,["channel","destination","in","router","source"]]'
"$leat" sim ring:6/vcs=1 --load 1 --flits 9 --unsafe --cycles 100000 > "$folder/stdout" 2> /dev/null || :
same "its inputs are those of a router" \
    "$(sed -n 's/^ *router [0-9]*, input \([0-9]*\), .*/\1/p' "$folder/stdout" | sort -un | tail -1 | grep -c '^[0-2]$')" 1
same "deadlock told" "$(json '.deadlock_check.possible' fabric show ring:6/vcs=1)" true

exits 1 "buffers wait for each other, while others go on" \
    "$leat" sim torus:4,4/switch=fifo/buffer=1 --load 0.9 --flits 2 --cycles 6000 --unsafe --seed 74
exits 1 "waits for a packet that was lost" "$leat" sim mesh:4,4 --traffic allreduce --fault link:0-1 --cycles 5000
same "what comes to an end is measured from the beginning" "$(json '[.warmup_cycles, .latency_cycles.mean > 0]' \
    sim mesh:2,2 --traffic allreduce --rounds 2 --cycles 10000)" "[0,true]"
same "what is done ends" "$(json '[.done, .settled, .cycles < 10000, .throughput > 0.05, .throughput_ci95, .latency_cycles.ci95, .round_cycles.count, .round_cycles.asked]' \
    sim mesh:2,2 --traffic allreduce --rounds 2 --cycles 10000)" "[true,null,true,true,null,null,2,2]"
exits 0 "" "$leat" sim mesh:2,2 --traffic allreduce --rounds 2 --cycles 10000
has "and says so" "$(cat "$folder/stdout")" ", then all was done"
! grep -q 'run longer' "$folder/stdout" || fail "what is done need not run longer"
exits 0 "" "$leat" sim mesh:2,2 --traffic allreduce --rounds 3000 --cycles 100
has "rounds that did not fit" "$(cat "$folder/stdout")" "  of 3000: the others did not fit into the cycles"
same "in JSON, too" "$(json '[.done, .round_cycles.count < 3000, .round_cycles.asked]' sim mesh:2,2 --traffic allreduce --rounds 3000 --cycles 100)" "[false,true,3000]"
same "rounds without end" "$(json '[has("done"), .round_cycles.asked]' sim mesh:2,2 --traffic allreduce --cycles 100)" "[false,null]"
printf '0 0 1\n5 2 3\n900 1 2\n' > "$folder/three.trace"
same "a trace ends with its last packet" "$(json '[.done, .cycles, .packets_delivered, .trace.not_begun, .latency_cycles.ci95]' \
    sim line:4 --trace "$folder/three.trace" --cycles 100000)" "[true,911,3,0,null]"
same "and is the same as one that is just long enough" "$(json "$figures" sim line:4 --trace "$folder/three.trace" --cycles 911)" \
    "$(json "$figures" sim line:4 --trace "$folder/three.trace")"
same "in switches with queues, too" "$(json '[.done, .cycles < 1000]' sim crossbar:4/switch=voq --trace "$folder/three.trace")" "[true,true]"
same "with faults" "$(json '[.done, .cycles < 1000, .packets_delivered, .losses.no_way]' sim line:4 --trace "$folder/three.trace" --fault link:1-2@100..)" "[true,true,2,1]"
same "a trace that is cut" "$(json '[.done, .cycles, .trace.packets, .trace.not_begun]' sim line:4 --trace "$folder/three.trace" --cycles 800)" "[false,800,3,1]"
exits 0 "" "$leat" sim line:4 --trace "$folder/three.trace" --cycles 800
has "its rest" "$(cat "$folder/stdout")" "1  of 3: their cycles come later"
same "one packet has no interval" "$(json '[.latency_cycles.ci95, .throughput_ci95]' sim mesh:2,2 --load 0.0001 --cycles 4000 --seed 3 --warmup 0)" "[null,null]"
same "nothing measured is null" "$(json '[.latency_cycles[], .hops_mean]' sim mesh:2,2 --load 0 --cycles 100)" \
    "[null,null,null,null,null,null]"
same "adaptive carries no less than dor below saturation" "$(json '.throughput > 0.29 and .latency_cycles.mean < 40' \
    sim mesh:8,8/routing=adaptive --load 0.3 --cycles 5000)" true
same "the model of networks" "$(json .model sim mesh:2,2 --model cell --cycles 100)" '"flit"'
cp "$share/campus.edges" "$folder/ö \"q\".edges"
same "names in JSON" "$(json .fabric sim "$folder/ö \"q\".edges" --cycles 100)" "\"$folder/ö \\\"q\\\".edges\""

# ---- faults ------------------------------------------------------------------------------------
same "dor loses at a broken wire" "$(json '[.losses.no_way > 0, .packets_rerouted]' \
    sim mesh:4,4 --load 0.1 --cycles 5000 --fault link:5-6@1000..)" "[true,0]"
same "updown goes round it" "$(json '[.losses.no_way, .packets_rerouted > 0]' \
    sim mesh:4,4/routing=updown --load 0.1 --cycles 5000 --fault link:5-6@1000..)" "[0,true]"
printf 'link:5-6@1000..2000  # a comment\nflap:1-2@100..3000/50,20\nport:3@500..\nrouter:9@1..50\nber:1e-6\n' > "$folder/faults"
same "a file of faults" "$(json '[.losses.no_way > 0, .losses.corrupted > 0]' \
    sim mesh:4,4 --load 0.2 --cycles 20000 --fault-file "$folder/faults")" "[true,true]"
same "several faults" "$(json '.losses.corrupted > 0 and .losses.no_way > 0' \
    sim mesh:4,4 --load 0.2 --cycles 5000 --fault ber:1e-5 --fault port:3)" true

# ---- links ---------------------------------------------------------------------------------------
same "flits over wires" "$(json '(.links | length) == 48 and (([.links[]] | add) + .flits_delivered <= .flit_hops)' \
    sim mesh:4,4 --load 0.2 --cycles 5000 --links)" true

# ---- fabrics -------------------------------------------------------------------------------------
same "a mesh" "$(json '[.terminals, .routers, .wires, .radix, .distance_mean, .distance_max]' fabric show mesh:8,8)" "[64,64,224,5,6.25,15]"
same "Clos(4,7,4)" "$(json .class fabric show clos:4,7,4/switch=vc)" '"non-blocking"'
same "Clos(4,4,4)" "$(json .class fabric show clos:4,4,4/switch=vc)" '"rearrangeable"'
same "Clos(4,3,4)" "$(json .class fabric show clos:4,3,4/switch=vc)" '"blocking"'
exits 0 "" "$leat" fabric show torus:4,4 --path 0,5
has "routes" "$(cat "$folder/stdout")" "route       0: 0"
same "one route is shown once" "$("$leat" fabric show mesh:4,4 --path 0,10 | grep -c '^route ')" 1
same "routes that differ are all shown" "$("$leat" fabric show fattree:4,2 --path 0,10 | grep '^route ' | sort | uniq -d)" ""
[ "$("$leat" fabric show fattree:4,2 --path 0,10 | grep -c '^route ')" -gt 1 ] || fail "a fat tree has several routes"
exits 0 "" "$leat" fabric list
has "list" "$(cat "$folder/stdout")" "dragonfly:P,A,H"
exits 0 "" "$leat" fabric check clos444
exits 0 "" "$leat" fabric draw mesh:4,4 -o "$folder/mesh.svg"
same "wires are counted in one way" "$(grep -c '48 one-way wires' "$folder/mesh.svg")" 1
exits 0 "" "$leat" fabric show mesh:4,4
has "and so they are here" "$(cat "$folder/stdout")" "wires       48, each one way"
exits 0 "" "$leat" fabric draw clos444 -o "$folder/clos.svg"
has "a picture" "$(head -c 300 "$folder/clos.svg")" "<svg"
no_part draw

# ---- bad input -----------------------------------------------------------------------------------
while IFS='|' read -r words text; do
    # shellcheck disable=SC2086
    exits 2 "$text" "$leat" $words
done << END
sim mesh:0,4|expected
sim crossbar:4/terminals=2|terminals, expected none: a crossbar has its own
sim mesh:4,4/vcs=99|expected 1 to 32
sim mesh:4,4/colour=red|is no parameter
sim mesh:4,4/bufer=4|/line=NAME; did you mean buffer?
sim flits:ring16/routng=dor|; did you mean routing?
sim mash:4,4|unknown fabric
sim benes:12|power of two
sim clos:4,4,4/switch=none|expected vc, fifo
sim mesh:4,4 --load 1.5|expected 0 to 1
sim mesh:4,4 --load -0.1|expected 0 to 1
sim mesh:4,4 --traffic nothing|expected one of uniform
sim mesh:4,4 --traffic transpsoe|did you mean transpose? expected one of uniform permutation
sim mesh:3,5 --traffic bit-reverse|power of two
sim mesh:4,4 --flits 0|expected a whole number, 1 to 65535
sim mesh:4,4 --cycles 0|expected a whole number
sim mesh:4,4 --model rtl|expected flit
sim mesh:4,4 --bytes 16|--bytes has no meaning for mesh:4,4, which is a network of switches
sim mesh:4,4 --forwarding planned|--forwarding has no meaning for mesh:4,4
sim clos444 --flits 4|is an ATM fabric
sim mesh:4,4 --fault link:0-15|--fault link:0-15: no wire between routers 0 and 15, expected a neighbour
sim mesh:4,4 --fault nonsense|expected
sim mesh:4,4 --fault port:16|expected
sim mesh:4,4 --fault link:0-1@5..2|expected
sim mesh:4,4 --warmup 100000|expected less
sim mesh:4,4 --trace $folder/nothing|nothing
sim mesh:4,4 --traffic trace|--trace FILE
sim mesh:4,4 --traffic allreduce --load 0.5|no meaning
sim mesh:4,4/flow=cut-through --flits 9|expected at most /buffer=8
sim torus:256,256 --links|262144 wires, expected a fabric of at most 131072
sim mesh:4,4 --rounds 3|--rounds has no meaning with --traffic uniform, expected a collective
sim clos444 --bytes 1000 --blocks 3|0 to 88 octets
sim mesh:4,4 --fault link:0-99|--fault link:0-99: no router 99, expected 0 to 15
sim mesh:4,4 --fault=|--fault '', expected link:, flap:
sim mesh:4,4 --fault port:1 --fault=|--fault '', expected link:, flap:
sim torus:4,4/routing=table|expected another /routing=, /full=drop
sim ring:6/vcs=1|expected classes of virtual channels (more /vcs=), another
sim $folder/none.yaml|none.yaml
sim mesh:4,4/routing=tag|expected
sim fly:2,3/routing=valiant|expected
fabric show mesh:4,4 --vpi|ATM
fabric show mesh:4,4 --path 0,16|expected 0 to 15
fabric draw mesh:65,65|at most 4096
fabric time mesh:4,4 --model rtl|time: --model has no meaning for mesh:4,4
fabric time mesh:4,4 --to 16|expected a whole number, 0 to 15
fabric check|expected one fabric
END

# ---- a run that ends once it is precise enough -----------------------------------------------------
precise='[.stopped_by, .precision, .cycles < 50000, .cycles > 1536, .saturated]'
same "precise" "$(json "$precise" sim mesh:4,4 --load 0.3 --cycles 50000 --precision 0.05)" '["precision",0.05,true,true,false]'
same "saturated" "$(json "$precise" sim mesh:4,4 --load 1 --cycles 50000 --precision 0.05)" '["saturation",0.05,true,true,true]'
same "not precise" "$(json '[.stopped_by, .cycles]' sim mesh:4,4 --load 0.3 --cycles 5000 --precision 0.0001)" '["cycles",5000]'
same "without a precision" "$(json 'has("precision", "stopped_by")' sim mesh:4,4 --cycles 100 | sort -u)" false
same "as long as it runs it is the same run" "$(json .certificate sim mesh:4,4 --load 0.3 --cycles "$(json .cycles sim mesh:4,4 --load 0.3 --precision 0.05)")" "$(json .certificate sim mesh:4,4 --load 0.3 --precision 0.05)"
same "with queues" "$(json .stopped_by sim crossbar:4/switch=voq --load 0.3 --precision 0.05)" '"precision"'
same "with faults that last" "$(json .stopped_by sim mesh:4,4 --load 0.1 --precision 0.05 --fault link:0-1)" '"precision"'
exits 0 "" "$leat" sim mesh:4,4 --load 0.3 --precision 0.05
has "for people" "$(cat "$folder/stdout")" ", then precise enough"
exits 0 "" "$leat" sim mesh:4,4 --load 1 --precision 0.05
has "for people" "$(cat "$folder/stdout")" ", then surely saturated"
exits 2 "--precision 0, expected a share above 0, as 0.02" "$leat" sim mesh:4,4 --precision 0
exits 2 "--precision" "$leat" sim mesh:4,4 --precision 2%
exits 2 "--precision with --rounds, expected traffic that goes on" "$leat" sim mesh:4,4 --traffic allreduce --rounds 3 --precision 0.02
exits 2 "expected only such as last" "$leat" sim mesh:4,4 --fault link:0-1@5000.. --precision 0.02
exits 2 "expected only such as last" "$leat" sim mesh:4,4 --fault flap:0-1@0../5,5 --precision 0.02
exits 2 "--precision has no meaning for clos444" "$leat" sim clos444 --precision 0.02

printf '5 0 1\n4 0 1\n' > "$folder/back.trace"
exits 2 "back.trace:2: " "$leat" sim mesh:4,4 --trace "$folder/back.trace"
printf '# nothing\n\n' > "$folder/none.trace"
exits 2 "none.trace:2: nothing in it, expected a packet per line" "$leat" sim mesh:4,4 --trace "$folder/none.trace"
: > "$folder/none.faults"
exits 2 "none.faults:1: nothing in it, expected a fault per line" "$leat" sim mesh:4,4 --fault-file "$folder/none.faults"
exits 0 "--hot has no effect on uniform traffic, expected it with hotspot" "$leat" sim mesh:2,2 --hot 3 --cycles 100
exits 0 "--burst has no effect on uniform traffic, expected it with bursty" "$leat" sim mesh:2,2 --burst 3 --cycles 100
exits 0 "" "$leat" sim mesh:2,2 --traffic bursty --burst 3 --cycles 100
same "nothing to say" "$(cat "$folder/stderr")" ""
exits 0 "--load 0.1234567 is rounded to 0.123457, expected steps of 1e-6" "$leat" sim mesh:2,2 --load 0.1234567 --cycles 100
exits 0 "--load 0.1234567 is rounded to 0.123457, expected steps of 1e-6" "$leat" sim bmx:2 --load 0.1234567 --cycles 100
exits 0 "" "$leat" sim mesh:2,2 --load 0.25000000 --cycles 100
same "nothing to say of zeros" "$(cat "$folder/stderr")" ""
same "zeros behind the sixth decimal" "$(json .load sim mesh:2,2 --load 0.25000000 --cycles 100)" 0.25
printf 'port:99\n' > "$folder/bad.faults"
exits 2 "bad.faults:1: port:99: no terminal 99, expected" "$leat" sim mesh:4,4 --fault-file "$folder/bad.faults"
printf 'port:1\nport:x\n' > "$folder/bad.faults"
exits 2 "bad.faults:2: " "$leat" sim mesh:4,4 --fault-file "$folder/bad.faults"

finish
