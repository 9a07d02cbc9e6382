#!/bin/sh
# leat run --wrap, --wrap-rank and --gdb: ranks under a tool.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs mpicc gdb valgrind strace python3
leat=$(readlink -f "$1")

cat > "$folder/ranks.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void at_breakpoint(int me, char **words) { (void)me, (void)words; }
int main(int argc, char **argv)
{
    int me, n, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    at_breakpoint(me, argv);
    const char *preload = getenv("LD_PRELOAD"), *slash = preload ? strrchr(preload, '/') : NULL;
    if (me == 1) printf("preloaded: %s\n", slash ? slash + 1 : "nothing");
    while (argc > 1 && strcmp(argv[1], "wait") == 0) {
        printf("rank %d waits\n", me);
        fflush(stdout);
        for (;;) pause();
    }
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d, %s\n", me, n, sum, argc > 1 ? argv[1] : "-");
    MPI_Finalize();
    return 0;
}
C
mpicc -g -O0 -o "$folder/ranks" "$folder/ranks.c" || fail "ranks.c cannot be compiled"
# certificate WORDS...: of a run with these options
certificate() {
    exits 0 "" "$leat" run --fabric mesh:2,2 "$@" --json -- "$folder/ranks" "two words"
    tail -n 1 "$folder/stdout" | jq -r .certificate
}
alone=$(certificate)

# ---- any tool: all ranks, or one -------------------------------------------------------------------
cat > "$folder/my tool" <<'T'
#!/bin/sh
# my tool LABEL PROGRAM ARGUMENT...: notes what it was started with
{ echo "$1 rank $OMPI_COMM_WORLD_RANK:"; shift; printf '<%s>' "$@"; echo; } > "${0%/*}/noted.$OMPI_COMM_WORLD_RANK"
exec "$@"
T
chmod +x "$folder/my tool"
noted() { cat "$folder"/noted.* 2> /dev/null | tr -d '\n'; rm -f "$folder"/noted.*; }
program="<$folder/ranks><two words>"
same "certificate under a tool" "$(certificate --wrap "'$folder/my tool' a\\ \"b c\"")" "$alone"
same "all ranks" "$(noted)" "a b c rank 0:${program}a b c rank 1:${program}a b c rank 2:${program}a b c rank 3:$program"
same "certificate with one rank under a tool" "$(certificate --wrap "'$folder/my tool' one" --wrap-rank 2)" "$alone"
same "one rank" "$(noted)" "one rank 2:$program"
for rank in 0 1 2 3; do
    has "what rank $rank wrote" "$(cat "$folder/stdout")" "rank $rank of 4: 6, two words"
done

# The run without contention, which is only compared, has no tool.
same "certificate with --contention" "$(certificate --contention --wrap-rank 0 --wrap "sh -c 'echo once >> $folder/times; exec \"\$0\" \"\$@\"'")" "$alone"
same "how often a tool is started" "$(cat "$folder/times")" once

# ---- tools that follow a process -------------------------------------------------------------------
same "certificate under strace" "$(certificate --wrap "strace -f -o $folder/calls" --wrap-rank 1)" "$alone"
has "strace" "$(cat "$folder/calls")" "rank 1 of 4: 6, two words"
same "certificate under valgrind" "$(certificate -n 4 --wrap "valgrind -q --leak-check=full --log-file=$folder/checked.%q{OMPI_COMM_WORLD_RANK}" --wrap-rank 3)" "$alone"
[ -f "$folder/checked.3" ] || fail "valgrind has checked nothing"
! grep -q leat_share "$folder/checked.3" || fail "valgrind objects to leat: $(cat "$folder/checked.3")"

# ---- PVM, if it is there -----------------------------------------------------------------------------
if command -v hello.pvm > /dev/null; then
    exits 0 "" "$leat" run --fabric mesh:2,2 --json -- hello.pvm
    of_pvm=$(tail -n 1 "$folder/stdout" | jq -r .certificate)
    exits 0 "" "$leat" run --fabric mesh:2,2 --wrap "strace -f -o $folder/pvm" --json -- hello.pvm
    same "certificate of PVM under strace" "$(tail -n 1 "$folder/stdout" | jq -r .certificate)" "$of_pvm"
    grep -q 'write(1, .*from t80002' "$folder/pvm" || fail "strace does not see what a task of PVM writes"
fi

# ---- what cannot be --------------------------------------------------------------------------------
refused() { text=$1; shift; exits 2 "$text" "$leat" run --fabric mesh:2,2 "$@" -- "$folder/ranks"; }
refused "--wrap '', expected a command" --wrap ''
refused "--wrap ' ', expected a command" --wrap ' '
refused "--wrap no-such-tool: there is no such program, expected one on PATH" --wrap "no-such-tool -q"
refused "a quote without an end" --wrap "strace 'a"
refused "--wrap-rank 4: there are 4 tasks, expected 0 to 3" --wrap strace --wrap-rank 4
refused "--wrap-rank without --wrap" --wrap-rank 1
refused "--gdb with --wrap, expected one of them" --gdb 1 --wrap strace
refused "--gdb 'x', expected a whole number" --gdb x
exits 2 "there is no terminal, expected one where gdb can be used" setsid -w "$leat" run --fabric mesh:2,2 --gdb 1 -- "$folder/ranks"
mkdir "$folder/bin"
for name in mpirun ldd sh cat grep sed; do ln -s "$(command -v $name)" "$folder/bin/$name"; done
exits 2 "--gdb: gdb is not installed, expected it on PATH: as root, apt install gdb" env PATH="$folder/bin" "$leat" run --fabric mesh:2,2 --gdb 1 -- "$folder/ranks"
exits 2 "--wrap has no meaning for programs of leat/atm_task.h" "$leat" run --fabric clos444 --wrap strace -- ecs 4

# ---- gdb, at a terminal -----------------------------------------------------------------------------
PYTHONDONTWRITEBYTECODE=1 python3 "$here/run_tool_test.py" "$leat" "$folder/ranks" "$alone" || fail "gdb at a terminal"
no_process "$folder/ranks" || fail "ranks are left"
finish
