#!/bin/sh
# leat pktway, fabric, sim and run on simulated PacketWay networks.
set -u
leat=$(realpath "$1")
. "$(dirname "$0")/../../test/lib.sh"
"$leat" fabric check twosan > /dev/null 2>&1 || { "$leat" fabric check twosan 2>&1 | grep -q libcyaml && exit 77; }

# ---- what there is --------------------------------------------------------------------------------
same "check" "$("$leat" fabric check threesan)" "threesan: sound: 27 ports, 3 SANs, 3 routers"
"$leat" fabric show threesan --json > "$folder/show"
same "ports of the SANs" "$(jq -c '[.sans[] | [.name, .kind, .hosts, .first_port]]' "$folder/show")" \
    '[["ring","ring",6,0],["clos","atm",14,6],["mesh","switches",7,20]]'
same "addresses of the routers" "$(jq -c '[.router_list[].at[].address]' "$folder/show")" '["0x000108","0x000201","0x000210","0x000305","0x000301","0x000104"]'
has "list" "$("$leat" fabric list)" "twosan"

# ---- reaching: every router is where the map has it -------------------------------------------------
pktway() { "$leat" pktway "$@" --json; }
route() { jq -c '[.hops[] | [.router_name, .in_node, .out_node]]'; }
for how in "" --by-address; do
    same "trace$how" "$(pktway trace mesh.8 --fabric threesan $how | route)" '[["south","ring.3","mesh.0"]]'
    same "trace round a failure$how" "$(pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms $how | route)" \
        '[["west","ring.7","clos.0"],["east","clos.15","mesh.4"]]'
    same "trace after it came back$how" "$(pktway trace clos.15 --fabric twosan --fault router:west@1ms..2ms --at 3s $how | route)" \
        '[["west","ring.7","clos.0"]]'
done
same "trace round a dead link" "$(pktway trace mesh.8 --fabric threesan --fault link:south --at 1ms | route)" \
    '[["west","ring.7","clos.0"],["east","clos.15","mesh.4"]]'
# By address the first half-router has it first, and gives it to its buddy.
same "by address" "$(pktway trace mesh.8 --fabric threesan --fault link:south --at 1ms --by-address | route)" \
    '[["south","ring.3","ring.3"],["west","ring.7","clos.0"],["east","clos.15","mesh.4"]]'
planned=$(pktway ping clos.15 --fabric twosan --count 3 | tail -n 1 | jq .there_us)
address=$(pktway ping clos.15 --fabric twosan --count 3 --by-address | tail -n 1 | jq .there_us)
jq -en "$planned < $address" > /dev/null || fail "planned took $planned us, by address $address us"

# Cut-through, and what it saves; a long message has as many routers on its way as a short one.
long() { pktway ping clos.15 --fabric twosan --count 2 --bytes 3000 "$@" | tail -n 1; }
jq -en "$(long | jq .there_us) < $(long --cut-through no | jq .there_us)" > /dev/null || fail "cut-through is not faster"
same "routers of a long message" "$(pktway ping clos.15 --fabric twosan --bytes 9000 | jq .routers_passed)" 1
same "shown by trace" "$(pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms | jq -c '[.hops[].cut_through]')" "[true,true]"
same "or not" "$(pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms --cut-through no | jq -c '[.hops[].cut_through]')" "[false,false]"
{ cat "$(dirname "$0")/../../share/fabrics/twosan.yaml"; echo "cut_through: no"; } > "$folder/stored.yaml"
same "as the description has it" "$("$leat" fabric show "$folder/stored.yaml" --json | jq .cut_through)" false
same "the same as by option" "$(pktway ping clos.15 --fabric "$folder/stored.yaml")" "$(pktway ping clos.15 --fabric twosan --cut-through no)"
same "and against it" "$(pktway ping clos.15 --fabric "$folder/stored.yaml" --cut-through yes)" "$(pktway ping clos.15 --fabric twosan)"

# EI: after n routers bit k accuses the (n-k)th.
accuse() { pktway ping mesh.8 --fabric threesan --fault router:south --at 1ms --error-at "$1" | jq -c '[.routers_passed, .ei_there, .accused_there, .ei_back, .accused_back]'; }
same "west" "$(accuse west)" '[2,"0x2",["west"],"0x1",["west"]]'
same "east" "$(accuse east)" '[2,"0x1",["east"],"0x2",["east"]]'
same "nobody" "$(pktway ping mesh.8 --fabric threesan | jq -c '[.ei_there, .accused_there]')" '["0x0",[]]'
exits 1 "no answer: " "$leat" pktway ping clos.15 --fabric twosan --fault router:west --at 1ms

# ---- plans, discovery, tables ------------------------------------------------------------------------
# From mesh.0 to mesh.8 of 3 x 3: twice up in dimension 0 (out 0), twice in dimension 1 (out 2), the terminal (out 4).
same "plan" "$(pktway plan mesh.8 --fabric threesan)" \
    '{"schema":"leat.pktway.plan/1","address":"0x000309","plan":"routes","router_address":"0x000104","routes":[{"q":3,"mtu_words":512,"l2rh":["0000020204"]}],"status":"done"}'
same "plan through two routers" "$(pktway plan mesh.8 --fabric threesan --fault router:south --at 1ms | jq -c '.routes[0].l2rh')" \
    '["0000003c","000204"]'
same "plan on the same SAN" "$(pktway plan ring.1 --fabric threesan | jq -r .plan)" native
exits 1 "no half-router knows a route there" "$leat" pktway plan 0x999 --fabric threesan
same "by name" "$(pktway tell name=clos.15 --fabric twosan | jq -c .answers)" '[{"address":"0x000210","name":"clos.15","capability":1}]'
same "by any of these" "$(pktway tell name=clos.14 address=0x101-0x102 --fabric twosan | jq -c '[.answers[].name]')" '["ring.0","ring.1","clos.14"]'
same "routers" "$(pktway tell capability=2 --fabric twosan | jq -c '[.answers[].name] | unique')" '["west"]'
same "by a router's SANs" "$(pktway tell capability=2:1,0,3,0 --fabric threesan | jq -c '[.answers[].name] | unique')" '["east","south"]'
for wrong in name= capability=0 capability=256 capability=2: capability=2:1,,2 capability=7:256 address=5-2 address=1-2-3 address=0x800000 capability; do exits 2 "tell '$wrong', expected name=NAME" "$leat" pktway tell "$wrong" --fabric threesan; done
same "all routers" "$(pktway tell capability=2 --fabric threesan | jq -c '[.answers[].name] | unique')" '["east","south","west"]'
exits 1 "no such node" "$leat" pktway tell name=nobody --fabric twosan
lost() { pktway tables west --fabric threesan "$@" | jq -c '[.half_routers[0].tables[] | select(.rcvf[0] == "0x000301") | .withdrawn]'; }
same "tables" "$(lost)" "[false]"
same "withdrawn" "$(lost --fault router:south@1ms.. --at 2s)" "[true]"
same "routes in tables" "$(pktway tables west --fabric twosan | jq -c '[.half_routers[].nodes[0].route]')" '["0001","00000004"]'
exits 0 "" "$leat" pktway tables --fabric twosan
has "as text" "$(cat "$folder/stdout")" "west: half-router 0x000108 on ring"

# ---- memory: pieces that every SAN carries, there and back --------------------------------------------------
has "written and read back" "$("$leat" pktway write mesh.8 0x100 text=hello --fabric threesan)" "0x000309: 5 octets written at 0x100 and read back"
same "read" "$(pktway read mesh.8 0xfff0 16 --fabric threesan | jq -r '.octets, .count' | xargs)" "00000000000000000000000000000000 16"
pktway write clos.15 0 "text=$(seq -w 999 | tr -d '\n')" --fabric twosan | jq -e '.count == 2997 and .time_us > 0' > /dev/null || fail "a long write"
exits 1 "mesh.8 does not let this node read 1 octets at 0x10000: none of its memory" "$leat" pktway read mesh.8 0x10000 1 --fabric threesan
exits 1 "no answer to read of 4 octets" "$leat" pktway read clos.15 0 4 --fabric twosan --fault router:west --at 1ms
exits 2 "expected another host than the one that asks" "$leat" pktway read ring.0 0 4 --fabric threesan
exits 2 "read: expected a host, an address of its memory" "$leat" pktway read ring.1 --fabric threesan
exits 2 "--allow does not go with read" "$leat" pktway read ring.1 0 4 --allow rw --fabric threesan
exits 2 "--timeout has no meaning for threesan" "$leat" pktway read ring.1 0 4 --timeout 1s --fabric threesan

# ---- data: one message to a node, a group, a name, a capability ---------------------------------------------
has "sent" "$("$leat" pktway send clos.15 text=hello --fabric twosan)" "1: 0x101 to clos.15, priority 0, 5 octets, at 33.500 us at 0x000210 after 33.500 us by west"
pktway send mesh.8 cafe01 --fabric threesan --from ring.1 --priority 9 --count 2 --every 10us > "$folder/sent"
python3 "$(dirname "$0")/../../share/schema/check.py" < "$folder/sent" > /dev/null || fail "objects of send"
same "as objects" "$(jq -c '[.number, .sender_address, .address, .priority, .bytes, .attempts, .routers_passed, .hops[0].router_name]' "$folder/sent" | xargs)" \
    '[1,0x000102,0x000309,9,3,1,1,south] [2,0x000102,0x000309,9,3,1,1,south]'
same "the same twice" "$(pktway send mesh.8 cafe01 --fabric threesan --from ring.1 --priority 9 --count 2 --every 10us)" "$(cat "$folder/sent")"
for how in "" --by-address; do
    # shellcheck disable=SC2086
    same "to a name $how" "$(pktway send name=mesh.8 00 --fabric threesan $how | jq -c '[.address, .routers_passed]')" '["0x000309",1]'
done
lost() { pktway send "$@" 2> /dev/null | jq -c '[.reached, .why, .err_messages[].err, .status]'; }
same "nobody" "$(lost 0x999 00 --fabric threesan)" '[false,"no half-router knows a route to its destination","UNK","lost"]'
same "nobody, by address" "$(lost 0x999 00 --fabric threesan --by-address)" '[false,"destination unknown, or only where it must not go","UNK","lost"]'
same "a half-router" "$(lost mesh.0 00 --fabric threesan)" '[false,"it is for a half-router, which takes no data","GENERAL","lost"]'
same "an unknown name" "$(lost name=nobody 00 --fabric threesan)" '[false,"no other node matches","lost"]'
same "a group of nobody" "$(lost 0xe00001 00 --fabric threesan)" '[false,"no node of its SAN, or of those next to it, has its logical address","lost"]'
same "too long" "$(head -c 4096 /dev/zero | lost mesh.8 --file - --fabric threesan)" '[false,"it is longer than the MTU of the route","lost"]'
same "no router" "$(lost clos.15 00 --fabric twosan --fault router:west --at 1ms)" '[false,"no half-router knows a route to its destination","lost"]'
exits 1 "" "$leat" pktway send 0x999 00 --fabric threesan
has "a reason in words" "$(cat "$folder/stdout")" "lost: no half-router knows a route to its destination (ERR UNK from 0x000108)"

# An urgent message overtakes those that wait in the router for the Clos network, one that is not is behind them.
{
    for station in 0 1 2 4 5 6; do for _ in 1 2 3; do echo "0us ring.$station clos.15 10 text=$(printf '%1500s' '' | tr ' ' x)"; done; done
    echo "50us ring.1 clos.14 63 text=urgent # sent last"
    echo "50us ring.2 clos.14 0 text=slow"
} > "$folder/list"
pktway send --messages "$folder/list" --fabric twosan > "$folder/sent"
same "all arrive" "$(jq -s '[length, all(.reached)] | tostring' "$folder/sent")" '"[20,true]"'
same "the urgent one overtakes" "$(jq -s 'map(.number) | [(index(19) < 6), (index(20) > 15)] | tostring' "$folder/sent")" '"[true,true]"'
sed 's/ 63 text/ 10 text/' "$folder/list" > "$folder/even"
same "with the same priority it does not" "$(pktway send --messages "$folder/even" --fabric twosan | jq -s 'map(.number) | index(19) > 6')" true
exits 0 "" "$leat" pktway receive clos.14 --messages "$folder/list" --fabric twosan
same "received" "$(sed 's/at [0-9.]* us //' "$folder/stdout")" "1: from 0x000102 to 0x00020f, priority 63, 6 octets: urgent
2: from 0x000103 to 0x00020f, priority 0, 4 octets: slow"
exits 0 "" "$leat" pktway receive clos.14 --messages "$folder/list" --fabric twosan --output "$folder/octets"
same "the octets" "$(cat "$folder/octets")" urgentslow
pktway receive 0x20f --messages "$folder/list" --fabric twosan --count 1 > "$folder/got"
python3 "$(dirname "$0")/../../share/schema/check.py" < "$folder/got" > /dev/null || fail "objects of receive"
same "one of them" "$(jq -c '[.sender_address, .priority, .pt, .octets]' "$folder/got")" '["0x000102",63,1025,"757267656e74"]'
exits 1 "clos.14: 2 messages arrived, expected 3" "$leat" pktway receive clos.14 --messages "$folder/list" --fabric twosan --count 3 --output "$folder/none"
[ ! -e "$folder/none" ] || fail "a file of too few messages"
exits 1 "clos.13: 0 messages arrived, expected 1 or more" "$leat" pktway receive clos.13 --messages "$folder/list" --fabric twosan

# Hosts with names: crunch is on two SANs, and in a group.
{
    cat "$(dirname "$0")/../../share/fabrics/threesan.yaml"
    echo "hosts:"
    echo "  - {name: crunch, at: [ring.0, mesh.8], capabilities: [7, 9], logical: [0xe00005]}"
    echo "  - {name: store, at: [clos.3], logical: [0xe00005]}"
} > "$folder/hosts.yaml"
y="--fabric $folder/hosts.yaml"
"$leat" fabric show "$folder/hosts.yaml" --json | python3 "$(dirname "$0")/../../share/schema/check.py" > /dev/null || fail "hosts as objects"
has "hosts" "$("$leat" fabric show "$folder/hosts.yaml")" "host crunch   ring.0 (0x101), mesh.8 (0x309), capability 7, capability 9, logical 0xe00005"
# shellcheck disable=SC2086
{
    same "two addresses, one name" "$(pktway tell name=crunch $y | jq -c '[.answers[].address]')" '["0x000101","0x000309"]'
    where() { pktway send "$@" $y | jq -r '[.receiver_address] | join(" ")' | sort | xargs; }
    same "the nearest address" "$(where name=crunch 00 --from clos.4) $(where name=crunch 00 --from ring.1) $(where capability=9 00 --from mesh.1)" "0x000309 0x000101 0x000309"
    same "the other one" "$(where name=crunch 00 --from clos.4 --fault port:mesh.8) $(where name=crunch 00 --from ring.1 --fault port:ring.0)" "0x000101 0x000309"
    same "round a router" "$(where name=crunch 00 --from clos.4 --fault router:east)" 0x000101
    same "none is left" "$(lost name=crunch 00 --from clos.4 --fault port:mesh.8 --fault port:ring.0 --at 1ms $y)" '[false,"no other node matches","lost"]'
    same "a group" "$(where 0xe00005 00 --from ring.1)" "0x000101 0x000309"
    same "a group, from elsewhere" "$(where 0xe00005 00 --from clos.4 --fault router:east)" "0x000101 0x000204"
    from() { pktway send "$@" $y --from crunch | jq -r '[.sender_address, .attempts] | join(" ")' | xargs; }
    same "from two ports" "$(from name=store 00) $(from name=store 00 --fault port:mesh.8) $(from ring.1 00)" "0x000309 1 0x000101 1 0x000101 1"
    # The port fails while messages are on their way: the same one is sent to the other address.
    pktway send name=crunch 00 --from clos.4 --count 6 --every 40us --fault port:mesh.8@2.35ms.. $y > "$folder/sent"
    same "on the way" "$(jq -s '[all(.reached), (map(.receiver_address) | unique), (map(.attempts) | max)] | tostring' "$folder/sent")" '"[true,[\"0x000101\",\"0x000309\"],2]"'
    exits 2 "send 'crunch', expected SAN.PORT, an address, name=NAME" "$leat" pktway send crunch 00 $y
    exits 2 "--from 'nobody', expected a host of" "$leat" pktway send 0x101 00 --from nobody $y
    exits 2 "'0x101' is the sender itself" "$leat" pktway send 0x101 00 --from crunch $y
    exits 2 "a fault of a port that is no host's" "$leat" pktway ping clos.4 $y --fault port:ring.7
    exits 2 "--fault 'port:ring', expected" "$leat" pktway ping clos.4 $y --fault port:ring
}
line() { # line TEXT-ON-STDERR LINE: a list of this line
    echo "$2" > "$folder/bad.list"
    exits 2 "$1" "$leat" pktway send --messages "$folder/bad.list" --fabric twosan
}
line "bad.list:1: '64', expected a priority of 0 to 63" "0us ring.1 clos.14 64 00"
line "bad.list:1: 4 words, expected TIME FROM TO PRIORITY OCTETS|text=TEXT" "0us ring.1 clos.14 6"
line "bad.list:1: 6 words, expected" "0us ring.1 clos.14 6 00 00"
line "bad.list:1: 'soon', expected a time" "soon ring.1 clos.14 6 00"
line "bad.list:1: 'ring.9' is no host of twosan" "0us ring.9 clos.14 6 00"
line "bad.list:1: 'name=', expected SAN.PORT" "0us ring.1 name= 6 00"
line "bad.list:1: 'ring.1' is the sender itself" "0us ring.1 ring.1 6 00"
line "bad.list:1: '0', expected octets in hex" "0us ring.1 clos.14 6 0"
line "bad.list: no message" "# nothing"
exits 2 "No such file" "$leat" pktway send --messages "$folder/no.list" --fabric twosan
exits 2 "--messages with another message" "$leat" pktway send clos.1 00 --messages "$folder/list" --fabric twosan
for more in "--from ring.1" "--priority 3" "--count 2" "--every 1us" "--file x"; do
    # shellcheck disable=SC2086
    exits 2 "${more% *} with --messages, whose lines say that" "$leat" pktway send --messages "$folder/list" --fabric twosan $more
done
exits 2 "--from with --messages" "$leat" pktway receive clos.14 --messages "$folder/list" --from ring.1 --fabric twosan
exits 2 "expected send TO OCTETS" "$leat" pktway send clos.1 --fabric twosan
exits 2 "send 'abc', expected octets in hex" "$leat" pktway send clos.1 abc --fabric twosan
exits 2 "No such file" "$leat" pktway send clos.1 --file "$folder/no.file" --fabric twosan
exits 2 "--priority '64', expected a whole number, 0 to 63" "$leat" pktway send clos.1 00 --priority 64 --fabric twosan
exits 2 "--count 5000, expected at most 4096" "$leat" pktway send clos.1 00 --count 5000 --fabric twosan
exits 2 "expected receive HOST --messages FILE" "$leat" pktway receive clos.1 --fabric twosan
exits 2 "receive 'clos.0', expected SAN.PORT" "$leat" pktway receive clos.0 --messages "$folder/list" --fabric twosan

# ---- under load --------------------------------------------------------------------------------------
sim() { "$leat" sim "$@" --json | jq -c 'del(.wall_seconds)'; }
same "the same twice" "$(sim threesan --cycles 5000000)" "$(sim threesan --cycles 5000000)"
for traffic in uniform permutation hotspot broadcast bursty; do
    sim twosan --traffic $traffic --cycles 4000000 --load 0.02 | jq -e '.messages_delivered > 0 and .messages_lost == 0 and
        .messages_offered == .messages_delivered + .messages_waiting and .within_cycles.count + .across_cycles.count == .messages_delivered' > /dev/null ||
        fail "sim --traffic $traffic"
done
sim twosan --bytes 2000 > "$folder/cut"
sim twosan --bytes 2000 --cut-through no > "$folder/stored"
jq -es '.[0].counts.cut > 0 and .[1].counts.cut == 0 and .[0].across_cycles.mean < .[1].across_cycles.mean' "$folder/cut" "$folder/stored" > /dev/null ||
    fail "cut-through under load"
sim threesan --cycles 400000000 --load 0.02 > "$folder/planned"
sim threesan --cycles 400000000 --load 0.02 --forwarding address > "$folder/address"
same "as many either way" "$(jq .messages_offered "$folder/planned")" "$(jq .messages_offered "$folder/address")"
same "all but the last delivered" "$(jq '.messages_lost, (.messages_waiting < 5)' "$folder/planned" "$folder/address" | xargs)" "0 true 0 true"
jq -es '.[0].across_cycles.p50 < .[1].across_cycles.p50' "$folder/planned" "$folder/address" > /dev/null || fail "planned is not faster"
# The ring and the mesh each tell of their change by one table, which west and east pass on: three half-routers each.
sim threesan --cycles 20000000 --load 0.001 --fault router:south@5ms.. | jq -e '.counts.tables == 6 and .counts.failures == 4' > /dev/null || fail "messages of a failure"
sim threesan --cycles 20000000 --load 0.001 --fault link:south@5ms.. | jq -e '.counts.tables == 0 and .counts.failures > 0' > /dev/null || fail "messages of a lost link"
sim threesan --cycles 20000000 --fault router:south@5ms..10ms | jq -e '.messages_delivered > 300' > /dev/null || fail "no traffic round a failure"

# ---- sizes -----------------------------------------------------------------------------------------------
# Two SANs of one size and a router: all can be reached, by plan and by address, and are found by name.
pair() {
    printf 'sans:\n  - {name: a, fabric: "%s", bias: 0x1000}\n  - {name: b, fabric: "%s", bias: 0x3000}\n' "$1" "$1"
    printf 'routers:\n  - {name: r, at: [a.0, b.1]}\n'
}
for fabric in ether3 ether63 ether64 ring172 mesh:16,16 ring1000; do
    pair "$fabric" > "$folder/pair.yaml"
    for how in "" --by-address; do
        # shellcheck disable=SC2086  # no word where there is none
        same "two $fabric $how" "$(pktway ping b.2 --fabric "$folder/pair.yaml" $how | jq .routers_passed)" 1
    done
    same "plan between two $fabric" "$(pktway plan b.2 --fabric "$folder/pair.yaml" | jq -r .plan)" routes
    same "name between two $fabric" "$(pktway tell name=b.2 --fabric "$folder/pair.yaml" | jq -c '[.answers[].name]')" '["b.2"]'
done
pair ether64 > "$folder/pair.yaml"
sim "$folder/pair.yaml" --load 0.02 | jq -e '.messages_delivered > 400 and .messages_lost == 0' > /dev/null || fail "sim of two ether64"

same "an answer in many pieces" "$(pktway tell capability=1 --fabric "$folder/pair.yaml" | jq '[.answers[].name] | unique | length')" 126
# SANs that run at the same time: the results of one thread.
{
    printf 'sans:\n'
    for san in a:1 b:2 c:3; do
        printf '  - {name: %s, fabric: "mesh:11,12", bias: 0x%s000}\n' "${san%:*}" "${san#*:}"
    done
    printf 'routers:\n  - {name: west, at: [a.0, b.7]}\n  - {name: east, at: [b.99, c.131]}\n'
} > "$folder/meshes.yaml"
for how in "" "--forwarding address" "--fault router:east@20us..50us"; do
    for threads in 1 2 3; do
        # shellcheck disable=SC2086
        exits 0 "" "$leat" sim "$folder/meshes.yaml" --load 1 --cycles 100000 --json --threads $threads $how
        jq -c 'del(.wall_seconds)' "$folder/stdout" > "$folder/threads$threads"
        same "$threads threads $how" "$(cat "$folder/threads$threads")" "$(cat "$folder/threads1")"
    done
done
has "who did the work" "$("$leat" sim "$folder/meshes.yaml" --cycles 1000 --threads 3)" "on 3 threads"
same "few ports: one thread" "$("$leat" sim twosan --cycles 1000 --threads 3 | grep -c threads)" 0

printf 'sans:\n  - {name: a, fabric: ether4, bias: 0x100}\n  - {name: b, fabric: ether4, bias: 0x200}\n  - {name: c, fabric: ether200, bias: 0x300}\n' > "$folder/ranges.yaml"
printf 'routers:\n  - {name: r, at: [a.0, b.0]}\n  - {name: s, at: [b.1, c.0]}\n' >> "$folder/ranges.yaml"
same "by ranges" "$(pktway ping c.199 --fabric "$folder/ranges.yaml" | jq .routers_passed)" 2
same "a plan by its mapper" "$(pktway plan c.199 --fabric "$folder/ranges.yaml" | jq -c '[.plan, (.routes[0].l2rh | length)]')" '["routes",2]'
same "a name by its mapper" "$(pktway tell name=c.199 --fabric "$folder/ranges.yaml" | jq -c '[.answers[].name]')" '["c.199"]'
exits 1 "no such node" "$leat" pktway tell name=c.200 --fabric "$folder/ranges.yaml"
same "all names of ranges" "$(pktway tell capability=1 --fabric "$folder/ranges.yaml" | jq '[.answers[].name] | unique | length')" 204

# Routers in a row: as many as a routing table can pass, and no more.
chain() {
    echo sans:
    for i in $(seq 0 "$1"); do echo "  - {name: s$i, fabric: ether4, bias: $(((i + 1) * 16))$2}"; done
    echo routers:
    for i in $(seq 0 $(($1 - 1))); do echo "  - {name: r$i, at: [s$i.1, s$((i + 1)).0]}"; done
}
chain 64 "" > "$folder/chain.yaml"
same "64 routers" "$(pktway trace s64.3 --fabric "$folder/chain.yaml" | jq '.hops | length')" 64
same "64 native routes" "$(pktway plan s64.3 --fabric "$folder/chain.yaml" | jq '.routes[0].l2rh | length')" 64
chain 65 "" > "$folder/chain.yaml"
exits 2 "chain.yaml: from s0 to s65 there are 65 routers in a row, expected at most 64" "$leat" fabric check "$folder/chain.yaml"
chain 16 ", mtu: 32" > "$folder/chain.yaml"
exits 2 "expected larger MTUs on the route, or fewer routers" "$leat" pktway ping s16.3 --fabric "$folder/chain.yaml"

# ---- Ethernet ------------------------------------------------------------------------------------------
cat > "$folder/ether.yaml" <<'Y'
sans:
  - {name: ring, fabric: ring8/clock=4ns, bias: 0x100}
  - {name: ether, fabric: ether8/rate=1000, bias: 0x200}
  - {name: mesh, fabric: "mesh:3,3/vcs=2/clock=2ns", bias: 0x300}
routers:
  - {name: west, at: [ring.7, ether.0]}
  - {name: east, at: [ether.7, mesh.4]}
Y
same "an MTU that a frame holds" "$("$leat" fabric show "$folder/ether.yaml" --json | jq -c '.sans[1] | [.kind, .mtu_words]')" '["ethernet",186]'
same "MAC addresses as native routes" "$(pktway plan mesh.8 --fabric "$folder/ether.yaml" | jq -c '.routes[0] | [.mtu_words, .l2rh]')" '[186,["020000000008","000204"]]'
same "through Ethernet" "$(pktway trace mesh.8 --fabric "$folder/ether.yaml" --by-address | route)" '[["west","ring.7","ether.0"],["east","ether.7","mesh.4"]]'
sim "$folder/ether.yaml" --bytes 3000 --load 0.2 | jq -e '.messages_delivered > 0 and .messages_lost == 0' > /dev/null || fail "sim through Ethernet"
# An idle one: 2 x 8 x (8 + 14 + 7 + 64 + 4) bit times, and there are few messages that meet others.
sim ether16 --load 0.001 --cycles 50000000 | jq -e '.latency_cycles.p50 == 1552 and .messages_lost == 0 and .throughput < 0.0011 and .throughput > 0.0009' > /dev/null ||
    fail "an idle Ethernet"
same "the same twice" "$(sim ether8 --load 0.9 --traffic bursty)" "$(sim ether8 --load 0.9 --traffic bursty)"
has "show" "$("$leat" fabric show ether8)" "messages    of up to 1493 octets in one frame; that is 1526 octets on the cable"
same "show --json" "$("$leat" fabric show ether8/rate=10 --json | jq -c '[.bit_ps.num / .bit_ps.den, .message_bytes]')" "[100000,1493]"
same "check" "$("$leat" fabric check ether8/frame=9000)" "ether8/frame=9000: sound: 8 ports"
has "list" "$("$leat" fabric list)" "etherN"
exits 2 "'x=3', expected rate=1..1000000" "$leat" sim ether8/x=3
exits 2 "'0' stations, expected 1 to 4096" "$leat" fabric check ether0
exits 2 "nobody to send to, expected 2 stations" "$leat" sim ether1
exits 2 "--model has no meaning for ether8, which is an Ethernet" "$leat" sim ether8 --model rtl
exits 2 "ether8: an Ethernet, expected an ATM fabric" "$leat" experiment echo --fabric ether8
# 2 x 8 x (8 + 14 + 7 + 1000 + 4) bit times of 10 ns
same "a message alone" "$("$leat" fabric time ether8 --bytes 1000 --json | jq -c '[.bytes, .time_us]')" "[1000,165.28]"
exits 2 "--vpi has no meaning for ether8" "$leat" fabric show ether8 --vpi

# ---- bad input -----------------------------------------------------------------------------------------
yaml() { # yaml LINE TEXT-ON-STDERR: a description on standard input
    cat > "$folder/bad.yaml"
    exits 2 "$folder/bad.yaml:$1: $2" "$leat" fabric check "$folder/bad.yaml"
}
yaml 3 "bias: 0x104, expected none of 0xf4 to 0x108, which are those of a (line 2)" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: b, fabric: bmx:12, bias: 0x104}
Y
yaml 6 "at: a.7 has address 0x108, which is that of one (line 5), expected another" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: b, fabric: bmx:4, bias: 0x200}
routers:
  - {name: one, at: [a.7, b.0]}
  - {name: two, at: [b.1, a.7]}
Y
yaml 2 "fabric: nonsense cannot be built" <<'Y'
sans:
  - {name: a, fabric: nonsense, bias: 0x100}
Y
yaml 2 "fabric: twosan is a PacketWay network itself" <<'Y'
sans:
  - {name: a, fabric: twosan, bias: 0x100}
Y
yaml 2 "bias: '0x800000', expected 0 to 0x7ffffd" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x800000}
Y
yaml 2 "bias: 0x7ffffa with 8 ports, expected addresses up to 0x7ffffd" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x7ffffa}
Y
yaml 2 "mtu: 3, expected 32 to 8192" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100, mtu: 3}
Y
yaml 2 "mtu: 0, expected 32 to 8192" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100, mtu: 0}
Y
yaml 3 "mtu: 187, expected up to 186, which one frame of ether8/rate=100/frame=1500/buffer=64 holds" <<'Y'
sans:
  - {name: a, fabric: ether8, bias: 0x100,
     mtu: 187}
Y
yaml 2 "fabric: ether8/frame=100 has frames of 11 words, expected 32 or more" <<'Y'
sans:
  - {name: a, fabric: ether8/frame=100, bias: 0x100}
Y
yaml 2 "quality: 0, expected 1 to 65535" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100, quality: 0}
Y
yaml 3 "name: 'a' is that of line 2, expected another" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: a, fabric: ring8, bias: 0x200}
Y
yaml 5 "at: b.4, expected a port of 0 to 3" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: b, fabric: bmx:4, bias: 0x200}
routers:
  - {name: one, at: [a.7, b.4]}
Y
yaml 5 "at: 'c.1', expected the name of a SAN, a point and a port" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: b, fabric: bmx:4, bias: 0x200}
routers:
  - {name: one, at: [a.7, c.1]}
Y
yaml 4 "at: a twice, expected different SANs" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
routers:
  - {name: one, at: [a.7, a.1]}
Y
yaml 3 "unknown key 'hops', expected one of sans, routers" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
hops: 3
Y
yaml 3 "buffer: 0, expected 1 to 1024" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
buffer: 0
Y
yaml 3 "forwarding: 'fast', expected planned or address" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
forwarding: fast
Y
yaml 3 "name: no router joins b to a, expected all SANs to be joined" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: b, fabric: ring8, bias: 0x200}
Y
yaml 5 "at: a.7 is a half-router of one (line 4), expected another" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
  - {name: b, fabric: ring8, bias: 0x200}
routers: [{name: one, at: [a.7, b.0]}]
hosts: [{name: h, at: [a.7]}]
Y
yaml 5 "at: a.1 is of h (line 4), expected another" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
hosts:
  - {name: h, at: [a.1]}
  - {name: k, at: [a.2, a.1]}
Y
yaml 3 "at: a.8, expected a port of 0 to 7" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
hosts: [{name: h, at: [a.8]}]
Y
yaml 5 "name: 'h' is that of line 4, expected another" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
hosts:
  - {name: h, at: [a.1]}
  - {name: h, at: [a.2]}
Y
yaml 3 "capabilities: '2', expected 1 to 255 and not 2 (router)" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
hosts: [{name: h, at: [a.1], capabilities: [1, 2]}]
Y
yaml 3 "logical: '0x101', expected an address of 0xe00000 to 0xefffff" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
hosts: [{name: h, at: [a.1], logical: [0x101]}]
Y
yaml 2 "name: nothing, expected a word of at most 32 plain characters" <<'Y'
sans:
  - {name: "", fabric: ring8, bias: 0x100}
Y
yaml 3 "cut_through: 'maybe', expected" <<'Y'
sans:
  - {name: a, fabric: ring8, bias: 0x100}
cut_through: maybe
Y
exits 2 "or --fabric and a name there" "$leat" pktway ping clos.15
exits 2 "'fly', expected one of ping trace plan tell tables" "$leat" pktway fly --fabric twosan
exits 2 "'pong', did you mean ping? expected one of ping trace" "$leat" pktway pong clos.15 --fabric twosan
exits 2 "leat: leat pktway leave is called leat pktway stop now" "$leat" pktway leave --name nobody
exits 2 "no 'nobody' runs" "$leat" pktway stop --name nobody
exits 0 "leat: --size is called --bytes now" "$leat" pktway ping clos.15 --fabric twosan --size 100
exits 2 "leat: --timeout 300 is taken for 300ms: write the unit" "$leat" pktway ping 0x101 --name nobody --timeout 300
exits 2 "--poll '5ms', expected a time of 10ms to 60s" "$leat" pktway host --san A --dev lo --poll 5ms
exits 2 "--count does not go with plan, expected one of --name" "$leat" pktway plan clos.15 --fabric twosan --count 2
has "help of a subverb" "$("$leat" pktway stop --help)" "leat pktway stop: end a router or host"
has "its options" "$("$leat" help pktway host)" "--poll TIME        interval of WRU?, 10ms to 60s; default 1s"
has "a further page" "$("$leat" help pktway networks)" "A SAN is a network device"
for word in ping trace plan tell tables read write send receive route host tun memory status stop; do
    has "help of all subverbs" "$("$leat" pktway --help)" "  $word "
    has "help of $word" "$("$leat" help pktway $word)" "  leat pktway $word "
done
exits 2 "ping 'clos.16', expected a host of twosan" "$leat" pktway ping clos.16 --fabric twosan
exits 2 "ping 'clos.0', expected a host of twosan" "$leat" pktway ping clos.0 --fabric twosan
exits 2 "expected a PacketWay network here" "$leat" pktway ping clos.1 --fabric clos444
exits 2 "--at 'soon', expected a time" "$leat" pktway ping clos.1 --fabric twosan --at soon
exits 2 "as in router:west@1ms..2.5ms" "$leat" pktway ping clos.1 --fabric twosan --fault router:north
exits 2 "as in router:west@1ms..2.5ms" "$leat" sim twosan --fault link:west@2ms..1ms
exits 2 "--error-at 'north', expected the name of a router" "$leat" pktway ping clos.1 --fabric twosan --error-at north
exits 2 "tell 'colour=red', expected name=NAME" "$leat" pktway tell colour=red --fabric twosan
exits 2 "tables: 'north', expected the name of a router" "$leat" pktway tables north --fabric twosan
exits 2 "--forwarding 'fast', expected one of planned address" "$leat" sim twosan --forwarding fast
exits 2 "--forwarding has no meaning for clos444" "$leat" sim clos444 --forwarding planned
exits 2 "--cut-through 'maybe', expected one of yes no" "$leat" sim twosan --cut-through maybe
exits 2 "--cut-through has no meaning for clos444" "$leat" sim clos444 --cut-through no
exits 2 "--model has no meaning for twosan, which is a PacketWay network" "$leat" sim twosan --model rtl
exits 2 "a PacketWay network, expected" "$leat" fabric draw twosan
exits 2 "a PacketWay network, expected" "$leat" experiment echo --fabric twosan

# ---- a job that spans two SANs ---------------------------------------------------------------------------
if command -v mpicc > /dev/null; then
    cat > "$folder/sum.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static double mine[500], all[500];
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const double start = MPI_Wtime();
    for (int i = 0; i < 500; i++)
        mine[i] = me + i;
    MPI_Allreduce(mine, all, 500, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 500; i++)
        if (all[i] != n * (n - 1) / 2.0 + (double)n * i) MPI_Abort(MPI_COMM_WORLD, 9);
    if (me == 0) printf("%d tasks, %.0f after %.9f\n", n, all[499], MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
C
    mpicc -O1 -o "$folder/sum" "$folder/sum.c" || fail "mpicc"
    for i in 1 2; do
        exits 0 "" "$leat" run --fabric twosan -n 10 --json -- "$folder/sum"
        jq -cR 'fromjson? // . | if type == "object" then del(.wall_seconds) else . end' "$folder/stdout" > "$folder/run$i"
    done
    same "both runs" "$(cat "$folder/run1")" "$(cat "$folder/run2")"
    has "output" "$(cat "$folder/run1")" "10 tasks, 5035 after 0.0"
    # Without contention this one takes longer: that is said, with the reason. (The half-router serves in another order.)
    mpicc -O1 -o "$folder/rounds" "$(dirname "$0")/../../share/programs/rounds.c" || fail "mpicc"
    exits 0 "s longer (" "$leat" run --fabric twosan -n 16 --contention -- "$folder/rounds"
    has "the reason" "$(cat "$folder/stderr")" "this run does not show the contention (16 of 16 tasks receive in another order)"
    exits 0 "" "$leat" run --fabric twosan -n 16 --contention --json -- "$folder/rounds"
    tail -n 1 "$folder/stdout" | jq -e '.contention_seconds < 0 and .reordered_tasks == 16 and (.contention_note | length > 0)' > /dev/null ||
        fail "an anomaly as JSON"
    exits 0 "contention is 0.0" "$leat" run --fabric twosan -n 12 --contention -- "$folder/rounds"
    exits 2 "--loss has no meaning for twosan" "$leat" run --fabric twosan -n 2 --loss 0.1 -- "$folder/sum"
    exits 1 "was lost: " "$leat" run --fabric twosan -n 10 --fault router:west@300us.. -- "$folder/sum"
fi

# ---- recordings ------------------------------------------------------------------------------------
# What trace lists is where the packet passes; what a router loses and learns again when it fails and comes back.
"$leat" pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms --record "$folder/way.leatrec" > /dev/null || fail "a trace recorded"
exits 0 "" "$leat" export "$folder/way.leatrec" --csv "$folder/way.csv"
same "the recorded way" "$(awk -F, '$2 ~ /leaves|passes|arrives/ && $6 == 17179869185 { printf "%s ", $3 }' "$folder/way.csv")" \
    "network.ring.port0 network.west.half0 network.west.half1 network.east.half0 network.east.half1 network.mesh.port8 "
same "its network" "$(awk -F, '$2 == "place" { print $4 }' "$folder/way.csv")" threesan
back="--fabric threesan --fault router:south@1s..5s --at 40s"
# shellcheck disable=SC2086
same "with a recording" "$(pktway ping mesh.8 $back --record "$folder/back.leatrec")" "$(pktway ping mesh.8 $back)"
exits 0 "" "$leat" export "$folder/back.leatrec" --csv "$folder/back.csv"
same "lost and learned by south" "$(awk -F, '$2 == "instant" && $3 == "network.south.half0" { print $4 }' "$folder/back.csv" | sort | tr '\n' ' ')" "learns clos learns ring loses clos loses ring "
same "what it knows in the end" "$(awk -F, '$2 == "value" && $3 == "network.south.tables0" { last = $5 } END { print last }' "$folder/back.csv")" 2
printf '0s ring.0 clos.15 1 text=a\n1us ring.0 clos.14 5 text=b\n' > "$folder/mail"
"$leat" pktway send --messages "$folder/mail" --fabric twosan --record "$folder/mail.leatrec" > /dev/null || fail "messages recorded"
exits 0 "" "$leat" export "$folder/mail.leatrec" --csv "$folder/mail.csv"
same "messages that arrive" "$(awk -F, '$2 == "arrives" { print $3 }' "$folder/mail.csv" | sort | tr '\n' ' ')" "network.clos.port14 network.clos.port15 "
exits 2 "is no file name" "$leat" pktway ping clos.15 --fabric twosan --record ''
no_part "recordings"
finish
