#!/bin/sh
# leat run --collectives: collective operations carried out by the network. Results are those of stock Open MPI; the same run
# again, in every model of the network, has the same certificate; what the network cannot do goes to the hosts, with the reason.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc mpirun jq
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)
operations=${2:-150}

build() { mpicc -std=c17 -D_GNU_SOURCE -O1 -o "$folder/$1" "$2" "$tests/mpi/check.c" || { echo "mpicc does not work" >&2; exit 77; }; }
build random "$tests/mpi/random_collectives.c"

# ---- the answers of stock Open MPI -------------------------------------------------------------

# answer N SEED: of coll_basic
answer() {
    mpirun --oversubscribe --bind-to none --mca coll basic,libnbc,self,inter --mca mpi_yield_when_idle 1 -n "$1" \
        "$folder/random" "$2" "$operations" 2> /dev/null | grep results
}

# random_over FABRIC N SEED [OPTION...]: the answer; the certificate goes to $folder/certificate
random_over() {
    fabric=$1 n=$2 seed=$3
    shift 3
    "$leat" run --fabric "$fabric" -n "$n" --collectives network --json "$folder/run.json" "$@" -- \
        "$folder/random" "$seed" "$operations" 2> "$folder/stderr" | grep results
    jq -r '"\(.certificate) \(.simulated_seconds)"' "$folder/run.json" > "$folder/certificate"
    same "$fabric: repeatable" "$(jq -r .repeatable "$folder/run.json")" true
}

for fabric in ring5 ring4 clos444 torus:2,3/esp=20 ether5/esp; do # on ring4, two ranks share a host
    want=$(answer 5 1)
    has "stock Open MPI" "$want" results
    same "$fabric: results" "$(random_over "$fabric" 5 1)" "$want"
    certificate=$(cat "$folder/certificate")
    same "$fabric: results of another run" "$(random_over "$fabric" 5 1)" "$want"
    same "$fabric: certificate of another run" "$(cat "$folder/certificate")" "$certificate"
    in_network=$(jq '[.collectives[].in_network] | add' "$folder/run.json")
    [ "$in_network" -gt "$operations" ] || fail "$fabric: $in_network calls in the network"
    jq -e '[.collectives[].reasons | keys[]] | unique == ["length", "operation"]' "$folder/run.json" > /dev/null ||
        fail "$fabric: reasons: $(jq -c '[.collectives[].reasons]' "$folder/run.json")"
done

# Bit by bit and word by word.
same 'ring5/model=bit: results' "$(random_over ring5/model=bit 5 2)" "$(answer 5 2)"
certificate=$(cat "$folder/certificate")
random_over ring5/model=word 5 2 > /dev/null
same 'certificate of both models' "$(cat "$folder/certificate")" "$certificate"

# What the library gathers to make a window has addresses in it, which are others each time.
cat > "$folder/window.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int me, ranks, *cells;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(ranks * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
    MPI_Win_fence(0, window);
    for (int to = 0; to < ranks; to++)
        MPI_Put(&me, 1, MPI_INT, to, me, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < ranks; i++)
        if (cells[i] != i) abort();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/window" "$folder/window.c"
for fabric in ring4 torus:2,2/esp=20; do
    for run in 1 2; do
        exits 0 '' "$leat" run --fabric $fabric -n 4 --collectives network --json "$folder/run$run.json" -- "$folder/window"
    done
    [ "$(jq '[.collectives[].in_network] | add' "$folder/run1.json")" -gt 0 ] || fail "$fabric: no call in the network"
    same "$fabric: certificate of windows" "$(jq .certificate "$folder/run2.json")" "$(jq .certificate "$folder/run1.json")"
done

# ---- sums of real numbers ----------------------------------------------------------------------

cat > "$folder/sum.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* The sum of the same numbers, with ranks in another order; ranks past the fourth have nothing. */
int main(int argc, char **argv)
{
    static const double number[4] = { 1e16, 3.25, -1e16, 0.0009765625 };
    int me, order = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    double own = me < 4 ? number[me] : 0, sum;
    MPI_Comm_split(MPI_COMM_WORLD, 0, me * order % 7, &comm);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (me == 0) printf("%.10f\n", sum);
    MPI_Finalize();
    return 0;
}
C
build sum "$folder/sum.c"
for n in 4 6; do
    for order in 1 2 3 5; do
        exits 0 '' "$leat" run --fabric ring6 -n $n --collectives network,reproducible -- "$folder/sum" $order
        same "the sum, $n ranks, order $order" "$(cat "$folder/stdout")" 3.2509765625
    done
done

# ---- the report --------------------------------------------------------------------------------

exits 0 'times as fast' "$leat" run --fabric ring5 -n 5 --collectives compare -- "$folder/random" 3 40
grep -q 'collective operation' "$folder/stderr" || fail "no table of collective operations: $(cat "$folder/stderr")"
grep -Eq '^  MPI_Barrier +[0-9]+ +0\.[0-9]+ +0\.[0-9]+ +[0-9]+\.[0-9]{2}$' "$folder/stderr" ||
    fail "no comparison: $(cat "$folder/stderr")"
has 'a hint' "$(cat "$folder/stderr")" 'operation: the network has none for it; with --collectives compare,reproducible it sums float and double'
has 'calls that do not wait' "$(cat "$folder/stderr")" 'calls with an I are not compared'
sed -n '/by hosts, s/,$p' "$folder/stderr" | grep '^  MPI_I' && fail 'calls that do not wait are compared'
same 'the output of the program' "$(grep -c results "$folder/stdout")" 1
exits 0 '' "$leat" run --fabric ring5 -n 5 --json -- "$folder/random" 3 40
same 'by hosts: no table' "$(tail -n 1 "$folder/stdout" | jq .collectives)" null

# ---- what a message costs its hosts ------------------------------------------------------------

cat > "$folder/once.c" <<'C'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    int me, octet = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (me == 0)
        MPI_Send(&octet, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (me == 1)
        MPI_Recv(&octet, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
C
build once "$folder/once.c"
# nanoseconds OVERHEAD ARGUMENT...: of the run
nanoseconds() {
    overhead=$1
    shift
    "$leat" run --fabric torus:2,2/esp=20 -n 2 --collectives network --overhead "$overhead" --json "$folder/run.json" -- "$folder/once" "$@" 2> /dev/null
    jq '.simulated_seconds * 1e9 | round' "$folder/run.json"
}
same 'a message: sent, and received' $(($(nanoseconds 700ns) - $(nanoseconds 0s))) 1400
same 'a barrier: handed over, and over' $(($(nanoseconds 700ns barrier) - $(nanoseconds 0s barrier))) 1400
exits 2 "--overhead '2s'" "$leat" run --fabric ring4 --overhead 2s -- "$folder/once"

# ---- what goes wrong ---------------------------------------------------------------------------

cat > "$folder/differ.c" <<'C'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    int me, what = 0, lengths = argc > 1 && !strcmp(argv[1], "lengths");
    char octets[8] = { 0 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (lengths)
        MPI_Bcast(octets, me == 2 ? 4 : 8, MPI_CHAR, 0, MPI_COMM_WORLD);
    else if (me == 2)
        MPI_Allreduce(MPI_IN_PLACE, &what, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
build differ "$folder/differ.c"
exits 1 'MPI_Barrier and MPI_Allreduce, expected the same call' "$leat" run --fabric ring4 --collectives network -- "$folder/differ"
exits 1 'different lengths of MPI_Bcast: 8 and 4 octets, expected the same call' "$leat" run --fabric ring4 --collectives network -- "$folder/differ" lengths
build deadlock "$tests/mpi/fault_deadlock.c"
exits 1 'deadlock: all tasks wait, and nothing is in flight' "$leat" run --fabric ring4 --collectives network -- "$folder/deadlock" barrier
has 'who waits' "$(cat "$folder/stderr")" 'MPI_Barrier'

exits 2 'carries out no collective operations, expected a network that does' \
    "$leat" run --fabric torus:2,2 --collectives network -- "$folder/random"
exits 2 '--collectives net: expected host, network or compare' "$leat" run --fabric ring4 --collectives net -- "$folder/random"
exits 2 '--collectives host,reproducible: expected' "$leat" run --fabric ring4 --collectives host,reproducible -- "$folder/random"
exits 2 'expected one of them' "$leat" run --fabric ring4 --collectives compare --contention -- "$folder/random"

finish
