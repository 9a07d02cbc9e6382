#!/bin/sh
# Stock mpirun over hosts that are network namespaces below a tree of three ESP routers: the results are those without
# the routers; lost packets, a router that stops, two jobs, killed jobs, no key, no router.
# usage: mpi_esp_test.sh LEAT
set -eu
leat=$1
root=$(dirname "$0")/../..
. "$root/test/lib.sh"
. "$root/test/live.sh"
. "$root/test/live_mpi.sh"
programs=$root/test/mpi
needs mpirun mpicc setpriv unshare

mpi_hosts "mpirun below ESP routers is"
esp_net
mpicc -O1 -o "$folder/short_calls" "$programs/short_calls.c"
mpicc -O1 -I"$programs" -o "$folder/random_collectives" "$programs/random_collectives.c" "$programs/check.c"
put_key "$folder/key" 000102030405060708090a0b0c0d0e0f
options="--esp 10.8.0.0/16 --key-file $folder/key" # of leat mpi options

# folded: COLLECTs that top has passed on
folded() { in_ns top "$leat" esp status --json | jq '[.. | .COLLECT? // empty | .pass? // 0] | add // 0'; }
counted() { folded; }
results() {
    for n in 2 4 8; do
        was=$(folded)
        by_network $n 1 "$folder/short_calls" 100
        well "$driver: $n hosts" ""
        [ "$(folded)" -ge $((was + 400)) ] || fail "$driver: $n hosts: only $(($(folded) - was)) packets of 400 calls at least"
    done
    for r in 1 2 4; do
        by_network 4 $r "$folder/random_collectives" $r 40
        well "$driver: random calls, 4 hosts of $r ranks" ""
        same "$driver: random calls, as without the routers" "$(cat "$folder/out")" "$(start 4 $r "$folder/random_collectives" $r 40 2> /dev/null)"
    done
}

# Lost packets are sent again. If all are lost, the routers are given up, within a bounded time.
loss() {
    esp_lose 5
    by_network 3 1 "$folder/short_calls" 40
    well "$driver: 5 % are lost" ""
    esp_lose 0
    patience_ms=1000
    (in_the_middle && esp_lose 100) &
    later=$!
    by_network 3 2 "$folder/short_calls" 2000
    wait $later || fail "$driver: no relay that loses all"
    well "$driver: all are lost" "the ESP routers have not carried out a call in time"
    esp_lose 0
    patience_ms=20000
}

leaving() {
    patience_ms=1000
    for r in $ROUTERS; do # the kernel goes on to forward packets there
        (in_the_middle && in_ns $r "$leat" esp stop) &
        later=$!
        by_network 4 1 "$folder/short_calls" 3000
        wait $later || fail "$driver: the router $r does not stop"
        well "$driver: the router $r stops" "has stopped, has forgotten this group, or has no room for its words"
        routers --key-file "$folder/key"
    done
    patience_ms=20000
}

# A rank that is late for longer than the patience is no reason to give up.
late() {
    patience_ms=200
    by_network 3 1 "$folder/short_calls" 40 late
    well "$driver: a rank is late" ""
    patience_ms=20000
}

others() {
    several_jobs
    for i in 0 1; do nsenter --net="/run/netns/$name$i" python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4253))
time.sleep(60)' & echo $! >> "$folder/takers"; done
    wait_until ports_are_taken
    by_network 2 1 "$folder/short_calls" 20
    well "$driver: all ports are taken" "UDP port 4253 is taken on all hosts"
    # shellcheck disable=SC2046 # words
    kill $(cat "$folder/takers")
    rm "$folder/takers"
}
ports_are_taken() { for i in 0 1; do in_ns $i sh -c 'grep -q ":109D " /proc/net/udp' || return 1; done; }

refused() {
    exits 2 "expected one of them" in_ns 0 "$leat" mpi options --esp 10.8.0.0/16 --ring 1
    exits 2 "needs --key-file" in_ns 0 "$leat" mpi options --esp 10.8.0.0/16
    exits 2 "no address in 10.7.0.0/16" in_ns 0 "$leat" mpi options --esp 10.7.0.0/16 --key-file "$folder/key"
    exits 2 "expected ADDRESS/BITS" in_ns 0 "$leat" mpi options --esp tomorrow --key-file "$folder/key"
    exits 2 "cannot be opened" in_ns 0 "$leat" mpi options --esp 10.8.0.0/16 --key-file "$folder/none"
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export OMPI_MCA_coll_leat_esp_key=%s\nexec "$@"\n' "$folder/none" > "$folder/one"
    chmod +x "$folder/one"
    by_network 2 1 "$folder/one" "$folder/short_calls" 20
    well "$driver: one host has no key" "the host of rank 1: $folder/none: cannot be opened"
    echo '#include <errno.h>
int shm_open(const char *name, int flags, unsigned mode) { (void)name, (void)flags, (void)mode; errno = EACCES; return -1; }' > "$folder/memory.c"
    cc -shared -fPIC -o "$folder/memory.so" "$folder/memory.c"
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 0 ] || export LD_PRELOAD=%s\nexec "$@"\n' "$folder/memory.so" > "$folder/one"
    by_network 2 2 "$folder/one" "$folder/short_calls" 20
    well "$driver: the root has no shared memory" "the host of rank 0: no shared memory"
    put_key "$folder/another" ffffffffffffffffffffffffffffffff
    options="--esp 10.8.0.0/16 --key-file $folder/another"
    by_network 2 2 "$folder/short_calls" 20 communicators
    well "$driver: another key" "the host of rank 0: no whole tree"
    options="--esp 10.8.0.0/16 --key-file $folder/key" # of leat mpi options
    stop_routers
    by_network 2 2 "$folder/short_calls" 20 communicators
    well "$driver: no routers" "the host of rank 0: there is no ESP router between the hosts"
}

esp_lose 0
for driver in ${LEAT_DRIVERS:-xdp packet}; do
    if ! routers --key-file "$folder/key" 2> "$folder/stderr"; then
        no_driver route
        continue
    fi
    for part in ${LEAT_PARTS:-results loss leaving late others refused}; do $part; done
done
same "no shared memory is left" "$(find /dev/shm -name 'leat-coll.*')" ""
finish
