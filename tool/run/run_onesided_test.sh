#!/bin/sh
# leat run: one-sided communication of MPI programs. Targets serve others while they sleep; the same run again has the same certificate;
# what can never come is a deadlock.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)

cat > "$folder/asleep.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static long cell[3] = { 5, 6, 7 };
    long out = 8, got = -1, one = 1, before = -1, found = -1;
    int me;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(cell, sizeof cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) sleep(2);
    if (me == 0) {
        const double start = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Put(&out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window);
        MPI_Get(&got, 1, MPI_LONG, 1, 1, 1, MPI_LONG, window);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 2, MPI_SUM, window);
        MPI_Win_flush(1, window);
        MPI_Compare_and_swap(&out, &one, &found, MPI_LONG, 1, 2, window);
        MPI_Win_unlock(1, window);
        const double took = MPI_Wtime() - start;
        printf("%ld %ld %ld %s\n", got, before, found, took > 0 && took < 1 ? "soon" : "late");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) printf("%ld %ld %ld\n", cell[0], cell[1], cell[2]);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/asleep" "$folder/asleep.c" || { echo "mpicc does not work" >&2; exit 77; }
for fabric in torus:2,2 clos444; do
    exits 0 '' "$leat" run --fabric "$fabric" -n 2 -- "$folder/asleep"
    same "$fabric: what the origin saw of a sleeping target" "$(grep -x '6 7 8 soon' "$folder/stdout")" '6 7 8 soon'
    same "$fabric: what the target found after its sleep" "$(grep -x '8 6 8' "$folder/stdout")" '8 6 8'
done

# Memory lies elsewhere in each environment and each run; certificates do not show it.
# Ranks that the hosts do not divide evenly: 5 on 4.
mpicc -O1 -o "$folder/all" "$tests/mpi/onesided.c" "$tests/mpi/check.c" || fail "onesided does not compile"
exits 0 '' "$leat" run --fabric torus:2,2 -n 5 -- "$folder/all"
mpicc -O1 -o "$folder/types" "$tests/mpi/onesided_types.c" "$tests/mpi/check.c" || fail "onesided_types does not compile"
for shift in '' 'a string that moves the stack and what lies on it'; do
    SHIFT=$shift exits 0 '' "$leat" run --fabric torus:2,2 -n 4 --json -- "$folder/types"
    tail -n 1 "$folder/stdout" | jq -r '.certificate, .simulated_seconds, .messages, .bytes' >> "$folder/certificates"
done
same 'certificates of both runs' "$(sed -n 1,4p "$folder/certificates")" "$(sed -n 5,8p "$folder/certificates")"

# There, one of four ranks would try for ever just after another has taken the library's lock.
exits 0 '' timeout 500 "$leat" run --fabric dragonfly:2,4,2 -n 4 -- "$folder/types"

# Open MPI makes an operation of each element of a type with gaps. They travel together: 20,000 of them are not 20,000 messages.
cat > "$folder/gaps.c" <<'C'
#include <mpi.h>
#include <stdio.h>
enum { SIDE = 100 };
int main(int argc, char **argv)
{
    static int matrix[SIDE][SIDE], there[SIDE][SIDE], back[SIDE][SIDE];
    MPI_Datatype column, transposed;
    MPI_Win window;
    int me, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < SIDE * SIDE; i++)
        matrix[i / SIDE][i % SIDE] = i;
    MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &column);
    MPI_Type_create_hvector(SIDE, 1, sizeof(int), column, &transposed);
    MPI_Type_commit(&transposed);
    MPI_Win_create(there, sizeof there, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(matrix, SIDE * SIDE, MPI_INT, 1 - me, 0, 1, transposed, window);
    MPI_Win_fence(0, window);
    MPI_Get(back, SIDE * SIDE, MPI_INT, 1 - me, 0, 1, transposed, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < SIDE * SIDE; i++)
        wrong += there[i % SIDE][i / SIDE] != i || back[i / SIDE][i % SIDE] != i;
    printf("wrong: %d\n", wrong);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/gaps" "$folder/gaps.c" || fail "gaps does not compile"
exits 0 '' "$leat" run --fabric torus:2,2 -n 2 --json -- "$folder/gaps"
same 'elements of a transposed matrix' "$(grep wrong "$folder/stdout")" "$(printf 'wrong: 0\nwrong: 0')"
messages=$(tail -n 1 "$folder/stdout" | jq .messages)
[ "$messages" -lt 1000 ] || fail "a matrix there and back: $messages messages, expected fewer than 1000"

# A rank that reads its own memory again and again, until another rank has written there: its time passes.
cat > "$folder/own.c" <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static long cell, seen, one = 1;
    MPI_Aint at;
    MPI_Win window;
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (me == 0) MPI_Win_attach(window, &cell, sizeof cell);
    MPI_Get_address(&cell, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    do {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        if (me == 0) MPI_Get_accumulate(NULL, 0, MPI_LONG, &seen, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_NO_OP, window);
        if (me == 1) MPI_Accumulate(&one, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_REPLACE, window);
        MPI_Win_unlock(0, window);
    } while (me == 0 && !seen);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) MPI_Win_detach(window, &cell);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/own" "$folder/own.c" || fail "own does not compile"
exits 0 '' timeout 60 "$leat" run --fabric torus:2,2 -n 2 -- "$folder/own"

# A target that waits for an origin which never comes; one that ends while it is accessed.
cat > "$folder/alone.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static long cell, got;
    int me, other;
    MPI_Win window;
    MPI_Group world, peers;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    other = 1 - me;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peers);
    if (argc > 1 && me == 1) _Exit(3);
    if (argc > 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        MPI_Get(&got, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(1, window);
    }
    if (me == 0) MPI_Win_post(peers, 0, window);
    if (me == 0) MPI_Win_wait(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/alone" "$folder/alone.c" || fail "alone does not compile"
exits 1 'MPI_Win_wait' timeout 60 "$leat" run --fabric torus:2,2 -n 2 -- "$folder/alone"
timeout 60 "$leat" run --fabric torus:2,2 -n 2 -- "$folder/alone" dies > "$folder/stdout" 2> "$folder/stderr"
status=$?
case $status in 0 | 124) fail "a target that ends: exit status $status, expected a failure of the run" ;; esac

# The larger pair of a value and an index, with a gap behind each pair; those with a gap inside are refused.
cat > "$folder/pairs.c" <<'C'
#include <mpi.h>
#include <stdio.h>
struct pair { double a; int b; };
int main(int argc, char **argv)
{
    struct pair *cells, mine[9];
    int me;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(sizeof mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
    for (int i = 0; i < 9; i++) {
        cells[i] = (struct pair){ 15, -1 };
        mine[i] = (struct pair){ 10 * me + i, me };
    }
    MPI_Win_fence(0, window);
    MPI_Accumulate(mine, 9, MPI_DOUBLE_INT, 0, 0, 9, MPI_DOUBLE_INT, MPI_MAXLOC, window);
    MPI_Win_fence(0, window);
    for (int i = 0; me == 0 && i < 9; i++) printf("%g:%d ", cells[i].a, cells[i].b);
    if (argc > 1) MPI_Accumulate(mine, 1, MPI_SHORT_INT, 0, 0, 1, MPI_SHORT_INT, MPI_MAXLOC, window);
    MPI_Win_free(&window);
    return MPI_Finalize();
}
C
mpicc -O1 -o "$folder/pairs" "$folder/pairs.c"
exits 0 '' timeout "$run_limit" "$leat" run --fabric torus:2,2 -n 2 -- "$folder/pairs"
same 'the larger pairs' "$(head -n 1 "$folder/stdout")" '15:-1 15:-1 15:-1 15:-1 15:-1 15:-1 16:1 17:1 18:1 '
exits 1 'compares values of MPI_SHORT_INT, which Open MPI cannot do over a network' timeout "$run_limit" "$leat" run --fabric torus:2,2 -n 2 -- "$folder/pairs" short

finish
