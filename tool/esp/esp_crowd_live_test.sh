#!/bin/sh
# More children at one router than a computation has room for, between hosts as network namespaces that are
# created and removed here, over a router with every driver: robust sums, trees, multicast and teams.
# usage: [LEAT_DRIVERS="packet"] [LEAT_CROWD="300 1000"] esp_crowd_live_test.sh LEAT ESP_CROWD
#
#   root -0- r0 -1- m0       link n is 10.1.n.0/24: .1 above, .2 below; all members are sockets of m0
set -eu
leat=$1
crowd=$2
. "$(dirname "$0")/../../test/lib.sh"
. "$(dirname "$0")/../../test/live.sh"
started=
end_all() {
    # shellcheck disable=SC2086
    [ -z "$started" ] || kill $started 2> /dev/null || true
    # shellcheck disable=SC2086
    [ -z "$started" ] || wait $started 2> /dev/null || true
    started=
}
tear_down() {
    end_all
    in_ns r0 "$leat" esp stop 2> /dev/null || true
    delete_hosts
}
hosts "live ESP with many children is" root r0 m0
link root r0 0
link r0 m0 1
in_ns r0 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip -n "${name}root" route add 10.1.0.0/16 via 10.1.0.2
# shellcheck disable=SC2086
python3 "$(dirname "$0")/../../test/veth.py" gro on $polling
python3 "$(dirname "$0")/../../test/veth.py" checksums off "${name}root:d0" "${name}m0:up"
put_key "$folder/key" '00010203 04050607 08090a0b 0c0d0e0f'

# asks SERVICE OPTION...: its JSON, or the reason. A busy host is late: comes_to asks again.
asks() { in_ns root "$leat" esp "$@" --members "$members" --wait 60s --settle 500ms --key-file "$folder/key" --json 2> "$folder/stderr" || cat "$folder/stderr"; }
answer() {
    filter=$1
    shift
    asks "$@" | jq -c "$filter" 2>&1
}
cast() { grep -cx "cast $members" "$folder/members"; }
multicast() {
    answer .installed multicast 7 tea > "$folder/cast"
    cast
}
group() {
    nsenter "$(net_of m0)" "$crowd" join 10.1.0.1 "$folder/key" 7 "$members" > "$folder/members" &
    started=$!
    comes_to "$driver: a robust sum of $members members" "[$((3 * members)),$members]" answer '[.answer,.counted]' sum 7 --robust 8
    comes_to "$driver: a tree of $members members" "[1,0,true]" answer '[.answer,.unplaced,.shards>1]' tree 7
    comes_to "$driver: a cast to $members members" 1 multicast
    same "$driver: routers with copies" "$(cat "$folder/cast")" 1
    end_all
}
team() {
    rm -f "$folder/seat"
    nsenter "$(net_of root)" "$crowd" lead 10.1.0.0/16 "$folder/key" "$folder/seat" "$members" 3 > "$folder/root" 2> "$folder/stderr" &
    lead=$!
    started=$lead
    waits_for seat
    nsenter "$(net_of m0)" "$crowd" follow 10.1.0.0/16 "$folder/key" "$folder/seat" "$members" 3 > "$folder/hosts" 2> "$folder/stderr.hosts" &
    started="$started $!"
    # shellcheck disable=SC2086
    wait $started || fail "$driver: a team of $members hosts: $(cat "$folder/stderr" "$folder/stderr.hosts")"
    started=
    sum=$((members * (members + 1) / 2))
    want=$(for i in 0 1 2; do echo "sum $((sum + i * members))"; done)
    same "$driver: sums of $members hosts, at the root" "$(grep sum "$folder/root")" "$want"
    same "$driver: sums of $members hosts" "$(cat "$folder/hosts")" "$want"
}
for driver in ${LEAT_DRIVERS:-packet xdp}; do
    [ "$driver" != udp ] || continue # an overlay has no trees
    if ! in_ns r0 "$leat" esp route --dev up --dev d1 --driver "$driver" --node-id 100 --key-file "$folder/key" > /dev/null 2> "$folder/stderr"; then
        no_driver "leat esp route"
        continue
    fi
    for members in ${LEAT_CROWD:-300}; do
        group
        team
    done
    in_ns r0 "$leat" esp stop
done
finish
