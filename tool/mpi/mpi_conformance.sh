#!/bin/sh
# The MPI conformance set (test/mpi) under stock mpirun over four hosts, which are network namespaces: with collective
# calls by a live ring, and by ESP routers, it has the answers that it has without.
# usage: mpi_conformance.sh LEAT [PROGRAM...]
set -eu
leat=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/test/lib.sh"
. "$root/test/live.sh"
. "$root/test/live_mpi.sh"
needs mpirun mpicc unshare
driver=${LEAT_DRIVER:-xdp}
size=4
mpi_hosts "the conformance set on live networks is"

# launcher NAME OPTION...: $folder/mpirun_NAME RANKS PROGRAM... runs it, its ranks in turn on all hosts
launcher() {
    file=$folder/mpirun_$1
    shift
    list=
    for i in $(seq $size); do list=$list,10.9.0.$i:16; done
    cat > "$file" << END
#!/bin/sh
n=\$1
shift
exec nsenter --net=/run/netns/${name}0 unshare -u sh -c 'hostname host0; exec "\$@"' sh \\
    mpirun --host ${list#,} -n \$n --map-by node --mca plm_rsh_agent "$folder/agent" \\
    --mca btl tcp,self --mca btl_tcp_if_include lan --mca oob_tcp_if_include lan --mca pml ob1 \\
    --mca mpi_yield_when_idle 1 --bind-to none $* "\$@"
END
    chmod +x "$file"
}
# conforms NAME: the set by this launcher gives what it gives by TCP. A program that stock mpirun itself fails says nothing.
conforms() {
    sh "$root/test/mpi/run_all.sh" -n "4 5" -t 120 -p "$programs" "$folder/mpirun_$1" '{n}' --against "$folder/mpirun_tcp" '{n}' > "$folder/report" 2>&1 || true
    tail -n 1 "$folder/report" | grep -q ' runs, ' || fail "$1: no whole report: $(tail -n 5 "$folder/report")"
    for program in $(sed -n 's/^WRONG \([a-z_]*\),.*/\1/p' "$folder/report" | sort -u); do
        if sh "$root/test/mpi/run_all.sh" -n "4 5" -t 120 -p "$program" "$folder/mpirun_tcp" '{n}' > "$folder/stock" 2>&1; then
            fail "$1: $(grep -A 20 "^WRONG $program" "$folder/report")"
        else
            echo "$1: $program is wrong, as it is by stock mpirun over TCP"
        fi
    done
    tail -n 1 "$folder/report" | sed "s/^/$1: /"
}
programs=$* # none: all
common="--mca coll_leat_patience_ms 20000 --mca coll_leat_words 24 --mca coll_leat_after 0"
launcher tcp
ring $size
# shellcheck disable=SC2046,SC2086 # words
launcher ring $(in_ns 0 "$leat" mpi options) $common
conforms ring
esp_net
bridge_wire
put_key "$folder/key" 000102030405060708090a0b0c0d0e0f
routers --key-file "$folder/key"
# shellcheck disable=SC2046,SC2086 # words
launcher esp $(in_ns 0 "$leat" mpi options --esp 10.8.0.0/16 --key-file "$folder/key") $common
conforms esp
finish
