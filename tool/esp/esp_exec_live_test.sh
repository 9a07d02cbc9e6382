#!/bin/sh
# leat esp send and exec between hosts, as network namespaces that are created and removed here: one script, of
# which each host plays its part, over a router with every driver.
# usage: [LEAT_DRIVERS="packet udp"] esp_exec_live_test.sh LEAT
#
#   root -0- r0 -1- m0
#               -2- m1         link n is 10.1.n.0/24: .1 above, .2 below
set -eu
leat=$1 script=$(dirname "$0")/../../share/esp/hosts.esp
. "$(dirname "$0")/../../test/lib.sh"
. "$(dirname "$0")/../../test/live.sh"
tear_down() {
    in_ns r0 "$leat" esp stop 2> /dev/null || true
    delete_hosts
}
hosts "live ESP of one's own packets is" root r0 m0 m1
link root r0 0
link r0 m0 1
link r0 m1 2
in_ns r0 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip -n "${name}root" route add 10.1.0.0/16 via 10.1.0.2
# shellcheck disable=SC2086
python3 "$(dirname "$0")/../../test/veth.py" gro on $polling
python3 "$(dirname "$0")/../../test/veth.py" checksums off "${name}root:d0" "${name}m0:up" "${name}m1:up"

# play NAME HOST OPTION...: in the background
play() {
    host=$1 as=$2
    shift 2
    nsenter "$(net_of "$host")" "$leat" esp exec "$script" --play "$as" --wait 60s --json "$@" > "$folder/$as" 2> "$folder/$as.err" &
}
# listens HOST: some program there has bound port 4253
listens() { in_ns "$1" grep -qi ':109d ' /proc/net/udp6; }
for driver in ${LEAT_DRIVERS:-xdp packet udp}; do
    devices="--dev up --dev d1 --dev d2" target=10.1.0.1
    [ "$driver" != udp ] || devices="--next-hop 10.1.0.1" target=
    # shellcheck disable=SC2086
    if ! in_ns r0 "$leat" esp route $devices --driver "$driver" --capacity 16k --port-capacity 1k --tau 300s > "$folder/route" 2> "$folder/stderr"; then
        no_driver route
        continue
    fi
    play root root --host member.0=10.1.1.2 --host member.1=10.1.2.2
    roots=$!
    wait_until listens root || fail "$driver: the root does not listen"
    play m0 member.0 --to "${target:-10.1.1.1}"
    first=$!
    play m1 member.1 --to "${target:-10.1.2.1}"
    second=$!
    for pid in $first $second $roots; do wait $pid || true; done
    same "$driver: the root" "$(jq -c '[.status,.met,[.arrivals[]|select(.fields.opcode!="NOP")|.fields.opcode]]' "$folder/root")" '["done",5,["COUNT","COLLECT"]]'
    same "$driver: the members" "$(cat "$folder/member.0" "$folder/member.1" | jq -c '[.status,.met,.sent]')" '["done",1,3]
["done",1,3]'
    cat "$folder/root.err" "$folder/member.0.err" "$folder/member.1.err" >&2
    described "$driver" < "$folder/root"
    # Reflected by a host that runs leat esp exec; the third COUNT is stopped at the router.
    printf 'wait 60s\n' > "$folder/wait"
    nsenter "$(net_of root)" "$leat" esp exec "$folder/wait" --play root > /dev/null 2>&1 &
    mirror=$!
    wait_until listens root || fail "$driver: the mirror does not listen"
    if [ "$driver" != udp ]; then
        for times in 1 2; do in_ns m0 "$leat" esp send computationId=78 thresh=2 'flags=X|R' --to 10.1.0.1 --wait 60s > "$folder/stdout" || fail "$driver: $times"; done
        exits 1 "1 of 1 packets did not come back in 500ms" in_ns m0 "$leat" esp send computationId=78 thresh=2 'flags=X|R' --to 10.1.0.1 --wait 500ms
        same "$driver: counted" "$(in_ns r0 "$leat" esp store 78 --json | jq -c '[.bindings[0].value]' )" '[3]'
    fi
    kill $mirror
    wait $mirror || true
    in_ns r0 "$leat" esp stop
done
finish
