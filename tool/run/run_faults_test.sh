#!/bin/sh
# leat run: programs that do not begin, fork, close descriptors or run out of them; a leat that is killed; networks that carry cells
# for ever. Each run ends by itself, and reports why.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)

for program in fault_abort fault_after fault_fork fault_close fault_kill polling reduce_user; do
    mpicc -O1 -D_GNU_SOURCE -I"$tests/mpi" -o "$folder/$program" "$tests/mpi/$program.c" "$tests/mpi/check.c" ||
        { echo "mpicc does not work" >&2; exit 77; }
done

# ends CODE TEXT COMMAND...: as `exits`, and within bounded time; 124: it does not end.
ends() {
    code=$1 told=$2
    shift 2
    exits "$code" "$told" timeout -k 10 "$run_limit" "$@"
}

# ---- only some ranks call MPI_Init: mpirun waits for ever ----------------------------------------

cat > "$folder/some.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (*getenv("OMPI_COMM_WORLD_RANK") == '1') return 0;
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
C
mpicc -O1 -o "$folder/some" "$folder/some.c"
ends 1 'task 1 never began, but task 0 has: its process has ended' "$leat" run --fabric clos444 -n 3 -- "$folder/some"

# ---- polls ---------------------------------------------------------------------------------------

# Polls are fast: a rank that has died meanwhile is the reason, not a deadlock of those that poll for it.
ends 137 'the process of task 3 is gone, without having left: signal 9 (Killed)' "$leat" run --fabric torus:2,2 -n 4 -- "$folder/fault_kill" polled
ends 0 '' "$leat" run --fabric torus:2,2 -n 4 -- "$folder/polling" long
has 'polls between sleeps' "$(cat "$folder/stdout")" 'all is well'

# A run that was aborted has failed, whatever the code.
ends 1 'MPI_Abort was called with code 0' "$leat" run --fabric torus:2,2 -n 2 --json="$folder/told.json" -- "$folder/fault_abort" 0
same 'the exit code of an abort' "$(jq -c '[.status, .exit_code]' "$folder/told.json")" '["aborted",1]'

# ---- a process that a rank forks is no rank ----------------------------------------------------

for deed in "send MPI to send" "receive MPI_Recv" "probe MPI" "barrier MPI_Barrier" "finalize MPI_Finalize" "abort MPI_Abort"; do
    ends 1 "task 1: a process that it forked called ${deed#* }" "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" "${deed%% *}"
done
ends 1 '' "$leat" run --fabric mesh:2,2 -n 2 --json="$folder/told.json" -- "$folder/fault_fork" receive
same 'a copy of a rank' "$(jq -c '[.status, (.reason | test("forked called MPI_Recv"))]' "$folder/told.json")" '["failed",true]'
for deed in exit sleep before; do
    ends 0 '' "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" "$deed"
    has "$deed" "$(cat "$folder/stdout")" 'all is well'
done

# The same of a task of PVM. Its child may sleep, in its own time, and exit.
cat > "$folder/pvm.c" <<'C'
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int status = 0;
    pvm_mytid();
    const pid_t child = fork();
    if (!child) {
        usleep(1000);
        if (!strcmp(argv[argc - 1], "receive")) pvm_recv(-1, 7);
        exit(0);
    }
    waitpid(child, &status, 0);
    printf("all is well\n");
    pvm_exit();
    return 0;
}
C
if cc -o "$folder/pvm" "$folder/pvm.c" -lpvm3 2> /dev/null; then
    ends 1 'task 0: a process that it forked called' "$leat" run --fabric clos444 -- "$folder/pvm" receive
    ends 0 '' "$leat" run --fabric clos444 -- "$folder/pvm" exit
    has 'a task whose child exits' "$(cat "$folder/stdout")" 'all is well'
fi

# What a rank has forked ends with it, where the run ends it.
ends 1 'called MPI_Recv' "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" linger
wait_until no_process "$folder/fault_fork" || fail "a process that a rank forked is left"

# ---- networks that deliver nothing any more ----------------------------------------------------

ends 1 'deadlock: at 0.0' "$leat" run --fabric clos444 -n 2 --retransmit 4000 --obsolete 100000 --json="$folder/told.json" -- "$folder/reduce_user"
has 'who waits for what' "$(cat "$folder/stderr")" 'task 1 at 0.000530000 s: MPI_Allreduce'
same 'a network that is locked' "$(jq -c '[.status, (.reason | test("the network is locked: full buffers wait")), .exit_code]' "$folder/told.json")" '["deadlock",true,null]'
# Also where tasks poll, which see time pass; and time-outs that are long, or repeat themselves for long, are no lock.
cat > "$folder/poll.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int me, done = 0;
    char *out = calloc(1, 100000), *in = malloc(100000);
    MPI_Request request[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Irecv(in, 100000, MPI_CHAR, !me, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, 100000, MPI_CHAR, !me, 1, MPI_COMM_WORLD, &request[1]);
    while (!done) {
        MPI_Testall(2, request, &done, MPI_STATUSES_IGNORE);
        usleep(1000);
    }
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/poll" "$folder/poll.c"
ends 1 'deadlock: at 0.' "$leat" run --fabric clos444 -n 2 --retransmit 4000 -- "$folder/poll"
ends 0 '' "$leat" run --fabric clos444 -n 2 --retransmit 4000000000 -- "$folder/poll"
ends 0 '' "$leat" run --fabric clos444 -n 2 --dead 1@0..190000000 --retransmit 1000000 --transmissions 200 -- "$folder/fault_fork" exit

# ---- an oracle that fails ---------------------------------------------------------------------

printf '#!/bin/sh\necho "$1 ranks"; echo "all is well"\n' > "$folder/sound"
printf '#!/bin/sh\necho x >> %s/calls; [ $(wc -l < %s/calls) -ge 3 ] || kill -SEGV $$\nexec %s/sound "$@"\n' "$folder" "$folder" "$folder" > "$folder/crashes"
printf '#!/bin/sh\nkill -SEGV $$\n' > "$folder/always"
printf '#!/bin/sh\nexit 14\n' > "$folder/fails"
chmod +x "$folder/sound" "$folder/crashes" "$folder/always" "$folder/fails"
exits 0 '' sh "$tests/mpi/run_all.sh" -n 2 -p sizes "$folder/sound" '{n}' --against "$folder/crashes" '{n}'
same 'crashes that are told' "$(grep -c '^note sizes, 2 ranks: the oracle failed with exit status 139' "$folder/stdout")" 2
exits 0 '' sh "$tests/mpi/run_all.sh" -n 2 -p sizes "$folder/sound" '{n}' --against "$folder/always" '{n}'
has 'an oracle that always crashes' "$(cat "$folder/stdout")" 'not compared, since the oracle crashed every time: 1 runs'
exits 1 '' sh "$tests/mpi/run_all.sh" -n 2 -p sizes "$folder/sound" '{n}' --against "$folder/fails" '{n}'
same 'failures that are told' "$(grep -c '^note sizes, 2 ranks: the oracle failed with exit status 14 ' "$folder/stdout")" 5
has 'an oracle that always fails' "$(cat "$folder/stdout")" 'the oracle itself fails with exit status 14'

# ---- what a program is linked with is unknown ----------------------------------------------

mkdir "$folder/path"
# with_ldd LINE: an ldd that does this
with_ldd() {
    printf '#!/bin/sh\n%s\n' "$1" > "$folder/path/ldd"
    chmod +x "$folder/path/ldd"
}
with_ldd "until grep -q '^State:.S' /proc/\$PPID/status; do :; done; kill -TERM \$PPID; exec $(command -v ldd) \"\$@\""
ends 143 '' env PATH="$folder/path:$PATH" "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" exit
same 'a signal that comes early' "$(cat "$folder/stderr")" ''
with_ldd "kill -SEGV \$\$"
ends 2 'ldd, which lists what' env PATH="$folder/path:$PATH" "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" exit

# ---- descriptors -------------------------------------------------------------------------------

for first in 3 0; do
    ends 1 'task 1: it has closed descriptors of the MPI library' "$leat" run --fabric clos444 -n 2 -- "$folder/fault_close" $first
done
for files in 24 34; do
    # shellcheck disable=SC3045 # dash and bash have it
    (ulimit -n $files && ends 2 "the limit of open files is $files, expected 40 or more for 2 ranks" "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" exit)
done
# shellcheck disable=SC3045
(ulimit -S -n 24 && ends 0 '' "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" exit)
# Files that leat has inherited do not count for mpirun, which ends or waits for ever without enough of its own.
(
    exec 3> /dev/null 4>&3 5>&3 6>&3 7>&3 8>&3 9>&3
    for files in 40 42; do
        # shellcheck disable=SC3045
        (ulimit -n $files && ends 0 '' "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" exit)
    done
)

# The memory that ranks share is a file, which may be too large (ulimit -f): the run has failed, the user is not wrong.
# shellcheck disable=SC3045
(ulimit -f 100 && ends 1 'no shared memory for 258 tasks: File too large' "$leat" run --fabric clos444 -n 2 -- "$folder/fault_fork" exit)

# ---- programs that go on after MPI_Finalize ----------------------------------------------------

# Open MPI's components stay, since a thread of PMIx may still run in one of them.
cat > "$folder/stays.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[4096];
    int components = 0;
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        components += strstr(line, "mca_pmix") != NULL;
    return components ? 0 : 3;
}
C
mpicc -O1 -o "$folder/stays" "$folder/stays.c"
ends 0 '' "$leat" run --fabric clos444 -n 2 -- "$folder/stays"

# goes_on DEED: its run is $pid, in a session of its own, and both ranks are there
goes_on() {
    rm -f "$folder"/rank.* "$folder/told.json"
    setsid "$leat" run --fabric clos444 -n 2 --json="$folder/told.json" -- "$folder/fault_after" "$1" "$folder" > "$folder/stdout" 2> "$folder/stderr" &
    pid=$!
    waits_for rank.0
    waits_for rank.1
}
has_ended() { ! kill -0 "$1" 2> /dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
# is_ended_by SIGNAL WHOM WHAT: the run ends then, with its code as $got; nothing is left
is_ended_by() {
    kill -s "$1" -- "$2"
    wait_until has_ended $pid || { fail "$3: SIG$1 is not heard"; kill -KILL -$pid; }
    got=0
    wait $pid || got=$?
    wait_until no_process "$folder/fault_after" || fail "$3: processes outlive SIG$1"
}
is_interrupted() {
    same "$1" "$got" "$2"
    same "$1: JSON" "$(jq -c '[.status, .exit_code]' "$folder/told.json")" '["interrupted",null]'
    ! grep 'ended with code' "$folder/stderr" || fail "$1: its code is told"
}

for deed in pause spin one system fork; do
    goes_on $deed
    is_ended_by TERM $pid "after MPI_Finalize, $deed"
    is_interrupted "after MPI_Finalize, $deed" 143
done
for deed in pause fork; do
    goes_on $deed
    is_ended_by INT -$pid "after MPI_Finalize, $deed, an interrupt of all"
    is_interrupted "after MPI_Finalize, $deed, an interrupt of all" 130
done
goes_on pause
wait_until grep -q 'the simulation is over; waiting for processes of the program that still run: 2' "$folder/stderr" || fail "it waits in silence"
is_ended_by INT $pid 'after MPI_Finalize, while it waits'
is_interrupted 'after MPI_Finalize, while it waits' 130

# An interrupt before the first message: nothing was simulated, so there is no certificate.
cat > "$folder/silent.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts("here");
    fflush(stdout);
    for (;;)
        pause();
}
C
mpicc -O1 -o "$folder/silent" "$folder/silent.c"
"$leat" run --fabric clos444 -n 2 --json="$folder/told.json" -- "$folder/silent" > "$folder/stdout" 2> "$folder/stderr" &
pid=$!
both_are_here() { [ "$(grep -c here "$folder/stdout")" -eq 2 ]; }
wait_until both_are_here || fail "the silent program does not begin"
kill -INT $pid
wait $pid
same "an interrupt before the first message" $? 130
same "nothing was simulated" "$(jq -c '[.status, .messages, .certificate]' "$folder/told.json")" '["interrupted",0,null]'

# Leat and mpirun killed together: ranks that wait for nobody end by themselves.
for deed in pause spin compute; do
    goes_on $deed
    is_ended_by KILL -$pid "leat and mpirun are killed, $deed"
done

# ---- a leat that was killed --------------------------------------------------------------------

# orphan PROGRAM WORD...: a parent that never reaps starts a run, which is killed; its ranks end all the same.
orphan() {
    sh -c '"$@" & echo $! > "$0"; exec sleep 1000000' "$folder/pid" "$leat" run --fabric clos444 "$@" > /dev/null 2>&1 &
    parent=$!
    waits_for pid
    runner=$(cat "$folder/pid")
    rm "$folder/pid"
    wait_until has_computed "$runner" || fail "it does not compute: $*"
    kill -KILL "$runner"
    wait_until no_process "$folder/" || fail "processes outlive a run that nobody reaps: $*"
    wait_until grep -q '^State:.Z' "/proc/$runner/status" || fail "the killed run was to be a zombie"
    kill -KILL $parent
    wait $parent 2> /dev/null
}

cat > "$folder/ring.c" <<'C'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    int me, n, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0;; i++) {
        if (i == 100000 && argc > 1 && !strcmp(argv[1], "compute"))
            for (volatile int forever = 1; forever;) {}
        MPI_Sendrecv(&i, 1, MPI_INT, (me + 1) % n, 1, &in, 1, MPI_INT, (me + n - 1) % n, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
C
mpicc -O1 -o "$folder/ring" "$folder/ring.c"
orphan -n 2 -- "$folder/ring"
orphan -n 2 -- "$folder/ring" compute
# Of a task that a shell has started only the shell is leat's child.
cat > "$folder/asks.c" <<'C'
#include <pvm3.h>
int main(void)
{
    const int me = pvm_mytid();
    while (pvm_pstat(me) == PvmOk) {} /* which the run answers */
    return 1;
}
C
if cc -o "$folder/asks" "$folder/asks.c" -lpvm3 2> /dev/null; then
    orphan --patience 0s -- "$folder/asks"
    orphan --patience 0s --library pvm -- sh -c "$folder/asks; true"
fi
finish
