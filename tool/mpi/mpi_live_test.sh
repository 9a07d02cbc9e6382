#!/bin/sh
# Stock mpirun over hosts that are network namespaces and stations of a live ring: the results are those
# without the ring; lost frames, stations that leave, taken registers, two jobs, jobs without rights.
# usage: mpi_live_test.sh LEAT
set -eu
leat=$1
root=$(dirname "$0")/../..
. "$root/test/lib.sh"
. "$root/test/live.sh"
. "$root/test/live_mpi.sh"
programs=$root/test/mpi
needs mpirun mpicc setpriv unshare

mpi_hosts "mpirun on a live ring is"
mpicc -O1 -o "$folder/short_calls" "$programs/short_calls.c"
mpicc -O1 -I"$programs" -o "$folder/random_collectives" "$programs/random_collectives.c" "$programs/check.c"

# copied: packets that stations 1 and 2 have taken; who sends a result does not take it
copied() { for s in 0 1; do in_ns $s "$leat" ring status --json; done | jq -s 'map(.counts.copied) | add'; }

counted() { copied; }

results() {
    for n in 2 4 8; do
        ring $n
        was=$(copied)
        by_network $n 1 "$folder/short_calls" 100
        well "$driver: $n hosts" ""
        [ "$(copied)" -ge $((was + 500)) ] || fail "$driver: $n hosts: only $(($(copied) - was)) packets of 500 calls at least"
        [ -z "${LEAT_TIMES:-}" ] || { echo "$n hosts, ring"; cat "$folder/out"; echo "$n hosts, TCP"; start $n 1 "$folder/short_calls" 100; }
    done
    ring 4
    by_network 4 1 "$folder/short_calls" 50 ahead
    well "$driver: roots of broadcasts go on without the others" ""
    for r in 1 2 4; do
        by_network 4 $r "$folder/random_collectives" $r 40
        well "$driver: random calls, 4 hosts of $r ranks" ""
        same "$driver: random calls, as without the ring" "$(cat "$folder/out")" "$(start 4 $r "$folder/random_collectives" $r 40 2> /dev/null)"
    done
    for i in 0 1 2 3; do same "$driver: registers of station $((i + 1)) in the end" "$(in_ns $i "$leat" ring get)" ""; done
}

# Lost frames are sent again. A cable that loses all of them: the ring is given up, within a bounded time.
loss() {
    ring 3 5
    by_network 3 1 "$folder/short_calls" 60
    well "$driver: 5 % are lost" ""
    patience_ms=1000
    (in_the_middle && lose 100) &
    later=$!
    by_network 3 2 "$folder/short_calls" 300
    wait $later || fail "$driver: no relay that loses all"
    well "$driver: all are lost" "a packet has not come back: a station has left the ring, or packets are lost. Collective calls of this communicator go by host messages"
    patience_ms=20000
}

# Frames are lost, and each communicator gives up at once: calls that wait behind others are counted alike by all.
giving_up() {
    ring 4 3
    patience_ms=3
    for _ in 1 2 3; do
        by_network 4 1 "$folder/short_calls" 40 ahead
        same "$driver: giving up, with broadcasts ahead: exit code" "$code" 0
        same "$driver: giving up, with broadcasts ahead: results" "$(tail -n 1 "$folder/out")" "all is well"
    done
    for seed in 1 2 3 4 5 6; do
        by_network 4 1 --mca coll_leat_exact 1 "$folder/random_collectives" $seed 200
        same "$driver: giving up, seed $seed: exit code" "$code" 0
        same "$driver: giving up, seed $seed: as without the ring" "$(cat "$folder/out")" "$(start 4 1 "$folder/random_collectives" $seed 200 2> /dev/null)"
    done
    patience_ms=20000
}

leaving() {
    ring 3
    patience_ms=1000
    (in_the_middle && in_ns 2 "$leat" ring stop --dev in && sleep 0.5 && join 2 3 --driver "$driver") &
    later=$!
    by_network 3 1 "$folder/short_calls" 3000
    wait $later || fail "$driver: the station does not come back"
    well "$driver: a station leaves and comes back" ". Collective calls of this communicator go by host messages from now on; results are right"
    ring 2 # packets of its host still come back, and carry out the calls of both
    (in_the_middle && in_ns 1 "$leat" ring stop --dev in) &
    later=$!
    by_network 2 1 "$folder/short_calls" 3000
    wait $later || fail "$driver: one of two stations cannot leave"
    well "$driver: one of two stations leaves" "a packet has not come back"
    patience_ms=20000
}

others() {
    ring 3
    (in_the_middle && join 1 3 --driver "$driver") &
    later=$!
    by_network 3 1 "$folder/short_calls" 1000
    wait $later || fail "$driver: the station cannot join again"
    well "$driver: a station joins again, with its registers" ""
    in_ns 1 "$leat" ring set 56 5 # of the block that is taken first
    by_network 3 1 "$folder/short_calls" 20
    well "$driver: a register is taken" ""
    same "$driver: and keeps its value" "$(in_ns 1 "$leat" ring get 56)" 5
    in_ns 1 "$leat" ring set 56 0
    several_jobs
    for i in 0 1 2; do same "$driver: files after a killed job" "$(find /dev/shm -name "leat-ring-*.$(mark_of $i).*")" ""; done
    for i in 0 1 2; do in_ns $i "$leat" ring set 0 1; for r in 8 16 24 32 40 48 56; do in_ns $i "$leat" ring set $r 1; done; done
    by_network 3 1 "$folder/short_calls" 20
    well "$driver: no block is free" "the ring has room for 8 communicators, and they are taken"
}

refused() {
    ring 2
    by_network 2 1 setpriv --bounding-set -sys_admin,-net_raw "$folder/short_calls" 20
    well "$driver: without rights" "the host of rank 0: "
    has "$driver: without rights" "$(cat "$folder/said")" "missing CAP_"
    exits 2 "missing CAP_" in_ns 0 setpriv --bounding-set -sys_admin,-net_raw "$leat" mpi options
    has "options" "$(in_ns 0 "$leat" mpi options)" ":SYSTEM_DEFAULT:USER_DEFAULT --mca coll_leat_priority 90 --mca coll_leat_ring 1"
    exits 2 "--ring 7: this host has a station of ring 1, expected one of ring 7" in_ns 0 "$leat" mpi options --ring 7
    same "options with the ring of this host" "$(in_ns 0 "$leat" mpi options --ring 1)" "$(in_ns 0 "$leat" mpi options)"
    by_network 2 1 env OMPI_MCA_coll_leat_ring=7 "$folder/short_calls" 20
    well "$driver: another ring" "the host of rank 0: this host has a station of ring 1, expected one of ring 7"
    ip -n "${name}1" link set out down
    by_network 2 2 "$folder/short_calls" 20 communicators
    well "$driver: no packet comes back" "no answer within 100 ms, expected a ring whose stations all joined"
    ip -n "${name}1" link set out up
    given=$(in_ns 0 "$leat" mpi options)
    in_ns 1 "$leat" ring stop --dev in
    code=0
    # shellcheck disable=SC2086 # words
    start 2 1 $given --mca coll_leat_after 1 "$folder/short_calls" 20 communicators > "$folder/out" 2> "$folder/all" || code=$?
    grep '^leat' "$folder/all" > "$folder/said" || true
    well "$driver: a host is no station" "the host of rank 1: no station of a ring on this host, expected one from leat ring join"
    in_ns 0 "$leat" ring stop --dev in
    exits 2 "no station of a ring on this host" in_ns 0 "$leat" mpi options
    same "options of another host" "$(in_ns 0 "$leat" mpi options --ring 7 | grep -o 'coll_leat_ring.*')" "coll_leat_ring 7"
}

# A component for another Open MPI: on all hosts, and on one of them.
versions() {
    ring 2
    echo '#include <stdio.h>
int PMPI_Get_library_version(char *text, int *len) { *len = sprintf(text, "Open MPI v3.9.1, package: none"); return 0; }' > "$folder/version.c"
    cc -shared -fPIC -o "$folder/version.so" "$folder/version.c"
    by_network 2 2 env "LD_PRELOAD=$folder/version.so" "$folder/short_calls" 20
    same "$driver: another Open MPI: exit code" "$code" 0
    same "$driver: another Open MPI: results" "$(tail -n 1 "$folder/out")" "all is well"
    same "$driver: another Open MPI: lines, one of each host" "$(grep -c "mca_coll_leat.so is for Open MPI .*, but this is Open MPI v3.9.1: collective calls go by host messages. Build leat with the headers of this Open MPI" "$folder/said")" 2
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export LD_PRELOAD=%s\nexec "$@"\n' "$folder/version.so" > "$folder/one"
    chmod +x "$folder/one"
    by_network 2 1 "$folder/one" "$folder/short_calls" 20
    same "$driver: one host has another Open MPI: exit code" "$code" 0
    same "$driver: one host has another Open MPI: results" "$(tail -n 1 "$folder/out")" "all is well"
    has "$driver: one host has another Open MPI" "$(cat "$folder/said")" "rank 1 has no component of this leat for its Open MPI: install the same leat on all hosts"
}

# A user without rights: the daemons of mpirun enter other namespaces, so that they keep CAP_SYS_ADMIN; ranks have nothing.
user=65534 allowed=64123
as_user() { # GROUP HOSTS RANKS PROGRAM...
    group=$1
    shift
    chmod 755 "$folder"
    as="setpriv --reuid $user --regid $user --groups $group --inh-caps +sys_admin --ambient-caps +sys_admin"
    given=$(in_ns 0 setpriv --reuid $user --regid $user --groups "$group" "$leat" mpi options 2> /dev/null) || given=$(in_ns 0 "$leat" mpi options)
    count=$2 hosts=$1
    shift 2
    code=0
    # shellcheck disable=SC2086 # words
    HOME=$folder start "$hosts" "$count" $given --mca coll_leat_patience_ms $patience_ms --mca coll_leat_after 1 \
        setpriv --inh-caps=-all --ambient-caps=-all "$@" > "$folder/out" 2> "$folder/all" || code=$?
    grep '^leat' "$folder/all" > "$folder/said" || true
    as=
}
users() {
    ring 2
    exits 2 "leat ring join --allow GROUP by an administrator" in_ns 0 setpriv --reuid $user --regid $user --groups $allowed "$leat" mpi options
    as_user $allowed 2 1 "$folder/short_calls" 20
    well "$driver: a user, nothing is allowed" "leat ring join --allow GROUP by an administrator"
    ring 2 0 --allow $allowed
    as_user $((allowed + 1)) 2 1 "$folder/short_calls" 20
    well "$driver: a user of another group" "the station is lent to group $allowed, of which this user is no member"
    was=$(copied)
    as_user $allowed 2 2 "$folder/short_calls" 50
    well "$driver: a user of the group" ""
    [ "$(copied)" -ge $((was + 250)) ] || fail "$driver: a user of the group: only $(($(copied) - was)) packets"
    for i in 0 1; do same "$driver: registers after a user's job" "$(in_ns $i "$leat" ring get)" ""; done
    exits 2 "no such group" in_ns 0 "$leat" ring join --dev in --address 1 --previous "$(mac_out 1)" --next "$(mac_in 1)" --allow nobody-knows
    in_ns 0 "$leat" ring stop --dev in
    same "$driver: the lender ends with its station" "$(find /dev/shm -name "leat-ring-lender.$(mark_of 0).*")" ""
}

# With a key, messages have serials.
keyed() {
    put_key "$folder/key" 000102030405060708090a0b0c0d0e0f
    ring 3 0 --key-file "$folder/key"
    by_network 3 1 "$folder/short_calls" 30
    well "$driver: with a key" ""
}

for driver in ${LEAT_DRIVERS:-xdp packet}; do
    if ! ring 2 2> "$folder/stderr"; then
        no_driver join
        continue
    fi
    for part in ${LEAT_PARTS:-results loss giving_up leaving others refused versions users keyed}; do $part; done
done
same "no shared memory is left" "$(find /dev/shm -name 'leat-coll.*')" ""
finish
