#!/bin/sh
# leat run: what is reported about unmodified Open MPI programs, and about those that fail.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)
. "$(dirname "$0")/run_ring.sh"

# A message takes T(N) of leat fabric time, with its head; two ranks, one message each way at a time.
exits 0 '' "$leat" run --fabric clos444 -n 2 --json -- "$folder/ring" 1000 1
octets=$(number 'per_task[0].bytes_sent' "$folder/stdout")
way=$("$leat" fabric time clos444 --bytes $((octets - 24)) --json | jq .cycles)
[ "$octets" -gt 1000 ] && [ "$octets" -lt 1100 ] || fail "1000 octets and a head are $octets"
took=$(head -n 1 "$folder/stdout" | cut -d' ' -f1)
jq -en "$took > 0.9 * $way * 50e-9 and $took < 3 * $way * 50e-9" > /dev/null ||
    fail "1000 octets took $took s, one way is $way cycles"

# --contention: the same run where messages never meet, and the difference.
exits 0 'without contention' "$leat" run --fabric clos444 -n 16 --contention -- "$folder/ring" 3000 2
exits 0 '' "$leat" run --fabric ring:8 -n 8 --contention --json --placement 0,4,1,5,2,6,3,7 -- "$folder/ring" 20000 2
jq -en "$(number contention_seconds "$folder/stdout") > 0" > /dev/null || fail "no contention in a ring"
same "ports as placed" "$(number 'per_task[3].port' "$folder/stdout")" 5
exits 0 '' "$leat" run --fabric mesh:4,4 -n 32 --placement block --json -- "$folder/ring"
same "ports by block" "$(number 'per_task[31].port' "$folder/stdout")" 15

exits 2 'no meaning for torus:4,4' "$leat" run --fabric torus:4,4 --descriptors 3 -- "$folder/ring" 1 1

# Computing that is measured takes time; --real-clock gives the program its own clock.
exits 0 '' "$leat" run --fabric mesh:2,2 -n 2 --compute measured:1000 --json -- "$folder/ring" 10 10
jq -en "$(number simulated_seconds "$folder/stdout") > 0.0001" > /dev/null || fail "computing took no time"
exits 0 '' "$leat" run --fabric clos444 -n 2 --real-clock --json -- "$folder/ring" 4 1

# Errors on the lines are repaired, at the cost of time; a dead port ends the run with the reason.
exits 0 '' "$leat" run --fabric clos444 -n 4 --json -- "$folder/ring" 1000 2
sound=$(number simulated_seconds "$folder/stdout")
exits 0 '' "$leat" run --fabric clos444 -n 4 --json --loss 0.02 --bit-errors 0,1e-5 --retransmit 5000 -- "$folder/ring" 1000 2
jq -en "$(number simulated_seconds "$folder/stdout") > $sound" > /dev/null || fail "lost cells cost no time"
exits 1 'was lost: its port gave it up' "$leat" run --fabric clos444 -n 4 --dead 2 --retransmit 1000 -- "$folder/ring" 1000 2
exits 0 '' "$leat" run --fabric mesh:4,4/routing=adaptive -n 16 --fault link:5-6 -- "$folder/ring" 1000 2
exits 1 'was lost' "$leat" run --fabric mesh:4,4 -n 16 --fault port:3 -- "$folder/ring" 1000 2
exits 2 'has no meaning for mesh:4,4, which is a network of switches' "$leat" run --fabric mesh:4,4 --loss 0.1 -- "$folder/ring"
exits 2 '--cut-through has no meaning for mesh:4,4' "$leat" run --fabric mesh:4,4 --cut-through no -- "$folder/ring"
exits 2 '--flit-bits has no meaning for ring16, which is a token ring' "$leat" run --fabric ring16 --flit-bits 8 -- "$folder/ring"
exits 2 'did you mean torus:?' "$leat" run --fabric tours:4,4 -- "$folder/ring"
exits 2 'no wire between routers 0 and 1' "$leat" run --fabric clos444 --fault link:0-1 -- "$folder/ring"
exits 2 "--dead '99'" "$leat" run --fabric clos444 --dead 99 -- "$folder/ring"
exits 2 'no router 99' "$leat" run --fabric mesh:4,4 --fault link:0-99 -- "$folder/ring"

# A recording has every cell: 8 messages of 1000 octets and a head, 29 cells each, and as many acknowledgements, in and out.
exits 0 '' "$leat" run --fabric clos444 -n 4 --json --record "$folder/run.leatrec" -- "$folder/ring" 1000 2
cells=$(($(number messages "$folder/stdout") * 29 * 2 * 2))
certificate=$(number certificate "$folder/stdout")
exits 0 '' "$leat" export "$folder/run.leatrec" --pcapng "$folder/run.pcapng" --perfetto "$folder/run.perfetto"
found=$("$leat" decode --json "$folder/run.pcapng" | wc -l)
[ "$found" -le "$cells" ] && [ "$found" -gt $((cells - cells / 4)) ] || fail "$found cells in the capture, want nearly $cells"
jq -e '.traceEvents | length > 16' "$folder/run.perfetto" > /dev/null || fail "no timeline"
exits 0 '' "$leat" run --fabric clos444 -n 4 --json -- "$folder/ring" 1000 2
same 'certificate without a recording' "$(number certificate "$folder/stdout")" "$certificate"
exits 2 'standard output is the program' "$leat" run --fabric clos444 --record - -- "$folder/ring"

# What is wrong is named, and nothing is left behind.
cat > "$folder/plain.c" <<'C'
int main(void) { return 0; }
C
cc -o "$folder/plain" "$folder/plain.c"
cc -static -o "$folder/static" "$folder/plain.c"
echo 'echo hello' > "$folder/script"; chmod +x "$folder/script"
exits 2 'no such program' "$leat" run --fabric clos444 -- "$folder/nothing"
exits 2 'a folder, expected a program' "$leat" run --fabric clos444 -- "$folder/"
touch "$folder/no_right"
exits 2 'a file without the right to execute it, expected a program' "$leat" run --fabric clos444 -- "$folder/no_right"
exits 2 'a static program, expected one that is linked dynamically' "$leat" run --fabric clos444 -- "$folder/static"
exits 2 'linked with neither libmpi nor libpvm3' "$leat" run --fabric clos444 -- "$folder/plain"
# The name of another MPI's library is all that is looked at.
echo 'void PMPI_Init(void) {} void MPI_Init(void) {}' | cc -shared -x c -Wl,-soname,libmpich.so.12 -o "$folder/libmpich.so.12" -
echo 'int MPI_Init(void *, void *); int main(void) { return MPI_Init(0, 0); }' | cc -o "$folder/other" -x c - -x none "$folder/libmpich.so.12" -Wl,-rpath,"$folder"
exits 2 'linked with libmpich.so.12, expected libmpi.so.40' "$leat" run --fabric clos444 -- "$folder/other"
exits 1 'libmpich.so.12, expected Open MPI 4' "$leat" run --fabric clos444 -n 2 --library mpi -- "$folder/other"
exits 2 'for a script, --library' "$leat" run --fabric clos444 -- "$folder/script"
exits 2 "--library 'qt', expected one of mpi pvm atm" "$leat" run --fabric clos444 --library qt -- "$folder/script"
exits 2 'expected --fabric FABRIC and a program' "$leat" run -- "$folder/ring"
exits 2 'expected --fabric FABRIC and a program' "$leat" run --fabric clos444
exits 2 "-n '0', expected" "$leat" run --fabric clos444 -n 0 -- "$folder/ring"
exits 2 "-n 'many', expected" "$leat" run --fabric clos444 -n many -- "$folder/ring"
exits 2 '2 to 64' "$leat" run --fabric bmx:99 -n 2 -- "$folder/ring"
exits 2 'packets can wait' "$leat" run --fabric ring:8/vcs=1 -n 2 -- "$folder/ring"
exits 2 'expected none, measured' "$leat" run --fabric clos444 --compute some -- "$folder/ring"
exits 2 'ports 0 to 15' "$leat" run --fabric clos444 -n 2 --placement 3,16 -- "$folder/ring"
exits 0 'no rank called MPI_Init, so nothing was simulated' "$leat" run --fabric clos444 -n 2 --library mpi -- "$folder/plain"
exits 5 'it ended with code 5' "$leat" run --fabric clos444 -n 2 --library mpi -- sh -c 'exit 5'

# If several ranks end with a code, the lowest of them decides, also if it is not the first one.
cat > "$folder/codes.c" <<'C'
#include <mpi.h>
#include <poll.h>
int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Finalize();
    if (me == 1) poll(NULL, 0, 300);
    return me ? 10 + me : 0;
}
C
mpicc -O1 -o "$folder/codes" "$folder/codes.c"
exits 11 'it ended with code 11' "$leat" run --fabric clos444 -n 4 -- "$folder/codes"

# What cannot be repeated is told.
cat > "$folder/threads.c" <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static int me;
static void *work(void *tag)
{
    int got = -1;
    if (me) MPI_Send(&me, 1, MPI_INT, 0, *(int *)tag, MPI_COMM_WORLD);
    else MPI_Recv(&got, 1, MPI_INT, 1, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}
int main(int argc, char **argv)
{
    int level, tag[] = { 1, 2 };
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc == 1 || !strcmp(argv[1], "joined")) pthread_create(&thread, NULL, work, &tag[1]);
    if (argc > 1 && !strcmp(argv[1], "joined")) pthread_join(thread, NULL);
    work(&tag[0]);
    if (argc == 1) pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/threads" "$folder/threads.c" -lpthread
exits 0 '' "$leat" run --fabric mesh:2,2 -n 2 --json -- "$folder/threads"
same 'two threads that communicate' "$(number repeatable "$folder/stdout")" false
has 'the reason' "$(number 'not_repeatable_because[0]' "$folder/stdout")" 'several threads of a rank communicate'
exits 0 'another run may differ: several threads' "$leat" run --fabric mesh:2,2 -n 2 -- "$folder/threads"
exits 0 '' "$leat" run --fabric mesh:2,2 -n 2 --json -- "$folder/threads" joined
same 'two threads that communicate, one after the other' "$(number repeatable "$folder/stdout")" true
exits 0 '' "$leat" run --fabric mesh:2,2 -n 2 --json -- "$folder/threads" alone
same 'one thread that communicates' "$(number repeatable "$folder/stdout")" true
exits 0 'another run may differ: --compute measured' "$leat" run --fabric mesh:2,2 -n 2 --compute measured -- "$folder/threads" alone
exits 0 'another run may differ: --real-clock' "$leat" run --fabric mesh:2,2 -n 2 --real-clock -- "$folder/threads" alone

# The processor's counter is simulated, or the run says that it is not: an old kernel cannot trap it.
mpicc -O1 -I"$tests/mpi" -o "$folder/counter" "$tests/mpi/counter.c" "$tests/mpi/check.c"
"$leat" run --fabric mesh:2,2 -n 2 --json -- "$folder/counter" > "$folder/stdout" 2> /dev/null
if [ "$(number repeatable "$folder/stdout")" = true ]; then
    has 'the counter' "$(cat "$folder/stdout")" 'all is well'
else
    has 'the counter' "$(number 'not_repeatable_because[0]' "$folder/stdout")" "the program reads the processor's counter"
fi

# The first rank has the standard input.
cat > "$folder/echo.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int me, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (!me && scanf("%d", &number) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (me == 2) printf("heard %d\n", number);
    if (!access("/proc/kallsyms", R_OK) && !fopen("/proc/kallsyms", "r")) MPI_Abort(MPI_COMM_WORLD, 2); /* only hidden in MPI_Init */
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/echo" "$folder/echo.c"
got=$(echo 4711 | "$leat" run --fabric mesh:2,2 -n 3 -- "$folder/echo" 2> "$folder/stderr") || true
[ "$got" = 'heard 4711' ] || fail "standard input: got '$got', want 'heard 4711': $(cat "$folder/stderr")"

# Who waits for what is told.
mpicc -O1 -I"$tests/mpi" -o "$folder/deadlock" "$tests/mpi/fault_deadlock.c" 2> /dev/null &&
    exits 1 'deadlock: all tasks wait' "$leat" run --fabric clos444 -n 3 -- "$folder/deadlock" receive
has 'who waits' "$(cat "$folder/stderr")" 'task 2 at'
has 'for what' "$(cat "$folder/stderr")" 'MPI_Recv'

# How it ended is in the JSON object, which begins on a line of its own or goes to a file.
cat > "$folder/ends.c" <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int number = 0;
    MPI_Init(&argc, &argv);
    printf("no end of line");
    fflush(stdout);
    if (!strcmp(how, "deadlock")) MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(how, "kill")) raise(SIGKILL);
    MPI_Finalize();
    return !strcmp(how, "exit") ? 7 : 0;
}
C
mpicc -O1 -o "$folder/ends" "$folder/ends.c"
exits 0 '' "$leat" run --fabric clos444 -n 1 --json -- "$folder/ends"
same 'a line of its own in a file' "$(head -n 1 "$folder/stdout"), $(tail -n +2 "$folder/stdout" | jq -c '[.status, .reason, .exit_code]')" 'no end of line, ["done",null,0]'
same 'a line of its own in a pipe' "$("$leat" run --fabric clos444 -n 1 --json -- "$folder/ends" | tail -n 1 | jq -r .status)" 'done'
for end in "deadlock 1 deadlock" "abort 3 aborted" "kill 137 died" "exit 7 exit"; do
    code=${end#* }
    code=${code% *}
    exits "$code" '' "$leat" run --fabric clos444 -n 1 --json "$folder/ends.json" -- "$folder/ends" "${end%% *}"
    same "$end: nothing on standard output but the program's" "$(cat "$folder/stdout")" 'no end of line'
    [ "$code" -ne 1 ] || code=null
    same "$end: status" "$(jq -c '[.status, .exit_code]' "$folder/ends.json")" "[\"${end##* }\",$code]"
    has "$end: the reason is also told on standard error" "$(cat "$folder/stderr")" "$(jq -r .reason "$folder/ends.json")"
    rm "$folder/ends.json"
done
exits 1 '' "$leat" run --fabric clos444 -n 2 --dead 1 --retransmit 100 --json="$folder/ends.json" -- "$folder/ring"
same 'a message that is lost' "$(jq -c '[.status, (.reason | test("was lost"))]' "$folder/ends.json")" '["lost",true]'
# Without a "--" the next word is the program: it is not written over.
before=$(cksum < "$folder/ends")
exits 0 '' "$leat" run --fabric clos444 -n 1 --json "$folder/ends"
same 'the program is as it was' "$(cksum < "$folder/ends")" "$before"
exits 2 '--json= needs a value' "$leat" run --fabric clos444 --json= -- "$folder/ends"
exits 2 '--record and --fault-file name one file' "$leat" run --fabric clos444 --fault-file "$folder/x" --record "$folder/x" -- "$folder/ends"
exits 2 'name one file' "$leat" run --fabric clos444 --record "$folder/x" --json "$folder/x" -- "$folder/ends"
no_part '--json FILE'

# An interrupt ends it all within moments.
"$leat" run --fabric clos444 -n 2 -- "$folder/ring" 100 100000000 > "$folder/stdout" 2> "$folder/stderr" &
runner=$!
wait_until has_computed $runner
kill -INT $runner
wait $runner
same 'exit code after an interrupt' $? 130
wait_until no_process "$folder/ring" || fail "processes are left after an interrupt"

# And if leat itself is killed, the others notice.
"$leat" run --fabric clos444 -n 2 -- "$folder/ring" 100 100000000 > "$folder/stdout" 2> "$folder/stderr" &
runner=$!
wait_until has_computed $runner
kill -KILL $runner
wait $runner 2> /dev/null
wait_until no_process "$folder/ring" || fail "processes are left behind by a killed run"
# ---- the profile: as many calls, with as many octets, as the program makes ------------------------
cat > "$folder/calls.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int me, n;
    char *buffer = calloc(4, 100000);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 10; i++)
        if (me == 0)
            MPI_Send(buffer, 100, MPI_INT, 1, 7, MPI_COMM_WORLD);
        else if (me == 1)
            MPI_Recv(buffer, 100, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(buffer, 50, MPI_DOUBLE, 2, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, buffer, 25, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(buffer, 3, MPI_CHAR, buffer + 1000, 3, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Isend(buffer, 100000, MPI_CHAR, (me + 1) % n, 9, MPI_COMM_WORLD, &request);
    MPI_Recv(buffer + 200000, 100000, MPI_CHAR, (me + n - 1) % n, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/calls" "$folder/calls.c"
exits 0 "" "$leat" run --fabric mesh:2,2 -n 4 --profile --json="$folder/calls.json" -- "$folder/calls"
same "calls and octets" "$(jq -r '[.profile[] | select(.call != "MPI_Finalize") | "\(.call) \(.calls) \(.bytes)"] | sort | join(", ")' "$folder/calls.json")" \
    "MPI_Allreduce 4 400, MPI_Alltoall 4 48, MPI_Barrier 4 0, MPI_Bcast 4 400, MPI_Isend 4 400000, MPI_Recv 14 0, MPI_Send 10 4000, MPI_Wait 4 0"
same "no time outside that of the tasks" "$(jq '([.profile[].seconds] | add) <= ([.per_task[].seconds] | add) + 1e-9 and ([.profile[].waiting_seconds] | add) <= ([.per_task[].waiting_seconds] | add) + 1e-9 and all(.profile[]; .waiting_seconds <= .seconds)' "$folder/calls.json")" true
exits 0 "" "$leat" run --fabric mesh:2,2 -n 4 --profile -- "$folder/calls"
has "the table" "$(cat "$folder/stderr")" "MPI_Isend                         4         400000"

finish
