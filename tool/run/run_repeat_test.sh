#!/bin/sh
# leat run: the same program is the same run, whatever the machine, the build, the threads and the model.
# Where LEAT_SHORT is set (by sanitizers, which make it slow), on fewer networks and without stock mpirun.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs mpicc
leat=$(readlink -f "$1")
tests=$(cd "$(dirname "$0")/../../test" && pwd)
. "$(dirname "$0")/run_ring.sh"

# The same run twice: the same output, the same certificate, the same times; on every kind of network.
fabrics="clos444 bmx:4 clos:2,3,4 mesh:4,4 crossbar:5/switch=voq fattree:2,3 dragonfly:1,2,1 ring6"
threaded="torus:16,24 fattree:8,3 torus:16,16/esp=20"
[ -z "${LEAT_SHORT:-}" ] || fabrics="clos444 mesh:4,4 ring6" threaded=torus:16,16/esp=20
for fabric in $fabrics; do
    for i in 1 2; do
        exits 0 '' "$leat" run --fabric "$fabric" -n 5 --json -- "$folder/ring" 1000 3
        cp "$folder/stdout" "$folder/run$i"
    done
    for key in certificate simulated_seconds messages bytes task; do
        same "$fabric: $key of both runs" "$(number $key "$folder/run1")" "$(number $key "$folder/run2")"
    done
    same "$fabric: output of both runs" "$(head -n 1 "$folder/run1")" "$(head -n 1 "$folder/run2")"
    took=$(head -n 1 "$folder/run1" | cut -d' ' -f1)
    # What the program measured is simulated: no more than the run, and not the milliseconds of a real start.
    jq -en "$took > 0 and $took <= $(number simulated_seconds "$folder/run1")" > /dev/null ||
        fail "$fabric: the program measured $took s in a run of $(number simulated_seconds "$folder/run1") s"
done

# Any number of threads: the same run.
for fabric in $threaded; do
    for threads in 1 2 3; do
        exits 0 '' "$leat" run --fabric "$fabric" -n 5 --threads $threads --json -- "$folder/ring" 1000 3
        cp "$folder/stdout" "$folder/run$threads"
        for key in certificate simulated_seconds messages bytes task; do
            same "$fabric: $key with $threads threads" "$(number $key "$folder/run$threads")" "$(number $key "$folder/run1")"
        done
    done
done
exits 2 "--threads 0, expected 1 to 256, or auto" "$leat" run --fabric torus:16,24 -n 2 --threads 0 -- "$folder/ring" 10 1
exits 2 "--threads has no meaning for ring6" "$leat" run --fabric ring6 -n 2 --threads 2 -- "$folder/ring" 10 1

# Register by register or cell by cell: the same deliveries.
for fabric in clos444 clos:2,3,4/buffer=2; do
    for model in cell rtl; do
        exits 0 '' "$leat" run --fabric "$fabric" -n 6 --model "$model" --json -- "$folder/ring" 2000 2
        number certificate "$folder/stdout" > "$folder/$model"
    done
    same "$fabric: certificate of both models" "$(cat "$folder/cell")" "$(cat "$folder/rtl")"
done

# What repeats itself is not simulated again, unless it is asked for, and nobody can tell.
for fabric in clos444 torus:2,2; do
    exits 0 '' "$leat" run --fabric $fabric -n 4 --json -- "$folder/ring" 100 400
    test "$(number replayed "$folder/stdout")" -gt 0 || fail "$fabric: nothing was replayed"
    sed 's/,"wall_seconds":.*"task"//' "$folder/stdout" > "$folder/replayed"
    exits 0 '' "$leat" run --fabric $fabric -n 4 --json --every-cycle -- "$folder/ring" 100 400
    same "messages replayed with --every-cycle" "$(number replayed "$folder/stdout")" 0
    sed 's/,"wall_seconds":.*"task"//' "$folder/stdout" | cmp - "$folder/replayed" || fail "$fabric: --every-cycle is another run"
done
# NetPIPE, as Debian ships it: what it measures is the network, the same every time.
if command -v NPopenmpi > /dev/null; then
    for i in 1 2; do
        exits 0 '' "$leat" run --fabric clos444 -n 2 -- NPopenmpi -u 100 -n 20 -o "$folder/np$i"
        cp "$folder/stderr" "$folder/np$i.told"
    done
    same 'NetPIPE twice' "$(cat "$folder/np1")" "$(cat "$folder/np2")"
    same 'the run of NetPIPE twice' "$(sed 's/, [0-9.]* s real//' "$folder/np1.told" | grep -v '^ *[0-9]*:\|usec')" "$(sed 's/, [0-9.]* s real//' "$folder/np2.told" | grep -v '^ *[0-9]*:\|usec')"
    # One way for 1 octet and its head, in seconds.
    jq -en "$(awk 'NR == 1 { print $3 }' "$folder/np1") > 15e-6 and $(awk 'NR == 1 { print $3 }' "$folder/np1") < 60e-6" > /dev/null ||
        fail "NetPIPE's latency: $(head -n 1 "$folder/np1")"
fi

# The conformance set, whose programs check themselves, beside stock mpirun; and programs that misbehave.
against="--against mpirun --oversubscribe --bind-to none -n {n}" ranks=4
[ -z "${LEAT_SHORT:-}" ] || against='' ranks=2
# shellcheck disable=SC2086
sh "$tests/mpi/run_all.sh" -d -n $ranks "$leat" run --fabric mesh:4,4 -n '{n}' -- $against > "$folder/set" 2>&1 ||
    fail "conformance over a mesh: $(grep -v '^ok' "$folder/set")"
# shellcheck disable=SC2086
sh "$tests/mpi/run_all.sh" -n 2 -p "send_modes sizes collectives errors clocks" "$leat" run --fabric clos444 -n '{n}' -- $against > "$folder/set" 2>&1 ||
    fail "conformance over clos444: $(grep -v '^ok' "$folder/set")"

# Only what the program does between MPI_Init and MPI_Finalize takes simulated time. Its own library
# sleeps and is the program; a plug-in of Open MPI, and what that needs, sleeps and looks at clocks
# for a time that is another one in every run, and is not.
cat > "$folder/nap.c" <<'C'
#include <unistd.h>
void nap(void);
void nap(void)
{
    usleep(300000);
}
C
cat > "$folder/restless.c" <<'C'
#include <time.h>
#include <unistd.h>
__attribute__((constructor)) static void wait_somewhat(void)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    usleep(1000 * (1 + getpid() % 7));
    for (int i = 0; i < getpid() % 1000; i++)
        clock_gettime(CLOCK_MONOTONIC, &now);
}
C
cat > "$folder/naps.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
void nap(void);
static double now(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}
int main(int argc, char **argv)
{
    const double begin = now();
    usleep(100000);
    const double init = now();
    MPI_Init(&argc, &argv);
    const double inside = now(), start = MPI_Wtime();
    nap();
    const double took = MPI_Wtime() - start, end = now();
    MPI_Finalize();
    const double finalized = now();
    usleep(100000);
    printf("%.4f %.4f %.4f %.4f %.4f %.4f\n", init - begin, inside - init, took, end - inside, finalized - end,
           now() - finalized);
    return 0;
}
C
mkdir "$folder/plugins"
cc -shared -fPIC -o "$folder/plugins/librestless.so" "$folder/restless.c"
cc -shared -fPIC -o "$folder/plugins/mca_mtl_restless.so" "$folder/restless.c" -L"$folder/plugins" -Wl,-rpath,"$folder/plugins" -Wl,--no-as-needed -lrestless
cc -shared -fPIC -o "$folder/libnap.so" "$folder/nap.c"
mpicc -O1 -o "$folder/naps" "$folder/naps.c" -L"$folder" -Wl,-rpath,"$folder" -lnap
exits 0 '' "$leat" run --fabric mesh:2,2 -n 1 --json -- "$folder/naps"
cp "$folder/stdout" "$folder/undisturbed"
same 'what a program sees of its own time' "$(head -n 1 "$folder/undisturbed")" '0.1000 0.0000 0.3000 0.3000 0.0000 0.1000'
same 'what of it is simulated' "$(jq -n "$(number simulated_seconds "$folder/undisturbed") * 1000 | floor")" 300
components=$(ompi_info --parsable --all 2> /dev/null | sed -n 's/^mca:mca:base:param:mca_component_path:value:"*\([^"]*\)"*$/\1/p')
for i in 1 2 3; do
    exits 0 '' env OMPI_MCA_mca_base_component_path="$folder/plugins:$components" "$leat" run --fabric mesh:2,2 -n 1 --json -- "$folder/naps"
    same 'what a program sees beside a restless plug-in' "$(head -n 1 "$folder/stdout")" "$(head -n 1 "$folder/undisturbed")"
    same 'time beside a restless plug-in' "$(number simulated_seconds "$folder/stdout")" "$(number simulated_seconds "$folder/undisturbed")"
done

# Addresses, unset memory and the number of the job travel in messages that are the library's own: no certificate knows of them.
for program in onesided intercomm files; do
    mpicc -O1 -I"$tests/mpi" -o "$folder/$program" "$tests/mpi/$program.c" "$tests/mpi/check.c" -lm
    for fabric in mesh:2,2 clos444; do
        # In both runs the job has another number, and memory was something else before.
        for i in 1 2; do
            (cd "$folder" && MALLOC_PERTURB_=$((100 + i)) "$leat" run --fabric $fabric -n 4 --json -- "./$program" > "run$i" 2> /dev/null)
        done
        for key in certificate simulated_seconds; do
            same "$program over $fabric: $key of both runs" "$(number $key "$folder/run1")" "$(number $key "$folder/run2")"
        done
    done
done

# In Fortran the library's clocks are read by code that the program needs too, also in MPI_Finalize.
mpifort -o "$folder/pi" "$tests/../share/programs/pi.f90"
for i in 1 2 3 4 5 6; do
    exits 0 '' "$leat" run --fabric torus:2,2 -n 4 -- "$folder/pi"
    has "in Fortran, run $i" "$(cat "$folder/stdout")" 'pi is about 3.1415927'
done

finish
