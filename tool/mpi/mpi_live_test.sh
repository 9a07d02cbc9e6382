#!/bin/sh
# Stock mpirun over hosts that are network namespaces and stations of a live ring: the results are those
# without the ring; lost frames, stations that leave, taken registers, two jobs, jobs without rights.
# usage: mpi_live_test.sh LEAT
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
programs=$here/../../test/mpi
needs mpirun mpicc setpriv unshare

HOSTS="0 1 2 3 4 5 6 7"
tear_down() {
    stop_relay
    for i in $HOSTS; do
        [ ! -e "/run/netns/$name$i" ] || in_ns "$i" "$leat" ring stop --dev in 2> /dev/null || true
    done
    delete_hosts
}
# Its number is in a file: a shell of its own may start another one.
stop_relay() {
    [ ! -s "$folder/relay.pid" ] || kill "$(cat "$folder/relay.pid")" 2> /dev/null || true
    rm -f "$folder/relay.pid"
}
# shellcheck disable=SC2086 # words
hosts "mpirun on a live ring is" $HOSTS lan wire
mac_in() { printf '02:00:00:00:00:%02x' "$1"; }
mac_out() { printf '02:00:00:00:01:%02x' "$1"; }

# The network of mpirun: host I is 10.9.0.(I+1).
ip -n "${name}lan" link add name switch type bridge 2> /dev/null || skip "this kernel has no bridge"
ip -n "${name}lan" link set switch up
for i in $HOSTS; do
    ip link add lan netns "$name$i" type veth peer name "p$i" netns "${name}lan"
    ip -n "${name}lan" link set "p$i" master switch up
    ip -n "$name$i" addr add "10.9.0.$((i + 1))/24" dev lan
    ip -n "$name$i" link set lan up
    ip -n "$name$i" link set lo up
done
# mpirun starts its daemons by this instead of ssh; each host has a name of its own.
cat > "$folder/agent" << END
#!/bin/sh
i=\$((\${1##*.} - 1))
shift
exec nsenter --net=/run/netns/$name\$i unshare -u sh -c "hostname host\$i; \$*"
END
chmod +x "$folder/agent"
mpicc -O1 -o "$folder/short_calls" "$programs/short_calls.c"
mpicc -O1 -I"$programs" -o "$folder/random_collectives" "$programs/random_collectives.c" "$programs/check.c"

# start HOSTS RANKS OPTION... PROGRAM...: RANKS on each of the first HOSTS. Cores are shared: ranks that wait yield.
start() {
    count=$1 each=$2 list=
    shift 2
    for i in $(seq "$count"); do list=$list,10.9.0.$i:$each; done
    nsenter --net="/run/netns/${name}0" unshare -u sh -c 'hostname host0; exec "$@"' sh \
        timeout "$run_limit" mpirun --host "${list#,}" -n $((count * each)) --mca plm_rsh_agent "$folder/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include lan --mca oob_tcp_if_include lan --mca pml ob1 \
        --mca mpi_yield_when_idle 1 --bind-to none "$@"
}
# A busy machine may keep a packet for long; where the ring is to be given up, it is soon.
patience_ms=20000 words=24 # several passes
# by_ring HOSTS RANKS PROGRAM...: its output in $folder/out, what leat says in $folder/said
by_ring() {
    n=$1 r=$2
    shift 2
    code=0
    # shellcheck disable=SC2046 # words
    start "$n" "$r" $(in_ns 0 "$leat" mpi options) --mca coll_leat_patience_ms $patience_ms --mca coll_leat_words $words --mca coll_leat_after 1 "$@" > "$folder/out" 2> "$folder/all" || code=$?
    grep '^leat' "$folder/all" > "$folder/said" || true
}
# well WHAT SAID: the last program has ended well, and leat has said this, or nothing
well() {
    same "$1: exit code" "$code" 0
    same "$1: results" "$(tail -n 1 "$folder/out")" "all is well"
    if [ -n "$2" ]; then
        has "$1: what leat says" "$(cat "$folder/said")" "$2"
        same "$1: lines of leat" "$(wc -l < "$folder/said")" 1
    else
        same "$1: what leat says" "$(cat "$folder/said")" ""
    fi
}
# in_the_middle: waits until the next program's calls go by the ring
in_the_middle() { was=$(copied) && wait_until calls_go; }
calls_go() { [ "$(copied)" -ge $((was + 300)) ]; }
# copied: packets that stations 1 and 2 have taken; who sends a result does not take it
copied() { for s in 0 1; do in_ns $s "$leat" ring status --json; done | jq -s 'map(.counts.copied) | add'; }

# join I N OPTION...: station I+1 of N
join() {
    i=$1 before=$((($1 + $2 - 1) % $2)) after=$((($1 + 1) % $2))
    shift 2
    in_ns "$i" "$leat" ring join --dev in --out out --address $((i + 1)) --rate 0 \
        --previous "$(mac_out $before)" --next "$(mac_in $after)" "$@" > "$folder/joined"
}
# cable A END B END: A's end is connected with B's
cable() {
    ip link add "$2" netns "$name$1" type veth peer name "$4" netns "$name$3"
    for end in "$1:$2" "$3:$4"; do
        case $end in
        *:in) ip -n "$name${end%:*}" link set in address "$(mac_in "${end%:*}")" up ;;
        *:out) ip -n "$name${end%:*}" link set out address "$(mac_out "${end%:*}")" up ;;
        *) ip -n "$name${end%:*}" link set "${end#*:}" up ;;
        esac
    done
    polling="$polling $name$1:$2 $name$3:$4"
}
# ring N [PERCENT [OPTION...]]: of the first N hosts; the last cable loses so many frames
ring() {
    stop_relay
    size=$1 percent=${2:-0}
    shift
    [ $# = 0 ] || shift
    for i in $HOSTS; do in_ns "$i" "$leat" ring stop --dev in 2> /dev/null || true; done
    for i in $HOSTS; do ip -n "$name$i" link del out 2> /dev/null || true; done
    ip -n "${name}wire" link del onward 2> /dev/null || true
    polling=
    for i in $(seq 0 $((size - 2))); do cable "$i" out $((i + 1)) in; done
    if [ "$percent" = 0 ]; then
        cable $((size - 1)) out 0 in
    else
        cable $((size - 1)) out wire from
        cable wire onward 0 in
    fi
    # shellcheck disable=SC2086 # words
    python3 "$here/../../test/veth.py" gro on $polling
    for i in $(seq 0 $((size - 1))); do join "$i" "$size" --driver "$driver" "$@"; done
    [ "$percent" = 0 ] || lose "$percent"
}
# lose PERCENT: of the frames on the last cable
lose() {
    stop_relay
    : > "$folder/relay"
    nsenter --net="/run/netns/${name}wire" python3 "$here/mpi_relay.py" from onward "$1" 1 > "$folder/relay" 2>&1 &
    echo $! > "$folder/relay.pid"
    wait_until grep -q relays "$folder/relay" || fail "no relay: $(cat "$folder/relay")"
}

results() {
    for n in 2 4 8; do
        ring $n
        was=$(copied)
        by_ring $n 1 "$folder/short_calls" 100
        well "$driver: $n hosts" ""
        [ "$(copied)" -ge $((was + 500)) ] || fail "$driver: $n hosts: only $(($(copied) - was)) packets of 500 calls at least"
        [ -z "${LEAT_TIMES:-}" ] || { echo "$n hosts, ring"; cat "$folder/out"; echo "$n hosts, TCP"; start $n 1 "$folder/short_calls" 100; }
    done
    ring 4
    for r in 1 2 4; do
        by_ring 4 $r "$folder/random_collectives" $r 40
        well "$driver: random calls, 4 hosts of $r ranks" ""
        same "$driver: random calls, as without the ring" "$(cat "$folder/out")" "$(start 4 $r "$folder/random_collectives" $r 40 2> /dev/null)"
    done
    for i in 0 1 2 3; do same "$driver: registers of station $((i + 1)) in the end" "$(in_ns $i "$leat" ring get)" ""; done
}

# Lost frames are sent again. A cable that loses all of them: the ring is given up, within a bounded time.
loss() {
    ring 3 5
    by_ring 3 1 "$folder/short_calls" 60
    well "$driver: 5 % are lost" ""
    patience_ms=1000
    (in_the_middle && lose 100) &
    later=$!
    by_ring 3 2 "$folder/short_calls" 300
    wait $later || fail "$driver: no relay that loses all"
    well "$driver: all are lost" "a packet has not come back: a station has left the ring, or packets are lost. Collective calls of this communicator go by host messages"
    patience_ms=20000
}

leaving() {
    ring 3
    patience_ms=1000
    (in_the_middle && in_ns 2 "$leat" ring stop --dev in && sleep 0.5 && join 2 3 --driver "$driver") &
    later=$!
    by_ring 3 1 "$folder/short_calls" 3000
    wait $later || fail "$driver: the station does not come back"
    well "$driver: a station leaves and comes back" ". Collective calls of this communicator go by host messages from now on; results are right"
    patience_ms=20000
}

others() {
    ring 3
    (in_the_middle && join 1 3 --driver "$driver") &
    later=$!
    by_ring 3 1 "$folder/short_calls" 1000
    wait $later || fail "$driver: the station cannot join again"
    well "$driver: a station joins again, with its registers" ""
    in_ns 1 "$leat" ring set 56 5 # of the block that is taken first
    by_ring 3 1 "$folder/short_calls" 20
    well "$driver: a register is taken" ""
    same "$driver: and keeps its value" "$(in_ns 1 "$leat" ring get 56)" 5
    in_ns 1 "$leat" ring set 56 0
    # shellcheck disable=SC2046 # words
    start 3 1 $(in_ns 0 "$leat" mpi options) --mca coll_leat_patience_ms $patience_ms "$folder/short_calls" 100 > "$folder/other" 2>&1 &
    other=$!
    by_ring 3 2 "$folder/short_calls" 50
    wait $other || fail "$driver: two jobs, the other: $(cat "$folder/other")"
    well "$driver: two jobs" ""
    has "$driver: two jobs, the other" "$(cat "$folder/other")" "all is well"
    by_ring 3 1 "$folder/short_calls" 40 die
    [ "$code" != 0 ] || fail "$driver: a rank is killed, and the job ends with 0"
    by_ring 3 1 "$folder/short_calls" 20
    well "$driver: after a killed job" ""
    for i in 0 1 2; do in_ns $i "$leat" ring set 0 1; for r in 8 16 24 32 40 48 56; do in_ns $i "$leat" ring set $r 1; done; done
    by_ring 3 1 "$folder/short_calls" 20
    well "$driver: no block is free" "the ring has room for 8 communicators, and they are taken"
}

refused() {
    ring 2
    by_ring 2 1 setpriv --bounding-set -sys_admin,-net_raw "$folder/short_calls" 20
    well "$driver: without rights" "the host of rank 0: "
    has "$driver: without rights" "$(cat "$folder/said")" "missing CAP_"
    exits 2 "missing CAP_" in_ns 0 setpriv --bounding-set -sys_admin,-net_raw "$leat" mpi options
    has "options" "$(in_ns 0 "$leat" mpi options)" ":SYSTEM_DEFAULT:USER_DEFAULT --mca coll_leat_priority 90 --mca coll_leat_ring 1"
    options=$(in_ns 0 "$leat" mpi options)
    in_ns 1 "$leat" ring stop --dev in
    code=0
    # shellcheck disable=SC2086 # words
    start 2 1 $options "$folder/short_calls" 20 > "$folder/out" 2> "$folder/all" || code=$?
    grep '^leat' "$folder/all" > "$folder/said" || true
    well "$driver: a host is no station" "the host of rank 1: no station of a ring on this host, expected one from leat ring join"
    in_ns 0 "$leat" ring stop --dev in
    exits 2 "no station of a ring on this host" in_ns 0 "$leat" mpi options
    same "options of another host" "$(in_ns 0 "$leat" mpi options --ring 7 | grep -o 'coll_leat_ring.*')" "coll_leat_ring 7"
}

# With a key, messages have serials.
keyed() {
    put_key "$folder/key" 000102030405060708090a0b0c0d0e0f
    ring 3 0 --key-file "$folder/key"
    by_ring 3 1 "$folder/short_calls" 30
    well "$driver: with a key" ""
}

for driver in ${LEAT_DRIVERS:-xdp packet}; do
    if ! ring 2 2> "$folder/stderr"; then
        no_driver join
        continue
    fi
    for part in ${LEAT_PARTS:-results loss leaving others refused keyed}; do $part; done
done
same "no shared memory is left" "$(find /dev/shm -name 'leat-coll.*')" ""
finish
