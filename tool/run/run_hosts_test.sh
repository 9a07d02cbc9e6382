#!/bin/sh
# leat run --ranks-per-host and --placement: which ranks are on one host, and what they share.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc jq
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)

# Each rank prints what it sees, in the order of ranks.
cat > "$folder/hosts.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char before[64], name[MPI_MAX_PROCESSOR_NAME], line[200], all[64 * sizeof line], from[64] = "";
    int me, n, len, place, size;
    struct utsname system;
    MPI_Comm host;
    gethostname(before, sizeof before);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Get_processor_name(name, &len);
    uname(&system);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &place);
    MPI_Comm_size(host, &size);
    FILE *child = popen("uname -n", "r");
    if (child) {
        if (fgets(from, sizeof from, child)) from[strcspn(from, "\n")] = '\0';
        pclose(child);
    }
    const int same = !strcmp(before, name) && !strcmp(system.nodename, name) && !strcmp(from, name);
    snprintf(line, sizeof line, "%d %s %d/%d %s", me, name, place, size, same ? "" : "names differ");
    MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < n; i++)
        puts(all + i * sizeof line);
    MPI_Finalize();
    return 0;
}
C
# Ranks of a host wait for each other: in vain, or in a loop of their own.
cat > "$folder/wait.c" <<'C'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    int me;
    volatile int *flag;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(me == 0 ? sizeof *flag : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
    MPI_Win_fence(0, win);
    MPI_Aint len;
    int unit, *first;
    MPI_Win_shared_query(win, 0, &len, &unit, &first);
    flag = first;
    if (strcmp(argv[1], "lock") == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock(0, win);
    } else {
        if (me == 0) *flag = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 1) while (*flag != 1);
        ++*flag;
        if (me == 0) while (*flag != 2); /* one of them spins, whoever goes first */
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/hosts" "$folder/hosts.c" && mpicc -O1 -o "$folder/wait" "$folder/wait.c" &&
    mpicc -std=c17 -D_GNU_SOURCE -O1 -o "$folder/shared" "$tests/mpi/shared.c" "$tests/mpi/check.c" ||
    { echo "mpicc does not work" >&2; exit 77; }

# sees WANT OPTION...: the port of each rank, its place on the host and how many are there
sees() {
    hosts=$1
    shift
    exits 0 '' "$leat" run --fabric torus:2,2 "$@" --json -- "$folder/hosts"
    same "hosts with $*" "$(sed '/^{/d; /^$/d; s/^[0-9]* port//; s/ *$//' "$folder/stdout" | paste -sd' ')" "$hosts"
    same "hosts in JSON with $*" "$(tail -n 1 "$folder/stdout" | jq -r '[.per_task[] | .host == "port\(.port)"] | all')" true
    same "ports in JSON with $*" "$(tail -n 1 "$folder/stdout" | jq -r '[.per_task[].port] | join(" ")')" \
        "$(echo "$hosts" | sed 's, [0-9]*/[0-9]*,,g')"
}
sees '0 0/1 1 0/1 2 0/1 3 0/1'
sees '0 0/2 1 0/2 2 0/1 3 0/1 0 1/2 1 1/2' -n 6 # round robin: ranks of one port are on one host
sees '0 0/2 0 1/2 1 0/2 1 1/2 2 0/1' -n 5 --ranks-per-host 2
sees '0 0/3 0 1/3 0 2/3' -n 3 --ranks-per-host 4
sees '0 0/2 0 1/2 1 0/2 1 1/2 2 0/2 2 1/2 3 0/2 3 1/2' --ranks-per-host 2 # as many as there is room for
sees '3 0/2 1 0/2 3 1/2 1 1/2' -n 4 --placement 3,1
printf '# ranks  ports\n\n2-3 0   # two of them\n 0\t3\n1 3\n' > "$folder/places"
sees '3 0/2 3 1/2 0 0/2 0 1/2' --placement "$folder/places"
sees '3 0/2 3 1/2 0 0/2 0 1/2' -n 4 --placement "$folder/places"
printf '1-3 1-3\n0 2' > "$folder/places" # a rank for each port
sees '2 0/2 1 0/1 2 1/2 3 0/1' --placement "$folder/places"

# Files that do not place all ranks, each once, on ports that exist.
refused() {
    text=$1
    shift
    exits 2 "$text" "$leat" run --fabric torus:2,2 "$@" -- "$folder/hosts"
}
file() {
    printf '%b' "$1" > "$folder/places"
    text=$2
    shift 2
    refused "places$text" --placement "$folder/places" "$@"
}
file '0 1\n1 4\n' ':2: port 4, expected ports 0 to 3 of torus:2,2'
file '0-3 1-4\n' ':1: port 4, expected ports 0 to 3'
file '0 1\n# again\n0 2\n' ':3: rank 0 again, expected it once: line 1 places it too'
file '0 1\n2 2\n' ': rank 1 is missing, expected ranks 0 to 2'
file '0-2 1\n' ': rank 3 is missing, expected ranks 0 to 3' -n 4
file '0-4 1\n' ':1: rank 4, expected ranks 0 to 3, as -n says' -n 4
file '0 0\n5000 1\n' ':2: rank 5000, expected ranks 0 to 1023'
file '# nothing\n' ': expected a line RANK PORT'
for line in 'port 0' '0' '0 1 2' '3-1 0' '0-3 0-1' '-1 0' '0 -1' '0,1 0' '0 1x' '0- 1' '0 99999999999'; do
    file "0 0\n$line\n" ':2: expected RANK PORT, as in 3 5, 0-3 5 or 0-3 4-7'
done
refused 'nowhere: expected cyclic, block, ports as in 0,4,8, or a file: No such file' --placement "$folder/nowhere"
refused "cannot be read" --placement "$folder"
printf '0-3 0\n' > "$folder/places"
refused '--ranks-per-host and --placement both place ranks' --ranks-per-host 2 --placement "$folder/places"
refused '--ranks-per-host and --placement both place ranks' --ranks-per-host 2 --placement block
refused 'torus:2,2 has 4 ports, expected at most 8 ranks' -n 9 --ranks-per-host 2
refused "--ranks-per-host '0', expected a whole number" --ranks-per-host 0
refused 'port 7, expected ports 0 to 3 of torus:2,2' --placement "$(printf '0-1 7\n' > "$folder/far"; echo "$folder/far")" --fabric mesh:4,4
exits 2 'a file has ranks of MPI' "$leat" run --fabric clos444 --placement "$folder/places" -- ecs 1
exits 0 '' "$leat" run --fabric clos444 --ranks-per-host 2 --json -- ecs 1
same "ports of two tasks" "$(tail -n 1 "$folder/stdout" | jq -r '[.per_task[].port] | join(" ")')" "0 0"

# Shared windows: the same in every run, however many ranks a host has.
for fabric in torus:2,2 clos444; do
    for each in 1 2 4; do
        for i in 1 2 3; do
            exits 0 '' "$leat" run --fabric $fabric -n 4 --ranks-per-host $each --json -- "$folder/shared"
            has "$each ranks per host" "$(cat "$folder/stdout")" "all is well"
            tail -n 1 "$folder/stdout" | jq -c '[.certificate, .simulated_seconds, .messages, .repeatable]' > "$folder/run$i"
        done
        same "$fabric: second run, $each ranks per host" "$(cat "$folder/run2")" "$(cat "$folder/run1")"
        same "$fabric: third run, $each ranks per host" "$(cat "$folder/run3")" "$(cat "$folder/run1")"
        has "$fabric: $each ranks per host" "$(cat "$folder/run1")" ',true]'
    done
done

# A lock that is never released is a deadlock. A rank that spins is found; the run goes on, and says so.
exits 1 'deadlock' "$leat" run --fabric torus:2,2 -n 3 --ranks-per-host 3 -- "$folder/wait" lock
has "the rank that has the lock" "$(cat "$folder/stderr")" "MPI_Barrier"
has "a rank that waits for the lock" "$(cat "$folder/stderr")" "MPI_Win_lock at rank 0"
exits 0 'another run may differ: a rank computed for long' "$leat" run --fabric torus:2,2 -n 2 --ranks-per-host 2 -- "$folder/wait" spin
exits 71 '' "$leat" run --fabric torus:2,2 -n 2 -- "$folder/wait" lock # two hosts share no memory: MPI_ERR_RMA_SHARED
finish
