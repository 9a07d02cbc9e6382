#!/bin/sh
# leat run --record: what tasks and network do, on every kind of fabric; the same octets every time; nothing half done.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)

# Sends in a ring, with computing in between by sleeping; collective calls; a long message; polls.
cat > "$folder/mixed.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int me, n, flag = 0, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const int len = argc > 1 ? atoi(argv[1]) : 100, rounds = argc > 2 ? atoi(argv[2]) : 3;
    char *out = calloc(1, len), *in = malloc(len);
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(out, len, MPI_CHAR, (me + 1) % n, 40 + i % 3, in, len, MPI_CHAR, (me + n - 1) % n, 40 + i % 3,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(10 * me);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        usleep(20);
        for (int i = 1; i < n; i++)
            MPI_Send(&sum, 1, MPI_INT, i, 7, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&sum, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    if (me == 0) printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/mixed" "$folder/mixed.c" || { echo "mpicc does not work" >&2; exit 77; }

# record FABRIC WORD ARGUMENT...: twice, compared; the exports say what the run told.
record() {
    fabric=$1 word=$2
    shift 2
    for i in 1 2; do
        exits 0 '' "$leat" run --fabric "$fabric" --json --record "$folder/$i.leatrec" "$@"
        cp "$folder/stdout" "$folder/told$i"
    done
    cmp -s "$folder/1.leatrec" "$folder/2.leatrec" || fail "$fabric: recordings of two runs differ"
    python3 "$(dirname "$0")/run_record.py" "$leat" "$folder/1.leatrec" "$folder/told1" "$folder" "$word" || fail "run_record.py: $fabric, $*"
    exits 0 '' "$leat" run --fabric "$fabric" --json "$@"
    same "$fabric: certificate without a recording" "$(tail -n 1 "$folder/stdout" | jq -r .certificate)" "$(tail -n 1 "$folder/told1" | jq -r .certificate)"
}

for fabric in clos444 bmx:4 mesh:4,4 crossbar:8/switch=voq fattree:2,3 dragonfly:1,2,1; do
    record "$fabric" rank -n 4 -- "$folder/mixed"
done
record torus:4,4 rank -n 24 --placement block -- "$folder/mixed" 5000
record clos444 rank -n 3 -- "$folder/mixed" 70000 # longer than is sent at once
record clos444 rank -n 4 --model rtl --loss 0.01 --retransmit 5000 -- "$folder/mixed" 500
for fabric in clos444 mesh:4,4; do # tasks that are ahead of the network, each time otherwise
    exits 0 '' "$leat" run --fabric "$fabric" -n 4 --json --compute measured:50 --record "$folder/1.leatrec" -- "$folder/mixed" 1000 30
    cp "$folder/stdout" "$folder/told1"
    python3 "$(dirname "$0")/run_record.py" "$leat" "$folder/1.leatrec" "$folder/told1" "$folder" rank || fail "run_record.py: $fabric, measured"
done

# Collective operations of the network: its packets, who takes part in them, and those that are left to hosts.
cat > "$folder/together.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int me, sum = 0, pattern, octets = 0;
    double real = 1, reals = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    usleep(10 * me % 17);
    MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&me, &pattern, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    octets = me;
    MPI_Bcast(&octets, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 2) usleep(30);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&real, &reals, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1) { /* the result comes while it waits for something else */
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
        usleep(100);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (me == 0) printf("%d %d %d %g\n", sum, pattern, octets, reals);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/together" "$folder/together.c"
for fabric in ring8 ring4/model=bit clos444 torus:2,2/esp=20 ether4/esp; do
    record "$fabric" rank -n 4 --collectives network -- "$folder/together"
done
record twosan rank -n 12 --collectives network -- "$folder/together"
"$leat" export "$folder/1.leatrec" --csv "$folder/1.csv"
same "who carries out calls" "$(awk -F, '$2 == "begin" && $4 ~ /^MPI/ { print $4 }' "$folder/1.csv" | sort -u | tr '\n' ,)" \
    "MPI_Allreduce by hosts,MPI_Allreduce in the network (group 0),MPI_Barrier in the network (group 0),MPI_Bcast in the network (group 0),MPI_Reduce in the network (group 0),"
for model in bit word; do # the same packets at the same times
    exits 0 '' "$leat" run --fabric ring5/model=$model -n 5 --collectives network --record "$folder/$model.leatrec" -- "$folder/together" late
    exits 0 '' "$leat" export "$folder/$model.leatrec" --csv "$folder/$model.csv"
    grep -v ',network\.fabric,' "$folder/$model.csv" > "$folder/$model.events" # whose name has the model
done
cmp -s "$folder/bit.events" "$folder/word.events" || fail "recordings of both models of a ring differ"

# What is in a timeline: calls by their names alone, the program's tags, one span for many polls.
exits 0 '' "$leat" run --fabric mesh:4,4 -n 4 --record "$folder/1.leatrec" -- "$folder/mixed"
"$leat" export "$folder/1.leatrec" --csv "$folder/1.csv"
same "what tasks do" "$(tr -d '\r' < "$folder/1.csv" | awk -F, '$2 == "begin" && $3 ~ /^program/ { print $4 }' | sort -u | tr '\n' ' ')" "MPI_Allreduce MPI_Sendrecv a poll computing its port to take a message the end of a sleep "
same "tags" "$(tr -d '\r' < "$folder/1.csv" | awk -F, '$2 == "leaves" && $9 >= 0 && $9 < 1000 { print $9 }' | sort -n | uniq -c | tr -s ' \n' ' ')" " 3 7 4 40 4 41 4 42 "
polls=$(grep -c ',begin,program.rank 1,a poll,' "$folder/1.csv")
[ "$polls" -ge 1 ] && [ "$polls" -le 5 ] || fail "$polls spans of polls"

# The cells are those of the network: 29 a message of 1000 octets and its head, acknowledged, in and out.
exits 0 '' "$leat" run --fabric clos444 -n 2 --json --record "$folder/1.leatrec" -- "$folder/mixed" 1000
exits 0 '' "$leat" export "$folder/1.leatrec" --pcapng "$folder/1.pcapng" --csv "$folder/1.csv"
same "cells of capture and table" "$("$leat" decode --json "$folder/1.pcapng" | wc -l)" "$(grep -c ',frame,' "$folder/1.csv")"
[ "$(grep -c ',frame,.*,out,' "$folder/1.csv")" -gt $((6 * 29 * 2)) ] || fail "few cells"

# PVM: tasks that are spawned are where they are.
if command -v master1 > /dev/null; then
    record mesh:3,3 task -- master1
    "$leat" export "$folder/1.leatrec" --csv "$folder/1.csv"
    [ "$(grep -c ',place,' "$folder/1.csv")" -gt 2 ] || fail "no spawned tasks"
    grep -q ',begin,.*,pvm_recv,' "$folder/1.csv" || fail "nobody waits in pvm_recv"
fi

# A run that fails has its recording up to there: who waits is still waiting, what is lost is told.
mpicc -O1 -I"$tests/mpi" -o "$folder/deadlock" "$tests/mpi/fault_deadlock.c" 2> /dev/null
exits 1 'deadlock' "$leat" run --fabric clos444 -n 3 --record "$folder/stuck.leatrec" -- "$folder/deadlock" receive
exits 0 '' "$leat" export "$folder/stuck.leatrec" --csv "$folder/stuck.csv"
same "who waits" "$(awk -F, '$4 == "MPI_Recv" { n[$3] += $2 == "begin" ? 1 : -1 } END { for (i in n) sum += n[i]; print sum }' "$folder/stuck.csv")" 3
exits 1 'was lost' "$leat" run --fabric mesh:4,4 -n 4 --fault port:3 --record "$folder/lost.leatrec" -- "$folder/mixed"
exits 0 '' "$leat" export "$folder/lost.leatrec" --csv "$folder/lost.csv"
grep -q ',instant,.*,lost,' "$folder/lost.csv" || fail "no lost message in the recording"

# An interrupt leaves a whole recording of what was until then.
"$leat" run --fabric clos444 -n 2 --record "$folder/cut.leatrec" -- "$folder/mixed" 100 1000000 > "$folder/stdout" 2> "$folder/stderr" &
runner=$!
waits_for 'cut.leatrec.part.*'
kill -INT $runner
wait $runner
same 'exit code after an interrupt' $? 130
exits 0 '' "$leat" export "$folder/cut.leatrec" --csv "$folder/cut.csv"
no_part 'an interrupted run'

# What cannot be written is told: before the program begins, or at the end.
exits 2 "$folder/none/x" "$leat" run --fabric mesh:4,4 -n 2 --record "$folder/none/x" -- "$folder/mixed"
same 'output of a program that did not run' "$(cat "$folder/stdout")" ''
exits 2 "--record: '' is no file name" "$leat" run --fabric mesh:4,4 -n 2 --record '' -- "$folder/mixed"
exits 2 'standard output and --record name one file' "$leat" run --fabric mesh:4,4 -n 2 --record "$folder/stdout" -- "$folder/mixed"
exits 2 'standard output is the program' "$leat" run --fabric mesh:4,4 --record - -- "$folder/mixed"
if [ -e /dev/full ]; then
    exits 1 '/dev/full: No space left' "$leat" run --fabric mesh:4,4 -n 2 --record /dev/full -- "$folder/mixed"
    same 'output of a program whose recording failed' "$(cat "$folder/stdout")" 1
fi
exits 0 'no rank called MPI_Init' "$leat" run --fabric mesh:4,4 -n 2 --library mpi --record "$folder/never.leatrec" -- true
exits 0 '' "$leat" run --fabric mesh:4,4 -n 2 --contention --record "$folder/both.leatrec" -- "$folder/mixed"
exits 0 '' "$leat" export "$folder/both.leatrec" --csv "$folder/both.csv"
no_part 'runs'
finish
