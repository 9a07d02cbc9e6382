#!/bin/sh
# leat run over several fabrics, and what its object says about pairs of tasks, wires and time: against a model.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc python3 jq
leat=$(readlink -f "$1")
if "$leat" report "$folder/none.sqlite" 2>&1 | grep -q 'without SQLite'; then
    echo "skipped: this leat was built without SQLite"
    exit 77
fi
model=$(cd "$(dirname "$0")" && pwd)/run_compare_model.py
sql() { python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row)' "$1" "$2"; }

# program NAME: compiles what is on standard input
program() {
    cat > "$folder/$1.c"
    mpicc -O1 -o "$folder/$1" "$folder/$1.c" || { echo "mpicc does not work" >&2; exit 77; }
}

# ---- the object against the model ---------------------------------------------------------------------
program sends <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static char out[8192], in[8192];
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 3; i++) {
        MPI_Sendrecv(out, 100 * (me + 1), MPI_CHAR, (me + 1) % n, 1, in, sizeof in, MPI_CHAR, (me + n - 1) % n, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, 7, MPI_CHAR, (me + 5) % n, 2, MPI_COMM_WORLD);
        MPI_Recv(in, sizeof in, MPI_CHAR, (me + n - 5) % n, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
C
for fabric in mesh:4,4 ether18 ring8 "twosan -n 8" mesh:7,2; do
    # shellcheck disable=SC2086 # a fabric and options
    exits 0 "" "$leat" run --fabric $fabric --json="$folder/one" -- "$folder/sends"
    python3 "$model" "$folder/one" || fail "$fabric: see above"
    python3 "$(dirname "$0")/../../share/schema/check.py" "$folder/one" > "$folder/said" 2>&1 || fail "$fabric: $(cat "$folder/said")"
done
exits 0 "" "$leat" run --fabric mesh:7,2 --json="$folder/two" -- "$folder/sends"
same "the same object twice" "$(jq -c 'del(.wall_seconds)' "$folder/two")" "$(jq -c 'del(.wall_seconds)' "$folder/one")"
exits 0 "" "$leat" run --fabric clos444 -n 8 --json="$folder/one" -- "$folder/sends"
python3 "$model" "$folder/one" || fail "clos444: see above"
python3 "$(dirname "$0")/../../share/schema/check.py" "$folder/one" > "$folder/said" 2>&1 || fail "clos444: $(cat "$folder/said")"
same "bytes of ATM" "$(jq '([.pairs[].bytes] | add) == .bytes' "$folder/one")" true

# Rank 1 receives what rank 0 sends after a sleep, and then sleeps itself: 293 bins of 1.024 us, then 98.
program sleeps <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char c = 0;
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) usleep(300);
    if (me == 0) MPI_Send(&c, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (me == 1) MPI_Recv(&c, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) usleep(100);
    MPI_Finalize();
    return 0;
}
C
exits 0 "" "$leat" run --fabric mesh:2,2 -n 2 --json="$folder/one" -- "$folder/sleeps"
same "bins" "$(jq -c '[.timeline.bin_seconds, (.timeline.bins[] | length)]' "$folder/one")" "[1.024e-06,293,391]"
same "what a rank does when" "$(jq -c '.timeline as $t | [$t.bins[1][] | map($t.state_names[.[0]]) | join(" and ")] | [.[0:292], .[293:391]] | map(unique) | flatten' "$folder/one")" \
    '["MPI_Recv","the end of a sleep"]'

# ---- several fabrics ----------------------------------------------------------------------------------
exits 0 "" "$leat" run --fabric mesh:4,2 --fabric clos444 --fabric ring8 -n 8 --contention --flit-bytes 8 --store "$folder/runs.sqlite" --json -- "$folder/sends"
grep '^{' "$folder/stdout" > "$folder/three"
same "an object for each" "$(jq -r '.fabric | split("/")[0]' "$folder/three" | tr '\n' ' ')" "mesh:4,2 clos444 ring8 "
same "a line for each" "$(tail -n 3 "$folder/stderr" | awk '{ print $1, $2, $NF }')" "$(jq -r '"\(.fabric | split("/")[0]) 8 \(.bytes)"' "$folder/three")"
same "ratios to the first" "$(tail -n 3 "$folder/stderr" | awk '{ print $5 }')" \
    "$(jq -rs '.[0].simulated_seconds as $first | .[] | .simulated_seconds / $first' "$folder/three" | xargs printf '%.4g\n')"
same "what is stored" "$(sql "$folder/runs.sqlite" "SELECT result FROM program ORDER BY id" | jq -c .)" "$(jq -c . "$folder/three")"
same "how it was run" "$(sql "$folder/runs.sqlite" "SELECT DISTINCT command, options, tasks FROM program")" \
    "$folder/sends -n 8 --contention --flit-bytes 8 8"
exits 0 "" "$leat" run --fabric mesh:4,2 --store "$folder/runs.sqlite" -- "$folder/sends" 'a b'
same "runs are appended" "$(sql "$folder/runs.sqlite" "SELECT id, fabric, command FROM program WHERE id > 3")" "4 mesh:4,2 $folder/sends 'a b'"
exits 0 "" "$leat" run --fabric mesh:2,2 --fabric mesh:3,3 --json="$folder/both" -- "$folder/sends"
same "a task for each port of each" "$(jq .tasks "$folder/both" | tr '\n' ' ')" "4 9 "

# Refused before the first run starts.
refused() {
    text=$1
    shift
    exits 2 "$text" "$leat" run "$@" --store "$folder/none.sqlite" --json="$folder/none" -- "$folder/sends"
    [ ! -s "$folder/stdout" ] && ! grep -q simulated "$folder/stderr" || fail "$text: a run has started"
    [ ! -e "$folder/none.sqlite" ] && [ ! -e "$folder/none" ] || fail "$text: leaves files"
}
refused "unknown fabric 'mash:2,2'" --fabric mesh:2,2 --fabric mash:2,2
refused "fabric 'mesh:2,2' is given twice" --fabric mesh:2,2 --fabric clos444 --fabric mesh:2,2
refused "--placement 0,9: expected cyclic, block, or ports 0 to 3" --fabric mesh:4,4 --fabric mesh:2,2 --placement 0,9
refused "--flit-bytes has no meaning for any of these fabrics" --fabric clos444 --fabric bmx:4 --flit-bytes 8
refused "--record has room for one run, expected one --fabric with it" --fabric clos444 --fabric bmx:4 --record "$folder/record"

# One that fails does not end the others; one that never ends can be interrupted, and the others are kept.
program picky <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int n;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    while (n == 6) { }
    MPI_Finalize();
    return n == 4 ? 3 : 0;
}
C
exits 1 "it ended with code 3" "$leat" run --fabric mesh:2,2 --fabric mesh:3,1 --store "$folder/picky.sqlite" -- "$folder/picky"
same "the others go on" "$(sql "$folder/picky.sqlite" "SELECT fabric, json_extract(result, '\$.status') FROM program" | tr '\n' ' ')" \
    "mesh:2,2 exit mesh:3,1 done "
same "a failure in the table" "$(tail -n 2 "$folder/stderr" | awk '{ print $1, $3 }' | head -n 1)" "mesh:2,2 exit"
"$leat" run --fabric mesh:3,1 --fabric mesh:3,2 --store "$folder/cut.sqlite" --json="$folder/cut.json" -- "$folder/picky" 2> "$folder/cut.err" &
run=$!
comes_to "the first is stored" 1 sql "$folder/cut.sqlite" "SELECT count(*) FROM program"
kill -INT $run
wait $run
same "an interrupt" $? 130
same "what was finished is stored" "$(sql "$folder/cut.sqlite" "SELECT fabric FROM program")" mesh:3,1
same "and printed" "$(jq -r .status "$folder/cut.json" | tr '\n' ' ')" "done interrupted "
has "and compared" "$(tail -n 2 "$folder/cut.err")" "mesh:3,1      3"
finish
