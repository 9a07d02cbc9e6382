#!/bin/sh
# leat run: MPI programs whose ranks start others, and ranks that connect to each other by name.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc jq strace
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)
for program in spawn fault_spawn; do
    mpicc -std=c17 -D_GNU_SOURCE -O1 -o "$folder/$program" "$tests/mpi/$program.c" "$tests/mpi/check.c" ||
        { echo "mpicc does not work" >&2; exit 77; }
done

# runs FABRIC RANKS OPTION...: it checks itself; what is the same in every run
runs() {
    fabric=$1 ranks=$2
    shift 2
    exits 0 '' timeout "$run_limit" "$leat" run --fabric "$fabric" -n "$ranks" "$@" --json -- "$folder/spawn"
    has "$ranks ranks over $fabric $*" "$(cat "$folder/stdout")" "all is well"
    tail -n 1 "$folder/stdout" | jq -c '[.certificate, .simulated_seconds, .messages, .bytes, .repeatable, .tasks]'
}

# Every run is the same, with 14 tasks that were started later.
for ranks in 1 2 4; do
    first=$(runs torus:2,2 $ranks)
    has "$ranks ranks" "$first" ",true,$((ranks + 14))]"
    same "second run, $ranks ranks" "$(runs torus:2,2 $ranks)" "$first"
done
first=$(runs torus:4,4 3)
same "second run over torus:4,4" "$(runs torus:4,4 3)" "$first"

# Also if mpirun is slow to notice that a rank has closed its connection: it would lose that of the next one.
mkdir "$folder/slow"
cat > "$folder/slow/mpirun" << END
#!/bin/sh
exec strace -f -b execve -o "$folder/waits" -e trace=/epoll_p?wait -e inject=/epoll_p?wait:delay_exit=20000 $(command -v mpirun) "\$@"
END
chmod +x "$folder/slow/mpirun"
same "beside a slow mpirun" "$(PATH="$folder/slow:$PATH" && runs torus:4,4 3)" "$first"
[ -s "$folder/waits" ] || fail "mpirun is not slow"

# New ranks have the ports that follow.
ports() { tail -n 1 "$folder/stdout" | jq -r '[.per_task[:6][].port] | join(" ")'; }
runs torus:4,4 2 > "$folder/unused"
same "ports" "$(ports)" "0 1 2 3 4 5"
runs torus:4,4 2 --placement 5,7,9 > "$folder/unused"
same "ports of a list" "$(ports)" "5 7 9 5 7 9"
printf '0 15\n1 14\n' > "$folder/places"
runs torus:4,4 2 --placement "$folder/places" > "$folder/unused"
same "ports behind a file" "$(ports)" "15 14 15 0 1 2"

# fault CODE TEXT KIND: ends with mpirun's exit code
fault() {
    exits "$1" "$2" timeout "$run_limit" "$leat" run --fabric torus:2,2 -n 1 -- "$folder/fault_spawn" "$3"
    ! grep -q expected "$folder/stdout" || fail "fault_spawn $3 goes on"
}
fault 0 'MPI_Comm_spawn of 1000 processes: the run has places for 256 more' many
same "a program that cannot start so many" "$(cat "$folder/stdout")" "not started"
fault 137 'the process of task 1 is gone' killed
fault 3 'task 1: it ended with code 3, without MPI_Finalize' exits
fault 1 'task 1 never began: its process has ended' early
fault 1 'task 0 at 0.000000000 s: MPI_Comm_accept, root 0' alone
code=0
"$leat" run --fabric torus:2,2 -n 1 -- "$folder/fault_spawn" absent > "$folder/stdout" 2> "$folder/stderr" || code=$?
[ $code -ne 0 ] || fail "a program that is not there is started"
has "a program that is not there" "$(cat "$folder/stderr")" "no-such-program"
finish
