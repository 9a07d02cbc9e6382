#!/bin/sh
# leat run: PVM programs as Debian ships them, over simulated networks, without any daemon.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs hello.pvm # of pvm-examples
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)

# twice FABRIC TASKS WORD...: the same output and the same certificate; what it printed is in $folder/out
twice() {
    fabric=$1 tasks=$2
    shift 2
    for i in 1 2; do
        "$leat" run --fabric "$fabric" -n "$tasks" ${library:+--library $library} --json -- "$@" < "${input:-/dev/null}" > "$folder/out$i" 2> "$folder/err$i" ||
            fail "$*: exit code $?: $(tail -n 3 "$folder/err$i")"
        tail -n 1 "$folder/out$i" | jq -c 'del(.wall_seconds)' > "$folder/told$i"
        sed '$d' "$folder/out$i" > "$folder/out$i.own"
    done
    same "$*: output of two runs" "$(cat "$folder/out1.own")" "$(cat "$folder/out2.own")"
    same "$*: what is told of two runs" "$(cat "$folder/told1")" "$(cat "$folder/told2")"
    cat "$folder/out1.own" "$folder/err1" > "$folder/out"
}
printed() { grep -q -- "$1" "$folder/out" || fail "$2: no '$1' in: $(tail -n 5 "$folder/out")"; }

for fabric in clos444 mesh:4,4; do
    twice "$fabric" 1 hello.pvm
    printed 'hello, world from' hello.pvm
    twice "$fabric" 1 master1
    printed '^I got .* from 1; (expecting' master1
    # It reads no counter of the processor, whatever octets the C library has in it.
    same 'master1: another run is the same' "$(jq -r .repeatable "$folder/told1")" true
    twice "$fabric" 1 gexamp 5
    twice "$fabric" 1 ge 6
    printed 'done' ge
    twice "$fabric" 1 thb 4
    printed 'done\.' thb
    twice "$fabric" 1 tst
    printed 'left prognosis' tst
    twice "$fabric" 1 tjl
done
twice clos444 1 joinleave
printed 'Joined 10000 times' joinleave
printf '4\n10\n' > "$folder/answers"
input=$folder/answers twice clos444 1 trsg
for test in dbwtest ibwtest rbwtest pbwtest; do twice mesh:4,4 2 "$test"; done

# Results are those that the program expects of itself.
"$leat" run --fabric clos444 -- master1 2> /dev/null |
    awk '/expecting/ { if ($3 ")" != $7) wrong++; n++ } END { exit wrong || n < 2 }' ||
    fail "master1's results are not those it expects"

if command -v NPpvm > /dev/null; then
    # The receiver first, as NetPIPE wants it; a script must say what it runs.
    # shellcheck disable=SC2016
    library=pvm twice clos444 2 sh -c 'if [ "$LEAT_SLOT" = 0 ]; then exec NPpvm -u 8; else exec NPpvm -h x -u 8 -o /dev/null; fi'
    printed '8 bytes .* Mbps in' NPpvm
fi

# ---- --collectives: the network's own means ----------------------------------------------------

# Answers are the same, whoever carries out what. master1 prints them as they come.
for fabric in ring16 clos444 torus:2,2/esp=20 twosan; do
    for program in 'gexamp 5' 'ge 6' 'thb 4' tjl master1; do
        for by in host network; do
            # shellcheck disable=SC2086
            "$leat" run --fabric "$fabric" --collectives $by -- $program < /dev/null 2> "$folder/err" | sort > "$folder/$by" ||
                fail "$program over $fabric by $by: $(head -n 2 "$folder/err")"
        done
        same "$program over $fabric" "$(cat "$folder/network")" "$(cat "$folder/host")"
    done
done

if command -v "${CC:-cc}" > /dev/null &&
    "${CC:-cc}" -D_GNU_SOURCE -O1 -o "$folder/random" "$tests/pvm/random_groups.c" -lgpvm3 -lpvm3 2> "$folder/err"; then
    # random_over FABRIC SEED BY: the result of random calls; what is told of it is in $folder/told.json
    random_over() {
        TASKS=5 "$leat" run --fabric "$1" -n 5 --collectives "$3" --json "$folder/told.json" -- "$folder/random" "$2" 120 2> "$folder/err"
    }
    seed=${LEAT_SEED:-$(date +%s)}
    for fabric in ring16 ring4 clos444 torus:2,2/esp=20 twosan; do # on ring4 and the torus, tasks share ports
        want=$(random_over "$fabric" "$seed" host)
        has "random calls over $fabric, seed $seed" "$want" results
        same "random calls over $fabric in the network, seed $seed" "$(random_over "$fabric" "$seed" network)" "$want"
        certificate=$(jq -r .certificate "$folder/told.json")
        same "those in the network over $fabric" "$(jq '[.collectives[] | select(.call != "pvm_gather") | .in_network > 0] | all' "$folder/told.json")" true
        same "again, over $fabric, seed $seed" "$(random_over "$fabric" "$seed" network)" "$want"
        same "certificate of another run over $fabric, seed $seed" "$(jq -r .certificate "$folder/told.json")" "$certificate"
    done
    # compare has both, and the network is faster where each message waits for a token.
    TASKS=5 "$leat" run --fabric ring16 -n 5 --collectives compare -- "$folder/random" 1 60 > "$folder/out" 2> "$folder/err" ||
        fail "compare: $(tail -n 3 "$folder/err")"
    same 'compare prints the answer once' "$(grep -c results "$folder/out")" 1
    for call in pvm_barrier pvm_mcast pvm_reduce; do
        grep -Eq "^  $call +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$" "$folder/err" || fail "compare: no $call in: $(tail -n 8 "$folder/err")"
    done
    has 'compare' "$(tail -n 1 "$folder/err")" 'times as fast'
    # A recording has multicasts as messages.
    TASKS=5 "$leat" run --fabric clos444 -n 5 --collectives network --record "$folder/record" -- "$folder/random" 1 60 > /dev/null 2> "$folder/err" ||
        fail "a recording: $(tail -n 3 "$folder/err")"
fi

# PVM and the thesis' calls in one program, over ATM cells and over flits; routes; what cannot be.
parts=$(readlink -f "$(dirname "$leat")/../program")
both() { "${CC:-cc}" -I"$tests/../include" -o "$folder/both" "$tests/pvm/both_libraries.c" -L"$parts" "$@" 2> "$folder/err"; }
if both -lpvm3 -lleat-atm; then
    for fabric in clos444 mesh:4,4; do
        twice "$fabric" 1 "$folder/both"
        printed '^sum 600, instances 6, own copy 100, own port known, cycles ' both
    done
    printed 'cycles missing' both # over the mesh, in 1 us
    exits 0 'PvmDontRoute has no effect' "$leat" run --fabric clos444 -- "$folder/both" indirectly
    has 'cycles over ATM' "$(cat "$folder/stdout")" 'cycles passed'
    exits 1 'atmstart: bot 9: in a PVM program, pvm_spawn starts tasks' "$leat" run --fabric clos444 -- "$folder/both" and start
    both -lleat-atm -lpvm3 || fail "the other order: $(cat "$folder/err")"
    exits 1 'expected -lpvm3 first' "$leat" run --fabric clos444 -- "$folder/both"
fi
exits 2 'mesh:4,4 carries out no collective operations' "$leat" run --fabric mesh:4,4 --collectives network -- hello.pvm

exits 1 'task 0 never began' "$leat" run --fabric clos444 -- thb
exits 1 'deadlock' "$leat" run --fabric clos444 -- slave1
# A task that asks for ever for another that nobody starts: the end is told after a day of simulated
# time, or when the user's patience ends.
exits 1 'deadlock: for 86400 s of simulated time no message was sent or received' "$leat" run --fabric clos444 --json="$folder/told.json" -- dbwtest
has "who waits for what" "$(cat "$folder/stderr")" 'pvm_gettid of '
same "the end of dbwtest" "$(jq -r '[.status, .simulated_seconds < 86500, .exit_code] | @csv' "$folder/told.json")" '"deadlock",true,'
exits 1 'deadlock: for 5000 s of simulated time' "$leat" run --fabric clos444 --patience 5000s -- dbwtest
exits 1 '--patience 5000 is taken for 5000s' "$leat" run --fabric clos444 --patience 5000 -- dbwtest
exits 2 "--patience 'x', expected a time of 0s to 1000000s" "$leat" run --fabric clos444 --patience x -- dbwtest
finish
