#!/bin/sh
# leat graph run --sandbox: results are those without it, files appear, what handlers must not do is refused.
set -u
leat=$(realpath "$1")
share=$(realpath "$(dirname "$0")/../../share/poets")
. "$(dirname "$0")/../../test/lib.sh"
needs jq
cd "$folder" || exit 1
run() { timeout "$run_limit" "$leat" graph run "$@"; }

exits 2 '--sandbox and --no-sandbox, expected one of them' run --sandbox --no-sandbox "$share/ring.xml"
exits 2 '--sandbox-time with --no-sandbox' run --no-sandbox --sandbox-time 1s "$share/ring.xml"
exits 2 "--sandbox-memory '1', expected" run --sandbox --sandbox-memory 1 "$share/ring.xml"
exits 2 '--sandbox with --engine mpi' mpirun -n 1 "$leat" graph run --sandbox --engine mpi "$share/ring.xml"

run --sandbox "$share/ring.xml" > stdout 2> stderr
if grep 'this system refuses a sandbox' stderr; then
    echo "skipped: no namespaces of users"
    exit 77
fi

# ---- the same results

# result NAME OPTION...: what every run has
result() {
    name=$1
    shift
    exits 0 '' run "$share/heat_plate.xml" "$@" --snapshot "$name.xml" --record "$name.pcapng" --json="$name.json"
    jq -c '[.states, .receives, .reason]' "$name.json"
}
for options in '--schedule fifo' '-j 2 --schedule random --seed 7' '--fabric tinsel:2,2 --threads 2'; do
    # shellcheck disable=SC2086
    same "$options" "$(result inside --sandbox $options)" "$(result outside --no-sandbox $options)"
    for kind in xml pcapng; do cmp "inside.$kind" "outside.$kind" || fail "$options: another $kind"; done
done
no_part 'a sandbox'
exits 0 '' run --sandbox --until idle "$share/ring.xml" "$share/heat_plate.xml"
has 'two tasks' "$(cat stderr)" 'task 1: success'

# ---- what handlers must not do

# attempt NAME EXPRESSION: C++ that is true where it succeeds
attempt() { printf 'tried("%s", [] { return %s; });\n' "$1" "$2"; }
# app INIT
app() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g"><SharedCode><![CDATA[
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
template <class F> static void tried(const char *what, F f) { printf("%s: %s\n", f() ? "ESCAPED" : "refused", what); fflush(stdout); }
]]></SharedCode>
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><State>uint32_t n;</State><OnInit><![CDATA[$1]]></OnInit>
<OutputPin name="out" messageTypeId="m"><OnSend/></OutputPin></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="0" type="d"/></DeviceInstances><EdgeInstances/></GraphInstance></Graphs>
XML
}
echo whole > file
chmod 666 file
sleep 3000 &
victim=$!
tear_down() { kill $victim 2> /dev/null; }
app "$(
    attempt 'a new file' "open(\"$folder/new\", O_CREAT | O_WRONLY, 0600) >= 0"
    attempt 'a file of the user' "open(\"$folder/file\", O_WRONLY) >= 0"
    attempt "a file's rights" "chmod(\"$folder/file\", 0777) == 0"
    attempt 'no file any more' "unlink(\"$folder/file\") == 0"
    attempt 'another program' 'execl("/bin/true", "true", (char *)0) == 0'
    attempt 'another process' '[] { pid_t p = vfork(); if (p == 0) _exit(0); if (p > 0) waitpid(p, 0, 0); return p > 0; }()'
    attempt 'a shell' 'system("true") == 0'
    attempt 'a local socket' 'socket(AF_UNIX, SOCK_STREAM, 0) >= 0'
    attempt 'a packet socket' 'socket(AF_PACKET, SOCK_RAW, 0) >= 0'
    attempt 'a traced process' "ptrace(PTRACE_ATTACH, $victim, 0, 0) == 0"
    attempt 'memory of a process' "open(\"/proc/$victim/mem\", O_RDONLY) >= 0"
)" > evil.xml
exits 0 'in a sandbox' run --sandbox --until idle evil.xml
same 'what they could do' "$(grep -v '^refused: ' stdout)" ''
[ "$(grep -c '^refused: ' stdout)" = 11 ] || fail "too few attempts: $(cat stdout)"
same 'the file' "$(cat file)" whole
kill -0 $victim || fail 'the other process has ended'

# Its folder, and nothing else.
app "tried(\"own\", [] { FILE *f = fopen(\"$folder/results/own\", \"w\"); if (f) fclose(f); return f; });" > own.xml
exits 0 '' run --sandbox --until idle --output results own.xml
[ -e results/own ] || fail "the folder of --output cannot be written"

# ---- limits, ends, owners

app 'for (volatile int i = 0;; i++) ;' > busy.xml
exits 1 'a processor (--sandbox-time)' run --sandbox --sandbox-time 1s --until idle busy.xml
# When leat ends at once, so does the process in the sandbox. Which of its processes (its keeper, then that one) sees
# the end before it asks the kernel to be told of it: WHICH.
cat > orphan.c << 'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/prctl.h>
#include <unistd.h>
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    const pid_t parent = getppid();
    if (option == PR_SET_PDEATHSIG && a == SIGKILL) {
        char name[32];
        int which = 1;
        for (;; which++) {
            snprintf(name, sizeof name, "child.%d", which);
            const int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
            if (file < 0) continue;
            dprintf(file, "%d\n", getpid());
            close(file);
            break;
        }
        if (which == atoi(getenv("WHICH")) && !kill(parent, SIGKILL))
            while (getppid() == parent) usleep(1000);
    }
    return ((int (*)(int, unsigned long, unsigned long, unsigned long, unsigned long))dlsym(RTLD_NEXT, "prctl"))(option, a, b, c, d);
}
C
cc -shared -fPIC -o orphan.so orphan.c -ldl || fail 'no compiler'
has_ended() { ! kill -0 "$1"; }
for which in 1 2; do
    rm -f child.*
    WHICH=$which LD_PRELOAD=$PWD/orphan.so ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
        timeout "$run_limit" "$leat" graph run --sandbox --until idle busy.xml > stdout 2>&1
    [ -s child.$which ] || fail "no process $which: $(cat stdout)"
    for child in child.*; do
        wait_until has_ended "$(cat "$child")" || { fail "a process of a sandbox outlives leat"; kill -KILL "$(cat "$child")"; }
    done
done
app 'kill(getpid(), SIGKILL);' > killed.xml
exits 1 'the sandbox was ended by signal 9' run --sandbox --until idle killed.xml
app 'abort();' > crash.xml
exits 1 'crash.xml:' run --sandbox --until idle --snapshot crash.snap crash.xml
[ ! -e crash.snap ] || fail 'a crash leaves a snapshot'
no_part 'a crash'
if [ "$(id -u)" = 0 ]; then
    cp "$share/ring.xml" theirs.xml
    chown 54321 theirs.xml
    exits 0 'theirs.xml belongs to another user: its handlers run in a sandbox' run theirs.xml
    exits 0 '' run --no-sandbox theirs.xml
    ! grep -q 'another user' stderr || fail "told with --no-sandbox: $(cat stderr)"
    exits 2 'expected --no-sandbox' mpirun -n 1 "$leat" graph run --engine mpi theirs.xml
fi
finish
