#!/bin/sh
# usage: collectives.sh LEAT [OPERATIONS [SEED]]
# Random collective operations by the network, on every kind of fabric that has means for them, against coll_basic of stock Open
# MPI: at least OPERATIONS (10000) in all, from this seed on (the time of day). Each run is repeated: it has the same certificate.
set -u
leat=$(readlink -f "$1")
total=${2:-10000} seed=${3:-$(date +%s)}
here=$(cd "$(dirname "$0")/../mpi" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpicc -std=c17 -D_GNU_SOURCE -O1 -o "$work/random" "$here/random_collectives.c" "$here/check.c" || exit 1

each=500 done=0 wrong=0
# over FABRIC RANKS: its answer and its certificate
over() {
    timeout 900 "$leat" run --fabric "$1" -n "$2" --collectives network --json "$work/run.json" -- "$work/random" "$seed" $each \
        2> "$work/stderr" | grep results
    jq -r .certificate "$work/run.json"
}

while [ $done -lt "$total" ]; do
    for place in ring5:5 ring4:9 ring16:16 clos444:7 bmx:5:5 torus:2,3/esp=20:6 fattree:2,3/esp=20:8 dragonfly:2,2,1/esp=5:9 \
        ether6/esp=20:7 twosan:9; do
        fabric=${place%:*} ranks=${place##*:}
        want=$(mpirun --oversubscribe --bind-to none --mca coll basic,libnbc,self,inter --mca mpi_yield_when_idle 1 -n "$ranks" \
            "$work/random" "$seed" $each 2> /dev/null | grep results)
        one=$(over "$fabric" "$ranks")
        other=$(over "$fabric" "$ranks")
        if [ -n "$want" ] && [ "$one" = "$other" ] && [ "$(echo "$one" | head -n 1)" = "$want" ]; then
            echo "ok $fabric, $ranks ranks, seed $seed: $want"
        else
            echo "WRONG $fabric, $ranks ranks, seed $seed: '$want' by stock Open MPI, '$one' and '$other'"
            tail -n 3 "$work/stderr"
            wrong=$((wrong + 1))
        fi
        done=$((done + each)) seed=$((seed + 1))
    done
done
echo "$done operations, $wrong runs wrong"
[ $wrong -eq 0 ]
