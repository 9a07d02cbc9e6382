#!/bin/sh
# The MPI programs of share/programs that check their own results: the same answer by hosts, by the network, with any number of ranks,
# and under stock mpirun (unless LEAT_SHORT is set: stock mpirun is the same in every build).
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc jq
leat=$(readlink -f "$1")
programs=$(cd "$(dirname "$0")/../../share/programs" && pwd)
for name in cg kmeans stealing; do
    mpicc -std=c17 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -o "$folder/$name" "$programs/$name.c" || fail "mpicc $name.c"
done

# answers WHAT WANT LAUNCHER... PROGRAM...: with WANT "any", the answer is only right
answers() {
    what=$1 wanted=$2
    shift 2
    exits 0 '' timeout "$run_limit" "$@"
    has "$what" "$(cat "$folder/stdout")" ": right"
    [ "$wanted" = any ] || same "$what" "$(cat "$folder/stdout")" "$wanted"
}

# carried CALL: how many calls the network carried out, and how many it left to the hosts
carried() { jq -r --arg call "$1" '.collectives[] | select(.call == $call) | "\(.in_network) \(.by_hosts)"' "$folder/object"; }

for run in "cg 12" "kmeans 300" "stealing 200"; do
    # shellcheck disable=SC2086 # a program and its argument
    set -- $run
    answers "$run, a rank alone" any "$leat" run --fabric ring8 -n 1 -- "$folder/$1" "$2"
    answer=$(cat "$folder/stdout")
    for ranks in 1 3 8; do
        for by in host network network,reproducible; do
            answers "$run, $ranks ranks, $by" "$answer" "$leat" run --fabric ring8 -n $ranks --collectives $by --json="$folder/object" -- \
                "$folder/$1" "$2"
        done
    done
    for call in MPI_Allreduce MPI_Iallreduce; do # that of the last run: 8 ranks, also sums of real numbers
        case $(carried $call) in "" | [1-9]*" 0") ;; *) fail "$run: $call in the network and by hosts: $(carried $call)" ;; esac
    done
    answers "$run, messages alone" "$answer" "$leat" run --fabric torus:2,2 -n 4 -- "$folder/$1" "$2"
    [ -n "${LEAT_SHORT:-}" ] ||
        answers "$run, mpirun" "$answer" env OMPI_MCA_mpi_yield_when_idle=1 mpirun --oversubscribe --bind-to none -n 3 "$folder/$1" "$2"
done

# Sums of real numbers are the hosts' unless their order does not matter; others are the network's.
exits 0 '' "$leat" run --fabric ring8 -n 8 --collectives network --json="$folder/object" -- "$folder/cg" 12
case $(carried MPI_Allreduce) in [1-9]*" "[1-9]*) ;; *) fail "cg: MPI_Allreduce in the network and by hosts: $(carried MPI_Allreduce)" ;; esac

# Which rank steals from which is decided by simulated times alone.
for i in 1 2; do
    exits 0 '' "$leat" run --fabric ring8 -n 8 --collectives network --json="$folder/run$i" -- "$folder/stealing" 200
done
same "the same thefts twice" "$(jq -r '.certificate, .messages' "$folder/run2")" "$(jq -r '.certificate, .messages' "$folder/run1")"

# What they refuse.
exits 2 "cg: 4 rows, expected 5 (a row for each rank) to 10000" "$leat" run --fabric ring8 -n 5 -- "$folder/cg" 4
exits 2 "kmeans: 7 points, expected 8 and more" "$leat" run --fabric ring8 -n 2 -- "$folder/kmeans" 7
exits 2 "stealing: expected 1 node and more" "$leat" run --fabric ring8 -n 2 -- "$folder/stealing" 0
finish
