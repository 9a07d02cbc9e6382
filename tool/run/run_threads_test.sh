#!/bin/sh
# leat run: ranks whose threads communicate, at once or one after another; threads that misbehave.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs mpicc jq valgrind
leat=$(readlink -f "$1")
tests=$(cd "$here/../../test" && pwd)
for program in threads fault_threads; do
    mpicc -O1 -g -D_GNU_SOURCE -I"$tests/mpi" -o "$folder/$program" "$tests/mpi/$program.c" "$tests/mpi/check.c" ||
        fail "$program.c cannot be compiled"
done

# told JQ WORDS...: what the report of such a run says
told() {
    wanted=$1
    shift
    exits 0 "" timeout -k 10 "$run_limit" "$leat" run "$@"
    has 'what the program says' "$(cat "$folder/stdout")" 'all is well'
    tail -n 1 "$folder/stdout" | jq -r "$wanted"
}

# ---- the same run each time ------------------------------------------------------------------------

# Threads of which the program lets one at a time communicate: nothing is left to the system.
ordered=$(told '[.certificate, .repeatable] | @text' --fabric torus:2,2 -n 4 --json -- "$folder/threads" ordered)
has 'threads one after another' "$ordered" ',true]'
at_once=$(told .certificate --fabric torus:2,2 -n 4 --json -- "$folder/threads")
for load in none none two two; do
    [ "$load" = none ] || { sh -c 'while :; do :; done' & one=$!; sh -c 'while :; do :; done' & other=$!; }
    same "one after another, load: $load" "$ordered" \
        "$(told '[.certificate, .repeatable] | @text' --fabric torus:2,2 -n 4 --json -- "$folder/threads" ordered)"
    same "at once, load: $load" "$at_once" "$(told .certificate --fabric torus:2,2 -n 4 --json -- "$folder/threads")"
    [ "$load" = none ] || kill "$one" "$other"
done
same 'at once, as promised' "$(told .repeatable --fabric torus:2,2 -n 2 --json -- "$folder/threads")" false
same 'under valgrind' "$(told .certificate --fabric torus:2,2 -n 4 --wrap 'valgrind -q --tool=none' --json -- "$folder/threads" ordered)" \
    "$(echo "$ordered" | jq -r '.[0]')"
told .certificate --fabric torus:2,2 -n 2 --compute measured --json -- "$folder/threads" ordered > "$folder/measured"
told .certificate --fabric torus:2,2 -n 2 --real-clock --json -- "$folder/threads" ordered > "$folder/real"

# ---- threads that wait for each other outside of MPI -----------------------------------------------

# deed NAME REPEATABLE: it ends, and the report says whether another run may differ
deed() {
    same "$1: another run" "$(told .repeatable --fabric torus:2,2 -n 2 --json -- "$folder/fault_threads" "$1")" "$2"
}
deed barrier true
deed yield true
deed lock_spin false
deed spawn false
deed fork true
deed lock false
deed spin false
deed outside false
deed alive false

# ---- threads that misbehave ------------------------------------------------------------------------

exits 1 'MPI_Recv from any rank, tag 0; 2 other threads in MPI, one in MPI_Recv' \
    timeout -k 10 "$run_limit" "$leat" run --fabric torus:2,2 -n 2 -- "$folder/fault_threads" deadlock
exits 3 'task 0: MPI_Abort was called with code 3' \
    timeout -k 10 "$run_limit" "$leat" run --fabric torus:2,2 -n 2 -- "$folder/fault_threads" abort
exits 4 'task 0: it ended with code 4, without MPI_Finalize' \
    timeout -k 10 "$run_limit" "$leat" run --fabric torus:2,2 -n 2 -- "$folder/fault_threads" exit
no_process "$folder/" || fail "ranks are left"
finish
