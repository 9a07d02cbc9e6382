# shellcheck shell=sh
# Shared by what runs stock mpirun on live networks, after lib.sh and live.sh: hosts that are network namespaces, a
# switch between them for mpirun, the cables of a ring, and a tree of ESP routers. It needs $leat, $driver, and $root,
# the folder of the sources.
HOSTS="0 1 2 3 4 5 6 7"
tear_down() {
    stop_relay
    for i in $HOSTS; do
        [ ! -e "/run/netns/$name$i" ] || in_ns "$i" "$leat" ring stop --dev in 2> /dev/null || true
    done
    stop_routers
    delete_hosts
}
# Its number is in a file: a shell of its own may start another one.
stop_relay() {
    # shellcheck disable=SC2046 # words
    [ ! -s "$folder/relay.pid" ] || kill $(cat "$folder/relay.pid") 2> /dev/null || true
    rm -f "$folder/relay.pid"
}
mac_in() { printf '02:00:00:00:00:%02x' "$1"; }
mac_out() { printf '02:00:00:00:01:%02x' "$1"; }

# mpi_hosts UNTESTED: makes them. The network of mpirun: host I is 10.9.0.(I+1).
mpi_hosts() {
    # shellcheck disable=SC2086 # words
    hosts "$1" $HOSTS lan wire top left right
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
}
as= # a command that runs mpirun as somebody else
# start HOSTS RANKS OPTION... PROGRAM...: RANKS on each of the first HOSTS. Cores are shared: ranks that wait yield.
start() {
    count=$1 each=$2 list=
    shift 2
    for i in $(seq "$count"); do list=$list,10.9.0.$i:$each; done
    # shellcheck disable=SC2086 # words
    nsenter --net="/run/netns/${name}0" unshare -u sh -c 'hostname host0; exec "$@"' sh \
        timeout "$run_limit" $as mpirun --host "${list#,}" -n $((count * each)) --mca plm_rsh_agent "$folder/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include lan --mca oob_tcp_if_include lan --mca pml ob1 \
        --mca mpi_yield_when_idle 1 --bind-to none "$@"
}

# A busy machine may keep a packet for long; where the network is to be given up, it is soon.
patience_ms=20000 words=24 # several packets
options= # of leat mpi options
# by_network HOSTS RANKS PROGRAM...: its output in $folder/out, what leat says in $folder/said
by_network() {
    n=$1 r=$2
    shift 2
    code=0
    # shellcheck disable=SC2046,SC2086 # words
    start "$n" "$r" $(in_ns 0 "$leat" mpi options $options) --mca coll_leat_patience_ms $patience_ms --mca coll_leat_words $words --mca coll_leat_after 1 "$@" > "$folder/out" 2> "$folder/all" || code=$?
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
# several_jobs: two jobs of 3 hosts at once; then one whose rank is killed, and one after it
several_jobs() {
    # shellcheck disable=SC2046,SC2086 # words
    start 3 1 $(in_ns 0 "$leat" mpi options $options) --mca coll_leat_patience_ms $patience_ms "$folder/short_calls" 100 > "$folder/other" 2>&1 &
    other=$!
    by_network 3 2 "$folder/short_calls" 50
    wait $other || fail "$driver: two jobs, the other: $(cat "$folder/other")"
    well "$driver: two jobs" ""
    has "$driver: two jobs, the other" "$(cat "$folder/other")" "all is well"
    by_network 3 1 "$folder/short_calls" 40 die
    [ "$code" != 0 ] || fail "$driver: a rank is killed, and the job ends with 0"
    by_network 3 1 "$folder/short_calls" 20
    well "$driver: after a killed job" ""
}
# in_the_middle: waits until the next program's calls go by the network; counted tells its packets
in_the_middle() { was=$(counted) && wait_until calls_go; }
calls_go() { [ "$(counted)" -ge $((was + 300)) ]; }

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
    python3 "$root/test/veth.py" gro on $polling
    for i in $(seq 0 $((size - 1))); do join "$i" "$size" --driver "$driver" "$@"; done
    [ "$percent" = 0 ] || lose "$percent"
}
# lose PERCENT: of the frames on the last cable. With the seed, joining needs three tries at most if 5 % are lost.
lose() {
    stop_relay
    : > "$folder/relay"
    nsenter --net="/run/netns/${name}wire" python3 "$root/tool/mpi/mpi_relay.py" from onward "$1" 7 > "$folder/relay" 2>&1 &
    echo $! > "$folder/relay.pid"
    wait_until grep -q relays "$folder/relay" || fail "no relay: $(cat "$folder/relay")"
}

# ---- ESP routers ----------------------------------------------------------------------------------------------------

ROUTERS="left right top"
stop_routers() {
    for r in $ROUTERS; do
        [ ! -e "/run/netns/$name$r" ] || in_ns "$r" "$leat" esp stop 2> /dev/null || true
    done
}
# wire NS DEVICE ADDRESS PEER-NS PEER-DEVICE PEER-ADDRESS
wire() {
    ip link add name "$2" netns "$name$1" type veth peer name "$5" netns "$name$4"
    for end in "$1 $2 $3" "$4 $5 $6"; do
        # shellcheck disable=SC2086 # words
        set -- $end
        ip -n "$name$1" link set dev "$2" up
        [ "$3" = none ] || ip -n "$name$1" addr add "$3/24" dev "$2"
        polling="$polling $name$1:$2"
    done
}
# esp_net: host I is 10.8.I.2, below the router left (even) or right (odd); top is above both, and the way from left to
# top goes through wire, where packets may be lost.
esp_net() {
    polling=
    for i in $HOSTS; do
        leaf=left
        [ $((i % 2)) = 0 ] || leaf=right
        wire "$i" esp "10.8.$i.2" $leaf "d$i" "10.8.$i.1"
        ip -n "$name$i" route add 10.8.0.0/16 via "10.8.$i.1"
    done
    wire left up 10.8.100.2 wire below none
    wire top l 10.8.100.1 wire above none
    wire right up 10.8.101.2 top r 10.8.101.1
    for r in $ROUTERS; do in_ns "$r" sysctl -qw net.ipv4.ip_forward=1; done
    ip -n "${name}left" route add default via 10.8.100.1
    ip -n "${name}right" route add default via 10.8.101.1
    for i in $HOSTS; do ip -n "${name}top" route add "10.8.$i.0/24" via "10.8.$((100 + i % 2)).2"; done
    # shellcheck disable=SC2086 # words
    python3 "$root/test/veth.py" gro on $polling
}
# routers OPTION...: they start
routers() {
    stop_routers
    in_ns left "$leat" esp route --driver "$driver" --dev up --dev d0 --dev d2 --dev d4 --dev d6 "$@" > "$folder/joined"
    in_ns right "$leat" esp route --driver "$driver" --dev up --dev d1 --dev d3 --dev d5 --dev d7 "$@" > "$folder/joined"
    in_ns top "$leat" esp route --driver "$driver" --dev l --dev r "$@" > "$folder/joined"
}
# bridge_wire: nothing is lost, and the kernel carries it
bridge_wire() {
    ip -n "${name}wire" link add name switch type bridge
    ip -n "${name}wire" link set switch up
    for end in below above; do ip -n "${name}wire" link set dev $end master switch; done
}
# esp_lose PERCENT: of the packets that go up from left to top
esp_lose() {
    stop_relay
    : > "$folder/relay"
    for way in "below above $1" "above below 0"; do
        # shellcheck disable=SC2086 # words
        nsenter --net="/run/netns/${name}wire" python3 "$root/tool/mpi/mpi_relay.py" $way 1 >> "$folder/relay" 2>&1 &
        echo $! >> "$folder/relay.pid"
    done
    wait_until both_relay || fail "no relay: $(cat "$folder/relay")"
}
both_relay() { [ "$(grep -o relays "$folder/relay" | wc -l)" = 2 ]; }
