#!/bin/sh
# leat run --jail: programs of each library run as without it; what they may not do is refused.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc jq python3
leat=$(readlink -f "$1")
here=$(cd "$(dirname "$0")" && pwd)

run() { timeout "$run_limit" "$leat" run --fabric torus:2,2/esp=20 "$@"; }
any="--library mpi"
exits 2 '--jail-write without --jail' run $any --jail-write "$folder" -- python3
exits 2 "--jail-write 'nowhere', expected a folder that exists" run $any --jail --jail-write nowhere -- python3
exits 2 "--jail-memory '1', expected 1048576 to" run $any --jail --jail-memory 1 -- python3
exits 2 '--gdb with --jail' run $any --jail --gdb 0 -- python3

run -n 1 $any --jail -- true > /dev/null 2> "$folder/stderr"
if grep 'leat: --jail: this system refuses' "$folder/stderr"; then
    echo "skipped: no namespaces of users"
    exit 77
fi

# ---- programs do what they do without it

cat > "$folder/sum.c" << 'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank) printf("%d\n", sum);
    MPI_Finalize();
}
END
mpicc -o "$folder/sum" "$folder/sum.c" || { echo "mpicc does not work" >&2; exit 77; }
# result OPTION...: its output, and what every run has
result() {
    exits 0 '' run -n 4 --json="$folder/result.json" "$@" -- "$folder/sum"
    jq -c '[.certificate, .simulated_seconds, .messages]' "$folder/result.json"
    cat "$folder/stdout"
}
free=$(result)
has 'a sum' "$free" 6
same 'in a jail' "$(result --jail)" "$free"
same 'with collectives by the network' "$(result --jail --collectives network)" "$(result --collectives network)"
exits 0 '' run -n 4 --record "$folder/jail.record" --store "$folder/jail.sqlite" --jail -- "$folder/sum"
for file in jail.record jail.sqlite; do [ -s "$folder/$file" ] || fail "leat cannot write $file"; done
if [ -x /usr/lib/pvm3/bin/LINUX64/hello ] || command -v hello.pvm > /dev/null; then
    exits 0 '' timeout "$run_limit" "$leat" run --fabric mesh:4,4 -- hello.pvm
    free=$(cat "$folder/stdout")
    exits 0 '' timeout "$run_limit" "$leat" run --fabric mesh:4,4 --jail -- hello.pvm
    same 'PVM in a jail' "$(cat "$folder/stdout")" "$free"
fi

# ---- what they may not

mkdir -m 777 "$folder/outside" "$folder/inside"
chmod 755 "$folder"
echo whole > "$folder/outside/file"
chmod 666 "$folder/outside/file"
python3 - "$folder/outside" << 'END' &
import os, socket, sys, time
server = socket.create_server(("127.0.0.1", 0))
local = socket.socket(socket.AF_UNIX)
local.bind(sys.argv[1] + "/socket")
local.listen()
with open(sys.argv[1] + "/port.part", "w") as f:
    print(server.getsockname()[1], file=f)
os.rename(sys.argv[1] + "/port.part", sys.argv[1] + "/port")
time.sleep(3000)
END
victim=$!
tear_down() { kill $victim 2> /dev/null; }
wait_until [ -e "$folder/outside/port" ] || fail "no server to attack"
set -- "$folder/outside" "$folder/outside/file" $victim "$(cat "$folder/outside/port")" "$folder/outside/socket"
mkfifo "$folder/outside/pipe"
chmod 666 "$folder/outside/pipe"
exec 9<> "$folder/outside/pipe"
# Outside the jail all of it would work, or nothing is shown.
timeout 60 sh -c ': > "$1"' - "$folder/outside/pipe" || fail "nobody reads the pipe"
python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()' "$4" || fail "the server does not answer"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$5" || fail "the local server does not answer"
[ -r "/proc/$victim/environ" ] && head -c 1 "/proc/$victim/environ" > /dev/null || fail "the other process is hidden anyway"

exits 0 '' run -n 1 $any --jail -- true
keeps=signals
! grep -q 'lets the program signal' "$folder/stderr" || keeps=
exits 0 '' run -n 1 $any --jail -- python3 "$here/run_escape.py" "$@" $keeps
same 'what it could do' "$(grep -v '^refused: ' "$folder/stdout")" 'its own memory is writable'
[ "$(grep -c '^refused: ' "$folder/stdout")" -ge 20 ] || fail "too few attempts: $(cat "$folder/stdout")"
same 'the file' "$(cat "$folder/outside/file")" whole
[ ! -e "/tmp/leat-escape.$victim" ] || fail "a file was left in /tmp"
kill -0 $victim || fail "the other process has ended"

exits 0 '' run -n 1 $any --jail --jail-write "$folder/inside" -- sh -c "echo new > $folder/inside/new; echo no > $folder/outside/new 2> /dev/null || :"
same 'a file in the folder' "$(cat "$folder/inside/new")" new
[ ! -e "$folder/outside/new" ] || fail "it wrote outside its folder"

# What is mounted below it, too.
mkdir "$folder/inside/below"
if unshare -m mount -t tmpfs none "$folder/inside/below" 2> /dev/null; then
    exits 0 '' unshare -m sh -c 'mount -t tmpfs none "$1/below" && shift && "$@" && cat "$0/below/new"' "$folder/inside" "$folder/inside" \
        "$leat" run --fabric torus:2,2/esp=20 -n 1 $any --jail --jail-write "$folder/inside" -- sh -c "echo new > $folder/inside/below/new"
    has 'a file in a mount below' "$(cat "$folder/stdout")" new
fi

exits 2 '/dev/shm: expected a folder outside /dev/shm, which the jail hides' run $any --jail --jail-write /dev/shm -- true
exits 2 '/dev/shm: expected a folder outside /dev/shm, which the jail hides' env -C /dev/shm "$leat" run --fabric torus:2,2/esp=20 $any --jail -- true

# ---- limits

exits 1 MemoryError run -n 1 $any --jail --jail-memory 200M -- python3 -c 'bytearray(300 << 20)'
exits 0 '' run -n 1 $any --jail --jail-memory 400M -- python3 -c 'bytearray(300 << 20)'
got=0
run -n 1 $any --jail --jail-time 1s -- python3 -c 'while True: pass' > /dev/null 2> "$folder/stderr" || got=$?
[ $got != 0 ] || fail "a program that computes for ever has ended well"
same 'what is left' "$(pgrep -f "$folder/sum" || :)" ''
finish
